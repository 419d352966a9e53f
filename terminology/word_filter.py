"""A fast test whether a pattern can match a text at all, from the words of the text.

Most texts lack all words of most patterns, and searching a pattern with many alternatives takes some
microseconds per text. The words of a text are looked up once, for all patterns together: each word has a set
of bits, one for each trigger that is part of it. Every match of a pattern contains at least one of its
triggers.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cached_property, lru_cache, reduce
from operator import or_
from re import _parser  # type: ignore[attr-defined]  # no public module parses patterns
from typing import Any

#: The bits of a pattern that needs no trigger word.
ALL_BITS = -1
#: Letters outside ASCII that equal one of a to z in patterns that ignore case, but not in the lookup.
_EQUAL_TO_ASCII = re.compile("[\u017f\u212a\u0130\u0131]")
_TO_ASCII = str.maketrans("\u017f\u212a\u0130\u0131", "skii")
#: Bytes of UTF-8: letters to lower case, other characters of ASCII to spaces, all else as it is.
_TO_WORDS = bytes(
    code if code >= 128 else ord(chr(code).lower()) if chr(code) in string.ascii_letters else ord(" ")
    for code in range(256)
)
_BOUNDARIES = frozenset("{} {}".format(*_parser.parse(pattern)[0]) for pattern in (r"(?<!\w)", r"\s+", " "))
#: Words of many texts on chest radiographs, and the parts of them that are triggers. If a pattern has another
#: word that each match needs, its texts are filtered by that word.
_COMMON_WORDS = frozenset({
    "left", "right", "upper", "lower", "large", "small", "enlarge", "enlarged", "increased", "decreased",
    "change", "changed",
})  # fmt: skip
_bits_by_trigger: dict[str, int] = {}
_MAX_WORDS = 100_000


def find_triggers(pattern: str) -> frozenset[str]:
    r"""Return the triggers of a pattern: each match contains at least one. Empty if there are none.

    A trigger is a run of letters in lower case, or one other character. A space before or after the letters
    means that a word begins or ends there. Of several choices, the one whose most frequent trigger is rarest
    is returned (:func:`_estimate_rarity`).

    >>> sorted(find_triggers(r"pneumothora\w+|(?<!joint )effusions?|\b(?:big|large) heart\b"))
    [' heart ', 'effusion', 'pneumothora']
    >>> find_triggers(r"\bno\b"), find_triggers(r"\S+|\bno\b")
    (frozenset({' no '}), frozenset())
    """
    return _choose_triggers(_parser.parse(pattern), is_start=False, is_end=False)


def _choose_triggers(items: Sequence[tuple[Any, Any]], *, is_start: bool, is_end: bool) -> frozenset[str]:
    """Choose triggers of a part of a pattern; ``is_start`` and ``is_end``: a word begins, or ends, there."""
    choices: list[frozenset[str]] = []
    run = " " if is_start else ""
    for index, (operator, argument) in enumerate(items):
        name = str(operator)
        if name == "LITERAL" and chr(argument) in string.ascii_letters:
            run += chr(argument).lower()
            continue
        is_boundary = _is_boundary(operator, argument)
        preceding_run = run
        if run.strip():
            choices.append(frozenset({f"{run} " if is_boundary else run}))
        begins = index == 0 and is_start
        ends = index == len(items) - 1 and is_end
        if index > 0:
            begins = _is_boundary(*items[index - 1])
        if index < len(items) - 1:
            ends = _is_boundary(*items[index + 1])
        run = " " if is_boundary else ""
        if name == "LITERAL":
            choices.append(frozenset({chr(argument)}))
        elif name == "BRANCH":
            # The parser divides "not|no" into "no" and "t" or nothing, so the letters before are put back.
            letters = [("LITERAL", ord(letter)) for letter in preceding_run.strip()]
            alternatives = [
                _choose_triggers(
                    [*letters, *alternative],
                    is_start=preceding_run.startswith(" ") if letters else begins,
                    is_end=ends,
                )
                for alternative in argument[1]
            ]
            choices.append(frozenset().union(*alternatives) if all(alternatives) else frozenset())
        elif name == "SUBPATTERN":
            choices.append(_choose_triggers(argument[3], is_start=begins, is_end=ends))
        elif name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0] > 0:
            choices.append(_choose_triggers(argument[2], is_start=False, is_end=False))
    if run.strip():
        choices.append(frozenset({f"{run} " if is_end else run}))
    return max(
        filter(None, choices),
        key=lambda choice: (min(map(_estimate_rarity, choice)), -len(choice)),
        default=frozenset(),
    )


def _is_boundary(operator: object, argument: object) -> bool:
    r"""Whether words end at a part of a pattern: ``\b``, ``\s+``, or ``(?<!\w)``, faster than ``\b``."""
    return str(argument) == "AT_BOUNDARY" or f"{operator} {argument}" in _BOUNDARIES


@lru_cache(maxsize=20_000)
def read_word_bits(text: str) -> int:
    """Return the bits of all triggers in the words of a text."""
    if not text.isascii() and _EQUAL_TO_ASCII.search(text):
        return ALL_BITS
    words = text.encode(errors="surrogatepass").translate(_TO_WORDS).split()
    return reduce(or_, filter(None, map(_bits_by_word.__getitem__, words)), 0)


def _estimate_rarity(trigger: str) -> int:
    """Return how rare a trigger is in texts, as the number of letters of a word that is about as rare."""
    if not trigger.isascii():
        return 4
    if trigger == "'":
        return 3
    return 1 if trigger.strip() in _COMMON_WORDS else len(trigger)


class _BitsByWord(dict[bytes, int]):
    """The bits of words that were read before; a table is twice as fast as a cached function."""

    def __missing__(self, encoded: bytes) -> int:
        if len(self) >= _MAX_WORDS:
            self.clear()
        word = encoded.decode(errors="surrogatepass")
        bits = 0
        # A dash outside ASCII is part of the word here, so letters are searched anywhere in such words.
        marked = f" {word} " if word.isascii() else word
        for trigger, bit in _bits_by_trigger.items():
            if (trigger if word.isascii() else trigger.strip()) in marked:
                bits |= bit
        self[encoded] = bits
        return bits


_bits_by_word = _BitsByWord()


def fold(text: str) -> str:
    """Return a text in lower case, with all characters at their positions.

    >>> fold("No LARGE effusion: \u212aerley")
    'no large effusion: kerley'
    """
    return text.lower() if text.isascii() else text.translate(_TO_ASCII).lower()


def compile_folded(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for texts from :func:`fold`. It finds the same matches as if case were ignored.

    The search takes a third to half of the time.
    """
    return re.compile(re.sub(r"\\.|[A-Z]", _lower_letter, pattern))


def _lower_letter(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("\\") else match[0].lower()


class FilteredPattern:
    """Patterns that are searched only in texts that have one of their triggers.

    Args:
        patterns: the patterns. Only the first is searched.
        ignore_case: whether their case is ignored.

    Attributes:
        bits: the bits of the trigger words.
        characters: the other triggers.
    """

    def __init__(self, *patterns: str, ignore_case: bool = True) -> None:
        self._source, self._ignores_case = patterns[0], ignore_case
        self._searches_folded = ignore_case and "(?-i:" not in patterns[0]
        choices = [find_triggers(pattern) for pattern in patterns]
        triggers = frozenset[str]().union(*choices) if all(choices) else frozenset[str]()
        words = sorted(trigger for trigger in triggers if trigger.strip().isalpha())
        self.bits = _register_triggers(words)
        # Each text contains "", so a pattern without triggers is always searched.
        self.characters = tuple(sorted(triggers.difference(words))) if triggers else ("",)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The first pattern."""
        return re.compile(self._source, re.IGNORECASE if self._ignores_case else 0)

    @cached_property
    def folded(self) -> re.Pattern[str]:
        """The first pattern for texts from :func:`fold`."""
        return compile_folded(self._source)

    @property
    def word_bits(self) -> int:
        """The words of a text with a match have one of these bits; all bits if no trigger word is needed."""
        return ALL_BITS if self.characters else self.bits

    def may_match(self, text: str, word_bits: int | None = None) -> bool:
        """Whether one of the patterns can match a text, or any part of it.

        Args:
            text: the text.
            word_bits: the bits of its words if they are known; further bits are allowed.
        """
        if (read_word_bits(text) if word_bits is None else word_bits) & self.bits:
            return True
        for character in self.characters:  # noqa: SIM110 - faster than any(), and most patterns have none
            if character in text:
                return True
        return False

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text, as ``pattern.search`` does, but maybe in lower case."""
        if not self.may_match(text):
            return None
        return self.folded.search(fold(text)) if self._searches_folded else self.pattern.search(text)


def _register_triggers(words: Sequence[str]) -> int:
    bits = 0
    for word in words:
        if word not in _bits_by_trigger:
            _bits_by_trigger[word] = 1 << len(_bits_by_trigger)
            read_word_bits.cache_clear()
            _bits_by_word.clear()
        bits |= _bits_by_trigger[word]
    return bits
