"""Sides and heights in texts on chest radiographs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from operator import or_

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
#: The words for each height: apical counts as upper, basal as lower.
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
#: For each side and height, the bits of the whole words that always name it.
_WORD_BITS_BY_NAME = {
    name: FilteredPattern("|".join(rf"\b{word}\b" for word in words)).word_bits
    for name, words in {
        "left": ("left",),
        "right": ("right",),
        "both": ("both", "bibasilar", "bibasal", "biapical"),
        "upper": _HEIGHTS["upper"],
        "lower": _HEIGHTS["lower"],
    }.items()
} | {"bilateral": FilteredPattern(r"\bbilateral").word_bits}
_SURE_BITS = reduce(or_, _WORD_BITS_BY_NAME.values())
_LEFT_OR_RIGHT = _WORD_BITS_BY_NAME["left"] | _WORD_BITS_BY_NAME["right"]
#: The words beside "left" or "right" in _WITHOUT_SIDE; each of its structures contains at least one of them.
_BESIDE_SIDE = FilteredPattern(
    r"\b(?:heart|atri|ventric|main\b|aortic|answer|option|choice|diagnosis|axis|oblique|to\b|towards?\b|from\b|"
    r"all\b|shift|coronary|subclavian|jugular|internal|ij\b|picc|brachiocephalic|arm\b)"
).word_bits
_MID = FilteredPattern(r"\b(?:mid|middle)\b").word_bits
#: A digit or an underscore beside a letter, so that the letters are no whole word; for texts in ASCII.
_BESIDE_LETTER = re.compile(r"[0-9_](?:[A-Za-z]|(?<=[A-Za-z].))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The sides ("left", "right") and heights ("upper", "mid", "lower") that a text names.

    Both sides together stand for bilateral. Empty means that the text names none.
    """

    sides: frozenset[str]
    heights: frozenset[str]
    #: The side if the text names exactly one, otherwise "". Stored, because it is read more than once.
    side: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "side", next(iter(self.sides)) if len(self.sides) == 1 else "")


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
    bits = read_word_bits(text)
    if not bits & PLACE_BITS:
        return _NOWHERE
    if (
        bits & _MID
        or (bits & _LEFT_OR_RIGHT and bits & _BESIDE_SIDE)
        or not text.isascii()
        or _BESIDE_LETTER.search(text)
    ):
        return _read_place_by_pattern(text)
    return _read_place_by_words(bits & _SURE_BITS)


@lru_cache(maxsize=1_000)
def _read_place_by_words(bits: int) -> Place:
    """Return the place that words with these bits name; cached, since many texts have the same.

    It takes a fourth of the time of the pattern. Tests compare both.
    """
    names = {name for name, word_bits in _WORD_BITS_BY_NAME.items() if bits & word_bits}
    is_both = not names.isdisjoint(("both", "bilateral"))
    return _make_place(
        frozenset({"left", "right"} if is_both else names & {"left", "right"}),
        frozenset(names & {"upper", "lower"}),
    )


def _read_place_by_pattern(text: str) -> Place:
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
