"""The form for the workspace's rules for patient data. Each choice states its consequence."""

from __future__ import annotations

import streamlit as st

from domain.patient_data import Originals, PatientDataRules, PixelCheckScope
from domain.people import Person
from privacy.service import CONSEQUENCES, change_rules
from ui.context import clock, unit_of_work
from ui.widgets import escape_markdown, run_action, show_notice

_ORIGINALS_LABELS = {Originals.WHOLE: "Stored unchanged", Originals.DEIDENTIFIED: "De-identified on import"}
_CONFIRM_LABELS = {
    PixelCheckScope.NONE: "No",
    PixelCheckScope.DICOM: "DICOM images",
    PixelCheckScope.ALL: "All images",
}


def show_rules_form(rules: PatientDataRules, person: Person) -> None:
    """Show the choices with their consequences, and the button that saves them."""
    originals_choices, confirm_choices = list(Originals), list(PixelCheckScope)
    left, right = st.columns(2)
    with left:
        originals = st.radio(
            "Storage of imported image files",
            originals_choices,
            index=originals_choices.index(rules.originals),
            format_func=_ORIGINALS_LABELS.__getitem__,
            captions=[escape_markdown(CONSEQUENCES[choice]) for choice in originals_choices],
            key=f"originals-{rules.revision}",
        )
    with right:
        confirm = st.radio(
            "Check for burned-in text required before a release",
            confirm_choices,
            index=confirm_choices.index(rules.confirm_pixels),
            format_func=_CONFIRM_LABELS.__getitem__,
            captions=[escape_markdown(CONSEQUENCES[choice]) for choice in confirm_choices],
            key=f"confirm-{rules.revision}",
        )
    is_changed = (originals, confirm) != (rules.originals, rules.confirm_pixels)
    st.button(
        "Save rules",
        key=f"rules-{rules.revision}",
        disabled=not is_changed,
        on_click=run_action,
        args=(_save_rules, person, originals, confirm, rules.revision),
        kwargs={"notice_key": "rules"},
    )
    show_notice("rules")


def _save_rules(person: Person, originals: Originals, confirm: PixelCheckScope, revision: int) -> str:
    with unit_of_work() as db:
        saved_rules = change_rules(
            db, by=person, originals=originals, confirm_pixels=confirm, revision=revision, now=clock()
        )
    return (
        f"Saved. Image files: {_ORIGINALS_LABELS[saved_rules.originals]}. Check before a release: "
        f"{_CONFIRM_LABELS[saved_rules.confirm_pixels]}."
    )
