"""What most raters say of a question: a majority, or none.

Conventions. Answers are compared as they are (sets of ticks in one order); an empty one is missing and "?"
("cannot determine") is an answer like others. The answer that more raters gave than any other is the
consensus.

Edge cases. A tie at the top is no consensus, never the first of the two; nor is there one without an answer.
With ``strict`` more than half of those who answered must agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """The answer, None without a consensus; ``votes`` for the most frequent answer of ``n`` that were
    given.
    """

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
