"""The rows of each figure, on the page and in a file: labels, estimates, intervals, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from measures.ratings import ALL
from measures.results import to_record
from reader_study.report.study_report import StudyReport
from reader_study.report.tables import OptionPlace, StudyAgreement

Details = TypeVar("Details")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow(Generic[Details]):
    """One line of a forest plot; ``words`` are shown at its end, and alone without an estimate."""

    label: str
    kind: str
    details: Details
    estimate: float | None
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyDetails:
    """``correct`` of ``n`` cases of the task."""

    task: str
    n: int
    correct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceDetails:
    """``rater_only`` and ``model_only``: cases that only the rater, or only the model, answered correctly."""

    task: str
    n: int
    rater_only: int
    model_only: int
    p_exact: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatDetails:
    """The share of ``n`` repeats with the same answer."""

    n: int
    observed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDetails:
    """Median seconds of the correct and of the incorrect answers, among ``n`` cases."""

    n: int
    median_right: float | None
    median_wrong: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRow(OptionPlace):
    """``more``: the share of choices of the place minus the share of keys there."""

    more: float | None


def accuracy_rows(report: StudyReport, *, task: str = ALL) -> list[ForestRow[AccuracyDetails]]:
    """One row per rater, the highest first; raters who helped to set the key are marked."""
    helped = {each.rater for each in report.tables.raters if each.set_reference}
    return _falling(
        _row(
            f"{each.rater}{' †' if each.rater in helped else ''}",
            each.kind,
            AccuracyDetails(task=task, n=each.n, correct=each.correct),
            (each.estimate, each.low, each.high),
            written=per_cent,
            n=f"{each.correct:,}/{each.n:,}",
            note=each.note,
        )
        for each in report.tables.accuracy
        if each.group == task
    )


def difference_rows(report: StudyReport, *, task: str = ALL) -> list[ForestRow[DifferenceDetails]]:
    """Each rater minus the chosen model, on the cases that both answered."""
    model, kinds = report.facts.model, {each.rater: each.kind for each in report.tables.overall}
    rows = []
    for each in report.tables.paired:
        if each.task != task or model not in (each.a, each.b):
            continue
        turned = each.a == model
        sign = -1 if turned else 1
        low, high = each.low, each.high
        if low is not None and high is not None:
            low, high = sorted((sign * low, sign * high))
        other = each.b if turned else each.a
        rows.append(
            _row(
                other,
                kinds[other],
                DifferenceDetails(
                    task=task,
                    n=each.n,
                    rater_only=each.b_only if turned else each.a_only,
                    model_only=each.a_only if turned else each.b_only,
                    p_exact=each.p_exact,
                    p_holm=each.p_holm,
                ),
                (None if each.difference is None else sign * each.difference, low, high),
                written=per_cent_signed,
                n=f"n {each.n:,}",
                note=each.note,
            )
        )
    return _falling(rows)


def kappa_rows(report: StudyReport, *, task: str = ALL) -> list[StudyAgreement]:
    """The agreement of each pair of raters, without the key; those with ``few`` cases are shown in grey."""
    key = report.facts.settings.reference
    return [each for each in report.tables.agreement if each.task == task and key not in (each.a, each.b)]


def repeat_rows(report: StudyReport) -> list[ForestRow[RepeatDetails]]:
    """Kappa of each reader's first answers with their answers to hidden repeats."""
    return [
        _row(
            each.rater,
            "reader",
            RepeatDetails(n=each.n, observed=each.observed),
            (each.kappa, each.low, each.high),
            written=plain,
            n=f"agreed {each.observed:.0%}, n {each.n:,}",
            note=each.note,
        )
        for each in report.tables.repeats
    ]


def time_rows(report: StudyReport) -> list[ForestRow[TimeDetails]]:
    """Median seconds per case with quartiles."""
    kinds = {each.rater: each.kind for each in report.tables.overall}
    return [
        _row(
            each.rater,
            kinds.get(each.rater, "reader"),
            TimeDetails(n=each.n, median_right=each.median_right, median_wrong=each.median_wrong),
            (each.median, each.quarter_1, each.quarter_3),
            written=seconds,
            n=f"n {each.n:,}",
        )
        for each in report.tables.times
    ]


def place_rows(report: StudyReport) -> list[PlaceRow]:
    """How much more often each rater chose a place than the key was there."""
    return [
        PlaceRow(
            **to_record(each),
            more=None if each.chosen_share is None else each.chosen_share - each.key_share,
        )
        for each in report.tables.positions
    ]


def per_cent(value: float) -> str:
    return f"{value * 100:.2f}"


def per_cent_signed(value: float) -> str:
    return f"{value * 100:+.2f}"


def plain(value: float) -> str:
    return f"{value:.2f}"


def seconds(value: float) -> str:
    return f"{value:.1f}"


def _row(
    label: str,
    kind: str,
    details: Details,
    points: tuple[float | None, float | None, float | None],
    *,
    written: Callable[[float], str],
    n: str,
    note: str = "",
) -> ForestRow[Details]:
    """The row, with its estimate and interval (``points``) also as text."""
    value, low, high = points
    if value is None:
        why = note or "not defined"
        words = f"{why if why.startswith('not defined') else f'not defined: {why}'}, {n}"
    else:
        interval = "" if low is None or high is None else f" [{written(low)}, {written(high)}]"
        words = f"{written(value)}{interval}  {n}"
    return ForestRow(label=label, kind=kind, details=details, estimate=value, low=low, high=high, words=words)


def _falling(rows: Iterable[ForestRow[Details]]) -> list[ForestRow[Details]]:
    return sorted(rows, key=lambda row: (-(row.estimate if row.estimate is not None else -9), row.label))
