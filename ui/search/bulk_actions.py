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
    with st.expander("Bulk actions on all results"):
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
    for applied in earlier_actions[:_MAX_ACTIONS_SHOWN]:
        _show_earlier_action(applied)
        show_notice(_make_undo_notice_key(applied))


def _show_earlier_action(applied: AppliedBulkAction) -> None:
    summary_column, reason_column, button_column = st.columns([4, 3, 1], vertical_alignment="bottom")
    outcome = (
        "rejected"
        if applied.action == BulkAction.REJECT
        else f"queued into batch {escape_markdown(applied.batch or '')}"
    )
    summary_column.markdown(
        f"Bulk action {applied.number}: {count_text(applied.questions, 'question')} {outcome} by"
        f" {escape_markdown(applied.person)}, {applied.applied_at:%Y-%m-%d %H:%M} UTC  \n"
        f":small[{escape_markdown(describe_search(applied.search))}: {escape_markdown(applied.reason)}]"
    )
    if applied.undone_at is not None:
        reason_column.caption(
            f"Undone {applied.undone_at:%Y-%m-%d %H:%M} UTC: {escape_markdown(applied.undo_reason)}"
        )
        return
    undo_reason = reason_column.text_input(
        "Reason for undoing", key=f"undo-reason-{applied.number}", max_chars=1000
    )
    button_column.button(
        "Undo",
        key=f"undo-button-{applied.number}",
        disabled=not undo_reason.strip(),
        on_click=run_action,
        args=(_undo, applied.number, undo_reason),
        kwargs={"notice_key": _make_undo_notice_key(applied)},
    )


def _make_undo_notice_key(applied: AppliedBulkAction) -> str:
    return f"undo-{applied.number}"


def _apply_action(search: Search, action: BulkAction, reason: str, batch_name: str, expected: int) -> str:
    person = current_person()
    with unit_of_work() as db:
        if action is BulkAction.REJECT:
            applied = reject_matching(
                db, by=person, search=search, reason=reason, expected=expected, now=clock()
            )
        else:
            applied = queue_matching(
                db,
                by=person,
                search=search,
                reason=reason,
                batch_name=batch_name,
                expected=expected,
                now=clock(),
            )
    state.clear_form("apply")
    outcome = "rejected" if applied.batch is None else f"queued in batch {applied.batch}"
    return f"Bulk action {applied.number}: {count_text(applied.questions, 'question')} {outcome}."


def _undo(number: int, reason: str) -> str:
    with unit_of_work() as db:
        undone = undo_bulk_action(db, by=current_person(), number=number, reason=reason, now=clock())
    return (
        f"Bulk action {undone.number} was undone; {count_text(undone.questions, 'question')} can be drawn"
        " again."
    )
