"""A button that starts work behind the page, and how far it is."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from ui.parts import act, plain
from ui.patients import work


def start_button(label: str, dataset: str, what: str, person: Person) -> None:
    """The button, or, while it runs, its progress; what came of it stays until it is started again."""
    found = work.work_on(dataset, what)
    if found is not None and not found.is_done:
        _watch(dataset, what)
        return
    st.button(label, key=f"start-{what}-{dataset}", on_click=act, args=(work.start, dataset, what, person))
    if found is not None and found.failure is not None:
        st.error(plain(found.failure))
    elif found is not None:
        st.success(plain(found.said or ""))


@st.fragment(run_every=1.0)
def _watch(dataset: str, what: str) -> None:
    found = work.work_on(dataset, what)
    if found is None or found.is_done:
        st.rerun()  # the whole page: there is something else to show now
        return
    part = found.done / found.all if found.all else 0.0
    st.progress(part, text=f"{found.done:,} of {found.all:,} {found.unit}" if found.all else "Beginning …")
