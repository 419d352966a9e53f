"""How far work behind a page is, every second, and what came of it."""

from __future__ import annotations

import streamlit as st

from ui.behind.work import forget, work_of
from ui.context import clock_time
from ui.parts import plain


def is_going_on(name: str) -> bool:
    """Whether it does; its progress is drawn then. Put the button that begins it in its place else."""
    found = work_of(name)
    if found is None or found.is_done:
        return False
    _watch(name)
    return True


def what_came_of(name: str) -> None:
    """What came of it last, until that is put away; below the button, which must not move under a click."""
    found = work_of(name)
    if found is None or found.ended_at is None or not (found.said or found.failure):
        return
    if found.failure is not None:
        st.error(plain(found.failure))
    else:
        st.success(plain(found.said or ""))
    when, away = st.columns([3, 1], vertical_alignment="center")
    when.caption(f"Ended at {clock_time(found.ended_at)}")
    away.button("Put away", key=f"put-away-{name}", on_click=forget, args=(name,), type="tertiary")


@st.fragment(run_every=0.7)  # allow fragment-without-screen: it asks the database nothing
def _watch(name: str) -> None:
    found = work_of(name)
    if found is None or found.is_done:
        st.rerun()  # the whole page: there is something else to show now
        return
    st.progress(found.part, text=plain(found.how_far))
    st.caption("It goes on when this page is closed.")
