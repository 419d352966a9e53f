"""The only file that names session_state keys: each key has a function that sets it and one that gets it.

A reload of the page (F5) deletes this state. Anything that a person would miss belongs in the database
instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

_MESSAGE = "overread-message"
_LAST_ACTION = "overread-last-action"
_CHOSEN = "overread-chosen"
_FORM = "overread-form"
_BROWSE_PLACE = "overread-browse-place"
_JUDGING_FORM = "judging-form"  # the key under which ui/forms/review.py mounts the form
_JUDGING_TURN = "overread-judging-turn"


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


def notice() -> Notice | None:
    return st.session_state.get(_MESSAGE)


def set_notice(found: Notice | None) -> None:
    st.session_state[_MESSAGE] = found


def last_action() -> tuple[str, datetime] | None:
    """Return the last action and its time, by which the second click of a double click is recognised."""
    return st.session_state.get(_LAST_ACTION)


def set_last_action(action: str, at: datetime) -> None:
    st.session_state[_LAST_ACTION] = (action, at)


def chosen(what: str) -> object | None:
    """Return what was chosen on one page for the next (a batch, a dataset).

    It is lost on reload, so it is never a judgement.
    """
    return st.session_state.get(f"{_CHOSEN}-{what}")


def set_chosen(what: str, value: object) -> None:
    st.session_state[f"{_CHOSEN}-{what}"] = value


def field(key: str) -> object | None:
    """Return the present value of a widget by its key, because the arguments of a form's callback are old."""
    return st.session_state.get(key)


def form(name: str) -> str:
    """Return the key of a form. It changes after :func:`clear_form`, so that the fields start empty."""
    return f"{name}-{st.session_state.get(f'{_FORM}-{name}', 0)}"


def is_first_form(name: str) -> bool:
    """Whether no form of that name has been saved and cleared in this session yet."""
    return f"{_FORM}-{name}" not in st.session_state


def clear_form(name: str) -> None:
    """Reset the form after its content was saved."""
    st.session_state[f"{_FORM}-{name}"] = st.session_state.get(f"{_FORM}-{name}", 0) + 1


def judging_request() -> dict[str, object]:
    """Return what the review form requests in this run: the target, and the number of the request."""
    asked = st.session_state.get(_JUDGING_FORM)
    found = asked.get("go") if asked is not None else None
    return dict(found) if isinstance(found, dict) else {}


def judging_turn() -> int:
    """Return the number of the form's last request, by which the form recognises a new answer."""
    turn: int = st.session_state.get(_JUDGING_TURN, 0)
    return turn


def set_judging_turn(turn: int) -> None:
    st.session_state[_JUDGING_TURN] = turn


def browse_place(search: object) -> int:
    """Return the position in the list of that search; 0 at first.

    A positive number means the questions after that number, a negative one those before it.
    """
    kept = st.session_state.get(_BROWSE_PLACE)
    return kept[1] if kept is not None and kept[0] == search else 0


def set_browse_place(search: object, number: int) -> None:
    st.session_state[_BROWSE_PLACE] = (search, number)
