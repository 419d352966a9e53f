"""Converts the view positions of question files to Overread's views."""

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
    """Return the view that a text names: OTHER for views such as oblique, UNKNOWN for a missing view."""
    letters = "".join(character for character in (text or "").upper() if character.isalpha())
    return _BY_NAME.get(letters, View.OTHER)
