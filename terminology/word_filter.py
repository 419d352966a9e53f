"""A fast test whether a pattern can match a text at all, from the words of the text.

Most texts lack all words of most patterns, and searching a pattern with many alternatives takes some
microseconds per text. The words of a text are looked up once, for all patterns together: each word has a set
of bits, one for each trigger that is part of it. Of the triggers of a pattern, every match has at least one.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]  # no public module parses patterns
from typing import Any

#: The bits of a pattern that needs no trigger word.
ALL_BITS = -1
#: Letters outside ASCII that equal one of a to z if case is ignored, in patterns but not in the lookup.
_EQUAL_TO_ASCII = re.compile("[\u017f\u212a\u0130\u0131]")
_TO_WORDS = {code: chr(code).lower() if chr(code) in string.ascii_letters else " " for code in range(128)}
_bits_by_trigger: dict[str, int] = {}
_MAX_WORDS = 100_000


def find_triggers(pattern: str) -> frozenset[str]:
    r"""Return texts of which each match has at least one; empty if there are no such texts.

    A trigger is a run of letters in lower case, or one other character. Of several choices, the one whose
    shortest trigger is longest is returned; a letter outside ASCII is rare.

    >>> sorted(find_triggers(r"pneumothora\w+|(?<!joint )effusions?|(?:big|large) heart"))
    ['effusion', 'heart', 'pneumothora']
    >>> find_triggers(r"\S+|\bno\b")
    frozenset()
    """
    return _choose_triggers(_parser.parse(pattern))


def _choose_triggers(items: Sequence[tuple[Any, Any]]) -> frozenset[str]:
    choices: list[frozenset[str]] = []
    run = ""
    for operator, argument in items:
        name = str(operator)
        if name == "LITERAL" and chr(argument) in string.ascii_letters:
            run += chr(argument).lower()
            continue
        choices.append(frozenset({run}))
        run = ""
        if name == "LITERAL":
            choices.append(frozenset({chr(argument)}))
        elif name == "BRANCH":
            alternatives = [_choose_triggers(alternative) for alternative in argument[1]]
            choices.append(frozenset().union(*alternatives) if all(alternatives) else frozenset())
        elif name == "SUBPATTERN":
            choices.append(_choose_triggers(argument[3]))
        elif name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0] > 0:
            choices.append(_choose_triggers(argument[2]))
    choices.append(frozenset({run}))
    return max(
        (choice for choice in choices if choice and "" not in choice),
        key=lambda choice: (min(map(_rarity, choice)), -len(choice)),
        default=frozenset(),
    )


@lru_cache(maxsize=20_000)
def read_word_bits(text: str) -> int:
    """Return the bits of all triggers in the words of a text."""
    if not text.isascii() and _EQUAL_TO_ASCII.search(text):
        return ALL_BITS
    bits = 0
    for word in text.translate(_TO_WORDS).split():
        bits |= _bits_by_word[word]
    return bits


def _rarity(trigger: str) -> int:
    return len(trigger) if trigger.isascii() else 4


class _BitsByWord(dict[str, int]):
    """The bits of words that were read before; a table is twice as fast as a cached function."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_WORDS:
            self.clear()
        bits = 0
        for trigger, bit in _bits_by_trigger.items():
            if trigger in word:
                bits |= bit
        self[word] = bits
        return bits


_bits_by_word = _BitsByWord()


class FilteredPattern:
    """Patterns that are searched only in texts that have one of their triggers.

    Args:
        patterns: patterns. The first one is searched.
        ignore_case: whether their case is ignored.
    """

    def __init__(self, *patterns: str, ignore_case: bool = True) -> None:
        self.pattern = re.compile(patterns[0], re.IGNORECASE if ignore_case else 0)
        choices = [find_triggers(pattern) for pattern in patterns]
        triggers = frozenset[str]().union(*choices) if all(choices) else frozenset[str]()
        words = sorted(trigger for trigger in triggers if trigger.isalpha())
        self._bits = _register_triggers(words)
        # Each text contains "", so a pattern without triggers is always searched.
        self._characters = tuple(sorted(triggers.difference(words))) if triggers else ("",)

    @property
    def word_bits(self) -> int:
        """The bits of which the words of a text must have one; all bits if a match needs no trigger word."""
        return ALL_BITS if self._characters else self._bits

    def may_match(self, text: str) -> bool:
        """Whether one of the patterns can match a text, or any part of it."""
        if read_word_bits(text) & self._bits:
            return True
        for character in self._characters:  # noqa: SIM110 - faster than any(), and most patterns have none
            if character in text:
                return True
        return False

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text, as ``pattern.search`` does."""
        return self.pattern.search(text) if self.may_match(text) else None


def _register_triggers(words: Sequence[str]) -> int:
    bits = 0
    for word in words:
        if word not in _bits_by_trigger:
            _bits_by_trigger[word] = 1 << len(_bits_by_trigger)
            read_word_bits.cache_clear()
            _bits_by_word.clear()
        bits |= _bits_by_trigger[word]
    return bits
