"""Compares each reader who helped to set the reference with a reference made without that reader.

The reference of such a reader on a question is the majority of the other readers who helped: the answer of
more than half of those who answered the question. Each reader has one vote, shared by the answers in several
arms. Answers that are correct by the reference count as the same answer, even if their texts differ;
"cannot determine" is no vote. A question without a majority does not count for this reader.

Use this method if too few readers remain without those who helped. It assumes that the reference came from
these readers: the majority of the others replaces an independent truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from measures.rating_matrix import RatingMatrix
from measures.records.accuracy import compute_accuracy
from measures.records.paired import compute_paired_differences
from measures.records.settings import Settings
from measures.results import AccuracyResult, PairedDifference

#: Correctness by reader, as :attr:`RatingMatrix.correct`, but by the reference made without that reader.
OwnReferences = Mapping[str, NDArray[np.int8]]

_UNKNOWN, _NO_VOTE, _AS_REFERENCE = -1, -2, -3


def score_by_own_references(matrix: RatingMatrix, settings: Settings) -> OwnReferences:
    """Score the answers by the reference of each reader who helped to set it.

    Args:
        matrix: the ratings.
        settings: the settings; empty without ``leave_one_out``.

    Returns:
        For each reader who helped: shape (questions, raters), 1 for correct, 0 for incorrect, -1 if the
        answer, the truth or the majority is missing.
    """
    if not settings.leave_one_out:
        return {}
    codes = _encode_answers(matrix)
    independent = matrix.list_readers(include_helpers=False)
    helpers = [name for name in matrix.list_readers(include_helpers=True) if name not in independent]
    return {reader: _score_without(matrix, codes, reader, helpers) for reader in helpers}


def compute_leave_one_out(
    matrix: RatingMatrix, settings: Settings
) -> tuple[tuple[AccuracyResult, ...], tuple[PairedDifference, ...]]:
    """Compute the accuracy of each reader who helped, by the own reference, and the differences from models.

    Args:
        matrix: the ratings.
        settings: the settings; ``leave_one_out`` and the confidence are used.

    Returns:
        The accuracies, and the paired differences of each such reader and each model; both ordered by reader,
        then by task. ``p_adjusted`` is not yet set.
    """
    accuracies: list[AccuracyResult] = []
    differences: list[PairedDifference] = []
    own_references = score_by_own_references(matrix, settings)
    for reader, correct in own_references.items():
        own_columns = [column for column, name in enumerate(matrix.persons) if name == reader]
        models = [column for column, kind in enumerate(matrix.kinds) if kind == "model"]
        scored = replace(
            matrix, correct=correct.astype(np.int64), set_reference=(False,) * len(matrix.raters)
        ).select_raters([*own_columns, *models])
        rater_names = {matrix.raters[column] for column in own_columns}
        has_no_majority = np.any(
            (matrix.correct[:, own_columns] >= 0) & (correct[:, own_columns] < 0), axis=1
        )
        notes = {
            subset.name: _describe_reference(
                others=len(own_references) - 1, without_majority=int(has_no_majority[subset.rows].sum())
            )
            for subset in matrix.task_subsets()
        }
        accuracies += [
            replace(
                result, note="; ".join(filter(None, (result.note if result.n else "", notes[result.group])))
            )
            for result in compute_accuracy(scored, settings)
            if result.rater in rater_names
        ]
        differences += [
            result
            for result in compute_paired_differences(scored, settings)
            if (result.a in rater_names) is not (result.b in rater_names)
        ]
    return tuple(accuracies), tuple(differences)


def _encode_answers(matrix: RatingMatrix) -> NDArray[np.int64]:
    """Return a code for each answer; equal codes are the same answer. Shape (questions, raters)."""
    is_vote = (matrix.answers >= 0) & (matrix.answers != matrix.undetermined)
    codes = np.where(is_vote, matrix.answers, _NO_VOTE)
    codes = np.where(matrix.correct == 1, _AS_REFERENCE, codes)
    return np.where(matrix.correct < 0, _UNKNOWN, codes)


def _score_without(
    matrix: RatingMatrix, codes: NDArray[np.int64], reader: str, helpers: list[str]
) -> NDArray[np.int8]:
    voters = [
        column
        for column, name in enumerate(matrix.persons)
        if name in helpers and name != reader and column != matrix.reference
    ]
    majority = _find_majority(
        codes[:, voters], matrix.answers[:, voters] >= 0, [matrix.persons[column] for column in voters]
    )
    is_known = (codes != _UNKNOWN) & (majority != _UNKNOWN)[:, None]
    return np.where(is_known, codes == majority[:, None], -1).astype(np.int8)


def _find_majority(
    codes: NDArray[np.int64], has_answer: NDArray[np.bool_], persons: list[str]
) -> NDArray[np.int64]:
    """Return the code of more than half of the votes on each question, ``_UNKNOWN`` without a majority."""
    majority = np.full(len(codes), _UNKNOWN)
    is_vote = (codes != _UNKNOWN) & (codes != _NO_VOTE) & has_answer
    same_person = np.array([[a == b for b in persons] for a in persons], dtype=float)
    votes = is_vote / np.maximum(1.0, is_vote @ same_person.reshape(len(persons), len(persons)))
    total = votes.sum(axis=1)
    for column in range(codes.shape[1]):
        support = np.where(codes == codes[:, [column]], votes, 0.0).sum(axis=1)
        has_majority = is_vote[:, column] & (2 * support > total + 1e-9)
        majority[has_majority] = codes[has_majority, column]
    return majority


def _describe_reference(*, others: int, without_majority: int) -> str:
    if not others:
        return "not defined: no other reader helped to set the reference"
    text = f"reference of {count_text(others, 'other reader')}"
    if not without_majority:
        return text
    return f"{text}; {count_text(without_majority, 'question')} without a majority"
