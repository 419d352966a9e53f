"""Counts lengths and word frequencies of texts, block by block."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD_PATTERN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ASCII_WORD_PATTERN = re.compile(r"[a-z]+(?:['-][a-z]+)*")  # the same for lower-case ASCII, but faster
#: Common words that are not counted.
_STOP_WORDS = frozenset(  # one string is easier to read than a list of words
    """a about above after all also an and any are as at be been below between both but by can could do does
    for from had has have how if in into is it its may more most no nor not of on one only or other out over
    per should shown so some such than that the their them then there these they this those through to under
    up was were what when where which while who why will with within would""".split()  # noqa: SIM905 - as above
)


class TextCounts:
    """Counts of lengths in characters and words, and of the texts that contain each word."""

    def __init__(self) -> None:
        """Start with no texts."""
        self.characters: Counter[int] = Counter()
        self.words: Counter[int] = Counter()
        self.frequencies: Counter[str] = Counter()

    def add_texts(self, texts: Iterable[str]) -> None:
        """Count more texts; empty ones are ignored."""
        lengths, distinct_words, word_counts = [], list[str](), []
        for text in filter(None, texts):
            text_words = (_ASCII_WORD_PATTERN if text.isascii() else _WORD_PATTERN).findall(text.lower())
            lengths.append(len(text))
            word_counts.append(len(text_words))
            distinct_words.extend(set(text_words))
        # Updated once per call, because each update of a Counter has a fixed cost.
        self.characters.update(lengths)
        self.words.update(word_counts)
        self.frequencies.update(distinct_words)

    @property
    def n(self) -> int:
        """The number of texts counted."""
        return self.characters.total()

    def list_most_frequent(self, limit: int) -> list[tuple[str, int]]:
        """(word, number of texts) of the most frequent words, without common ones; ties alphabetically."""
        counted = [(word, count) for word, count in self.frequencies.items() if word not in _STOP_WORDS]
        return sorted(counted, key=lambda item: (-item[1], item[0]))[:limit]


def bin_lengths(lengths: Counter[int], *, width: int) -> list[tuple[int, int, int]]:
    """Bins (from, to, texts) of a width, from 0 to the greatest length; empty without a text."""
    if not lengths:
        return []
    counts: Counter[int] = Counter()
    for length, count in lengths.items():
        counts[length // width] += count
    return [(index * width, index * width + width - 1, counts[index]) for index in range(max(counts) + 1)]


def mean_length(lengths: Counter[int]) -> float | None:
    """The mean length; None without a text."""
    n = lengths.total()
    return sum(length * count for length, count in lengths.items()) / n if n else None
