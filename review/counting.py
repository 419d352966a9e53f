"""Counts a batch's questions, assignments and verdicts for the progress page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState, Batch
from domain.verdicts import ErrorKind
from measures.agreement import Weights, contingency, weighted_kappa
from measures.proportions import Proportion, wilson, wilson_by_cluster
from records.columns import (
    DECISIONS,
    STATES,
    TASKS,
    TIERS,
    AssignmentColumns,
    LatestVerdicts,
    QuestionColumns,
)
from review.pace import WINDOW, Finish, finish
from review.progress import Line, Progress, Rate, TierTable
from review.rated import flag_lines, rating_lines

NO_TIER, NO_TASK, DIFFER = "no tier", "no task", "reviewers differ"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchFacts:
    """The data of a batch to count; ``people`` are names by person id."""

    questions: QuestionColumns
    assigned: AssignmentColumns
    judged: LatestVerdicts
    people: Mapping[int, str]


def count_batch(batch: Batch, facts: BatchFacts, *, now: datetime) -> Progress:
    """Compute the progress of a batch.

    Args:
        batch: the batch.
        facts: its data.
        now: the time, for the expected end.
    """
    counted = _Counted(facts)
    reviewers = _reviewer_lines(counted, now=now)
    only_skipped = int((counted.skipped & ~counted.reviewed).sum())
    rates = _Rates(counted, skipped=only_skipped)
    reviewed = int(counted.reviewed.sum())
    exams = facts.questions.exams[counted.judged]
    return Progress(
        batch=batch,
        whole=_whole(batch.name, counted, reviewers, now=now),
        tiers=_lines(counted, facts.questions.tiers, [*map(str, TIERS), NO_TIER], now=now),
        tasks=_lines(counted, facts.questions.tasks, [*map(str, TASKS), NO_TASK], now=now),
        reviewers=reviewers,
        reviewed=reviewed,
        skipped=wilson(only_skipped, reviewed + only_skipped),
        decisions=rates.of_decisions(),
        errors=rates.of_errors(),
        ratings=rating_lines(facts.judged.ratings, exams),
        flags=flag_lines(facts.judged.flags, exams),
        tier_table=_tier_table(counted),
        notes=_notes(counted),
    )


class _Counted:
    """The data of a batch, with the index of the question of each assignment and of each verdict.

    ``reviewed`` and ``skipped``, by question: whether somebody judged it, and whether somebody skipped it.
    """

    def __init__(self, facts: BatchFacts) -> None:
        """Compute the indices."""
        self.facts = facts
        self.n = len(facts.questions.numbers)
        order = np.argsort(facts.questions.numbers)
        ranked = facts.questions.numbers[order]
        self.assigned = order[np.searchsorted(ranked, facts.assigned.questions)]
        self.judged = order[np.searchsorted(ranked, facts.judged.questions)]
        self.reviewed = self.marked(self.judged)
        put_aside = facts.assigned.states == STATES.index(AssignmentState.SKIPPED)
        self.skipped = self.marked(self.assigned[put_aside])

    def marked(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of the questions with these indices."""
        found = np.zeros(self.n, dtype=bool)
        found[places] = True
        return found


# --------------------------------------------------------------------------------- breakdowns, by line
def _lines(
    counted: _Counted, groups: NDArray[np.int8], order: Sequence[str], *, now: datetime
) -> tuple[Line, ...]:
    """One line per group that has a question; ``groups`` are indices of ``order``, -1 is its last entry."""
    places = np.where(groups < 0, len(order) - 1, groups)
    return tuple(
        _line(
            name,
            counted,
            questions=int((places == at).sum()),
            assigned=places[counted.assigned] == at,
            judged=places[counted.judged] == at,
            now=now,
        )
        for at, name in enumerate(order)
        if (places == at).any()
    )


def _reviewer_lines(counted: _Counted, *, now: datetime) -> tuple[Line, ...]:
    assigned, judged = counted.facts.assigned.people, counted.facts.judged.people
    named: dict[str, list[int]] = defaultdict(list)
    for person in np.union1d(assigned, judged).tolist():
        named[counted.facts.people.get(person, f"person {person}")].append(person)
    return tuple(
        _line(
            name,
            counted,
            questions=None,
            assigned=np.isin(assigned, named[name]),
            judged=np.isin(judged, named[name]),
            now=now,
        )
        for name in sorted(named)
    )


def _whole(name: str, counted: _Counted, reviewers: Sequence[Line], *, now: datetime) -> Line:
    """The line of the whole batch; its expected end is not before that of the slowest reviewer."""
    every, said = np.ones(len(counted.assigned), dtype=bool), np.ones(len(counted.judged), dtype=bool)
    line = _line(name, counted, questions=counted.n, assigned=every, judged=said, now=now)
    ends = [at for each in (line, *reviewers) if (at := each.finish.at) is not None]
    if line.finish.at is None:
        return line
    return replace(line, finish=Finish(at=max(ends)))


def _line(
    name: str,
    counted: _Counted,
    *,
    questions: int | None,
    assigned: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    now: datetime,
) -> Line:
    """One line; if ``questions`` is None, it counts the questions that its people have."""
    held = int(counted.marked(counted.assigned[assigned]).sum())
    questions = held if questions is None else questions
    states = np.bincount(counted.facts.assigned.states[assigned], minlength=len(STATES)).tolist()
    left = states[STATES.index(AssignmentState.OPEN)]
    times = counted.facts.judged.first_seconds[judged]
    return Line(
        name=name,
        questions=questions,
        unassigned=questions - held,
        asked=sum(states),
        done=states[STATES.index(AssignmentState.DONE)],
        skipped=states[STATES.index(AssignmentState.SKIPPED)],
        left=left,
        seconds_median=float(np.median(times)) if len(times) else None,
        timed=len(times),
        finish=finish(_latest(counted.facts.judged.first_given_at[judged]), left=left, now=now),
    )


def _latest(moments: NDArray[np.datetime64]) -> list[datetime]:
    """The latest times, as many as the pace needs."""
    last = moments if len(moments) <= WINDOW else np.partition(moments, -WINDOW)[-WINDOW:]
    return [each.replace(tzinfo=UTC) for each in last.astype("datetime64[us]").tolist()]


# ------------------------------------------------------------------------------------------------ shares
class _Rates:
    """Shares of the reviewed questions; a question that several people judged counts once."""

    def __init__(self, counted: _Counted, *, skipped: int) -> None:
        """Use the reviewed questions, in the order of the batch."""
        self._counted, self._skipped = counted, skipped
        self._exams = counted.facts.questions.exams[counted.reviewed]

    def of_errors(self) -> tuple[Rate, ...]:
        """For each kind of error: the share of questions in which at least one reviewer found it."""
        judged = self._counted.facts.judged
        return tuple(
            self._rate(kind, self._counted.marked(self._counted.judged[judged.has_error(kind)]))
            for kind in ErrorKind
        )

    def of_decisions(self) -> tuple[Rate, ...]:
        """For each decision: the share of questions in which all reviewers made it; and where they differ."""
        decisions = self._counted.facts.judged.decisions
        by = [self._counted.marked(self._counted.judged[decisions == at]) for at in range(len(DECISIONS))]
        alone = np.sum(by, axis=0) == 1
        rates = [self._rate(each, where & alone) for each, where in zip(DECISIONS, by, strict=True)]
        differ = self._counted.reviewed & ~alone
        return (*rates, self._rate(DIFFER, differ)) if differ.any() else tuple(rates)

    def _rate(self, name: str, where: NDArray[np.bool_]) -> Rate:
        share = wilson_by_cluster(where[self._counted.reviewed], self._exams)
        return Rate(name=str(name), share=share, if_skipped=self._bounds(share))

    def _bounds(self, share: Proportion) -> tuple[float, float] | None:
        if not self._skipped or not share.n:
            return None
        whole = share.n + self._skipped
        return share.count / whole, (share.count + self._skipped) / whole


# ----------------------------------------------------------------------------------------- tiers and notes
def _tier_table(counted: _Counted) -> TierTable:
    questions, judged = counted.facts.questions, counted.facts.judged
    machine = questions.tiers[counted.judged]
    both = (machine >= 0) & (judged.tiers >= 0)
    machine_side, expert_side = machine[both].tolist(), judged.tiers[both].tolist()
    exams = questions.exams[counted.judged[both]]
    counts = contingency(machine_side, expert_side, k=len(TIERS))
    linear, quadratic = (
        weighted_kappa(machine_side, expert_side, k=len(TIERS), weights=weights, clusters=exams.tolist())
        for weights in (Weights.LINEAR, Weights.QUADRATIC)
    )
    shared = len(np.unique(exams)) < len(exams)
    return TierTable(
        tiers=TIERS,
        counts=tuple(tuple(int(count) for count in row) for row in counts),
        without=len(both) - len(exams),
        linear=linear,
        quadratic=quadratic,
        note="95 % intervals from the standard error of Fleiss, Cohen and Everitt (1969)"
        + (", its influences summed by exam." if shared else "."),
    )


def _notes(counted: _Counted) -> tuple[str, ...]:
    notes = []
    questions, reviewed = counted.facts.questions, int(counted.reviewed.sum())
    rates = {round(each, 9) for each in np.unique(questions.inclusion_probabilities).tolist()}
    if rates and max(rates) > 1.001 * min(rates):
        notes.append(
            "Shares are of the reviewed questions, unweighted. The strata of this batch were drawn at "
            f"different rates ({100 * min(rates):.1f} to {100 * max(rates):.1f} %), so they are not shares "
            "of the dataset."
        )
    elif reviewed:
        notes.append("Shares are of the reviewed questions; they are not yet estimates for the dataset.")
    if len(np.unique(questions.exams[counted.reviewed])) < reviewed:
        notes.append(
            "Several of the questions are of one exam and not independent: the intervals count for that."
        )
    several = int((np.bincount(counted.judged, minlength=counted.n) > 1).sum())
    if several:
        notes.append(
            f"{several:,} of the reviewed questions have verdicts of more than one reviewer. A kind of error "
            "counts where at least one of them found it."
        )
    return tuple(notes)
