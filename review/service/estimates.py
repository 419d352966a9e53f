"""Services that estimate rates of a whole dataset from its random batches, overall and by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlmodel import Session

from domain.batches import RiskDesign
from domain.count_texts import count_text
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from domain.verdicts import Decision, ErrorKind
from intake.garbage_collector import pause_garbage_collector
from measures.weighted_rates import level_for_every_look
from review.estimates import (
    Estimate,
    Estimates,
    Outcome,
    Sample,
    estimate_key_errors,
    estimate_rates,
    explain_limit_exceeded,
)
from review.estimates_text import format_data_card
from review.progress import format_interval, format_percent
from review.sample_size import DEFAULT_HALF_WIDTH, SampleSizePlan, plan_sample_size
from review.service.joint_probabilities import list_draws_in_order
from review.service.sample_data import (
    CellKey,
    DatasetRisks,
    SampleCells,
    SampleData,
    build_sample,
    explain_exclusion,
    format_cell_name,
    load_dataset_risks,
    load_sample_data,
)
from sampling.strategies import ErrorAssumptions, fit_assumptions
from storage.browsing import bulk_actions
from storage.browsing.search_results import SearchResult, load_search_results
from storage.quality.name_mappings import load_derived_names
from storage.review.outcomes import FEATURES
from storage.sampling import batches as batch_storage
from storage.sampling import frames

#: The columns by which estimates can be broken down, in addition to batches.
GROUPS = (*FEATURES, "controlled_category", "domain")
BATCH_GROUP = "batch"
_MAX_EXAMPLES = 3
#: The stopping rule applies from this number of judged questions on. docs/coverage.md verifies it.
FIRST_LOOK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """Whether review can stop, because the rate of key errors is known within ``target_half_width``.

    The interval of ``estimate`` has the confidence ``level``, which keeps it valid if it is looked at after
    every verdict.
    """

    target_half_width: float
    level: float
    estimate: Estimate

    @property
    def is_reached(self) -> bool:
        """Whether the interval is narrow enough. The prediction-powered interval does not decide."""
        return self.estimate.half_width is not None and self.estimate.half_width <= self.target_half_width


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetEstimates:
    """Estimates of a whole dataset.

    ``plans`` has the numbers of further questions for narrower intervals. ``stopping`` states whether review
    can stop; None before ``FIRST_LOOK`` judged questions. ``notes`` has sentences for the user.
    """

    dataset: str
    batches: tuple[str, ...]
    estimates: Estimates
    plans: tuple[SampleSizePlan, ...]
    stopping: StoppingRule | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEstimates:
    """Estimates of a part of the dataset: a task, category, generator, prompt version, batch and so on.

    ``examples`` has the first questions with each kind of error.
    """

    name: str
    estimates: Estimates
    examples: Mapping[ErrorKind, tuple[SearchResult, ...]]


def list_estimable_batches(db: Session, *, by: Person) -> dict[str, list[str]]:
    """Return the batches of each dataset that can be used for estimates, the oldest first."""
    require(by, Action.SEE_PROGRESS)
    search_batches = bulk_actions.load_batches_from_search(db)
    names_by_dataset: dict[str, list[str]] = {}
    for name in frames.list_dataset_names(db):
        dataset_batches = batch_storage.list_batches(db, dataset_id=frames.load_dataset_row_id(db, name=name))
        names = [batch.name for batch in dataset_batches if not explain_exclusion(batch, search_batches)]
        if names:
            names_by_dataset[name] = names
    return names_by_dataset


@pause_garbage_collector()
def load_sample(db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None = None) -> SampleData:
    """Load the data of a sample, for callers that compute several estimates; loading takes most of the time.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: none of the batches can be used for estimates.
    """
    require(by, Action.SEE_PROGRESS)
    return load_sample_data(db, dataset=dataset, names=batches)


@pause_garbage_collector()
def load_risks(db: Session, *, by: Person, sample_data: SampleData) -> DatasetRisks:
    """Load the risk of an error of all questions that a sample represents, for prediction-powered estimates.

    The risk changes with checks and predictions of models, not with verdicts.
    """
    require(by, Action.SEE_PROGRESS)
    return load_dataset_risks(db, sample_data)


@pause_garbage_collector()
def estimate_dataset(
    db: Session,
    *,
    by: Person,
    dataset: str,
    batches: Sequence[str] | None = None,
    target_half_width: float = DEFAULT_HALF_WIDTH,
    sample_data: SampleData | None = None,
    dataset_risks: DatasetRisks | None = None,
) -> DatasetEstimates:
    """Estimate rates of a whole dataset.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        batches: the names of the batches; None for all random batches of the dataset.
        target_half_width: the target of the plans for the half-width of the interval, as a share (0 to 1).
        sample_data: the result of :func:`load_sample` for the same dataset and batches; None to load it.
        dataset_risks: the result of :func:`load_risks`; None to load it.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: no batch can be used for estimates: none was drawn at random and judged for more than image
            alignment.
    """
    require(by, Action.SEE_PROGRESS)
    data = sample_data or load_sample_data(db, dataset=dataset, names=batches)
    sample = build_sample(db, data, dataset_risks=dataset_risks or load_dataset_risks(db, data))
    estimates = estimate_rates(sample)
    plans = [plan_sample_size(estimates.key_errors, sample, target_half_width=target_half_width)]
    widest = max(estimates.errors, key=lambda error_rate: error_rate.half_width or 0)
    if widest.half_width:
        plans.append(plan_sample_size(widest, sample, target_half_width=target_half_width))
    return DatasetEstimates(
        dataset=dataset,
        batches=tuple(batch.name for batch in data.batches),
        estimates=estimates,
        plans=tuple(plans),
        stopping=_apply_stopping_rule(db, data, sample, target_half_width),
        notes=(*estimates.notes, *_describe_exclusions(data)),
    )


@pause_garbage_collector()
def estimate_groups(
    db: Session,
    *,
    by: Person,
    dataset: str,
    group: str,
    batches: Sequence[str] | None = None,
    examples: bool = False,
    sample_data: SampleData | None = None,
) -> tuple[GroupEstimates, ...]:
    """Estimate rates of each part of a dataset.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        group: one of ``GROUPS``, or "batch" for each batch separately.
        batches: the names of the batches; None for all random batches of the dataset.
        examples: whether to load examples of each kind of error.
        sample_data: the result of :func:`load_sample` for the same dataset and batches; None to load it.

    Returns:
        The parts with a judged question: batches in order of drawing, other parts by number of questions.

    Raises:
        NotFound: the dataset, a batch or the group does not exist.
        Refused: no batch can be used for estimates.
    """
    require(by, Action.SEE_PROGRESS)
    data = sample_data or load_sample_data(db, dataset=dataset, names=batches)
    if group == BATCH_GROUP:
        samples = {batch.name: build_sample(db, data, [batch]) for batch in data.batches}
    elif group in GROUPS:
        samples = _build_samples_by_value(db, data, group)
    else:
        raise NotFound(f"There is no group {group!r}. Choose from: {', '.join((*GROUPS, BATCH_GROUP))}.")
    return tuple(
        GroupEstimates(
            name=name,
            estimates=estimate_rates(sample),
            examples=_load_examples(db, sample) if examples else {},
        )
        for name, sample in samples.items()
        if sample.outcomes
    )


@pause_garbage_collector()
def check_key_errors(
    db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None, limit: float
) -> str:
    """Check that the upper limit of the rate of key errors is below a limit, for a release.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        batches: the names of the batches; None for all random batches of the dataset.
        limit: the limit as a share, 0 to 1.

    Returns:
        A sentence with the estimates.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: the upper limit is not below ``limit``, or no batch can be used for estimates.
    """
    require(by, Action.SEE_PROGRESS)
    data = load_sample_data(db, dataset=dataset, names=batches)
    key_error_rate = estimate_rates(build_sample(db, data)).key_errors
    problem = explain_limit_exceeded(key_error_rate, limit=limit)
    if problem:
        raise Refused(
            f"{problem} Review more questions, correct or reject faulty questions, or choose a higher limit."
        )
    return (
        f"Key errors: {format_percent(key_error_rate.rate.estimate)} of the dataset, 95 % interval"
        f" {format_interval(key_error_rate.rate.low, key_error_rate.rate.high)} (n ="
        f" {key_error_rate.rate.reviewed:,} judged questions). In the worst case at most"
        f" {format_percent(key_error_rate.worst_limit)}, below the limit of {100 * limit:g} %."
    )


@pause_garbage_collector()
def write_data_card_statement(db: Session, *, dataset: str, batches: Sequence[str] | None) -> tuple[str, ...]:
    """Return data card lines on the questions from which a sample was drawn; empty if there is no sample.

    Questions that were imported or rejected later have no influence, so a release that is made again is
    identical. The function checks no permission; the calling service does.
    """
    try:
        data = load_sample_data(db, dataset=dataset, names=batches)
    except Refused:
        return ()
    sample = build_sample(db, data)
    return format_data_card(estimate_rates(replace(sample, dataset_size=sum(sample.sizes.values()))))


def _apply_stopping_rule(
    db: Session, data: SampleData, sample: Sample, target_half_width: float
) -> StoppingRule | None:
    """Compute the interval of key errors that may be looked at after every verdict.

    Its level must not change with later draws, so it is planned for the size of the first draw.
    """
    if len(sample.outcomes) < FIRST_LOOK:
        return None
    _, first_draw = list_draws_in_order(db, data.batches)[0]
    planned = sum(stratum.drawn for stratum in first_draw.strata)
    level = level_for_every_look(len(sample.outcomes), planned=max(1, planned))
    return StoppingRule(
        target_half_width=target_half_width,
        level=level,
        estimate=estimate_key_errors(sample, confidence=level),
    )


def estimate_assumptions(
    db: Session, *, by: Person, dataset: str, design: RiskDesign | None = None
) -> ErrorAssumptions | None:
    """Estimate the rate of faulty questions, and how strongly it follows the risk, from the reviewed sample.

    A question is faulty if it was corrected or rejected. The highest risk of the dataset counts as 1.
    ``design`` has the weights of the sources of risk; None for all sources with equal weights.

    Returns:
        The estimate for a comparison of strategies; None without a reviewed sample, a faulty question or a
        risk.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_PROGRESS)
    try:
        data = load_sample_data(db, dataset=dataset, names=None)
    except Refused:
        return None
    dataset_risks = load_dataset_risks(db, data, design=design)
    sample = build_sample(db, data, dataset_risks=dataset_risks)
    outcomes = [
        outcome for outcome in sample.outcomes if outcome.decision is not None and not outcome.key_only
    ]
    if sample.risks is None or not outcomes:
        return None
    risks, highest = sample.risks, float(dataset_risks.risks.max())
    return fit_assumptions(
        np.array([outcome.decision is not Decision.ACCEPT for outcome in outcomes]),
        np.array([risks.get(outcome.question_row_id, 0.0) / highest for outcome in outcomes]),
        sample.compute_weights(outcomes),
    )


# ------------------------------------------------------------------------------------------------ by group
def _build_samples_by_value(db: Session, data: SampleData, group: str) -> dict[str, Sample]:
    """Divide the sample by the values of a column, sorted by decreasing number of questions."""
    cells = SampleCells(db, data, data.batches)
    current_names = load_derived_names(db, dataset_id=data.dataset_id, features=(group,))
    names = {**current_names, **cells.derived_names}  # the names at the draws define the strata
    sizes: dict[str, dict[CellKey, int]] = {}
    for segment in cells.segments:
        counts = frames.count_frame(
            db, dataset_id=data.dataset_id, after=segment[0], through=segment[1],
            stratify_by=(*cells.further_columns, group), names=names, with_rejected=cells.with_rejected,
            excluded=cells.excluded,
        )  # fmt: skip
        for (tier, (*values, value)), count in counts.items():
            sizes.setdefault(value, {})[segment, tier, tuple(values)] = count
    outcomes_by_value: dict[str, list[Outcome]] = {}
    value_by_question = data.drawn_columns.feature_by_question(group, names)
    whole_sample = build_sample(db, data)
    for outcome in whole_sample.outcomes:
        outcomes_by_value.setdefault(value_by_question[outcome.question_row_id], []).append(outcome)
    ordered_values = sorted(sizes, key=lambda value: (-sum(sizes[value].values()), value))
    return {
        value or "not stated": Sample(
            names={key: format_cell_name(key) for key in sizes[value]},
            sizes=sizes[value],
            outcomes=outcomes_by_value.get(value, []),
            skipped={},
            dataset_size=sum(sizes[value].values()),
            probabilities=whole_sample.probabilities,
        )
        for value in ordered_values
    }


def _load_examples(db: Session, sample: Sample) -> dict[ErrorKind, tuple[SearchResult, ...]]:
    numbers_by_kind: dict[ErrorKind, list[int]] = {}
    for outcome in sample.outcomes:
        for kind in outcome.errors:
            numbers = numbers_by_kind.setdefault(kind, [])
            if len(numbers) < _MAX_EXAMPLES:
                numbers.append(outcome.question_row_id)
    all_row_ids = sorted({number for numbers in numbers_by_kind.values() for number in numbers})
    questions = {question.number: question for question in load_search_results(db, numbers=all_row_ids)}
    return {
        kind: tuple(questions[number] for number in numbers_by_kind[kind] if number in questions)
        for kind in ErrorKind
        if kind in numbers_by_kind
    }


def _describe_exclusions(data: SampleData) -> list[str]:
    notes = [f"Batch {name} is not included: {reason}." for name, reason in data.excluded]
    if data.rejected_in_bulk:
        verb = "was" if data.rejected_in_bulk == 1 else "were"
        notes.append(
            f"{count_text(data.rejected_in_bulk, 'question')} {verb} rejected by bulk actions since. The "
            "estimates refer to the dataset as it was when the sample was drawn; rejected questions are not "
            "included in later draws or releases."
        )
    return notes
