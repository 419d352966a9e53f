"""Shows a report with its outputs side by side, and the buttons to score them by mouse or keyboard."""

from __future__ import annotations

import json

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from domain.prompt_bench import BENCH_SCORES, BenchCell, BenchScale
from language_models import service as models
from language_models.bench_sheet import BenchOutput, BenchSheet, BenchTask
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.questions.radiographs import show_radiographs
from ui.widgets import escape_markdown, run_action, show_notice

_NOTICE = "scoring"
_ENDS = {BENCH_SCORES[0]: "poor", BENCH_SCORES[-1]: "excellent"}


def show_scoring(person: Person, bench_id: int) -> None:
    """Show the chosen report, or the one with the first score that is not given."""
    requested = state.get_selection(_selection(bench_id))
    with read_only_session() as db:
        sheet = models.open_output(
            db,
            person=person,
            bench_id=bench_id,
            cell=requested if isinstance(requested, BenchCell) else None,
        )
    task = sheet.task if isinstance(sheet, BenchSheet) else sheet
    st.progress(task.done / task.total if task.total else 0.0)
    st.caption(
        f"{escape_markdown(task.name)}: {task.done:,} of {count_text(task.total, 'score')} given. "
        "The outputs of each report are in random order; which prompt they are from is not shown."
    )
    if isinstance(sheet, BenchSheet):
        _show_buttons(person, sheet)
    else:
        _show_end(task)
    st.button(
        "Undo last score",
        key=f"scoring-undo-{bench_id}-{task.done}-{task.last_revision}",
        shortcut="u",
        disabled=task.last is None,
        on_click=run_action,
        args=(_undo, person, bench_id, task.last, task.last_revision),
        kwargs={"notice_key": _NOTICE},
    )
    show_notice(_NOTICE)
    if isinstance(sheet, BenchSheet):
        _show_material(sheet)


def _show_buttons(person: Person, sheet: BenchSheet) -> None:
    bench_id, cell = sheet.task.bench_id, sheet.cell
    st.markdown(
        f"Report {sheet.report_position:,} of {sheet.reports:,} · "
        f"**Output {sheet.letter}: {cell.scale.label}**"
    )
    key = f"scoring-{bench_id}-{sheet.report_position}-{sheet.letter}-{cell.scale.value}-{sheet.revision}"
    # A first score is followed by the next cell without a score, a corrected score by the next cell.
    following = sheet.next_unscored if sheet.score is None else sheet.next
    columns = st.columns(len(BENCH_SCORES) + 2)
    for column, value in zip(columns[1:-1], BENCH_SCORES, strict=True):
        column.button(
            f"{value} {_ENDS[value]}" if value in _ENDS else str(value),
            key=f"{key}-{value}",
            type="primary" if sheet.score == value else "secondary",
            shortcut=str(value),
            width="stretch",
            on_click=run_action,
            args=(_score, person, bench_id, cell, sheet.revision + 1),
            kwargs={"value": value, "following": following, "notice_key": _NOTICE},
        )
    for column, label, other, shortcut in (
        (columns[0], "Previous", sheet.previous, "left"),
        (columns[-1], "Next", sheet.next, "right"),
    ):
        column.button(
            label,
            key=f"{key}-go-{shortcut}",
            shortcut=shortcut,
            disabled=other is None,
            width="stretch",
            on_click=state.set_selection,
            args=(_selection(bench_id), other),
        )


def _show_material(sheet: BenchSheet) -> None:
    for column, output in zip(st.columns(len(sheet.outputs)), sheet.outputs, strict=True):
        with column, st.container(border=True):
            _show_output(output, current=sheet.cell.scale if output.letter == sheet.letter else None)
    with st.container(border=True):
        if sheet.exam.indication:
            st.caption(escape_markdown(f"Indication: {sheet.exam.indication}"))
        st.markdown(escape_markdown(sheet.exam.report or ""))
        show_radiographs(sheet.exam_row_id, sheet.exam)


def _show_output(output: BenchOutput, *, current: BenchScale | None) -> None:
    st.markdown(f"**Output {output.letter}**")
    scores = [
        f"{'**' if scale is current else ''}{scale.label}: {output.scores.get(scale, '–')}"
        f"{'**' if scale is current else ''}"
        for scale in BenchScale
    ]
    st.caption(" · ".join(scores))
    fields = _read_fields(output.text)
    if fields is None:
        st.markdown(escape_markdown(output.text))
        return
    for name, value in fields.items():
        st.caption(escape_markdown(name))
        for line in value if isinstance(value, list) else [value]:
            text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
            st.markdown(escape_markdown(text) or "–")


def _read_fields(text: str) -> dict[str, object] | None:
    """Return the fields of a JSON object; None for any other text."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None


def _show_end(task: BenchTask) -> None:
    with st.container(border=True):
        if task.waiting:
            st.markdown(f"**{escape_markdown(task.name)}: no more outputs yet**")
            st.markdown(f"{count_text(task.waiting, 'output')} will appear when the models have answered.")
        elif task.total:
            st.markdown(f"**{escape_markdown(task.name)}: every score is given**")
            st.markdown("Undo opens the last score again.")
        else:
            st.markdown(f"**{escape_markdown(task.name)}: no outputs to score**")
            st.markdown("The models gave no usable reply.")


def _score(
    person: Person, bench_id: int, cell: BenchCell, revision: int, *, value: int, following: BenchCell | None
) -> None:
    with unit_of_work() as db:
        models.score_output(
            db, person=person, bench_id=bench_id, cell=cell, revision=revision, score=value, now=clock()
        )
    state.set_selection(_selection(bench_id), following)


def _undo(person: Person, bench_id: int, last: BenchCell, revision: int) -> None:
    with unit_of_work() as db:
        models.score_output(
            db, person=person, bench_id=bench_id, cell=last, revision=revision + 1, score=None, now=clock()
        )
    state.set_selection(_selection(bench_id), last)


def _selection(bench_id: int) -> str:
    return f"scoring-{bench_id}"
