"""Lengths and word frequencies of texts, counted block by block."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ASCII_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")  # finds the same in small letters of ASCII, in less time
#: Words that say nothing of what a text is about.
_COMMON = frozenset(  # a text is easier to read here than a list of one-word strings
    """a about above after all also an and any are as at be been below between both but by can could do does
    for from had has have how if in into is it its may more most no nor not of on one only or other out over
    per should shown so some such than that the their them then there these they this those through to under
    up was were what when where which while who why will with within would""".split()  # noqa: SIM905 - as above
)


class TextCounts:
    """Lengths in characters and words, and how often each word occurs; a word counts once a text."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.characters: Counter[int] = Counter()
        self.words: Counter[int] = Counter()
        self.frequencies: Counter[str] = Counter()

    def add(self, texts: Iterable[str]) -> None:
        """More texts; empty ones do not count."""
        lengths, seen, words = [], list[str](), []
        for text in filter(None, texts):
            found = (_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())
            lengths.append(len(text))
            words.append(len(found))
            seen.extend(set(found))
        # All of them at once: a Counter takes its time to begin.
        self.characters.update(lengths)
        self.words.update(words)
        self.frequencies.update(seen)

    @property
    def n(self) -> int:
        """How many texts were counted."""
        return self.characters.total()

    def most_frequent(self, most: int) -> list[tuple[str, int]]:
        """The words in the most texts, common ones left out; of equal ones by the alphabet."""
        kept = [(word, count) for word, count in self.frequencies.items() if word not in _COMMON]
        return sorted(kept, key=lambda each: (-each[1], each[0]))[:most]


def binned(lengths: Counter[int], *, width: int) -> list[tuple[int, int, int]]:
    """(from, to, texts) of bins of that width from 0 on, up to the longest; empty for no text."""
    if not lengths:
        return []
    counts: Counter[int] = Counter()
    for length, count in lengths.items():
        counts[length // width] += count
    return [(place * width, place * width + width - 1, counts[place]) for place in range(max(counts) + 1)]


def mean(lengths: Counter[int]) -> float | None:
    """The mean length; None for no text."""
    n = lengths.total()
    return sum(length * count for length, count in lengths.items()) / n if n else None
