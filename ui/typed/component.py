"""Long texts of a page (a guideline, anchors, reasons) outlive F5 and a change of page.

The browser's tab keeps them (sessionStorage), by person, page and field, and offers them where the field has
another text again. The server hears of them only when they are saved: a Streamlit field has no pause in
typing to hang a request on, and a text that nobody saved is nobody's record. Gone with the tab.
"""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from web.forms.files import bundle

KEY = "overread-typed"  # one for all pages: it asks nothing, and takes nothing over

_mount = st.components.v2.component(
    "overread.typed",
    css=bundle("unsaved-input.css"),
    js=bundle("unsaved-input.js"),
    isolate_styles=True,
)


def keep_typed(person: Person) -> None:
    """Mount it for that person; what another one typed in this tab is removed."""
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"person": person.id})
