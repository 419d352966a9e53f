"""Keeps long texts of a page (a guideline, anchors, reasons) after a reload and a change of page.

The browser's tab stores them (sessionStorage) by person, page and field, and offers them if the field has
another text when it appears again. They are deleted with the tab. The server receives them only when they
are saved: a Streamlit field has no event for a pause in typing that could trigger a request, and a text that
nobody saved belongs in no record.
"""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from web.forms.files import read_bundle

KEY = "overread-unsaved-input"  # one for all pages: it has no input, and carries nothing from page to page

_mount = st.components.v2.component(
    "overread.unsaved_input",
    css=read_bundle("unsaved-input.css"),
    js=read_bundle("unsaved-input.js"),
    isolate_styles=True,
)


def mount_unsaved_input(person: Person) -> None:
    """Mount the component for that person; it removes what another person typed in this tab."""
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"person": person.id})
