"""The outcome of review for each judged question: the adjudication, else the reviewers' verdicts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domain.adjudications import Settled
from domain.verdicts import Decision, ErrorKind
from records.columns import DECISIONS, LatestVerdicts
from review.estimates import KEY_KINDS, Outcome


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgements:
    """Latest verdicts and adjudications of batches; ``key_only``: batches that request the key only."""

    standing: LatestVerdicts
    settled: tuple[Settled, ...]
    key_only: frozenset[int]


@dataclass(frozen=True, slots=True)
class _LatestJudgement:
    """A person's latest verdict on a question in any batch; ``full`` if it judges more than the key."""

    person_id: int
    full: bool
    decision: Decision
    errors: frozenset[ErrorKind]
    key_error: bool


def outcomes_of(
    judgements: Judgements, batches: Collection[int], cell_of: Mapping[int, Hashable]
) -> list[Outcome]:
    """Resolve the outcome of each question that was judged in some batches and has a cell.

    Args:
        judgements: all verdicts and adjudications.
        batches: numbers of the batches that count.
        cell_of: the cell of the sample, by question number.

    Returns:
        One outcome per question, by question number.
    """
    standing = judgements.standing
    kept = standing.latest_of_people(np.isin(standing.batches, list(batches)))
    settled = {each.question_number: each for each in judgements.settled if each.batch_id in batches}
    questions = standing.questions[kept]
    exams = standing.exams[kept]
    begins = np.flatnonzero(np.diff(questions, prepend=-1)).tolist()
    words = _words(judgements, kept)
    found = []
    for start, end in pairwise([*begins, len(kept)]):
        number, exam = int(questions[start]), int(exams[start])
        if number not in cell_of:
            continue
        theirs = words[start:end]
        full = [each for each in theirs if each.full]
        standing_word = settled.get(number)
        decision, errors, key_error = _resolve_outcome(full or theirs, standing_word)
        if standing_word is None and 0 < len(full) < len(theirs):
            # verdicts on the key alone count only for the key
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


def _words(judgements: Judgements, rows: NDArray[np.int64]) -> list[_LatestJudgement]:
    """The verdicts of these rows; equal verdicts share one object."""
    standing = judgements.standing
    full = ~np.isin(standing.batches[rows], list(judgements.key_only))
    known: dict[tuple[int, bool, int, int, bool], _LatestJudgement] = {}
    words = []
    for columns in zip(
        standing.people[rows].tolist(),
        full.tolist(),
        standing.decisions[rows].tolist(),
        standing.errors[rows].tolist(),
        standing.changes_key[rows].tolist(),
        strict=True,
    ):
        word = known.get(columns)
        if word is None:
            person, is_full, decision, place, key_changed = columns
            errors = standing.error_sets[place]
            key_error = key_changed or not KEY_KINDS.isdisjoint(errors)
            word = known[columns] = _LatestJudgement(person, is_full, DECISIONS[decision], errors, key_error)
        words.append(word)
    return words


def _resolve_outcome(
    said: Sequence[_LatestJudgement], settled: Settled | None
) -> tuple[Decision | None, frozenset[ErrorKind], bool]:
    """Decision, kinds of error, and whether the key is wrong.

    They are from the adjudication if there is one, otherwise from the reviewers. The decision is None if the
    reviewers disagree.
    """
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
