"""Converts the view positions of question files to the five of Overread."""

from __future__ import annotations

from domain.vocabulary import View

_VIEWS = {
    View.PA: {"PA", "POSTEROANTERIOR"},
    View.AP: {"AP", "ANTEROPOSTERIOR"},
    View.LATERAL: {"LATERAL", "LAT", "LL", "RL", "LEFTLATERAL", "RIGHTLATERAL"},
    View.UNKNOWN: {"", "UNKNOWN", "NA", "NONE", "NAN", "NULL"},
}
_BY_NAME = {name: view for view, names in _VIEWS.items() for name in names}


def parse_view(text: str | None) -> View:
    """The view of a text; an unknown one (such as an oblique) is OTHER, a missing one is UNKNOWN."""
    letters = "".join(character for character in (text or "").upper() if character.isalpha())
    return _BY_NAME.get(letters, View.OTHER)
