"""What review came to on each judged question: the adjudication's word, else that of the reviewers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domain.verdicts import Decision, ErrorKind
from records.columns import DECISIONS, LatestVerdicts
from review.estimates import KEY_KINDS, Outcome
from storage.review.outcomes import Settled
from storage.review.standing import last_words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Said:
    """The verdicts and adjudications of batches, and those of the batches that ask for the key alone."""

    standing: LatestVerdicts
    settled: tuple[Settled, ...]
    key_only: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Word:
    """What one person last said of a question; of several batches the one in which it was said last."""

    person_id: int
    full: bool
    decision: Decision
    errors: frozenset[ErrorKind]
    key_error: bool


def outcomes_of(said: Said, batches: Collection[int], cell_of: Mapping[int, Hashable]) -> list[Outcome]:
    """One for each question that was judged in these batches and has a cell, by the question's number."""
    standing = said.standing
    kept = last_words(standing, np.isin(standing.batches, list(batches)))
    settled = {each.question_number: each for each in said.settled if each.batch_id in batches}
    questions = standing.questions[kept]
    exams = standing.exams[kept]
    begins = np.flatnonzero(np.diff(questions, prepend=-1)).tolist()
    words = _words(said, kept)
    found = []
    for start, end in pairwise([*begins, len(kept)]):
        number, exam = int(questions[start]), int(exams[start])
        if number not in cell_of:
            continue
        theirs = words[start:end]
        full = [each for each in theirs if each.full]
        standing_word = settled.get(number)
        decision, errors, key_error = _came_to(full or theirs, standing_word)
        if standing_word is None and 0 < len(full) < len(theirs):
            # who looked at the key alone counts for it too
            key_error = any(each.key_error for each in theirs)
        found.append(
            Outcome(
                question_number=number,
                exam_number=exam,
                cell=cell_of[number],
                decision=decision,
                errors=errors,
                key_error=key_error,
                key_only=not full,
            )
        )
    return found


def _words(said: Said, rows: NDArray[np.int64]) -> list[_Word]:
    """Each row as a word; the same words are one object."""
    standing = said.standing
    full = ~np.isin(standing.batches[rows], list(said.key_only))
    known: dict[tuple[int, bool, int, int, bool], _Word] = {}
    words = []
    for said_so in zip(
        standing.people[rows].tolist(),
        full.tolist(),
        standing.decisions[rows].tolist(),
        standing.errors[rows].tolist(),
        standing.changes_key[rows].tolist(),
        strict=True,
    ):
        word = known.get(said_so)
        if word is None:
            person, is_full, decision, place, key_changed = said_so
            errors = standing.error_sets[place]
            key_error = key_changed or not KEY_KINDS.isdisjoint(errors)
            word = known[said_so] = _Word(person, is_full, DECISIONS[decision], errors, key_error)
        words.append(word)
    return words


def _came_to(
    said: Sequence[_Word], settled: Settled | None
) -> tuple[Decision | None, frozenset[ErrorKind], bool]:
    """(decision, kinds of error, whether the key is wrong): the adjudication's, else the reviewers'."""
    if settled is None and len(said) == 1:
        return said[0].decision, said[0].errors, said[0].key_error
    if settled is None:
        decisions = {each.decision for each in said}
        errors = frozenset[ErrorKind]().union(*(each.errors for each in said))
        decision = decisions.pop() if len(decisions) == 1 else None
        return decision, errors, any(each.key_error for each in said)
    if settled.decision is Decision.ACCEPT:
        return settled.decision, frozenset(), False
    followed = [each for each in said if each.person_id in settled.follows] or list(said)
    errors = frozenset[ErrorKind]().union(*(each.errors for each in followed))
    rejected_for_key = settled.decision is Decision.REJECT and any(each.key_error for each in followed)
    return settled.decision, errors, settled.key_changed or rejected_for_key
