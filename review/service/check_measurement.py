"""Services that measure checks against the verdicts of reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from sqlmodel import Session

from domain.checks import CHECKS, Check
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from domain.verdicts import ErrorKind
from measures.subgroups import SubgroupRate, subgroup_rate
from quality.service import load_check_outcomes
from review.estimates import Sample
from review.service.sample_data import SampleData, build_sample, load_sample_data
from storage.review.outcomes import FEATURES

#: By what the measurement can be broken down, in addition to all questions together.
MEASUREMENT_GROUPS = ("batch", *(name for name in FEATURES if name in {"generator", "prompt_version"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckMeasurement:
    """How often a check and the reviewers agree on one kind of error, weighted to the sampled questions.

    ``kind`` is None for all kinds together that the check is meant for. ``group`` is the name of the part of
    the sample; "" for all. ``precision`` is the share of questions with the error among those that the check
    reports, ``recall`` the share that it reports among those with the error, and ``specificity`` the share
    that it does not report among those without. The check of a question must have run, so that the sample
    may be smaller than that of the estimates.
    """

    check: Check
    kind: ErrorKind | None
    group: str
    precision: SubgroupRate
    recall: SubgroupRate
    specificity: SubgroupRate

    @property
    def is_measured(self) -> bool:
        """Whether any question was both judged and checked."""
        return self.recall.n + self.specificity.n > 0


def measure_checks(
    db: Session, *, by: Person, dataset: str, group: str | None = None
) -> tuple[CheckMeasurement, ...]:
    """Compare checks with the outcomes of review in the random batches of a dataset.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        group: one of ``MEASUREMENT_GROUPS``; None for all questions together.

    Returns:
        For each check that is meant for kinds of errors: all its kinds together, then each kind. A check that
        has not been compared with any verdict is not measured, and has rates without an estimate.

    Raises:
        NotFound: the dataset or the group does not exist.
    """
    require(by, Action.SEE_CHECKS)
    if group is not None and group not in MEASUREMENT_GROUPS:
        raise NotFound(f"There is no group {group!r}. Choose from: {', '.join(MEASUREMENT_GROUPS)}.")
    try:
        data = load_sample_data(db, dataset=dataset, names=None)
    except Refused:  # no batch was drawn at random, so nothing is measured
        empty = Sample(names={}, sizes={}, outcomes=(), skipped={}, dataset_size=0)
        return tuple(_measure_part(db, by, dataset, name="", part=empty, weights={}))
    return tuple(
        measurement
        for name, part, weights in _divide(db, data, group)
        for measurement in _measure_part(db, by, dataset, name=name, part=part, weights=weights)
    )


def _divide(
    db: Session, data: SampleData, group: str | None
) -> Iterator[tuple[str, Sample, Mapping[int, float]]]:
    """Yield the name, the sample and the weights of each part."""
    if group == "batch":
        for batch in data.batches:
            part = build_sample(db, data, [batch])
            yield batch.name, part, _compute_weights(part)
        return
    whole = build_sample(db, data)
    weights = _compute_weights(whole)
    if group is None:
        yield "", whole, weights
        return
    value_by_question = data.drawn_columns.feature_by_question(group)
    for value in sorted({value_by_question[number] for number in weights}):
        numbers = frozenset(number for number in weights if value_by_question[number] == value)
        yield value or "not stated", _select(whole, numbers), weights


def _select(sample: Sample, numbers: frozenset[int]) -> Sample:
    """The outcomes of some questions. Their weights are those in the whole sample, so the cells stay."""
    return replace(sample, outcomes=[item for item in sample.outcomes if item.question_number in numbers])


def _measure_part(
    db: Session, by: Person, dataset: str, *, name: str, part: Sample, weights: Mapping[int, float]
) -> Iterator[CheckMeasurement]:
    # A question on which only the key was judged may have other errors, and one without a decision is open.
    judged = [item for item in part.outcomes if item.decision is not None and not item.key_only]
    outcomes = load_check_outcomes(
        db, by=by, dataset=dataset, question_numbers=[item.question_number for item in judged]
    )
    for check, declaration in CHECKS.items():
        if not declaration.error_kinds:
            continue
        checked = [item for item in judged if item.question_number in outcomes[check].checked]
        reported = np.array(
            [item.question_number in outcomes[check].reported for item in checked], dtype=bool
        )
        sample_weights = np.array([weights[item.question_number] for item in checked], dtype=np.float64)
        exams = np.array([item.exam_number for item in checked], dtype=np.int64)
        kinds = [kind for kind in ErrorKind if kind in declaration.error_kinds]
        for kind in (None, *kinds):
            looked_for = declaration.error_kinds if kind is None else frozenset({kind})
            faulty = np.array([bool(item.errors & looked_for) for item in checked], dtype=bool)
            yield CheckMeasurement(
                check=check,
                kind=kind,
                group=name,
                precision=subgroup_rate(faulty, reported, sample_weights, exams),
                recall=subgroup_rate(reported, faulty, sample_weights, exams),
                specificity=subgroup_rate(~reported, ~faulty, sample_weights, exams),
            )


def _compute_weights(sample: Sample) -> dict[int, float]:
    """The number of questions of the dataset for which each judged question stands: N / n of its cell."""
    judged = Counter(outcome.cell for outcome in sample.outcomes)
    return {
        outcome.question_number: sample.sizes[outcome.cell] / judged[outcome.cell]
        for outcome in sample.outcomes
    }
