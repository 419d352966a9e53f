"""Gives existing questions the boxes of an annotation file, after a preview of each change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError, Refused
from domain.people import Person
from intake.service.box_corrections import (
    MAX_BYTES,
    BoxLabels,
    BoxMatch,
    BoxPlan,
    correct_boxes,
    plan_box_corrections,
)
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.refusals import show_refusals
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_NOTICE_KEY = "boxes"
_MAX_ROWS = 200
_MATCH_LABELS = {
    BoxMatch.AUTO.value: "Question id if stated, otherwise image",
    BoxMatch.QUESTION.value: "Question id",
    BoxMatch.IMAGE.value: "Image",
}
_BOX_CHOICE_LABELS = {
    BoxLabels.MENTIONED.value: "Boxes that the question mentions",
    BoxLabels.ALL.value: "All boxes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The choices of the form."""

    dataset: str
    match: BoxMatch
    labels: BoxLabels
    replace: bool


def show_box_corrections(person: Person, names: Sequence[str]) -> None:
    """Show the choice of the file, the preview, and the button that changes the boxes.

    Args:
        person: the coordinator.
        names: the names of the datasets, at least one.
    """
    form_key = state.form_key("boxes")
    st.caption(
        "COCO object annotations, or Label Studio's JSON export. Questions in a batch, a study or a "
        "release are not changed."
    )
    left, right = st.columns(2)
    dataset = left.selectbox("Dataset", names, key=f"{form_key}-dataset-{len(names)}")
    file = right.file_uploader(
        f"Annotation file, up to {MAX_BYTES // 1_000_000} MB", type=["json"], key=f"{form_key}-file"
    )
    match_column, label_column, replace_column = st.columns(3)
    match = match_column.selectbox(
        "Find questions by",
        list(_MATCH_LABELS),
        format_func=_MATCH_LABELS.__getitem__,
        key=f"{form_key}-match",
    )
    labels = label_column.selectbox(
        "Boxes of an image",
        list(_BOX_CHOICE_LABELS),
        format_func=_BOX_CHOICE_LABELS.__getitem__,
        key=f"{form_key}-labels",
        help="A question mentions a label if the label's words occur in its stem, options or category.",
    )
    replace = replace_column.checkbox(
        "Replace existing boxes",
        key=f"{form_key}-replace",
        help="Boxes on radiographs that the file annotates are replaced. Others are kept.",
    )
    if file is not None:
        options = _Options(dataset=dataset, match=BoxMatch(match), labels=BoxLabels(labels), replace=replace)
        _show_preview(person, file.name, file.getvalue(), options, form_key)
    show_notice(_NOTICE_KEY)


def _show_preview(person: Person, name: str, content: bytes, options: _Options, form_key: str) -> None:
    """Show what the file would change, the field for the reason, and the button."""
    try:
        with st.spinner("Matching boxes with questions …"), read_only_session() as db:
            plan = plan_box_corrections(
                db, by=person, dataset=options.dataset, content=content, match=options.match,
                labels=options.labels, replace=options.replace,
            )  # fmt: skip
    except DomainError as error:
        st.error(escape_markdown(f"{name}: {error}"))
        return
    _show_plan(plan, name)
    reason = st.text_input(
        "Reason", key=f"{form_key}-reason", placeholder="required; stored in the audit trail"
    )
    skip_bad = bool(plan.refusals) and st.checkbox(
        f"Leave out {count_text(len(plan.refusals), 'invalid box', 'invalid boxes')}", key=f"{form_key}-bad"
    )
    st.button(
        f"Change {count_text(len(plan.changes), 'question')}",
        key=f"{form_key}-go",
        type="primary",
        disabled=not plan.changes or not reason.strip() or (bool(plan.refusals) and not skip_bad),
        on_click=run_action,
        args=(_change_boxes, person, options, name, hashlib.sha256(content).hexdigest()),
        kwargs={
            "file_key": f"{form_key}-file",
            "reason": reason,
            "expected_hash": plan.hash_changes(),
            "notice_key": _NOTICE_KEY,
        },
    )


def _show_plan(plan: BoxPlan, file_name: str) -> None:
    headline, *reasons_not_changed = plan.describe(file_name)
    st.markdown(f"**{escape_markdown(headline)}**")
    show_table(
        [
            dict(zip(("Question", "Before", "After"), (change.key, *change.describe()), strict=True))
            for change in plan.changes[:_MAX_ROWS]
        ],
        empty="No question would change.",
    )
    if len(plan.changes) > _MAX_ROWS:
        st.caption(f"Showing the first {_MAX_ROWS:,} of {len(plan.changes):,}.")
    for sentence in reasons_not_changed:
        st.caption(escape_markdown(sentence))
    if plan.refusals:
        st.warning(f"Invalid boxes: {len(plan.refusals):,}.")
        show_refusals(plan.refusals, total=len(plan.refusals))


def _change_boxes(
    person: Person,
    options: _Options,
    name: str,
    digest: str,
    *,
    file_key: str,
    reason: str,
    expected_hash: str,
) -> str:
    file = state.get_widget_value(file_key)
    content = b"" if file is None else file.getvalue()  # type: ignore[attr-defined]  # an uploaded file
    if hashlib.sha256(content).hexdigest() != digest:
        raise Refused("The file has changed. Check the preview again.")
    with unit_of_work() as db:
        plan = correct_boxes(
            db, by=person, dataset=options.dataset, content=content, file=name, reason=reason,
            match=options.match, labels=options.labels, replace=options.replace, expected=expected_hash,
            now=clock(),
        )  # fmt: skip
    state.clear_form("boxes")
    return (
        f"Changed the boxes of {count_text(len(plan.changes), 'question')} in {options.dataset}. "
        "Repeat the checks on the page Checks."
    )
