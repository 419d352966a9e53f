"""Progress of work on requests to language models: figures that refresh by themselves, buttons, costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Protocol, TypeVar

import streamlit as st

from domain.errors import DomainError
from domain.language_models import format_cost
from ui.widgets import escape_markdown, run_action, show_notice

T_contra = TypeVar("T_contra", contravariant=True)
T = TypeVar("T")

_POLL_INTERVAL = timedelta(seconds=2)


class DrawProgress(Protocol[T_contra]):
    """Shows the progress. ``is_active`` is whether a job is queued or running."""

    def __call__(self, progress: T_contra, /, *, is_active: bool) -> None: ...


def show_live_progress(
    load: Callable[[], T], draw: DrawProgress[T], is_active: Callable[[T], bool], *, notice_key: str
) -> None:
    """Show the progress, and the notice of the last action. While a job is active, refresh the figures."""
    progress = load()
    if is_active(progress):
        _poll_progress(load, draw, is_active)
    else:
        draw(progress, is_active=False)
    show_notice(notice_key)


@st.fragment(run_every=_POLL_INTERVAL)  # allow plain-fragment: shows database errors itself
def _poll_progress(load: Callable[[], T], draw: DrawProgress[T], is_active: Callable[[T], bool]) -> None:
    try:
        progress = load()
        active = is_active(progress)
    except DomainError as error:
        st.caption(escape_markdown(str(error)))
        return
    if not active:
        st.rerun()
    draw(progress, is_active=active)


def show_action_button(
    label: str,
    action: Callable[[T], str | None],
    subject: T,
    *,
    notice_key: str,
    is_primary: bool = False,
    help_text: str | None = None,
) -> None:
    """Show a button that runs an action on the subject. Its outcome is the notice with that key."""
    st.button(
        label,
        key=f"{label}-{notice_key}",
        type="primary" if is_primary else "secondary",
        help=help_text,
        on_click=run_action,
        args=(action, subject),
        kwargs={"notice_key": notice_key},
    )


def describe_expected_cost(cost_nanos: int, *, ended: int, requests: int) -> str:
    """Return the expected cost of all requests: their number times the mean cost of an ended request."""
    return format_cost(round(cost_nanos / ended * requests)) if ended else "unknown"
