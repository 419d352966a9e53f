"""Small parts that the pages share: actions, empty pages, numbers, times, tables."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import NoReturn, ParamSpec

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError, NotNow
from domain.file_errors import describe_file_error
from ui import state
from ui.context import clock, find_last_write_since, format_clock_time
from ui.navigation import ROOT
from web.errors import describe_unexpected_error, generate_error_number
from web.logs import describe_error_location

_LOG = logging.getLogger(__name__)
#: The maximum time between the clicks of a double click; a repeated action within it is not carried out.
_DOUBLE_CLICK = timedelta(seconds=1.5)
P = ParamSpec("P")


def act(
    action: Callable[..., str | None],
    *args: object,
    place: str = "page",
    switch: str | None = None,
    **kwargs: object,
) -> None:
    """Carry out a write as a widget's callback: ``on_click=act, args=(save, draft)``.

    The action commits before it returns and takes all its values as arguments, so nothing is lost if
    Streamlit aborts the run. The sentence that it returns is shown at ``place`` (see :func:`show_notice`),
    with
    the time read back from the database. The text of a DomainError is shown there too. If the person could
    not prevent the failure (database away, disk full), the page offers to repeat the same action. The notice
    stays until the next action. The same action within the time of a double click is ignored.

    ``switch`` names a button that alternates between an action and its opposite (close, reopen). The second
    click of a slow double click would trigger the opposite and undo the first; with ``switch`` it is
    ignored.
    """
    action_id = switch or f"{action.__module__}.{action.__qualname__}{args!r}{kwargs!r}"
    last_action = state.get_last_action()
    if last_action is not None and last_action[0] == action_id and clock() - last_action[1] < _DOUBLE_CLICK:
        return
    started_at = clock()
    retry = partial(act, action, *args, place=place, switch=switch, **kwargs)
    refusal = partial(state.Notice, place=place, refused=True)
    try:
        message = action(*args, **kwargs)
    except NotNow as error:
        state.set_notice(refusal(text=format_not_saved(str(error)), again=retry))
    except DomainError as error:
        state.set_notice(refusal(text=str(error)))
    except OSError as error:
        _LOG.exception("a file could not be read or written")
        state.set_notice(refusal(text=describe_file_error(error), again=retry))
    except Exception as error:  # noqa: BLE001 - a click must have an answer, also if the fault is ours
        number = generate_error_number()
        _LOG.error(describe_error_location(error), extra={"error": number})
        state.set_notice(refusal(text=format_not_saved(describe_unexpected_error(number)), again=retry))
    else:
        state.set_last_action(action_id, clock())
        state.set_notice(_success_notice(message, place=place, started_at=started_at))


def format_not_saved(text: str) -> str:
    """Return the text of a failure with "Not saved" in front, the wording of every failed action."""
    return text if text.startswith("Not saved") else f"Not saved. {text}"


def _success_notice(message: str | None, *, place: str, started_at: datetime) -> state.Notice | None:
    """Return the notice for a completed action; it is "saved" only if the database returns it."""
    try:
        saved_at = find_last_write_since(started_at)
    except NotNow:
        text = (
            "The change was sent but could not be confirmed. Check the result before you repeat the action."
        )
        return state.Notice(place=place, text=text, refused=True)
    return state.Notice(place=place, text=message, refused=False, saved_at=saved_at) if message else None


def show_notice(place: str = "page") -> None:
    """Show the outcome of the last action where it was clicked; if it was not saved, offer to repeat it."""
    notice = state.get_notice()
    if notice is None or notice.place != place:
        return
    if not notice.refused:
        st.success(escape_markdown(notice.text))
        if notice.saved_at is not None:
            st.caption(f"Saved at {format_clock_time(notice.saved_at)}")
        return
    st.error(escape_markdown(notice.text))
    if notice.again is not None:
        st.button("Try again", key=f"again-{place}", on_click=notice.again, icon=":material/refresh:")


def screen(draw: Callable[P, None]) -> Callable[P, None]:
    """Draw a page, or its interactive part, as one fragment: no click can overtake the save before it.

    If the database is away, the page shows that and stops. Typed text stays in the widgets, and a failed
    action can be repeated from there.
    """

    @st.fragment
    @wraps(draw)
    def draw_with_retry(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except NotNow as error:
            show_unavailable(error)

    return draw_with_retry


def show_unavailable(error: NotNow) -> NoReturn:
    """Draw the page while the database does not answer: the error, and a button to try again."""
    last_notice = state.get_notice()
    if last_notice is not None and last_notice.refused:
        st.error(escape_markdown(last_notice.text))
    else:
        st.error(escape_markdown(str(error)))
    retry = last_notice.again if last_notice is not None and last_notice.refused else None
    st.button("Try again", key="again-away", on_click=retry, icon=":material/refresh:")
    st.stop()


def show_empty_state(title: str, next_step: str, page: str | None = None, label: str | None = None) -> None:
    """Draw the state of a page without data: what would be here, and how to get it.

    ``page`` is the file of the next page, such as ``"pages/sampling.py"``; ``label`` is the text of its
    link.
    """
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(title)}**")
        st.markdown(escape_markdown(next_step))
        if page is not None:
            st.page_link(ROOT / page, label=label or "Open page", icon=":material/arrow_forward:")


def go_to(page: str, **query: object) -> None:
    """Switch to another page, given by its file (``"pages/review.py"``), with values in its address."""
    st.switch_page(ROOT / page, query_params={name: str(value) for name, value in query.items()})


def show_statistic(
    label: str, value: str, *, n: int | None = None, interval: tuple[float, float] | None = None
) -> None:
    """Draw one number with what it is based on: the count ``n``, and the 95 % interval as shares of 1."""
    st.metric(label, value)
    basis = []
    if n is not None:
        basis.append(f"n = {n:,}")
    if interval is not None:
        basis.append(f"95 % interval {interval[0]:.0%} to {interval[1]:.0%}")
    if basis:
        st.caption(" · ".join(basis))


def format_relative_time(moment: datetime | None, *, now: datetime) -> str:
    """Format a time relative to now: "3 minutes ago", "in 2 days"; "never" for None."""
    if moment is None:
        return "never"
    seconds = (now - moment).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        count = int(abs(seconds) // size)
        if count:
            amount = count_text(count, unit)
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now"


def escape_markdown(text: str) -> str:
    """Escape Markdown, so that Streamlit shows the text unchanged.

    Markdown from imported files could load a remote image and thereby disclose who looked at what. An
    invisible character interrupts addresses, which would become links: Streamlit looks for them after it
    has removed the backslashes. Characters that change the direction of text are shown as U+FFFD.
    """
    text = _LINK_PART.sub("\\g<0>\u2060", _DIRECTION_CHARS.sub("\ufffd", text))
    return "".join(f"\\{char}" if char in _MARKDOWN_CHARS else char for char in text)


#: The beginnings of what GitHub's Markdown makes a link of: "http:" before "//", "www" before a dot, and the
#: name in an e-mail address.
_LINK_PART = re.compile(r"https?:(?=//)|www(?=\.)|[\w+.-](?=@\w)", re.IGNORECASE)
_DIRECTION_CHARS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKDOWN_CHARS = frozenset("\\`*_{}[]<>#+-!|~$:&^=")
