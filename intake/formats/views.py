"""View positions as files spell them, onto the five that Overread knows."""

from __future__ import annotations

from domain.vocabulary import View

_VIEWS = {
    View.PA: {"PA", "POSTEROANTERIOR"},
    View.AP: {"AP", "ANTEROPOSTERIOR"},
    View.LATERAL: {"LATERAL", "LAT", "LL", "RL", "LEFTLATERAL", "RIGHTLATERAL"},
    View.UNKNOWN: {"", "UNKNOWN", "NA", "NONE", "NAN", "NULL"},
}
_BY_NAME = {name: view for view, names in _VIEWS.items() for name in names}


def view_of(text: str | None) -> View:
    """The view that a file's word means; a word that is not known (an oblique) is OTHER, none is UNKNOWN."""
    letters = "".join(character for character in (text or "").upper() if character.isalpha())
    return _BY_NAME.get(letters, View.OTHER)
