"""Counting a batch: from its questions, assignments and judgements to the numbers of the progress page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median
from typing import Protocol

from domain.batches import AssignmentState, Batch
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task
from measures.agreement import Weights, contingency, weighted_kappa
from measures.proportions import Proportion, wilson, wilson_by_cluster
from review.pace import Finish, finish
from review.progress import Line, Progress, Rate, TierTable

NO_TIER, NO_TASK, DIFFER = "no tier", "no task", "reviewers differ"


class QuestionFacts(Protocol):
    """A question of the batch, by what is counted; ``tier`` is the machine's."""

    @property
    def question_number(self) -> int: ...
    @property
    def exam_number(self) -> int: ...
    @property
    def tier(self) -> Difficulty | None: ...
    @property
    def task(self) -> Task | None: ...
    @property
    def inclusion_probability(self) -> float: ...


class Judgement(Protocol):
    """One person's latest verdict on one question; ``tier`` is the expert's own."""

    @property
    def question_number(self) -> int: ...
    @property
    def person_number(self) -> int: ...
    @property
    def decision(self) -> Decision: ...
    @property
    def errors(self) -> frozenset[ErrorKind]: ...
    @property
    def tier(self) -> Difficulty | None: ...
    @property
    def first_given_at(self) -> datetime: ...
    @property
    def first_seconds_looking(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that is counted from. ``assigned``: (question, person, state), withdrawn ones left out."""

    questions: Sequence[QuestionFacts]
    assigned: Sequence[tuple[int, int, AssignmentState]]
    judgements: Sequence[Judgement]
    people: Mapping[int, str]


def count_batch(batch: Batch, facts: Facts, *, now: datetime) -> Progress:
    """The batch in numbers, as it stands at ``now``."""
    by_number = {each.question_number: each for each in facts.questions}
    by_question: dict[int, list[Judgement]] = defaultdict(list)
    for judgement in facts.judgements:
        by_question[judgement.question_number].append(judgement)
    reviewed = [each for each in facts.questions if each.question_number in by_question]
    only_skipped = {
        question for question, _, state in facts.assigned if state is AssignmentState.SKIPPED
    } - set(by_question)
    tier_of = {number: str(each.tier or NO_TIER) for number, each in by_number.items()}
    task_of = {number: str(each.task or NO_TASK) for number, each in by_number.items()}
    table = _tier_table(facts.judgements, by_number)
    reviewers = _reviewer_lines(facts, now=now)
    rates = _Rates(reviewed=reviewed, judged=by_question, skipped=len(only_skipped))
    return Progress(
        batch=batch,
        whole=_whole(batch.name, facts, by_number, reviewers, now=now),
        tiers=_lines(facts, tier_of, [*map(str, Difficulty), NO_TIER], now=now),
        tasks=_lines(facts, task_of, [*map(str, Task), NO_TASK], now=now),
        reviewers=reviewers,
        reviewed=len(reviewed),
        skipped=wilson(len(only_skipped), len(reviewed) + len(only_skipped)),
        decisions=rates.of_decisions(),
        errors=rates.of_errors(),
        tier_table=table,
        notes=_notes(facts, reviewed, by_question),
    )


# ------------------------------------------------------------------------------------ broken down, by line
@dataclass(slots=True)
class _Pile:
    """What falls under one line."""

    questions: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    states: Counter[AssignmentState] = field(default_factory=Counter)
    judgements: list[Judgement] = field(default_factory=list)


def _piles(facts: Facts, group: Callable[[int, int], str]) -> dict[str, _Pile]:
    """One pile a group; ``group(question, person)`` names it. One pass, however many groups."""
    piles: dict[str, _Pile] = defaultdict(_Pile)
    for question, person, state in facts.assigned:
        pile = piles[group(question, person)]
        pile.held.add(question)
        pile.states[state] += 1
    for each in facts.judgements:
        piles[group(each.question_number, each.person_number)].judgements.append(each)
    return piles


def _lines(
    facts: Facts, group_of: Mapping[int, str], order: Iterable[str], *, now: datetime
) -> tuple[Line, ...]:
    piles = _piles(facts, lambda question, _: group_of[question])
    for question, name in group_of.items():
        piles[name].questions.add(question)
    return tuple(_line(name, piles[name], now=now) for name in order if name in piles)


def _reviewer_lines(facts: Facts, *, now: datetime) -> tuple[Line, ...]:
    piles = _piles(facts, lambda _, person: facts.people.get(person, f"person {person}"))
    for pile in piles.values():
        pile.questions = pile.held
    return tuple(_line(name, piles[name], now=now) for name in sorted(piles))


def _whole(
    name: str, facts: Facts, numbers: Iterable[int], reviewers: Sequence[Line], *, now: datetime
) -> Line:
    """All of the batch; finished no earlier than the slowest of its reviewers."""
    pile = _piles(facts, lambda _question, _person: name).get(name, _Pile())
    pile.questions = set(numbers)
    line = _line(name, pile, now=now)
    ends = [at for each in (line, *reviewers) if (at := each.finish.at) is not None]
    if line.finish.at is None:
        return line
    return replace(line, finish=Finish(at=max(ends)))


def _line(name: str, pile: _Pile, *, now: datetime) -> Line:
    left = pile.states[AssignmentState.OPEN]
    times = [each.first_seconds_looking for each in pile.judgements]
    return Line(
        name=name,
        questions=len(pile.questions),
        unassigned=len(pile.questions - pile.held),
        asked=pile.states.total(),
        done=pile.states[AssignmentState.DONE],
        skipped=pile.states[AssignmentState.SKIPPED],
        left=left,
        seconds_median=median(times) if times else None,
        timed=len(times),
        finish=finish([each.first_given_at for each in pile.judgements], left=left, now=now),
    )


# ------------------------------------------------------------------------------------------------ shares
@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """Shares of the reviewed questions; one that several people judged counts once."""

    reviewed: Sequence[QuestionFacts]
    judged: Mapping[int, Sequence[Judgement]]
    skipped: int

    def of_errors(self) -> tuple[Rate, ...]:
        """Each kind of error: the questions in which at least one reviewer found it."""
        where: dict[ErrorKind, set[int]] = defaultdict(set)
        for number, said in self.judged.items():
            for kind in frozenset().union(*(each.errors for each in said)):
                where[kind].add(number)
        return tuple(self._rate(kind, where[kind]) for kind in ErrorKind)

    def of_decisions(self) -> tuple[Rate, ...]:
        """Each decision: the questions on which all reviewers came to it; and those where they differ."""
        decided: dict[str, set[int]] = defaultdict(set)
        for number, said in self.judged.items():
            decisions = {each.decision for each in said}
            decided[str(decisions.pop()) if len(decisions) == 1 else DIFFER].add(number)
        names = [*(str(each) for each in Decision), *([DIFFER] if decided[DIFFER] else [])]
        return tuple(self._rate(name, decided[name]) for name in names)

    def _rate(self, name: str, where: set[int]) -> Rate:
        share = wilson_by_cluster(
            [each.question_number in where for each in self.reviewed],
            [each.exam_number for each in self.reviewed],
        )
        return Rate(name=str(name), share=share, if_skipped=self._bounds(share))

    def _bounds(self, share: Proportion) -> tuple[float, float] | None:
        if not self.skipped or not share.n:
            return None
        whole = share.n + self.skipped
        return share.count / whole, (share.count + self.skipped) / whole


# ----------------------------------------------------------------------------------------- tiers and notes
def _tier_table(judgements: Sequence[Judgement], by_number: Mapping[int, QuestionFacts]) -> TierTable:
    tiers = tuple(Difficulty)
    place = {tier: index for index, tier in enumerate(tiers)}
    both = [
        (place[machine], place[each.tier], by_number[each.question_number].exam_number)
        for each in judgements
        if each.tier is not None and (machine := by_number[each.question_number].tier) is not None
    ]
    machine_side, expert_side, exams = ([each[side] for each in both] for side in range(3))
    counts = contingency(machine_side, expert_side, k=len(tiers))
    linear, quadratic = (
        weighted_kappa(machine_side, expert_side, k=len(tiers), weights=weights, clusters=exams)
        for weights in (Weights.LINEAR, Weights.QUADRATIC)
    )
    shared = len(set(exams)) < len(exams)
    return TierTable(
        tiers=tiers,
        counts=tuple(tuple(int(count) for count in row) for row in counts),
        without=len(judgements) - len(both),
        linear=linear,
        quadratic=quadratic,
        note="95 % intervals from the standard error of Fleiss, Cohen and Everitt (1969)"
        + (", its influences summed by exam." if shared else "."),
    )


def _notes(
    facts: Facts, reviewed: Sequence[QuestionFacts], judged: Mapping[int, Sequence[Judgement]]
) -> tuple[str, ...]:
    notes = []
    rates = {round(each.inclusion_probability, 9) for each in facts.questions}
    if rates and max(rates) > 1.001 * min(rates):
        notes.append(
            "Shares are of the reviewed questions, unweighted. The strata of this batch were drawn at "
            f"different rates ({100 * min(rates):.1f} to {100 * max(rates):.1f} %), so they are not shares "
            "of the dataset."
        )
    elif reviewed:
        notes.append("Shares are of the reviewed questions; they are not yet estimates for the dataset.")
    if len({each.exam_number for each in reviewed}) < len(reviewed):
        notes.append(
            "Several of the questions are of one exam and not independent: the intervals count for that."
        )
    several = sum(len(said) > 1 for said in judged.values())
    if several:
        notes.append(
            f"{several:,} of the reviewed questions have verdicts of more than one reviewer. A kind of error "
            "counts where at least one of them found it."
        )
    return tuple(notes)
