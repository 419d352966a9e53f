"""The majority answer of several raters.

Conventions. Answers are compared as text, so sets of ticks must be in one order
(:func:`measures.ratings.canonical`). An empty answer is missing; "?" ("cannot determine") is an answer.

Edge cases. There is no consensus if the two most frequent answers tie or if nobody answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """The majority ``answer`` (None without a consensus) and its ``votes`` among ``n`` answers."""

    answer: str | None
    votes: int
    n: int
    note: str = ""


def majority(answers: Iterable[str], *, strict: bool = False) -> Consensus:
    """The answer that more raters gave than any other.

    Args:
        answers: one per rater; an empty text is no answer.
        strict: whether more than half of those who answered must agree.

    Returns:
        The consensus; its answer is None, with a note, for a tie or without an answer.

    >>> majority(["A", "A", "B"]).answer
    'A'
    >>> majority(["A", "B"]).note
    'no consensus: a tie'
    """
    counts = Counter(answer for answer in answers if answer)
    n = counts.total()
    if not n:
        return Consensus(answer=None, votes=0, n=0, note="no consensus: nobody answered")
    (first, votes), *others = counts.most_common(2)
    if others and others[0][1] == votes:
        return Consensus(answer=None, votes=votes, n=n, note="no consensus: a tie")
    if strict and 2 * votes <= n:
        return Consensus(answer=None, votes=votes, n=n, note="no consensus: no more than half agree")
    return Consensus(answer=first, votes=votes, n=n)
