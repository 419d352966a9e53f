"""The only file that names session_state keys: each key has a function that sets it and one that gets it.

A reload of the page (F5) deletes this state. Anything that a person would miss belongs in the database
instead.
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
_REVIEW_FORM_KEY = "judging-form"  # the key under which ui/forms/review.py mounts the form
_REVIEW_TURN_KEY = "overread-judging-turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """The outcome of the last action, shown at ``place`` until the next one.

    ``again`` repeats the action, if that may help; ``saved_at`` was read from the database.
    """

    place: str
    text: str
    refused: bool
    again: Callable[[], None] | None = None
    saved_at: datetime | None = None


def get_notice() -> Notice | None:
    return st.session_state.get(_NOTICE_KEY)


def set_notice(new_notice: Notice | None) -> None:
    st.session_state[_NOTICE_KEY] = new_notice


def get_last_action() -> tuple[str, datetime] | None:
    """Return the last action and its time, by which the second click of a double click is recognised."""
    return st.session_state.get(_LAST_ACTION_KEY)


def set_last_action(action: str, acted_at: datetime) -> None:
    st.session_state[_LAST_ACTION_KEY] = (action, acted_at)


def get_selection(name: str) -> object | None:
    """Return what was chosen on one page for the next (a batch, a dataset).

    It is lost on reload, so it is never a judgement.
    """
    return st.session_state.get(f"{_SELECTION_PREFIX}-{name}")


def set_selection(name: str, value: object) -> None:
    st.session_state[f"{_SELECTION_PREFIX}-{name}"] = value


def get_widget_value(key: str) -> object | None:
    """Return the present value of a widget by its key, because the arguments of a form's callback are old."""
    return st.session_state.get(key)


def form_key(name: str) -> str:
    """Return the key of a form. It changes after :func:`clear_form`, so that the fields start empty."""
    return f"{name}-{st.session_state.get(f'{_FORM_PREFIX}-{name}', 0)}"


def is_first_form(name: str) -> bool:
    """Whether no form of that name has been saved and cleared in this session yet."""
    return f"{_FORM_PREFIX}-{name}" not in st.session_state


def clear_form(name: str) -> None:
    """Reset the form after its content was saved."""
    st.session_state[f"{_FORM_PREFIX}-{name}"] = st.session_state.get(f"{_FORM_PREFIX}-{name}", 0) + 1


def get_review_request() -> dict[str, object]:
    """Return what the review form requests in this run: the target, and the number of the request."""
    component_state = st.session_state.get(_REVIEW_FORM_KEY)
    request = component_state.get("go") if component_state is not None else None
    return dict(request) if isinstance(request, dict) else {}


def get_review_turn() -> int:
    """Return the number of the form's last request, by which the form recognises a new answer."""
    turn: int = st.session_state.get(_REVIEW_TURN_KEY, 0)
    return turn


def set_review_turn(turn: int) -> None:
    st.session_state[_REVIEW_TURN_KEY] = turn


def get_browse_position(search: object) -> int:
    """Return the position in the list of that search; 0 at first.

    A positive number means the questions after that number, a negative one those before it.
    """
    stored = st.session_state.get(_BROWSE_POSITION_KEY)
    return stored[1] if stored is not None and stored[0] == search else 0


def set_browse_position(search: object, position: int) -> None:
    st.session_state[_BROWSE_POSITION_KEY] = (search, position)
