"""The figures of a report, by file name, with the rows that they are drawn from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from domain.errors import NotFound
from measures.ratings import ALL
from reader_study.report import rows
from reader_study.report.rows import ForestRow, PlaceRow
from reader_study.report.study_report import FEW, StudyReport
from reader_study.report.svg import Axis, Square, forest, grid, panels
from reader_study.report.tables import ConfusionCell, StudyAgreement

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure; ``rows`` contain all of its numbers without rounding, ``svg`` is the drawing.

    ``of`` is the name of its task or rater; empty if there is only one figure of the kind.
    """

    name: str
    of: str
    rows: Sequence[DataclassInstance]
    svg: str


def figure_names(report: StudyReport) -> tuple[str, ...]:
    """The names of the figures, in the order of display: ``accuracy``, ``accuracy-presence``, …."""
    return tuple(_makers(report))


def figure_of(report: StudyReport, name: str) -> Figure:
    """Draw one figure.

    Raises:
        NotFound: the report has no figure of that name.
    """
    makers = _makers(report)
    if name not in makers:
        raise NotFound(f"This report has no figure {name!r}; there are {', '.join(makers)}.")
    found, svg = makers[name](report)
    return Figure(name=name, of=_named(makers[name]), rows=found, svg=svg)


def figures_of(report: StudyReport) -> tuple[Figure, ...]:
    """All figures, in the order of display."""
    return tuple(figure_of(report, name) for name in figure_names(report))


def figure_name(kind: str, what: str = ALL) -> str:
    """The file name of a figure of a task or rater: ``kappa-all``, ``accuracy-presence``.

    If ``what`` has other characters than ASCII letters and digits, a part of its hash is added, so that
    names stay distinct.
    """
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in what)
    if plain != what:
        plain = f"{plain}-{hashlib.sha256(what.encode()).hexdigest()[:6]}"
    return f"{kind}-{plain}"


def _named(make: Callable[[StudyReport], _Made]) -> str:
    """The task or rater of a figure, from the bound argument of its function; empty without one."""
    return next(iter(make.keywords.values()), "") if isinstance(make, partial) else ""


_Made = tuple["Sequence[DataclassInstance]", str]


def _makers(report: StudyReport) -> dict[str, Callable[[StudyReport], _Made]]:
    tasks = list(dict.fromkeys(each.group for each in report.tables.accuracy))
    made: dict[str, Callable[[StudyReport], _Made]] = {}
    for task in tasks:
        made[figure_name("accuracy", task)] = partial(_accuracy, task=task)
    if report.facts.model is not None:
        for task in tasks:
            made[figure_name("differences", task)] = partial(_differences, task=task)
    for task in dict.fromkeys(each.task for each in report.tables.agreement):
        made[figure_name("kappa", task)] = partial(_kappa, task=task)
    for name, (table, make) in _SINGLE.items():
        if getattr(report.tables, table):
            made[name] = make
    for rater in dict.fromkeys(each.rater for each in report.tables.confusion):
        made[figure_name("confusion", rater)] = partial(_confusion, rater=rater)
    return made


def _accuracy(report: StudyReport, *, task: str) -> _Made:
    found = rows.accuracy_rows(report, task=task)
    helped = " † helped to set the key." if any("†" in each.label for each in found) else ""
    svg = forest(
        found,
        title=f"Accuracy, per cent: {_of(task)}",
        caption=f"{_about(report)}{_level(report)} intervals (Wilson, by exam where exams repeat); "
        f"overlap is no test.{helped} Diamond: reader; square: model.",
        axis=Axis(low=0.0, high=1.0, ticks=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    )
    return found, svg


def _differences(report: StudyReport, *, task: str) -> _Made:
    found = rows.difference_rows(report, task=task)
    reach = _reach_of(found)
    svg = forest(
        found,
        title=f"Accuracy less that of {report.facts.model}, points: {_of(task)}",
        caption=f"{_about(report)}Paired on the same cases, {_level(report)} intervals (Tango), each by "
        "itself: not adjusted for their number.",
        axis=Axis(
            low=-reach, high=reach, ticks=tuple(reach * each / 2 for each in (-2, -1, 0, 1, 2)), zero=0.0
        ),
    )
    return found, svg


def _reach_of(found: Sequence[ForestRow[Any]]) -> float:
    """The limit of the axis of differences, on both sides: a multiple of 0.1 (10 points), at least 0.1."""
    ends = [abs(end) for row in found for end in (row.low, row.high, row.estimate) if end is not None]
    return max([0.1, *(math.ceil(float(end) * 10) / 10 for end in ends)])


def _kappa(report: StudyReport, *, task: str) -> _Made:
    found = rows.kappa_rows(report, task=task)
    names = _raters_of(report, found)
    svg = grid(
        names,
        names,
        _kappa_cells(found),
        title=f"Cohen's kappa: {_of(task)}",
        caption=f"{_about(report)}Value, {_level(report)} interval, n. Grey: not defined, or n below {FEW}. "
        "Of answers as given, not of right and wrong.",
    )
    return found, svg


def _kappa_cells(found: Sequence[StudyAgreement]) -> dict[tuple[str, str], Square]:
    """The cells of all pairs of raters, in both directions."""
    cells = {}
    for each in found:
        words = ["not defined" if each.kappa is None else f"{each.kappa:.2f}"]
        if each.low is not None:
            words.append(f"{each.low:.2f} to {each.high:.2f}")
        words.append(f"n {each.n:,}")
        hint = f"{each.a} and {each.b}: {'; '.join(filter(None, (each.interval, each.note)))}"
        shade = None if each.few or each.kappa is None else max(0.0, each.kappa)
        square = Square(lines=tuple(words), shade=shade, hint=hint)
        cells[each.a, each.b] = cells[each.b, each.a] = square
    return cells


def _raters_of(report: StudyReport, found: Sequence[StudyAgreement]) -> list[str]:
    """The raters of these pairs: readers first, then models, then arms by name."""
    there = {name for each in found for name in (each.a, each.b)}
    known = [each.rater for each in report.tables.raters if each.rater in there]
    return [*known, *sorted(there - set(known))]


def _repeats(report: StudyReport) -> _Made:
    found = rows.repeat_rows(report)
    svg = forest(
        found,
        title="A reader with the same reader: kappa on hidden repeats",
        caption=f"{_about(report)}{_level(report)} intervals. Repeats count in nothing else.",
        axis=Axis(low=-0.2, high=1.0, ticks=(-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0), factor=1.0, zero=0.0),
    )
    return found, svg


def _times(report: StudyReport) -> _Made:
    found = rows.time_rows(report)
    longest = max(row.high or 0.0 for row in found)
    step = next(each for each in (0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6) if longest <= 6 * each)
    ticks = tuple(step * each for each in range(round(-(-longest // step)) + 1))
    svg = forest(
        found,
        title="Seconds a case",
        caption=f"{_about(report)}Median and quartiles; of readers the time that they looked.",
        axis=Axis(low=0.0, high=max(ticks[-1], step), ticks=ticks, factor=1.0),
    )
    return found, svg


def _learning(report: StudyReport) -> _Made:
    found = report.tables.learning
    names = list(dict.fromkeys(each.rater for each in found))
    svg = panels(
        {name: [each for each in found if each.rater == name] for name in names},
        title="Over the order of reading: accuracy in quarters, per cent",
        caption=f"{_about(report)}{_level(report)} Wilson intervals; below, n and median seconds a case.",
    )
    return found, svg


def _confusion(report: StudyReport, *, rater: str) -> _Made:
    found = [each for each in report.tables.confusion if each.rater == rater]
    svg = grid(
        sorted({each.key for each in found}),
        sorted({each.answer for each in found}),
        _confusion_cells(found),
        title=f"Key (rows) and answer (columns): {rater}",
        caption=f"{_about(report)}Single-choice and closed questions; letters in the question's own order, "
        "share of the row.",
    )
    return found, svg


def _confusion_cells(found: Sequence[ConfusionCell]) -> dict[tuple[str, str], Square]:
    """A cell for each key and answer of one rater."""
    return {
        (each.key, each.answer): Square(
            lines=(f"{each.share:.0%}", f"{each.count:,} of {each.n:,}"), shade=each.share
        )
        for each in found
    }


def _places(report: StudyReport) -> _Made:
    found = rows.place_rows(report)
    svg = grid(
        list(dict.fromkeys(each.rater for each in found)),
        [f"place {place}" for place in sorted({each.place for each in found})],
        _place_cells(found),
        title="Place of the option: chosen more often than it is right, points",
        caption=f"{_about(report)}Times chosen / times the key stood there, of n. Places as they were shown: "
        "for a reader in the shuffled order, for a model in the question's own.",
    )
    return found, svg


def _place_cells(found: Sequence[PlaceRow]) -> dict[tuple[str, str], Square]:
    """A cell for each rater and place of an option."""
    return {
        (each.rater, f"place {each.place}"): Square(
            lines=(
                "none" if each.more is None else f"{each.more * 100:+.1f}",
                f"{each.chosen:,} / {each.key_here:,}",
                f"of {each.n:,}",
            ),
            shade=None if each.more is None else max(-1.0, min(1.0, each.more * 4)),
            hint=f"{each.rater}: chosen {each.chosen:,}, key there {each.key_here:,}",
        )
        for each in found
    }


#: Figures of which there is only one, with the table that must not be empty.
_SINGLE: dict[str, tuple[str, Callable[[StudyReport], _Made]]] = {
    "repeats": ("repeats", _repeats),
    "times": ("times", _times),
    "learning": ("learning", _learning),
    "places": ("positions", _places),
}


def _of(task: str) -> str:
    return "all tasks" if task == ALL else task


def _level(report: StudyReport) -> str:
    return f"{report.facts.settings.confidence:.0%}"


def _about(report: StudyReport) -> str:
    simulated = "SIMULATED. " if report.facts.simulated else ""
    return f"{simulated}{report.facts.study}. "
