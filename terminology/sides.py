"""Sides and heights in texts on chest radiographs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

RIGHT, LEFT = re.compile(r"\bright\b", re.IGNORECASE), re.compile(r"\bleft\b", re.IGNORECASE)
BOTH = re.compile(r"\b(?:bilateral\w*|both|bibasilar|bibasal|biapical)\b", re.IGNORECASE)
#: Structures whose name has a side although they do not lie on that side alone, and "right" for correct.
_NO_SIDE = re.compile(
    r"\b(?:right|left)(?:[- ]sided)?[\s-]+(?:heart|atri\w+|ventric\w+|main\b|aortic arch|"
    r"answer|option|choice|diagnosis|axis|anterior oblique|posterior oblique|to[\s-]+(?:left|right)|shift\w*|"
    r"coronary|subclavian|jugular|internal|IJ\b|PICC|brachiocephalic|arm\b)|"
    r"\b(?:to|toward|towards|from)\s+the\s+(?:right|left)\b|\ball right\b",
    re.IGNORECASE,
)
_SIDES = re.compile(
    r"\b(left|right)(?:[- ]sided?)?\b|\b(bilateral\w*|both|bibasilar|bibasal|biapical)\b", re.IGNORECASE
)
#: Heights: apical is part of upper, basal of lower.
_HEIGHTS = re.compile(
    r"\b(?:(upper|apex|apices|apical|biapical)|(mid(?:dle)?(?=[\s-]+(?:lung|lobe|zone))|mid-to-\w+)|"
    r"(lower|bas(?:e|es|al|ilar)|bibasilar|bibasal|costophrenic))\b",
    re.IGNORECASE,
)
_HEIGHT_NAMES = ("upper", "mid", "lower")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The sides ("left", "right") and heights ("upper", "mid", "lower") that a text names.

    Both sides together stand for bilateral. Empty means that the text names none.
    """

    sides: frozenset[str]
    heights: frozenset[str]

    @property
    def side(self) -> str:
        """The side if the text names exactly one, otherwise ""."""
        return next(iter(self.sides)) if len(self.sides) == 1 else ""


@lru_cache(maxsize=20_000)
def read_place(text: str) -> Place:
    """Read the sides and heights that a text names.

    >>> place = read_place("An opacity in the left lower lobe.")
    >>> place.side, sorted(place.heights)
    ('left', ['lower'])
    >>> sorted(read_place("Bibasilar atelectasis; the right heart border is sharp.").sides)
    ['left', 'right']
    """
    text = _NO_SIDE.sub(" ", text)
    sides: set[str] = set()
    for match in _SIDES.finditer(text):
        sides |= {match[1].casefold()} if match[1] else {"left", "right"}
    heights = {
        name
        for match in _HEIGHTS.finditer(text)
        for name, group in zip(_HEIGHT_NAMES, match.groups(), strict=True)
        if group
    }
    return Place(sides=frozenset(sides), heights=frozenset(heights))
