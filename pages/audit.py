"""Audit trail: who did what, when and why, the values before and after, and whether the trail is intact."""

from __future__ import annotations

import streamlit as st

from accounts.service.audit_trail import AuditCheck, list_audit_choices, verify_audit
from domain.people import Action, Person
from ui import state
from ui.context import read_only_session, require_page
from ui.trail.entries import show_entries, show_filters
from ui.widgets import escape_markdown, screen, show_empty_state


@screen
def main() -> None:
    """Filters, entries, and the button that verifies the hash chain."""
    person = require_page(Action.SEE_AUDIT)
    st.title("Audit trail")
    with read_only_session() as db:
        people, actions = list_audit_choices(db, by=person)
    if not actions:
        show_empty_state(
            "Nothing is on record yet",
            "Every import, draw, assignment, verdict and release is kept here with who, when and why, from "
            "the first one on.",
        )
        return
    _show_verification(person)
    audit_filter, scope = show_filters(people, actions)
    show_entries(person, audit_filter, scope)


def _show_verification(person: Person) -> None:
    left, right = st.columns([1, 4], vertical_alignment="center")
    # It only reads, so it may run as part of the script: nothing is lost if the run is interrupted.
    if left.button("Verify", key="verify-trail", help="Follow the chain of hashes from first to last."):
        bar = right.progress(0.0, text="Following the chain …")

        def show_progress(done: int, total: int) -> None:
            bar.progress(min(1.0, done / max(1, total)), text=f"{done:,} of {total:,} entries")

        with read_only_session() as db:
            state.set_selection("audit-check", verify_audit(db, by=person, progress=show_progress))
        bar.empty()
    audit_check = state.get_selection("audit-check")
    if not isinstance(audit_check, AuditCheck):
        right.caption(
            "Each entry carries the hash of the one before. Verifying finds the first that was altered or "
            "removed, and any judgement that is not as it was recorded."
        )
    elif audit_check.fault is None:
        right.success(
            f"Whole: {audit_check.entries:,} entries; {audit_check.judgements:,} judgements agree with"
            " theirs."
        )
        right.caption("Head, to be kept elsewhere and held against a later state:")
        right.code(audit_check.head, language=None)
    else:
        location = f"Entry {audit_check.number:,}: " if audit_check.number else ""
        right.error(escape_markdown(f"Not whole. {location}{audit_check.fault}"))


main()
