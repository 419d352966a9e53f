"""Builds the rows of each figure, for the page and for files: labels, estimates, intervals, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from domain.count_texts import count_text
from domain.protocols import ReaderEffect, protocol_from_plain
from measures.rating_values import ALL
from measures.results import AUC, to_record
from reader_study.report.helper_rules import find_declared_rule
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.study_report import StudyReport
from reader_study.report.tables import OptionPosition, StudyAgreement

Details = TypeVar("Details")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow(Generic[Details]):
    """One row of a forest plot. ``words`` is the text at its end; without an estimate, nothing is plotted."""

    label: str
    kind: str
    details: Details
    estimate: float | None
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyDetails:
    """The numbers of an accuracy: ``correct`` of ``n`` cases of the task."""

    task: str
    n: int
    correct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceDetails:
    """The numbers of a difference.

    ``rater_only`` and ``model_only`` count the cases that only the rater, or only the model, answered
    correctly; None for the mean of the readers.
    """

    task: str
    n: int
    rater_only: int | None
    model_only: int | None
    p_exact: float | None
    p_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatDetails:
    """The share (``observed``) of the ``n`` repeats that have the same answer as the first reading."""

    n: int
    observed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDetails:
    """Median seconds of the correct and of the incorrect answers; ``n`` is the number of cases."""

    n: int
    median_right: float | None
    median_wrong: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AucDetails:
    """The number of scores of an AUC, and its standard error."""

    n: int
    se: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRow(OptionPosition):
    """The row of a position; ``more`` is its share of the choices minus its share of the keys."""

    more: float | None


def build_accuracy_rows(report: StudyReport, *, task: str = ALL) -> list[ForestRow[AccuracyDetails]]:
    """Return one row per rater, the highest accuracy first. Raters who contributed to the key are marked.

    If the protocol declares the rule leave-one-out, these readers have a second row (‡): their accuracy by
    the majority of the other contributors.
    """
    helped_raters = {profile.rater for profile in report.tables.raters if profile.set_reference}
    return _sort_descending(
        _build_row(
            f"{result.rater}{mark if result.rater in helped_raters else ''}",
            result.kind,
            AccuracyDetails(task=task, n=result.n, correct=result.correct),
            (result.estimate, result.low, result.high),
            format_value=format_percent,
            n=f"{result.correct:,}/{result.n:,}",
            note=result.note,
        )
        for mark, results in ((" †", report.tables.accuracy), (" ‡", report.tables.leave_one_out))
        for result in results
        if result.group == task
    )


def build_difference_rows(report: StudyReport, *, task: str = ALL) -> list[ForestRow[DifferenceDetails]]:
    """Return the accuracy of each rater minus that of the chosen model, on the cases that both answered.

    The first row is the comparison of the readers' mean that the protocol declares, if there is one. If the
    protocol declares the rule leave-one-out, readers who contributed to the key (‡) are compared by the
    majority of the other contributors.
    """
    model, kinds = report.facts.model, {overall.rater: overall.kind for overall in report.tables.overall}
    rows = []
    by_own_reference = report.tables.leave_one_out_paired
    replaced_pairs = {frozenset((row.a, row.b)) for row in by_own_reference}
    by_key = [row for row in report.tables.paired if frozenset((row.a, row.b)) not in replaced_pairs]
    for difference in (*by_key, *by_own_reference):
        if difference.task != task or model not in (difference.a, difference.b):
            continue
        is_model_first = difference.a == model
        sign = -1 if is_model_first else 1
        low, high = difference.low, difference.high
        if low is not None and high is not None:
            low, high = sorted((sign * low, sign * high))
        rater = difference.b if is_model_first else difference.a
        rows.append(
            _build_row(
                f"{rater}{' ‡' if frozenset((difference.a, difference.b)) in replaced_pairs else ''}",
                kinds[rater],
                DifferenceDetails(
                    task=task,
                    n=difference.n,
                    rater_only=difference.b_only if is_model_first else difference.a_only,
                    model_only=difference.a_only if is_model_first else difference.b_only,
                    p_exact=difference.p_exact,
                    p_adjusted=difference.p_adjusted,
                ),
                (None if difference.difference is None else sign * difference.difference, low, high),
                format_value=format_signed_percent,
                n=f"n {difference.n:,}",
                note=difference.note,
            )
        )
    return [*_build_mean_rows(report, task), *_sort_descending(rows)]


def _build_mean_rows(report: StudyReport, task: str) -> list[ForestRow[DifferenceDetails]]:
    """Return the mean of the readers minus the model, with the reader effect and readers of the protocol."""
    protocol = protocol_from_plain(report.facts.protocol)
    comparisons = [
        row
        for row in report.tables.mrmc
        if (row.model, row.task, row.arm, row.measure) == (report.facts.model, task, "", "accuracy")
        and row.random_readers is (protocol.readers is ReaderEffect.RANDOM)
    ]
    declared_rule = find_declared_rule(comparisons, protocol)
    return [
        _build_row(
            "Mean of the readers",
            "mean",
            DifferenceDetails(
                task=task, n=row.cases, rater_only=None, model_only=None, p_exact=row.p,
                p_adjusted=row.p_adjusted,
            ),
            (row.difference, row.low, row.high),
            format_value=format_signed_percent,
            n=f"{count_text(row.readers, 'reader')}, n {row.cases:,}",
            note=row.note,
        )
        for row in comparisons
        if row.helpers is declared_rule
    ]  # fmt: skip


def list_kappa_rows(report: StudyReport, *, task: str = ALL) -> list[StudyAgreement]:
    """Return the agreement of each pair of raters, without the key. Rows with ``few`` are shown in grey."""
    key = report.facts.settings.reference
    return [
        agreement
        for agreement in report.tables.agreement
        if agreement.task == task and key not in (agreement.a, agreement.b)
    ]


def build_repeat_rows(report: StudyReport) -> list[ForestRow[RepeatDetails]]:
    """Return the kappa of each reader's first answers and the same reader's answers to hidden repeats."""
    return [
        _build_row(
            repeat.rater,
            "reader",
            RepeatDetails(n=repeat.n, observed=repeat.observed),
            (repeat.kappa, repeat.low, repeat.high),
            format_value=format_decimal,
            n=f"agreed {repeat.observed:.0%}, n {repeat.n:,}",
            note=repeat.note,
        )
        for repeat in report.tables.repeats
    ]


def build_auc_rows(report: StudyReport) -> list[ForestRow[AucDetails]]:
    """Return the AUC over all tasks of each rater who stated confidences or probabilities, highest first."""
    return _sort_descending(
        _build_row(
            result.rater,
            result.kind,
            AucDetails(n=result.n, se=result.se),
            (result.estimate, result.low, result.high),
            format_value=format_decimal,
            n=f"n {result.n:,}",
            note=result.note,
        )
        for result in report.tables.diagnostic
        if result.measure == AUC and result.task == ALL
    )


def build_time_rows(report: StudyReport) -> list[ForestRow[TimeDetails]]:
    """Return the median seconds per case of each rater, with quartiles."""
    kinds = {overall.rater: overall.kind for overall in report.tables.overall}
    return [
        _build_row(
            times.rater,
            kinds.get(times.rater, "reader"),
            TimeDetails(n=times.n, median_right=times.median_right, median_wrong=times.median_wrong),
            (times.median, times.quartile_1, times.quartile_3),
            format_value=format_seconds,
            n=f"n {times.n:,}",
        )
        for times in report.tables.times
    ]


def build_place_rows(report: StudyReport) -> list[PlaceRow]:
    """Return the shares of each rater's choices and of the keys at each position, and their difference."""
    return [
        PlaceRow(
            **to_record(place),
            more=None if place.chosen_share is None else place.chosen_share - place.key_share,
        )
        for place in report.tables.positions
    ]


def format_percent(value: float) -> str:
    return f"{value * 100:.2f}"


def format_signed_percent(value: float) -> str:
    return f"{round(value * 100, 2) + 0.0:+.2f}"  # adding 0 turns -0 into 0


def format_decimal(value: float) -> str:
    return f"{value:.2f}"


def format_seconds(value: float) -> str:
    return f"{value:.1f}"


def _build_row(
    label: str,
    kind: str,
    details: Details,
    points: tuple[float | None, float | None, float | None],
    *,
    format_value: Callable[[float], str],
    n: str,
    note: str = "",
) -> ForestRow[Details]:
    """Build a row with the text of its estimate and interval. ``points`` is (estimate, low, high)."""
    value, low, high = points
    if value is None:
        reason = note or "not defined"
        if not reason.startswith("not defined") and not is_withheld(reason):
            reason = f"not defined: {reason}"
        words = f"{reason}, {n}"
    else:
        interval = "" if low is None or high is None else f" [{format_value(low)}, {format_value(high)}]"
        words = f"{format_value(value)}{interval}  {n}"
    return ForestRow(label=label, kind=kind, details=details, estimate=value, low=low, high=high, words=words)


def _sort_descending(rows: Iterable[ForestRow[Details]]) -> list[ForestRow[Details]]:
    return sorted(rows, key=lambda row: (-(row.estimate if row.estimate is not None else -9), row.label))
