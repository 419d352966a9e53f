"""Reads and writes Streamlit's session state. No other module uses the keys of the session state.

A reload of the page (F5) deletes this state, so anything that must be kept belongs in the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

_NOTICE_KEY = "overread-message"
_LAST_ACTION_KEY = "overread-last-action"
_SELECTION_PREFIX = "overread-chosen"
_FORM_PREFIX = "overread-form"
_BROWSE_POSITION_KEY = "overread-browse-place"
_REVIEW_FORM_KEY = "review-form"  # the key under which ui/forms/review.py mounts the form
_REVIEW_REQUEST_NUMBER_KEY = "overread-review-request-number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """The outcome of the last action, shown until the next action.

    Attributes:
        key: the key of the :func:`ui.widgets.show_notice` that shows it.
        text: the message.
        refused: whether the action failed or was refused.
        again: repeats the action; None if repeating does not help.
        saved_at: when the action was saved, as read from the database; None if this is unknown.
    """

    key: str
    text: str
    refused: bool
    again: Callable[[], None] | None = None
    saved_at: datetime | None = None


def get_notice() -> Notice | None:
    return st.session_state.get(_NOTICE_KEY)


def set_notice(new_notice: Notice | None) -> None:
    st.session_state[_NOTICE_KEY] = new_notice


def get_last_action() -> tuple[str, datetime] | None:
    """Return the last action and its time. They reveal the second click of a double click."""
    return st.session_state.get(_LAST_ACTION_KEY)


def set_last_action(action: str, acted_at: datetime) -> None:
    st.session_state[_LAST_ACTION_KEY] = (action, acted_at)


def get_selection(name: str) -> object | None:
    """Return what was chosen on a page for other pages, such as a batch; None if nothing was chosen.

    A reload deletes the selection, so it must never be a judgement.
    """
    return st.session_state.get(f"{_SELECTION_PREFIX}-{name}")


def set_selection(name: str, value: object) -> None:
    st.session_state[f"{_SELECTION_PREFIX}-{name}"] = value


def get_widget_value(key: str) -> object | None:
    """Return the present value of the widget with that key.

    Callbacks of forms need this, because Streamlit binds the arguments of a callback before the input.
    """
    return st.session_state.get(key)


def form_key(name: str) -> str:
    """Return the key of a form. :func:`clear_form` changes it, so that the fields are empty again."""
    return f"{name}-{st.session_state.get(f'{_FORM_PREFIX}-{name}', 0)}"


def is_first_form(name: str) -> bool:
    """Whether no form of that name has been cleared in this session."""
    return f"{_FORM_PREFIX}-{name}" not in st.session_state


def clear_form(name: str) -> None:
    """Reset a form whose content was saved."""
    st.session_state[f"{_FORM_PREFIX}-{name}"] = st.session_state.get(f"{_FORM_PREFIX}-{name}", 0) + 1


def get_review_request() -> dict[str, object]:
    """Return what the review form requests in this run: the target and the number of the request."""
    component_state = st.session_state.get(_REVIEW_FORM_KEY)
    request = component_state.get("go") if component_state is not None else None
    return dict(request) if isinstance(request, dict) else {}


def get_review_request_number() -> int:
    """Return the number of the review form's last request. The form uses it to recognise a new response."""
    number: int = st.session_state.get(_REVIEW_REQUEST_NUMBER_KEY, 0)
    return number


def set_review_request_number(number: int) -> None:
    st.session_state[_REVIEW_REQUEST_NUMBER_KEY] = number


def get_browse_position(search: object) -> int:
    """Return the position in the results of a search; 0 for the first page.

    A positive position shows the questions after that id; a negative one, those before its absolute value.
    """
    stored = st.session_state.get(_BROWSE_POSITION_KEY)
    return stored[1] if stored is not None and stored[0] == search else 0


def set_browse_position(search: object, position: int) -> None:
    st.session_state[_BROWSE_POSITION_KEY] = (search, position)
