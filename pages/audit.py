"""Audit trail: who did what, when and why, the values before and after, and whether the trail is intact."""

from __future__ import annotations

import streamlit as st

from accounts.service.audit_checkpoints import current_deposits
from accounts.service.audit_trail import (
    AuditCheck,
    describe_checkpoint,
    describe_unanchored,
    list_audit_choices,
    verify_audit,
)
from domain.count_texts import count_text
from domain.people import Action, Person
from ui import state
from ui.context import current_workspace, read_only_session, require_page
from ui.trail.entries import show_entries, show_filters
from ui.widgets import escape_markdown, page_fragment, show_empty_state

_MAX_SHOWN_FAULTS = 50


@page_fragment
def main() -> None:
    """Show the filters, the entries, and the button that verifies the hash chain."""
    person = require_page(Action.SEE_AUDIT)
    st.title("Audit trail")
    with read_only_session() as db:
        people, actions = list_audit_choices(db, by=person)
    if not actions:
        show_empty_state(
            "No entries yet",
            "The audit trail records every import, draw, assignment, verdict and release with person, time "
            "and reason.",
        )
        return
    _show_verification(person)
    audit_filter, scope = show_filters(people, actions)
    show_entries(person, audit_filter, scope)


def _show_verification(person: Person) -> None:
    left, right = st.columns([1, 4], vertical_alignment="center")
    # Verification only reads, so it may run in the script: nothing is lost if the run is interrupted.
    if left.button(
        "Verify",
        key="verify-trail",
        help="Check the hashes of all entries and compare the tables with the last checkpoint.",
    ):
        bar = right.progress(0.0, text="Verifying …")

        def show_progress(done: int, total: int) -> None:
            bar.progress(min(1.0, done / max(1, total)), text=f"{done:,} of {total:,} entries")

        with read_only_session() as db:
            result = verify_audit(
                db, by=person, deposits=current_deposits(current_workspace()), progress=show_progress
            )
            state.set_selection("audit-check", result)
        bar.empty()
    audit_check = state.get_selection("audit-check")
    if not isinstance(audit_check, AuditCheck):
        right.caption(
            "Each entry contains the hash of the previous one. Verification finds entries that were changed "
            "or removed, and records in the database that no longer match their entry."
        )
    elif audit_check.fault is None:
        unanchored = describe_unanchored(audit_check)
        entries, judgements = (
            count_text(audit_check.entries, "entry", "entries"),
            count_text(audit_check.judgements, "judgement"),
        )
        counts = f"{entries}; {judgements} compared with the trail."
        if unanchored is None:
            right.success(f"Intact: {counts}")
        else:
            right.warning(f"Consistent: {counts} {unanchored}")
        right.caption(describe_checkpoint(audit_check))
        right.caption(
            "Head of the trail. Store it outside the workspace to verify the trail against it later:"
        )
        right.code(audit_check.head, language=None)
    else:
        location = f"Entry {audit_check.number:,}: " if audit_check.number else ""
        right.error(escape_markdown(f"Not intact. {location}{audit_check.fault}"))
        if further_faults := audit_check.faults[1:]:
            with right.expander(f"{len(further_faults):,} more"):
                for fault in further_faults[:_MAX_SHOWN_FAULTS]:
                    st.markdown(f"- {escape_markdown(fault)}")
                if len(further_faults) > _MAX_SHOWN_FAULTS:
                    st.caption(
                        f"{len(further_faults) - _MAX_SHOWN_FAULTS:,} more. `cli.py audit verify` lists "
                        "all of them."
                    )


main()
