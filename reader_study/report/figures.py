"""The figures of a report, by file name, with the data that they show."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from domain.count_texts import count_text
from domain.errors import NotFound
from domain.protocols import AgreementBasis
from measures.rating_values import ALL
from measures.results import AUC
from reader_study.report import rows
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.rows import ForestRow, PlaceRow
from reader_study.report.study_report import StudyReport
from reader_study.report.svg import (
    Axis,
    Bar,
    GridCell,
    PanelPoint,
    draw_bars,
    draw_flow,
    draw_forest,
    draw_grid,
    draw_panels,
)
from reader_study.report.tables import ConfusionCell, Participation, StudyAgreement

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure. ``rows`` has its numbers without rounding, and ``svg`` is the drawing.

    ``subject`` is the task or rater of the figure; empty if there is only one figure of its kind.
    """

    name: str
    subject: str
    rows: Sequence[DataclassInstance]
    svg: str


def list_figure_names(report: StudyReport) -> tuple[str, ...]:
    """Return the names of the figures in order of display: ``accuracy-all``, ``accuracy-presence``, …."""
    return tuple(_build_figure_makers(report))


def draw_figure(report: StudyReport, name: str) -> Figure:
    """Draw one figure.

    Raises:
        NotFound: the report has no figure with this name.
    """
    makers = _build_figure_makers(report)
    if name not in makers:
        raise NotFound(f"This report has no figure {name!r}. Available: {', '.join(makers)}.")
    figure_rows, svg = makers[name](report)
    return Figure(name=name, subject=_get_subject(makers[name]), rows=figure_rows, svg=svg)


def draw_figures(report: StudyReport) -> tuple[Figure, ...]:
    """Draw all figures, in order of display."""
    return tuple(draw_figure(report, name) for name in list_figure_names(report))


def make_figure_name(kind: str, subject: str = ALL) -> str:
    """Return the file name of a figure of a task or rater: ``kappa-all``, ``accuracy-presence``.

    If ``subject`` has characters other than ASCII letters and digits, a part of its hash is appended, so that
    names are unique.
    """
    plain = "".join(
        character if character.isascii() and character.isalnum() else "-" for character in subject
    )
    if plain != subject:
        plain = f"{plain}-{hashlib.sha256(subject.encode()).hexdigest()[:6]}"
    return f"{kind}-{plain}"


def _get_subject(make: Callable[[StudyReport], _Drawing]) -> str:
    """Return the task or rater that is bound to the function of a figure; empty if there is none."""
    return next(iter(make.keywords.values()), "") if isinstance(make, partial) else ""


_Drawing = tuple["Sequence[DataclassInstance]", str]


def _build_figure_makers(report: StudyReport) -> dict[str, Callable[[StudyReport], _Drawing]]:
    tasks = list(dict.fromkeys(row.group for row in report.tables.accuracy))
    makers: dict[str, Callable[[StudyReport], _Drawing]] = {"flow": _draw_flow}
    for task in tasks:
        makers[make_figure_name("accuracy", task)] = partial(_draw_accuracy, task=task)
    if report.facts.model is not None:
        for task in tasks:
            makers[make_figure_name("differences", task)] = partial(_draw_differences, task=task)
    for task in dict.fromkeys(row.task for row in report.tables.agreement):
        makers[make_figure_name("kappa", task)] = partial(_draw_kappa, task=task)
    if any(row.measure == AUC for row in report.tables.diagnostic):
        makers["auc"] = _draw_auc
    for name, (table, make) in _SINGLE_FIGURES.items():
        if getattr(report.tables, table):
            makers[name] = make
    for rater in dict.fromkeys(row.rater for row in report.tables.confusion):
        makers[make_figure_name("confusion", rater)] = partial(_draw_confusion, rater=rater)
    return makers


def _draw_accuracy(report: StudyReport, *, task: str) -> _Drawing:
    figure_rows = rows.build_accuracy_rows(report, task=task)
    symbol_notes = ""
    if any("†" in row.label for row in figure_rows):
        symbol_notes = " †: contributed to the answer key."
    symbol_notes += _format_leave_one_out_note(figure_rows)
    svg = draw_forest(
        figure_rows,
        title=f"Accuracy (%): {_describe_task(task)}",
        caption=(
            f"{_describe_study(report)}{_format_confidence(report)} intervals (Wilson, by exam where exams "
            f"repeat). Overlap does not show whether two raters differ.{symbol_notes} Diamond: reader; "
            "square: model."
        ),
        axis=Axis(low=0.0, high=1.0, ticks=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    )
    return figure_rows, svg


def _draw_differences(report: StudyReport, *, task: str) -> _Drawing:
    figure_rows = rows.build_difference_rows(report, task=task)
    axis_limit = _compute_axis_limit(figure_rows)
    svg = draw_forest(
        figure_rows,
        title=f"Accuracy minus {report.facts.model} (percentage points): {_describe_task(task)}",
        caption=(
            f"{_describe_study(report)}Paired by case, with {_format_confidence(report)} intervals (Tango, "
            "by exam where exams repeat), not adjusted for multiple comparisons. Mean of the readers: the "
            "comparison that the protocol declares, with its own interval."
            f"{_format_leave_one_out_note(figure_rows)}"
        ),
        axis=Axis(
            low=-axis_limit,
            high=axis_limit,
            ticks=tuple(axis_limit * factor / 2 for factor in (-2, -1, 0, 1, 2)),
            zero=0.0,
        ),
    )
    return figure_rows, svg


def _format_leave_one_out_note(figure_rows: Sequence[rows.ForestRow[Any]]) -> str:
    """Return the note on readers who are scored by a reference made without them; "" if there are none."""
    if not any("‡" in row.label for row in figure_rows):
        return ""
    return " ‡: by the majority of the others who contributed to the answer key."


def _draw_accuracy_bars(report: StudyReport) -> _Drawing:
    results = report.tables.accuracy
    kinds = {result.rater: result.kind for result in results}
    shades = {}
    for kind, sign in (("reader", -1), ("model", 1)):
        raters = [rater for rater, rater_kind in kinds.items() if rater_kind == kind]
        for index, rater in enumerate(raters, start=1):
            shades[rater] = sign * (0.1 + 0.6 * index / len(raters))
    groups: dict[str, list[Bar]] = {}
    for rater in shades:
        for result in (row for row in results if row.rater == rater):
            tooltip = f"{rater}, {_describe_task(result.group)}: {result.correct:,} of {result.n:,}"
            groups.setdefault(_describe_task(result.group), []).append(
                Bar(rater=rater, estimate=result.estimate, low=result.low, high=result.high, tooltip=tooltip)
            )
    svg = draw_bars(
        groups,
        shades,
        title="Accuracy by task (%)",
        caption=(
            f"{_describe_study(report)}{_format_confidence(report)} intervals (Wilson, by exam where exams "
            "repeat). Overlap does not show whether two raters differ. Orange: readers; blue: models."
        ),
    )
    return results, svg


def _compute_axis_limit(forest_rows: Sequence[ForestRow[Any]]) -> float:
    """Return the limit of the symmetric axis of differences: a multiple of 0.1 (10 points), at least 0.1."""
    values = [
        abs(value) for row in forest_rows for value in (row.low, row.high, row.estimate) if value is not None
    ]
    return max([0.1, *(math.ceil(float(end) * 10) / 10 for end in values)])


def _draw_kappa(report: StudyReport, *, task: str) -> _Drawing:
    figure_rows = rows.list_kappa_rows(report, task=task)
    names = _order_raters(report, figure_rows)
    cells = _build_kappa_cells(figure_rows)
    has_grey = any(cell.shade is None for cell in cells.values())
    grey = f"Grey: not defined, or n below {report.facts.needed_cases}. " if has_grey else ""
    svg = draw_grid(
        names,
        names,
        cells,
        title=f"Cohen's kappa: {_describe_task(task)}",
        caption=(
            f"{_describe_study(report)}Each cell: kappa, {_format_confidence(report)} interval, percent "
            f"agreement, and n, the cases that both answered. {grey}{_explain_kappa(report)}"
        ),
        legend=((0.0, "0 or less"), (0.2, "0.2"), (0.4, "0.4"), (0.6, "0.6"), (0.8, "0.8"), (1.0, "1")),
    )
    return figure_rows, svg


def _build_kappa_cells(figure_rows: Sequence[StudyAgreement]) -> dict[tuple[str, str], GridCell]:
    """Return the cells of all pairs of raters, in both directions."""
    cells = {}
    for agreement in figure_rows:
        missing_text = "too few cases" if is_withheld(agreement.note) else "not defined"
        lines = [missing_text if agreement.kappa is None else f"{agreement.kappa:.2f}"]
        if agreement.low is not None:
            lines.append(f"{agreement.low:.2f} to {agreement.high:.2f}")
        percent = "" if agreement.observed is None else f"{agreement.observed:.0%}, "
        lines.append(f"{percent}n {agreement.n:,}")
        tooltip = (
            f"{agreement.a} and {agreement.b}:"
            f" {'; '.join(filter(None, (agreement.interval, agreement.note)))}"
        )
        shade = None if agreement.few or agreement.kappa is None else max(0.0, agreement.kappa)
        cell = GridCell(lines=tuple(lines), shade=shade, tooltip=tooltip)
        cells[agreement.a, agreement.b] = cells[agreement.b, agreement.a] = cell
    return cells


def _order_raters(report: StudyReport, agreements: Sequence[StudyAgreement]) -> list[str]:
    """Return the raters of these pairs: readers first, then models, then arms by name."""
    rater_names = {name for agreement in agreements for name in (agreement.a, agreement.b)}
    raters_without_arm = [row.rater for row in report.tables.raters if row.rater in rater_names]
    return [*raters_without_arm, *sorted(rater_names - set(raters_without_arm))]


def _explain_kappa(report: StudyReport) -> str:
    """Describe what kappa is computed from and how models are counted."""
    basis = (
        "Computed from the correctness of the answers: both correct, or both incorrect."
        if report.facts.settings.agreement_basis == AgreementBasis.CORRECTNESS
        else "Computed from the answers, not from their correctness."
    )
    if not report.facts.models:
        return basis
    failed = "missing" if report.facts.settings.missing_in_agreement is not None else "a separate category"
    return (
        f"{basis} A model is treated like a reader. Its replies from which no answer could be read count as "
        f"{failed}."
    )


def _draw_flow(report: StudyReport) -> _Drawing:
    facts, participation = report.facts, report.tables.participation
    training = count_text(facts.design.training, "training case")
    top = [
        [
            count_text(facts.cases, "scored case"),
            count_text(facts.design.exams, "exam"),
            *([f"{training}, not scored"] if facts.design.training else []),
        ],
        [
            f"{count_text(facts.cases_analysed, 'case')} analysed",
            f"{count_text(facts.design.excluded_cases, 'case')} excluded from all analyses",
        ],
    ]
    columns = [top]
    for kind, name in (("reader", "reader"), ("model", "model")):
        rows_of_kind = [row for row in participation if row.kind == kind]
        if rows_of_kind:
            columns.append(_build_flow_boxes(rows_of_kind, name))
    svg = draw_flow(
        columns,
        title="Flow of cases and answers",
        caption=(
            f"{_describe_study(report)}Answers to scored cases, without hidden repeats. “Cannot determine” "
            "and replies without a recognised answer are analysed by the rules of the protocol."
        ),
    )
    return participation, svg


def _build_flow_boxes(participation: Sequence[Participation], name: str) -> list[list[str]]:
    """Return the boxes of the readers or of the models: assigned, then analysed answers."""
    total = {
        field.name: sum(getattr(row, field.name) for row in participation)
        for field in fields(Participation)
        if field.name not in ("rater", "kind")
    }
    lost = [
        f"{total['missing']:,} missing",
        f"{total['excluded']:,} excluded",
        *([f"{total['only_reported']:,} reported as faulty instead of answered"] if name == "reader" else []),
    ]
    return [
        [count_text(len(participation), name), f"{total['assigned']:,} answers expected", *lost],
        [
            f"{total['analysed']:,} answers analysed",
            f"“cannot determine”: {total['undetermined']:,}"
            if name == "reader"
            else f"replies without a recognised answer: {total['failed']:,}",
        ],
    ]


def _draw_repeats(report: StudyReport) -> _Drawing:
    figure_rows = rows.build_repeat_rows(report)
    svg = draw_forest(
        figure_rows,
        title="Intra-reader agreement: kappa on hidden repeats",
        caption=(
            f"{_describe_study(report)}{_format_confidence(report)} intervals. Repeats are not used "
            "elsewhere."
        ),
        axis=Axis(low=-0.2, high=1.0, ticks=(-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0), factor=1.0, zero=0.0),
    )
    return figure_rows, svg


def _draw_times(report: StudyReport) -> _Drawing:
    figure_rows = rows.build_time_rows(report)
    longest = max(row.high or 0.0 for row in figure_rows)
    step = next(
        candidate
        for candidate in (0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6)
        if longest <= 6 * candidate
    )
    ticks = tuple(step * index for index in range(round(-(-longest // step)) + 1))
    svg = draw_forest(
        figure_rows,
        title="Seconds per case",
        caption=f"{_describe_study(report)}Median [quartiles]; for readers, of the viewing time.",
        axis=Axis(low=0.0, high=max(ticks[-1], step), ticks=ticks, factor=1.0),
    )
    return figure_rows, svg


def _draw_learning(report: StudyReport) -> _Drawing:
    quarters = report.tables.learning
    names = list(dict.fromkeys(quarter.rater for quarter in quarters))
    svg = draw_panels(
        {
            name: [
                PanelPoint(
                    label=f"{quarter.quarter}",
                    lines=(f"n {quarter.n}", _format_seconds(quarter.median_seconds)),
                    estimate=quarter.estimate,
                    low=quarter.low,
                    high=quarter.high,
                )
                for quarter in quarters
                if quarter.rater == name
            ]
            for name in names
        },
        title="Accuracy by quarter of the reading order (%)",
        caption=(
            f"{_describe_study(report)}{_format_confidence(report)} Wilson intervals. Below: n and median "
            "seconds per case."
        ),
    )
    return quarters, svg


def _format_seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f} s"


def _draw_reliability(report: StudyReport) -> _Drawing:
    levels = report.tables.confidence
    names = list(dict.fromkeys(level.rater for level in levels))
    svg = draw_panels(
        {
            name: [
                PanelPoint(
                    label=f"{level.confidence}",
                    lines=(f"n {level.n}",),
                    estimate=level.estimate,
                    low=level.low,
                    high=level.high,
                )
                for level in levels
                if level.rater == name
            ]
            for name in names
        },
        title="Accuracy by stated confidence (%)",
        caption=(
            f"{_describe_study(report)}1: a guess; 5: certain. {_format_confidence(report)} Wilson "
            "intervals, clustered by patient or exam. A reader whose confidence is informative is more often "
            "correct at higher levels."
        ),
    )
    return levels, svg


def _draw_calibration(report: StudyReport) -> _Drawing:
    bins = [row for row in report.tables.calibration_bins if row.task == ALL]
    notes = {}
    for error in report.tables.calibration:
        if error.task == ALL:
            interval = "" if error.low is None else f" [{error.low:.3f}, {error.high:.3f}]"
            notes[error.rater] = f"ECE {error.ece:.3f}{interval}, n {error.n:,}"
    svg = draw_panels(
        {
            rater: [
                PanelPoint(
                    label=f"{100 * row.mean_confidence:.0f}",
                    lines=(f"{row.n:,}",),
                    estimate=row.estimate,
                    low=row.low,
                    high=row.high,
                    expected=row.mean_confidence,
                )
                for row in bins
                if row.rater == rater
            ]
            for rater in notes
        },
        title="Accuracy by stated probability (%)",
        caption=(
            f"{_describe_study(report)}Bins of the stated probability that the answer is correct. Line, and "
            "first number below: mean stated probability; square: accuracy with its "
            f"{_format_confidence(report)} interval (Wilson, by patient or exam); second number: answers. A "
            "calibrated model's accuracy is at the line. ECE: expected calibration error."
        ),
        notes=notes,
        kind="model",
    )
    return bins, svg


def _draw_auc(report: StudyReport) -> _Drawing:
    figure_rows = rows.build_auc_rows(report)
    svg = draw_forest(
        figure_rows,
        title="Area under the ROC curve",
        caption=(
            f"{_describe_study(report)}Yes/no questions, from the stated confidence or probability; "
            f"{_format_confidence(report)} intervals (DeLong, by patient or exam). .5: chance."
        ),
        axis=Axis(low=0.0, high=1.0, ticks=(0.0, 0.25, 0.5, 0.75, 1.0), factor=1.0, zero=0.5),
    )
    return figure_rows, svg


def _draw_confusion(report: StudyReport, *, rater: str) -> _Drawing:
    figure_rows = [row for row in report.tables.confusion if row.rater == rater]
    svg = draw_grid(
        sorted({row.key for row in figure_rows}),
        sorted({row.answer for row in figure_rows}),
        _build_confusion_cells(figure_rows),
        title=f"Answer key (rows) and answer (columns): {rater}",
        caption=(
            f"{_describe_study(report)}Single-choice and yes/no questions. Letters in the original order of "
            "the options; shares of the row."
        ),
    )
    return figure_rows, svg


def _build_confusion_cells(figure_rows: Sequence[ConfusionCell]) -> dict[tuple[str, str], GridCell]:
    """Return one cell per key and answer of one rater."""
    return {
        (row.key, row.answer): GridCell(
            lines=(f"{row.share:.0%}", f"{row.count:,} of {row.n:,}"), shade=row.share
        )
        for row in figure_rows
    }


def _draw_places(report: StudyReport) -> _Drawing:
    figure_rows = rows.build_place_rows(report)
    svg = draw_grid(
        list(dict.fromkeys(row.rater for row in figure_rows)),
        [f"position {place}" for place in sorted({row.place for row in figure_rows})],
        _build_place_cells(figure_rows),
        title="Option position: chosen minus correct (percentage points)",
        caption=(
            f"{_describe_study(report)}Below: share of the chosen options / share of the answer keys of n "
            "questions at the position. Positions as shown: in the shuffled order for readers, in the "
            "original order for models."
        ),
    )
    return figure_rows, svg


def _build_place_cells(figure_rows: Sequence[PlaceRow]) -> dict[tuple[str, str], GridCell]:
    """Return one cell per rater and position of an option."""
    return {
        (row.rater, f"position {row.place}"): GridCell(
            lines=(
                "none" if row.more is None else f"{row.more * 100:+.1f}",
                f"{'none' if row.chosen_share is None else f'{row.chosen_share:.0%}'} / {row.key_share:.0%}",
                f"n {row.n:,}",
            ),
            shade=None if row.more is None else max(-1.0, min(1.0, row.more * 4)),
            tooltip=f"{row.rater}: chosen {row.chosen:,}, correct {row.key_here:,}",
        )
        for row in figure_rows
    }


#: The figures that exist only once, each with the table that must not be empty.
_SINGLE_FIGURES: dict[str, tuple[str, Callable[[StudyReport], _Drawing]]] = {
    "bars": ("accuracy", _draw_accuracy_bars),
    "repeats": ("repeats", _draw_repeats),
    "times": ("times", _draw_times),
    "learning": ("learning", _draw_learning),
    "reliability": ("confidence", _draw_reliability),
    "calibration": ("calibration", _draw_calibration),
    "places": ("positions", _draw_places),
}


def _describe_task(task: str) -> str:
    return "all tasks" if task == ALL else task


def _format_confidence(report: StudyReport) -> str:
    return f"{report.facts.settings.confidence:.0%}"


def _describe_study(report: StudyReport) -> str:
    simulated = "SIMULATED. " if report.facts.simulated else ""
    return f"{simulated}{report.facts.study}. "
