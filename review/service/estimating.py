"""Services for estimates of a whole dataset from its random batches, in all and by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from domain.verdicts import ErrorKind
from intake.collector import collector_paused
from review.estimates import Estimates, Outcome, Sample, estimate, refusal
from review.estimates_text import sentences
from review.planning import GOAL, Plan, plan
from review.progress import interval, percent
from review.service.sampled import CellKey, Cells, SampleFacts, cell_name, sample_facts, sample_of, why_not
from storage.browsing import applying
from storage.browsing.found_questions import FoundQuestion, found_questions
from storage.review.outcomes import FEATURES
from storage.sampling import batches as stored
from storage.sampling import frames

#: The groups that estimates can be broken down by, in addition to batches.
GROUPS = FEATURES
BATCH = "batch"
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Estimates of a whole dataset.

    ``plans`` say how many more questions to judge for a narrower interval. ``notes`` are sentences for the
    user.
    """

    dataset: str
    batches: tuple[str, ...]
    estimates: Estimates
    plans: tuple[Plan, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Estimates of a part of the dataset: a task, category, generator, prompt version or batch.

    ``examples`` are the first few questions with each kind of error.
    """

    name: str
    estimates: Estimates
    examples: Mapping[ErrorKind, tuple[FoundQuestion, ...]]


def estimable(db: Session, *, by: Person) -> dict[str, list[str]]:
    """The batches of each dataset that can be used for estimates, the oldest first."""
    require(by, Action.SEE_PROGRESS)
    chosen = applying.chosen_batches(db)
    found: dict[str, list[str]] = {}
    for name in frames.dataset_names(db):
        listed = stored.list_batches(db, dataset_id=frames.dataset_number(db, name=name))
        names = [each.name for each in listed if not why_not(each, chosen)]
        if names:
            found[name] = names
    return found


@collector_paused()
def read_sample(
    db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None = None
) -> SampleFacts:
    """Read the data for estimates once, for callers that compute several; reading takes most of the time.

    Raises:
        NotFound: there is no such dataset or batch.
        Refused: none of the batches can be used for estimates.
    """
    require(by, Action.SEE_PROGRESS)
    return sample_facts(db, dataset=dataset, names=batches)


@collector_paused()
def estimate_whole(
    db: Session,
    *,
    by: Person,
    dataset: str,
    batches: Sequence[str] | None = None,
    goal: float = GOAL,
    read: SampleFacts | None = None,
) -> Whole:
    """Estimate rates of a whole dataset.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        batches: names of batches; None for all random batches of the dataset.
        goal: half-width of the interval that the plans aim at, as a share (0 to 1).
        read: the result of :func:`read_sample` for the same dataset and batches, if there is one.

    Raises:
        NotFound: no such dataset or batch.
        Refused: none of the batches was drawn at random and judged for more than image alignment.
    """
    require(by, Action.SEE_PROGRESS)
    facts = read or sample_facts(db, dataset=dataset, names=batches)
    sample = sample_of(db, facts)
    found = estimate(sample)
    plans = [plan(found.key_errors, sample, goal=goal)]
    widest = max(found.errors, key=lambda each: each.half_width or 0)
    if widest.half_width:
        plans.append(plan(widest, sample, goal=goal))
    return Whole(
        dataset=dataset,
        batches=tuple(each.name for each in facts.batches),
        estimates=found,
        plans=tuple(plans),
        notes=(*found.notes, *_notes(facts)),
    )


@collector_paused()
def estimate_groups(
    db: Session,
    *,
    by: Person,
    dataset: str,
    group: str,
    batches: Sequence[str] | None = None,
    examples: bool = False,
    read: SampleFacts | None = None,
) -> tuple[Part, ...]:
    """Estimate rates of each part of a dataset.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        group: one of ``GROUPS``, or "batch" for each batch by itself.
        batches: names of batches; None for all random batches of the dataset.
        examples: whether to load examples of each kind of error.
        read: the result of :func:`read_sample` for the same dataset and batches, if there is one.

    Returns:
        Parts with a judged question: batches in the order of drawing, others with the most questions first.

    Raises:
        NotFound: no such dataset, batch or group.
        Refused: as :func:`estimate_whole`.
    """
    require(by, Action.SEE_PROGRESS)
    facts = read or sample_facts(db, dataset=dataset, names=batches)
    if group == BATCH:
        parts = {each.name: sample_of(db, facts, [each]) for each in facts.batches}
    elif group in GROUPS:
        parts = _parts(db, facts, group)
    else:
        raise NotFound(f"There is no group {group!r}. Those there are: {', '.join((*GROUPS, BATCH))}.")
    return tuple(
        Part(name=name, estimates=estimate(part), examples=_examples(db, part) if examples else {})
        for name, part in parts.items()
        if part.outcomes
    )


@collector_paused()
def check_key_errors(
    db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None, under: float
) -> str:
    """Check that the upper limit of the rate of key errors is below a share, for a release.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        batches: names of batches; None for all random batches of the dataset.
        under: the share, 0 to 1.

    Returns:
        A sentence with the figures.

    Raises:
        NotFound: there is no such dataset or batch.
        Refused: the limit is not below the share, with the figure; or no batch can be used for estimates.
    """
    require(by, Action.SEE_PROGRESS)
    facts = sample_facts(db, dataset=dataset, names=batches)
    found = estimate(sample_of(db, facts)).key_errors
    why = refusal(found, under=under)
    if why:
        raise Refused(f"{why} Judge more, correct or reject by rule what is wrong, or ask for less.")
    return (
        f"Key errors are {percent(found.rate.estimate)} of the whole, 95 % interval "
        f"{interval(found.rate.low, found.rate.high)} (n = {found.rate.reviewed:,} judged questions); "
        f"{percent(found.worst)} at the most, which is under {100 * under:g} %."
    )


@collector_paused()
def statement(db: Session, *, dataset: str, batches: Sequence[str] | None) -> tuple[str, ...]:
    """Sentences for a data card about the questions that the sample was drawn from; empty without a sample.

    Questions that were imported or rejected later have no influence, so a release made again is the same.
    Checks no permission; the calling service does.
    """
    try:
        facts = sample_facts(db, dataset=dataset, names=batches)
    except Refused:
        return ()
    sample = sample_of(db, facts)
    return sentences(estimate(replace(sample, whole=sum(sample.sizes.values()))))


# ------------------------------------------------------------------------------------------------ by group
def _parts(db: Session, facts: SampleFacts, group: str) -> dict[str, Sample]:
    """Divide the sample by the values of a column; parts with the most questions are first."""
    cells = Cells(db, facts.dataset_id, facts.batches)
    sizes: dict[str, dict[CellKey, int]] = {}
    for segment in cells.segments:
        counts = frames.count_frame(
            db, dataset_id=facts.dataset_id, after=segment[0], through=segment[1],
            further=(*cells.further, group), with_rejected=cells.with_rejected,
        )  # fmt: skip
        for (tier, (*values, value)), count in counts.items():
            sizes.setdefault(value, {})[segment, tier, tuple(values)] = count
    by_value: dict[str, list[Outcome]] = {}
    value_of = facts.drawn.value_of(group)
    for each in sample_of(db, facts).outcomes:
        by_value.setdefault(value_of[each.question_number], []).append(each)
    ordered = sorted(sizes, key=lambda value: (-sum(sizes[value].values()), value))
    return {
        value or "not stated": Sample(
            names={key: cell_name(key) for key in sizes[value]},
            sizes=sizes[value],
            outcomes=by_value.get(value, []),
            skipped={},
            whole=sum(sizes[value].values()),
        )
        for value in ordered
    }


def _examples(db: Session, part: Sample) -> dict[ErrorKind, tuple[FoundQuestion, ...]]:
    wanted: dict[ErrorKind, list[int]] = {}
    for each in part.outcomes:
        for kind in each.errors:
            numbers = wanted.setdefault(kind, [])
            if len(numbers) < _EXAMPLES:
                numbers.append(each.question_number)
    every = sorted({number for numbers in wanted.values() for number in numbers})
    known = {each.number: each for each in found_questions(db, numbers=every)}
    return {
        kind: tuple(known[number] for number in wanted[kind] if number in known)
        for kind in ErrorKind
        if kind in wanted
    }


def _notes(facts: SampleFacts) -> list[str]:
    said = [f"Batch {name} does not count: {why}." for name, why in facts.left_out]
    if facts.rejected_since:
        said.append(
            f"{facts.rejected_since:,} questions are rejected by rule now. The figures are of the dataset as "
            "it was drawn from; those questions are in no later draw and no release."
        )
    return said
