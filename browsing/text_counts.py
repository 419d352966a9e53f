"""Counts the lengths and word frequencies of texts. Texts are added block by block."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD_PATTERN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ASCII_WORD_PATTERN = re.compile(r"[a-z]+(?:['-][a-z]+)*")  # faster, for lower-case ASCII text only
#: Common words that are not counted.
STOP_WORDS = frozenset(  # one string is easier to read than a list of words
    """a about above after all also an and any are as at be been below between both but by can could do does
    for from had has have how if in into is it its may more most no nor not of on one only or other out over
    per should shown so some such than that the their them then there these they this those through to under
    up was were what when where which while who why will with within would""".split()  # noqa: SIM905 - as above
)

#: Stop words with which questions begin. They are counted in questions, as in GEMeX (Figure 5).
QUESTION_WORDS = frozenset(
    {"what", "which", "where", "when", "who", "why", "how", "is", "are", "does", "do", "can", "was", "were"}
)


class TextCounts:
    """Counts of texts: by length in ``characters`` and in ``words``, and by word (``frequencies``)."""

    def __init__(self) -> None:
        """Create empty counts."""
        self.characters: Counter[int] = Counter()
        self.words: Counter[int] = Counter()
        self.frequencies: Counter[str] = Counter()

    def add_texts(self, texts: Iterable[str]) -> None:
        """Add texts to the counts; empty texts are ignored."""
        lengths, distinct_words, lengths_in_words = [], list[str](), []
        for text in filter(None, texts):
            text_words = (_ASCII_WORD_PATTERN if text.isascii() else _WORD_PATTERN).findall(text.lower())
            lengths.append(len(text))
            lengths_in_words.append(len(text_words))
            distinct_words.extend(set(text_words))
        # Counters are updated once per call, because each update has a fixed cost.
        self.characters.update(lengths)
        self.words.update(lengths_in_words)
        self.frequencies.update(distinct_words)

    @property
    def n(self) -> int:
        """The number of counted texts."""
        return self.characters.total()

    def list_most_frequent(
        self, limit: int, *, stop_words: frozenset[str] = STOP_WORDS
    ) -> list[tuple[str, int]]:
        """List the most frequent words as (word, number of texts) without stop words; ties alphabetically."""
        word_counts = [(word, count) for word, count in self.frequencies.items() if word not in stop_words]
        return sorted(word_counts, key=lambda item: (-item[1], item[0]))[:limit]


def bin_lengths(lengths: Counter[int], *, width: int) -> list[tuple[int, int, int]]:
    """Count texts in bins (from, to, texts) of equal width, from 0 to the maximum length; may be empty."""
    if not lengths:
        return []
    counts: Counter[int] = Counter()
    for length, count in lengths.items():
        counts[length // width] += count
    return [(index * width, index * width + width - 1, counts[index]) for index in range(max(counts) + 1)]


def mean_length(lengths: Counter[int]) -> float | None:
    """Compute the mean length; None if there are no texts."""
    n = lengths.total()
    return sum(length * count for length, count in lengths.items()) / n if n else None
