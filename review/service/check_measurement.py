"""Services that measure checks against the verdicts of reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from sqlmodel import Session

from domain.checks import CHECKS, Check
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from domain.verdicts import FLAG_IDS, ErrorKind
from measures.subgroups import subgroup_rate
from quality.service import load_check_outcomes, load_check_report
from records.columns import LatestVerdicts
from review.check_measurement import CheckMeasurement
from review.check_measurement_text import format_card_of_checks
from review.estimates import Outcome, Sample
from review.service.sample_data import SampleData, build_sample, load_sample_data
from storage.review.outcomes import FEATURES

#: The columns by which questions can be grouped.
MEASUREMENT_GROUPS = ("batch", *(name for name in FEATURES if name in {"generator", "prompt_version"}))
#: The yes/no fields that checks are compared with.
_FLAGS = tuple(
    declaration.verdict_field for declaration in CHECKS.values() if declaration.verdict_field is not None
)


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
        For each check, in order: one measurement against its yes/no field, if it has one; one against all its
        kinds of errors together; and one against each kind. The rates of a check without any compared verdict
        have no estimate.

    Raises:
        NotFound: the dataset or the group does not exist.
    """
    require(by, Action.SEE_CHECKS)
    if group is not None and group not in MEASUREMENT_GROUPS:
        raise NotFound(f"There is no group {group!r}. Choose from: {', '.join(MEASUREMENT_GROUPS)}.")
    try:
        data = load_sample_data(db, dataset=dataset, names=None, flags=True)
    except Refused:  # no batch was drawn at random, so nothing is measured
        empty = Sample(names={}, sizes={}, outcomes=(), skipped={}, dataset_size=0)
        return tuple(_measure_part(db, by, dataset, name="", part=empty, weights={}, answered_no_by_flag={}))
    answered_no_by_flag = {flag: _find_majority_no(data.judgements.latest_verdicts, flag) for flag in _FLAGS}
    return tuple(
        measurement
        for name, part, weights in _divide_sample(db, data, group)
        for measurement in _measure_part(
            db, by, dataset, name=name, part=part, weights=weights, answered_no_by_flag=answered_no_by_flag
        )
    )


def format_data_card_measurements(
    db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the lines of a data card on the checks that have run.

    They are empty if no check has run or the dataset has no random batch.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        batches: the names of the batches whose verdicts count; None for all.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    lines = load_check_report(db, by=by, dataset=dataset).lines
    versions = {line.check: line.state.version for line in lines if line.state.is_on and line.state.version}
    if not versions:
        return ()
    try:
        data = load_sample_data(db, dataset=dataset, names=batches, flags=True)
    except Refused:
        return ()
    answered_no_by_flag = {flag: _find_majority_no(data.judgements.latest_verdicts, flag) for flag in _FLAGS}
    sample = build_sample(db, data)
    measurements = [
        measurement
        for measurement in _measure_part(
            db,
            by,
            dataset,
            name="",
            part=sample,
            weights=_compute_weights(sample),
            answered_no_by_flag=answered_no_by_flag,
        )
        if measurement.kind is None and measurement.check in versions
    ]
    return format_card_of_checks(measurements, versions)


def _divide_sample(
    db: Session, data: SampleData, group: str | None
) -> Iterator[tuple[str, Sample, Mapping[int, float]]]:
    """Yield the name, the sample and the weights of each part."""
    if group == "batch":
        for batch in data.batches:
            part = build_sample(db, data, [batch])
            yield batch.name, part, _compute_weights(part)
        return
    whole_sample = build_sample(db, data)
    weights = _compute_weights(whole_sample)
    if group is None:
        yield "", whole_sample, weights
        return
    value_by_question = data.drawn_columns.feature_by_question(group, {})
    for value in sorted({value_by_question[number] for number in weights}):
        numbers = frozenset(number for number in weights if value_by_question[number] == value)
        yield value or "not stated", _select_outcomes(whole_sample, numbers), weights


def _select_outcomes(sample: Sample, numbers: frozenset[int]) -> Sample:
    """Select the outcomes of some questions; the strata and therefore the weights do not change."""
    return replace(
        sample, outcomes=[outcome for outcome in sample.outcomes if outcome.question_row_id in numbers]
    )


def _measure_part(
    db: Session,
    by: Person,
    dataset: str,
    *,
    name: str,
    part: Sample,
    weights: Mapping[int, float],
    answered_no_by_flag: Mapping[str, Mapping[int, bool]],
) -> Iterator[CheckMeasurement]:
    # Left out: questions judged only for the key, which may have other errors, and undecided questions.
    judged = [outcome for outcome in part.outcomes if outcome.decision is not None and not outcome.key_only]
    outcomes = load_check_outcomes(
        db, by=by, dataset=dataset, question_row_ids=[outcome.question_row_id for outcome in judged]
    )
    for check, declaration in CHECKS.items():
        checked = [outcome for outcome in judged if outcome.question_row_id in outcomes[check].checked]
        if declaration.verdict_field is not None:
            answered = answered_no_by_flag.get(declaration.verdict_field, {})
            checked = [outcome for outcome in checked if outcome.question_row_id in answered]
            faulty = [answered[outcome.question_row_id] for outcome in checked]
            yield _compare(check, None, name, checked, faulty, outcomes[check].reported, weights)
        if not declaration.error_kinds:
            continue
        kinds = [kind for kind in ErrorKind if kind in declaration.error_kinds]
        for kind in (None, *kinds):
            searched_kinds = declaration.error_kinds if kind is None else frozenset({kind})
            faulty = [bool(outcome.errors & searched_kinds) for outcome in checked]
            yield _compare(check, kind, name, checked, faulty, outcomes[check].reported, weights)


def _compare(  # noqa: PLR0917 - the columns of one comparison
    check: Check,
    kind: ErrorKind | None,
    group: str,
    checked: Sequence[Outcome],
    is_faulty: Sequence[bool],
    reported_row_ids: frozenset[int],
    weights: Mapping[int, float],
) -> CheckMeasurement:
    faulty = np.array(is_faulty, dtype=bool)
    reported = np.array([outcome.question_row_id in reported_row_ids for outcome in checked], dtype=bool)
    sample_weights = np.array([weights[outcome.question_row_id] for outcome in checked], dtype=np.float64)
    clusters = np.array([outcome.cluster for outcome in checked], dtype=np.int64)
    return CheckMeasurement(
        check=check,
        kind=kind,
        group=group,
        precision=subgroup_rate(faulty, reported, sample_weights, clusters),
        recall=subgroup_rate(reported, faulty, sample_weights, clusters),
        specificity=subgroup_rate(~reported, ~faulty, sample_weights, clusters),
    )


def _find_majority_no(verdicts: LatestVerdicts, flag: str) -> dict[int, bool]:
    """Return whether most reviewers answered a yes/no field with "no", by question.

    A question with as many "yes" as "no", or without an answer, is left out.
    """
    rows = verdicts.find_latest_rows()
    answers = verdicts.flags[rows, FLAG_IDS.index(flag)]
    balance: Counter[int] = Counter()
    for number, answer in zip(verdicts.questions[rows].tolist(), answers.tolist(), strict=True):
        balance[number] += {1: 1, 0: -1}.get(answer, 0)
    return {number: surplus < 0 for number, surplus in balance.items() if surplus}


def _compute_weights(sample: Sample) -> dict[int, float]:
    """Return the number of questions of the dataset for which each judged question stands."""
    weights = sample.compute_weights(sample.outcomes).tolist()
    return {outcome.question_row_id: weight for outcome, weight in zip(sample.outcomes, weights, strict=True)}
