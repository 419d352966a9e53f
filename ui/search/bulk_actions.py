"""Rejects or queues all questions that match a search, and undoes such a bulk action."""

from __future__ import annotations

import streamlit as st

from browsing.service import (
    AppliedBulkAction,
    BulkAction,
    BulkPreview,
    Search,
    describe_search,
    list_bulk_actions,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    undo_bulk_action,
)
from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Action, Person
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_ACTION_LABELS = {
    BulkAction.REJECT: "Reject: exclude from later draws and from releases",
    BulkAction.QUEUE: "Queue in a new batch (not a random sample)",
}
_MAX_ACTIONS_SHOWN = 20  # the command line lists all bulk actions


def show_bulk_actions(person: Person, search: Search) -> None:
    """Show a preview, the choice of a bulk action, and earlier bulk actions.

    Show nothing if the person may not draw batches.
    """
    if not person.may(Action.DRAW_BATCH):
        return
    with st.expander("Bulk actions on all questions found"):
        _show_bulk_form(person, search)
        show_notice("apply")
        _show_earlier_actions(person, search.dataset)


def _show_bulk_form(person: Person, search: Search) -> None:
    if not search.has_criteria:
        st.caption(
            "Search or filter first. All matching questions can then be rejected or queued in one step."
        )
        return
    form_key = state.form_key("apply")
    if not st.toggle("Preview affected questions", key=f"{form_key}-look-{search.dataset}"):
        return
    try:
        with st.spinner("Finding all matching questions …"), read_only_session() as db:
            bulk_preview = preview_bulk_action(db, by=person, search=search)
    except Refused as error:
        st.info(escape_markdown(str(error)))
        return
    _show_preview(bulk_preview)
    actions = list(BulkAction)
    action = st.radio(
        "Action", actions, format_func=_ACTION_LABELS.__getitem__, key=f"{form_key}-step-{search.dataset}"
    )
    reason = st.text_input("Reason", key=f"{form_key}-reason-{search.dataset}", max_chars=1000)
    name = ""
    if action is BulkAction.QUEUE:
        name = st.text_input("Batch name", key=f"{form_key}-batch-{search.dataset}", max_chars=80)
    st.button(
        f"{action.value.capitalize()} {count_text(bulk_preview.count, 'question')}",
        type="primary",
        key=f"{form_key}-do-{action}-{search.dataset}",
        disabled=not bulk_preview.count
        or not reason.strip()
        or (action is BulkAction.QUEUE and not name.strip()),
        on_click=run_action,
        args=(_apply_action, search, action, reason, name, bulk_preview.count),
        kwargs={"notice_key": "apply"},
    )


def _show_preview(bulk_preview: BulkPreview) -> None:
    st.markdown(f"**{count_text(bulk_preview.count, 'question')} would be affected.**")
    if bulk_preview.excluded:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in bulk_preview.excluded.items())
        st.caption(f"Excluded: {reasons}.")
    if bulk_preview.examples:
        show_table([{"Question": example.id, "Stem": example.stem} for example in bulk_preview.examples])
        if bulk_preview.count > len(bulk_preview.examples):
            st.caption(f"The first {len(bulk_preview.examples)} are shown.")


def _show_earlier_actions(person: Person, dataset: str) -> None:
    with read_only_session() as db:
        earlier_actions = list_bulk_actions(db, by=person, dataset=dataset)
    if not earlier_actions:
        return
    st.markdown("**Bulk actions**")
    for bulk_action in earlier_actions[:_MAX_ACTIONS_SHOWN]:
        _show_earlier_action(bulk_action)
        show_notice(_make_undo_notice_key(bulk_action))


def _show_earlier_action(bulk_action: AppliedBulkAction) -> None:
    summary_column, reason_column, button_column = st.columns([4, 3, 1], vertical_alignment="bottom")
    outcome = (
        "rejected"
        if bulk_action.action == BulkAction.REJECT
        else f"queued into batch {escape_markdown(bulk_action.batch or '')}"
    )
    summary_column.markdown(
        f"Bulk action {bulk_action.number}: {count_text(bulk_action.questions, 'question')} {outcome} by"
        f" {escape_markdown(bulk_action.person)}, {bulk_action.applied_at:%Y-%m-%d %H:%M} UTC  \n"
        f":small[{escape_markdown(describe_search(bulk_action.search))}: "
        f"{escape_markdown(bulk_action.reason)}]"
    )
    if bulk_action.undone_at is not None:
        reason_column.caption(
            f"Undone {bulk_action.undone_at:%Y-%m-%d %H:%M} UTC: {escape_markdown(bulk_action.undo_reason)}"
        )
        return
    undo_reason = reason_column.text_input(
        "Reason for undoing", key=f"undo-reason-{bulk_action.number}", max_chars=1000
    )
    button_column.button(
        "Undo",
        key=f"undo-button-{bulk_action.number}",
        disabled=not undo_reason.strip(),
        on_click=run_action,
        args=(_undo_action, bulk_action.number, undo_reason),
        kwargs={"notice_key": _make_undo_notice_key(bulk_action)},
    )


def _make_undo_notice_key(bulk_action: AppliedBulkAction) -> str:
    return f"undo-{bulk_action.number}"


def _apply_action(search: Search, action: BulkAction, reason: str, batch_name: str, expected: int) -> str:
    person = current_person()
    with unit_of_work() as db:
        if action is BulkAction.REJECT:
            bulk_action = reject_matching(
                db, by=person, search=search, reason=reason, expected=expected, now=clock()
            )
        else:
            bulk_action = queue_matching(
                db,
                by=person,
                search=search,
                reason=reason,
                batch_name=batch_name,
                expected=expected,
                now=clock(),
            )
    state.clear_form("apply")
    outcome = "rejected" if bulk_action.batch is None else f"queued in batch {bulk_action.batch}"
    return f"Bulk action {bulk_action.number}: {count_text(bulk_action.questions, 'question')} {outcome}."


def _undo_action(number: int, reason: str) -> str:
    with unit_of_work() as db:
        bulk_action = undo_bulk_action(db, by=current_person(), number=number, reason=reason, now=clock())
    return (
        f"Bulk action {bulk_action.number} was undone; {count_text(bulk_action.questions, 'question')} can be"
        " drawn again."
    )
