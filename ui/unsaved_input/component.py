"""Keeps unsaved long texts, such as a guideline, after a reload and a change of page.

The browser's tab stores the texts (sessionStorage) by person, page and field. If a field contains another
text when it appears again, the browser offers the stored one. The texts are deleted when the tab is closed.
The server does not receive them before they are saved, for two reasons: Streamlit's fields have no event for
a pause in typing, and unsaved text should not be recorded.
"""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from web.forms.files import read_bundle

#: All pages share one key, because the component is the same on every page.
KEY = "overread-unsaved-input"

_mount = st.components.v2.component(
    "overread.unsaved_input",
    css=read_bundle("unsaved-input.css"),
    js=read_bundle("unsaved-input.js"),
    isolate_styles=True,
)


def mount_unsaved_input(person: Person) -> None:
    """Mount the component for a person. It deletes texts that another person typed in this tab."""
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"person": person.id})
