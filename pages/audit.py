"""Audit trail: who did what, when and why, the values before and after, and whether the trail is intact."""

from __future__ import annotations

import streamlit as st

from accounts.service.audit_trail import AuditCheck, audit_choices, verify_audit
from domain.people import Action, Person
from ui import state
from ui.context import reading, require_page
from ui.parts import empty_state, plain, screen
from ui.trail.entries import entries, filters


@screen
def main() -> None:
    """Filters, entries, and the button that verifies the hash chain."""
    person = require_page(Action.SEE_AUDIT)
    st.title("Audit trail")
    with reading() as db:
        people, actions = audit_choices(db, by=person)
    if not actions:
        empty_state(
            "Nothing is on record yet",
            "Every import, draw, assignment, verdict and release is kept here with who, when and why, from "
            "the first one on.",
        )
        return
    _verify(person)
    wanted, scope = filters(people, actions)
    entries(person, wanted, scope)


def _verify(person: Person) -> None:
    left, right = st.columns([1, 4], vertical_alignment="center")
    # It only reads, so it may run as part of the script: nothing is lost if the run is interrupted.
    if left.button("Verify", key="verify-trail", help="Follow the chain of hashes from first to last."):
        bar = right.progress(0.0, text="Following the chain …")

        def show_progress(done: int, total: int) -> None:
            bar.progress(min(1.0, done / max(1, total)), text=f"{done:,} of {total:,} entries")

        with reading() as db:
            state.set_chosen("audit-check", verify_audit(db, by=person, progress=show_progress))
        bar.empty()
    found = state.chosen("audit-check")
    if not isinstance(found, AuditCheck):
        right.caption(
            "Each entry carries the hash of the one before. Verifying finds the first that was altered or "
            "removed, and any judgement that is not as it was recorded."
        )
    elif found.fault is None:
        right.success(f"Whole: {found.entries:,} entries; {found.judgements:,} judgements agree with theirs.")
        right.caption("Head, to be kept elsewhere and held against a later state:")
        right.code(found.head, language=None)
    else:
        where = f"Entry {found.number:,}: " if found.number else ""
        right.error(plain(f"Not whole. {where}{found.fault}"))


main()
