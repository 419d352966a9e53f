"""Keyboard shortcuts of the forms, and the preferences of a person: own keys, and the left mouse button.

``shortcuts.json`` declares the shortcuts for this package and for ``frontend/src/shared/shortcuts.ts``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from domain.errors import InvalidValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """An action of a form with its default key.

    ``contexts`` are where it is active: "answer" (own answer before the key is shown), "judge", "read" and
    "adjudicate". Two shortcuts with a common context cannot have the same key.
    """

    id: str
    group: str
    label: str
    key: str
    contexts: frozenset[str]


def _read_declarations() -> dict[str, Shortcut]:
    path = Path(__file__).with_name("shortcuts.json")
    return {
        name: Shortcut(
            id=name,
            group=values["group"],
            label=values["label"],
            key=values["key"],
            contexts=frozenset(values["contexts"]),
        )
        for name, values in json.loads(path.read_text(encoding="utf-8")).items()
    }


#: All shortcuts by id, in the order of the list of keys.
SHORTCUTS: Mapping[str, Shortcut] = _read_declarations()

_NAMED_KEYS = {
    name.lower(): name
    for name in ("Backspace", "Delete", "Enter", "Insert", "Home", "End", "PageUp", "PageDown", "Space")
} | {"del": "Delete", "return": "Enter"}
#: Keys with a fixed meaning on the forms, and the letters that Streamlit uses for itself.
_RESERVED = frozenset({"C", "R", "Shift+C", "Shift+R", "Space", "Shift+Enter"})
_SYMBOL = re.compile(r"[^\w\s]")


class LeftButton(StrEnum):
    """What the left mouse button does on a radiograph when no tool is selected."""

    BOXES = "boxes"
    WINDOW = "window"
    PAN = "pan"


def parse_key(text: str) -> str:
    """Parse the name of a key: "A", "Shift+1", "Alt+2", "PageUp", "?"; "" for no key.

    Raises:
        InvalidValue: there is no such key, or it is reserved.

    >>> parse_key("shift x"), parse_key("del"), parse_key("+"), parse_key(" ")
    ('Shift+X', 'Delete', '+', '')
    """
    words = [word for word in re.split(r"\s+|\+(?=.)", text.strip()) if word]
    if not words:
        return ""
    *modifiers, name = words
    modifiers = [modifier.capitalize() for modifier in modifiers]
    key = _NAMED_KEYS.get(name.lower(), name.upper())
    is_letter = len(key) == 1 and key.isalpha()
    is_digit = len(key) == 1 and key.isdecimal() and key.isascii()
    is_symbol = bool(_SYMBOL.fullmatch(key))
    parsed = "+".join([*modifiers, key])
    if not (is_letter or is_digit or is_symbol or key in _NAMED_KEYS.values()):
        raise InvalidValue(
            "key",
            f"{text!r} is not a key; enter a letter, a digit, a symbol, or a name such as Enter or PageUp",
        )
    if modifiers not in ([], ["Shift"], ["Alt"]):
        raise InvalidValue("key", f"{text!r}: only Shift and Alt can be combined with a key")
    if modifiers and is_symbol:
        raise InvalidValue("key", f"{text!r}: enter the symbol alone, without Shift or Alt")
    if modifiers == ["Alt"] and not is_digit:
        raise InvalidValue("key", f"{text!r}: browsers use Alt with keys that are not digits")
    if parsed in _RESERVED:
        raise InvalidValue("key", f"{parsed} is reserved and cannot be assigned")
    return parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPreferences:
    """What a person has chosen: keys by action, if they differ from the default, and the left mouse button.

    An empty key turns a shortcut off.

    Raises:
        InvalidValue: an unknown action, a key that does not exist or is reserved, or one key for two actions
            of one form.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    left_button: LeftButton = LeftButton.BOXES

    def __post_init__(self) -> None:
        unknown_actions = sorted(set(self.keys) - set(SHORTCUTS))
        if unknown_actions:
            raise InvalidValue("keys", f"there is no action {', '.join(unknown_actions)}")
        for action, key in self.keys.items():
            if parse_key(key) != key:
                raise InvalidValue("keys", f"{action}: {key!r} must be written {parse_key(key)!r}")
        for action in self.keys:
            conflict = self.find_conflict(action)
            if conflict is not None:
                raise InvalidValue(
                    "keys",
                    f"{self.get_key(action)} for “{SHORTCUTS[action].label}” is the key of "
                    f"“{conflict.label}”; choose another key or change that one first",
                )

    def get_key(self, action: str) -> str:
        """Return the key of an action; "" if it has none."""
        return self.keys.get(action, SHORTCUTS[action].key)

    def find_conflict(self, action: str) -> Shortcut | None:
        """Find another shortcut with the same key and a common context."""
        key, contexts = self.get_key(action), SHORTCUTS[action].contexts
        if not key:
            return None
        return next(
            (
                other
                for other in SHORTCUTS.values()
                if other.id != action and self.get_key(other.id) == key and other.contexts & contexts
            ),
            None,
        )

    def with_key(self, action: str, key: str) -> InputPreferences:
        """Return the preferences with another key for an action; the default key of the action is not stored.

        Raises:
            InvalidValue: as for the class.
        """
        keys = {name: value for name, value in self.keys.items() if name != action}
        if action not in SHORTCUTS or key != SHORTCUTS[action].key:
            keys[action] = key
        changed = replace(self, keys=keys)
        conflict = changed.find_conflict(action)  # the default key may have been given to another action
        if conflict is not None:
            raise InvalidValue("key", f"{key} is the key of “{conflict.label}”; change that one first")
        return changed


def preferences_to_plain(preferences: InputPreferences) -> dict[str, Any]:
    """Convert preferences to plain values, as stored, exported and sent to the forms."""
    return {"keys": dict(preferences.keys), "leftButton": preferences.left_button.value}


def preferences_from_plain(value: object) -> InputPreferences:
    """Restore preferences from plain values.

    Raises:
        InvalidValue: names the field that is missing, unknown or wrong.
    """
    if not isinstance(value, dict) or set(value) != {"keys", "leftButton"}:
        raise InvalidValue("preferences", 'must be an object with exactly "keys" and "leftButton"')
    keys, left_button = value["keys"], value["leftButton"]
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise InvalidValue("keys", "must be an object with a key, as text, for each action")
    if left_button not in list(LeftButton):
        raise InvalidValue("leftButton", f"must be {', '.join(LeftButton)}, not {left_button!r}")
    return InputPreferences(keys=keys, left_button=LeftButton(left_button))
