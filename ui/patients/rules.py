"""The workspace's rules for patient data, each choice with its consequence."""

from __future__ import annotations

import streamlit as st

from domain.patient_data import ConfirmPixels, Originals, PatientDataRules
from domain.people import Person
from privacy.service import CONSEQUENCES, change_rules
from ui.context import clock, unit_of_work
from ui.parts import act, notices, plain

_ORIGINALS = {Originals.WHOLE: "Kept whole", Originals.DEIDENTIFIED: "De-identified at the door"}
_CONFIRM = {ConfirmPixels.NONE: "No", ConfirmPixels.DICOM: "DICOM images", ConfirmPixels.ALL: "All images"}


def rules_form(rules: PatientDataRules, person: Person) -> None:
    """Draw the choices with their consequences, and the button that saves them."""
    ways, looks = list(Originals), list(ConfirmPixels)
    left, right = st.columns(2)
    with left:
        originals = st.radio(
            "Image files that come in are",
            ways,
            index=ways.index(rules.originals),
            format_func=_ORIGINALS.__getitem__,
            captions=[plain(CONSEQUENCES[each]) for each in ways],
            key=f"originals-{rules.revision}",
        )
    with right:
        confirm = st.radio(
            "Must a person have looked for text in the pixels before a release?",
            looks,
            index=looks.index(rules.confirm_pixels),
            format_func=_CONFIRM.__getitem__,
            captions=[plain(CONSEQUENCES[each]) for each in looks],
            key=f"confirm-{rules.revision}",
        )
    changed = (originals, confirm) != (rules.originals, rules.confirm_pixels)
    st.button(
        "Save these rules",
        key=f"rules-{rules.revision}",
        disabled=not changed,
        on_click=act,
        args=(_save, person, originals, confirm, rules.revision),
        kwargs={"place": "rules"},
    )
    notices("rules")


def _save(person: Person, originals: Originals, confirm: ConfirmPixels, revision: int) -> str:
    with unit_of_work() as db:
        saved = change_rules(
            db, by=person, originals=originals, confirm_pixels=confirm, revision=revision, now=clock()
        )
    return (
        f"Saved. Image files: {_ORIGINALS[saved.originals]}. A look before a release: "
        f"{_CONFIRM[saved.confirm_pixels]}."
    )
