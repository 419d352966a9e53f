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
_SCORE_MEANINGS = {BENCH_SCORES[0]: "poor", BENCH_SCORES[-1]: "excellent"}


def show_scoring(person: Person, bench_id: int) -> None:
    """Show the chosen report, or the report with the first missing score."""
    requested_cell = state.get_selection(_make_selection_name(bench_id))
    with read_only_session() as db:
        sheet = models.open_output(
            db,
            person=person,
            bench_id=bench_id,
            cell=requested_cell if isinstance(requested_cell, BenchCell) else None,
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
        args=(_undo_score, person, bench_id, task.last, task.last_revision),
        kwargs={"notice_key": _NOTICE},
    )
    show_notice(_NOTICE)
    if isinstance(sheet, BenchSheet):
        _show_outputs_and_report(sheet)


def _show_buttons(person: Person, sheet: BenchSheet) -> None:
    bench_id, cell = sheet.task.bench_id, sheet.cell
    st.markdown(
        f"Report {sheet.report_position:,} of {sheet.reports:,} · "
        f"**Output {sheet.letter}: {cell.scale.label}**"
    )
    key = f"scoring-{bench_id}-{sheet.report_position}-{sheet.letter}-{cell.scale.value}-{sheet.revision}"
    # After a first score, the next cell without a score follows; after a corrected score, the next cell.
    following = sheet.next_unscored if sheet.score is None else sheet.next
    columns = st.columns(len(BENCH_SCORES) + 2)
    for column, value in zip(columns[1:-1], BENCH_SCORES, strict=True):
        column.button(
            f"{value} {_SCORE_MEANINGS[value]}" if value in _SCORE_MEANINGS else str(value),
            key=f"{key}-{value}",
            type="primary" if sheet.score == value else "secondary",
            shortcut=str(value),
            width="stretch",
            on_click=run_action,
            args=(_save_score, person, bench_id, cell, sheet.revision + 1),
            kwargs={"value": value, "following": following, "notice_key": _NOTICE},
        )
    for column, label, neighbour, shortcut in (
        (columns[0], "Previous", sheet.previous, "left"),
        (columns[-1], "Next", sheet.next, "right"),
    ):
        column.button(
            label,
            key=f"{key}-go-{shortcut}",
            shortcut=shortcut,
            disabled=neighbour is None,
            width="stretch",
            on_click=state.set_selection,
            args=(_make_selection_name(bench_id), neighbour),
        )


def _show_outputs_and_report(sheet: BenchSheet) -> None:
    for column, output in zip(st.columns(len(sheet.outputs)), sheet.outputs, strict=True):
        with column, st.container(border=True):
            _show_output(output, current_scale=sheet.cell.scale if output.letter == sheet.letter else None)
    with st.container(border=True):
        if sheet.exam.indication:
            st.caption(escape_markdown(f"Indication: {sheet.exam.indication}"))
        st.markdown(escape_markdown(sheet.exam.report or ""))
        show_radiographs(sheet.exam_row_id, sheet.exam)


def _show_output(output: BenchOutput, *, current_scale: BenchScale | None) -> None:
    st.markdown(f"**Output {output.letter}**")
    scores = [
        f"{'**' if scale is current_scale else ''}{scale.label}: {output.scores.get(scale, '–')}"
        f"{'**' if scale is current_scale else ''}"
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


def _save_score(
    person: Person, bench_id: int, cell: BenchCell, revision: int, *, value: int, following: BenchCell | None
) -> None:
    with unit_of_work() as db:
        models.score_output(
            db, person=person, bench_id=bench_id, cell=cell, revision=revision, score=value, now=clock()
        )
    state.set_selection(_make_selection_name(bench_id), following)


def _undo_score(person: Person, bench_id: int, last_cell: BenchCell, revision: int) -> None:
    with unit_of_work() as db:
        models.score_output(
            db,
            person=person,
            bench_id=bench_id,
            cell=last_cell,
            revision=revision + 1,
            score=None,
            now=clock(),
        )
    state.set_selection(_make_selection_name(bench_id), last_cell)


def _make_selection_name(bench_id: int) -> str:
    return f"scoring-{bench_id}"
