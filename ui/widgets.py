"""Small parts that all pages share: actions with their notices, fragments, empty states, numbers, times."""

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
#: The maximum time between the clicks of a double click. An action repeated within it is ignored.
_DOUBLE_CLICK = timedelta(seconds=1.5)
P = ParamSpec("P")


def run_action(
    action: Callable[..., str | None],
    *args: object,
    notice_key: str = "page",
    toggle_key: str | None = None,
    **kwargs: object,
) -> None:
    """Run an action as the callback of a widget: ``on_click=run_action, args=(save, draft)``.

    The action takes all values as arguments and commits before it returns, so nothing is lost if Streamlit
    aborts the run. Its outcome is shown by :func:`show_notice` until the next action: the returned sentence
    with the time of saving, or the text of the error. If the person could not prevent the failure, such as an
    unavailable database or a full disk, the notice offers to repeat the action. The second click of a double
    click is ignored.

    Args:
        action: writes to the database, and returns a sentence for the person, or None for no notice.
        args: the positional arguments of the action.
        notice_key: the key of the :func:`show_notice` that shows the outcome.
        toggle_key: the key of a button that alternates between an action and its opposite, such as close and
            reopen. The second click of a slow double click would trigger the opposite; with this key it is
            ignored.
        kwargs: the keyword arguments of the action.
    """
    action_id = toggle_key or f"{action.__module__}.{action.__qualname__}{args!r}{kwargs!r}"
    last_action = state.get_last_action()
    if last_action is not None and last_action[0] == action_id and clock() - last_action[1] < _DOUBLE_CLICK:
        return
    started_at = clock()
    retry = partial(run_action, action, *args, notice_key=notice_key, toggle_key=toggle_key, **kwargs)
    refusal = partial(state.Notice, key=notice_key, refused=True)
    try:
        message = action(*args, **kwargs)
    except NotNow as error:
        state.set_notice(refusal(text=format_not_saved(str(error)), again=retry))
    except DomainError as error:
        state.set_notice(refusal(text=str(error)))
    except OSError as error:
        _LOG.exception("a file could not be read or written")
        state.set_notice(refusal(text=describe_file_error(error), again=retry))
    except Exception as error:  # noqa: BLE001 - every click must have an outcome, even after a programming error
        number = generate_error_number()
        _LOG.error(describe_error_location(error), extra={"error": number})
        state.set_notice(refusal(text=format_not_saved(describe_unexpected_error(number)), again=retry))
    else:
        state.set_last_action(action_id, clock())
        state.set_notice(_create_success_notice(message, key=notice_key, started_at=started_at))


def format_not_saved(text: str) -> str:
    """Return the text of a failed action; it always begins with "Not saved"."""
    return text if text.startswith("Not saved") else f"Not saved. {text}"


def _create_success_notice(message: str | None, *, key: str, started_at: datetime) -> state.Notice | None:
    """Return the notice for a completed action. It has a time of saving only if the database confirms it."""
    try:
        saved_at = find_last_write_since(started_at)
    except NotNow:
        text = (
            "The change was sent but could not be confirmed. Check the result before you repeat the action."
        )
        return state.Notice(key=key, text=text, refused=True)
    return state.Notice(key=key, text=message, refused=False, saved_at=saved_at) if message else None


def show_notice(key: str = "page") -> None:
    """Show the outcome of the last action if its notice has this key.

    If repeating a failed action may help, show a button for it.
    """
    notice = state.get_notice()
    if notice is None or notice.key != key:
        return
    if not notice.refused:
        st.success(escape_markdown(notice.text))
        if notice.saved_at is not None:
            st.caption(f"Saved at {format_clock_time(notice.saved_at)}")
        return
    st.error(escape_markdown(notice.text))
    if notice.again is not None:
        st.button("Try again", key=f"again-{key}", on_click=notice.again, icon=":material/refresh:")


def page_fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """Decorate a function that shows a page, or its interactive part, so that it runs as one fragment.

    In one fragment, a click cannot be handled before the previous save is complete. If the database is
    unavailable, the page shows this and stops. Entered text stays in the widgets, and a failed action can be
    repeated.
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
    """Show the error and a button to try again while the database is unavailable, and stop the page."""
    last_notice = state.get_notice()
    if last_notice is not None and last_notice.refused:
        st.error(escape_markdown(last_notice.text))
    else:
        st.error(escape_markdown(str(error)))
    retry = last_notice.again if last_notice is not None and last_notice.refused else None
    st.button("Try again", key="again-away", on_click=retry, icon=":material/refresh:")
    st.stop()


def show_empty_state(title: str, next_step: str, page: str | None = None, label: str | None = None) -> None:
    """Show the state of a page without data.

    Args:
        title: what is missing.
        next_step: how the person can provide it.
        page: the file of the page for the next step, such as ``"pages/sampling.py"``; None for no link.
        label: the text of the link.
    """
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(title)}**")
        st.markdown(escape_markdown(next_step))
        if page is not None:
            st.page_link(ROOT / page, label=label or "Open page", icon=":material/arrow_forward:")


def go_to(page: str, **query: object) -> None:
    """Switch to the page with that file, such as ``"pages/review.py"``; ``query`` goes into its address."""
    st.switch_page(ROOT / page, query_params={name: str(value) for name, value in query.items()})


def show_statistic(
    label: str, value: str, *, n: int | None = None, interval: tuple[float, float] | None = None
) -> None:
    """Show a number with its ``n`` and its 95 % interval, whose limits are shares from 0 to 1."""
    st.metric(label, value)
    details = []
    if n is not None:
        details.append(f"n = {n:,}")
    if interval is not None:
        details.append(f"95 % interval {interval[0]:.0%} to {interval[1]:.0%}")
    if details:
        st.caption(" · ".join(details))


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

    Markdown from imported files could load a remote image and thereby disclose who viewed which question. An
    invisible character interrupts addresses, because Streamlit makes links of them after it has removed the
    backslashes. Characters that change the direction of text are replaced by U+FFFD.
    """
    text = _LINK_PART.sub("\\g<0>\u2060", _DIRECTION_CHARS.sub("\ufffd", text))
    return "".join(f"\\{char}" if char in _MARKDOWN_CHARS else char for char in text)


#: The beginnings of texts that GitHub's Markdown converts to links: "http:" before "//", "www" before a dot,
#: and the name in an e-mail address.
_LINK_PART = re.compile(r"https?:(?=//)|www(?=\.)|[\w+.-](?=@\w)", re.IGNORECASE)
_DIRECTION_CHARS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKDOWN_CHARS = frozenset("\\`*_{}[]<>#+-!|~$:&^=")
