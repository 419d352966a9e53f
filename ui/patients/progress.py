"""A button that starts work behind the page, and how far it is."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from ui.behind.shown import is_going_on, what_came_of
from ui.parts import act, notices
from ui.patients import work


def start_button(label: str, dataset: str, what: str, person: Person) -> None:
    """The button, or, while it runs, its progress; what came of it stays until it is put away."""
    name = work.name_of(dataset, what)
    if not is_going_on(name):
        place = f"start-{what}"
        args = (work.start, dataset, what, person)
        st.button(label, key=f"{place}-{dataset}", on_click=act, args=args, kwargs={"place": place})
        notices(place)
    what_came_of(name)
