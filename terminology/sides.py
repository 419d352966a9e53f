"""Sides and heights in texts on chest radiographs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from terminology.word_filter import FilteredPattern, read_word_bits

RIGHT, LEFT = re.compile(r"\bright\b", re.IGNORECASE), re.compile(r"\bleft\b", re.IGNORECASE)
BOTH = re.compile(r"\b(?:bilateral\w*|both|bibasilar|bibasal|biapical)\b", re.IGNORECASE)
#: Structures whose name has a side although they do not lie on that side alone, and "right" for correct.
_WITHOUT_SIDE = (
    r"(?:right|left)(?:[- ]sided)?[\s-]+(?:heart|atri\w+|ventric\w+|main\b|aortic arch|"
    r"answer|option|choice|diagnosis|axis|anterior oblique|posterior oblique|to[\s-]+(?:left|right)|shift\w*|"
    r"coronary|subclavian|jugular|internal|ij\b|picc|brachiocephalic|arm\b)|"
    r"(?:to|towards?|from)\s+the\s+(?:right|left)\b|all right\b"
)
#: Heights by the words for them: apical is part of upper, basal of lower.
_HEIGHTS = {
    "upper": ("upper", "apex", "apices", "apical", "biapical"),
    "mid": ("mid", "middle"),
    "lower": ("lower", "base", "bases", "basal", "basilar", "bibasilar", "bibasal", "costophrenic"),
}
_HEIGHT_BY_WORD = {word: height for height, words in _HEIGHTS.items() for word in words}
#: A side, a word for both sides, or a word for a height. The text is in lower case and begins with a space,
#: which takes a fourth of the time of ignoring case and of beginning with \b.
_PLACE_WORDS = re.compile(
    rf"[^a-z0-9_](?:{_WITHOUT_SIDE}|(left|right)(?:[- ]sided?)?\b|"
    r"(bilateral\w*|(?:both|bibasilar|bibasal|biapical)\b)|"
    r"(mid(?:dle)?(?=[\s-]+(?:lung|lobe|zone))|mid(?=-to-\w)|"
    rf"(?:{'|'.join((*_HEIGHTS['upper'], *_HEIGHTS['lower']))})\b))"
)
#: Texts without these words name no side or no height; the words of a text are read once for all filters.
_MAY_NAME_SIDE = FilteredPattern(r"left|right|bilateral|\bboth\b|bibasilar|bibasal|biapical")
_MAY_NAME_HEIGHT = FilteredPattern("|".join(rf"\b{word}\b" for word in _HEIGHT_BY_WORD))
#: A text that names a place, or a side, has a word with one of these bits.
PLACE_BITS = _MAY_NAME_SIDE.word_bits | _MAY_NAME_HEIGHT.word_bits
SIDE_BITS = _MAY_NAME_SIDE.word_bits


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


_NOWHERE = Place(sides=frozenset(), heights=frozenset())


@lru_cache(maxsize=20_000)
def read_place(text: str) -> Place:
    """Read the sides and heights that a text names.

    >>> place = read_place("An opacity in the left lower lobe.")
    >>> place.side, sorted(place.heights)
    ('left', ['lower'])
    >>> sorted(read_place("Bibasilar atelectasis; the right heart border is sharp.").sides)
    ['left', 'right']
    """
    if not read_word_bits(text) & PLACE_BITS:
        return _NOWHERE
    sides: set[str] = set()
    heights: set[str] = set()
    for side, both, height in _PLACE_WORDS.findall(f" {text.lower()}"):
        if side:
            sides.add(side)
        elif both:
            sides |= {"left", "right"}
        if word := height or both:
            heights.add(_HEIGHT_BY_WORD.get(word, ""))
    heights.discard("")  # a word for both sides that names no height
    return _make_place(frozenset(sides), frozenset(heights))


@cache
def _make_place(sides: frozenset[str], heights: frozenset[str]) -> Place:
    return Place(sides=sides, heights=heights)
