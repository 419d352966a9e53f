"""The one file that names session_state keys: each has a function that sets it and one that gets it.

What is kept here is gone with F5. Nothing that a person would miss belongs here; that is in the database.
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
_JUDGING_FORM = "judging-form"  # the key that ui/forms/review.py mounts the form under
_JUDGING_TURN = "overread-judging-turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What came of the last action, shown at ``place`` until the next one.

    ``again`` carries the same out once more, where that may help; ``saved_at`` was read from the database.
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
    """The action that was carried out last, and when; it makes the second half of a double click harmless."""
    return st.session_state.get(_LAST_ACTION)


def set_last_action(action: str, at: datetime) -> None:
    st.session_state[_LAST_ACTION] = (action, at)


def chosen(what: str) -> object | None:
    """What was chosen on one page for the next (a batch, a dataset): lost with F5, never a judgement."""
    return st.session_state.get(f"{_CHOSEN}-{what}")


def set_chosen(what: str, value: object) -> None:
    st.session_state[f"{_CHOSEN}-{what}"] = value


def field(key: str) -> object | None:
    """What a widget holds now, by its key: a form's callback gets old arguments."""
    return st.session_state.get(key)


def form(name: str) -> str:
    """The key of a form; another one after :func:`clear_form`, so that its fields start empty."""
    return f"{name}-{st.session_state.get(f'{_FORM}-{name}', 0)}"


def is_first_form(name: str) -> bool:
    """Whether nothing has been saved and cleared by that form on this page yet."""
    return f"{_FORM}-{name}" not in st.session_state


def clear_form(name: str) -> None:
    """Start the form anew: what was typed has been saved."""
    st.session_state[f"{_FORM}-{name}"] = st.session_state.get(f"{_FORM}-{name}", 0) + 1


def judging_request() -> dict[str, object]:
    """What the judging form asks for in this run: where to, and the number of the request."""
    asked = st.session_state.get(_JUDGING_FORM)
    found = asked.get("go") if asked is not None else None
    return dict(found) if isinstance(found, dict) else {}


def judging_turn() -> int:
    """The number of the form's last request; it knows by it which answer is new."""
    turn: int = st.session_state.get(_JUDGING_TURN, 0)
    return turn


def set_judging_turn(turn: int) -> None:
    st.session_state[_JUDGING_TURN] = turn


def browse_place(search: object) -> int:
    """Where the list of that search is: after a number, or before it where it is negative; 0 at first."""
    kept = st.session_state.get(_BROWSE_PLACE)
    return kept[1] if kept is not None and kept[0] == search else 0


def set_browse_place(search: object, number: int) -> None:
    st.session_state[_BROWSE_PLACE] = (search, number)
