"""Resolves the outcome of each judged question: from its adjudication, or else from its verdicts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domain.adjudications import AdjudicationSummary
from domain.verdicts import Decision, ErrorKind
from records.columns import DECISIONS, LatestVerdicts
from review.estimates import KEY_ERROR_KINDS, Outcome


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgements:
    """The latest verdicts and adjudications of batches.

    ``key_only_batches`` has the ids of the batches that request the key only.
    """

    latest_verdicts: LatestVerdicts
    adjudications: tuple[AdjudicationSummary, ...]
    key_only_batches: frozenset[int]


@dataclass(frozen=True, slots=True)
class _LatestJudgement:
    """A person's latest verdict on a question in any batch.

    ``judges_more_than_key`` is False if its batch requests the key only.
    """

    person_id: int
    judges_more_than_key: bool
    decision: Decision
    errors: frozenset[ErrorKind]
    key_error: bool


def resolve_outcomes(
    judgements: Judgements,
    batches: Collection[int],
    cell_of: Mapping[int, Hashable],
    cluster_of: Mapping[int, int],
) -> list[Outcome]:
    """Resolve the outcome of each question that was judged in these batches and has a cell.

    Args:
        judgements: all verdicts and adjudications.
        batches: the ids of the batches that count.
        cell_of: the cell of each question of the sample, by question id.
        cluster_of: the patient or exam of each of these questions, by question id.

    Returns:
        One outcome per question, sorted by question id.
    """
    latest = judgements.latest_verdicts
    rows = latest.find_latest_rows(np.isin(latest.batches, list(batches)))
    adjudication_by_question = {
        adjudication.question_row_id: adjudication
        for adjudication in judgements.adjudications
        if adjudication.batch_id in batches
    }
    questions = latest.questions[rows]
    starts = np.flatnonzero(np.diff(questions, prepend=-1)).tolist()
    latest_judgements = _build_judgements(judgements, rows)
    outcomes = []
    for start, end in pairwise([*starts, len(rows)]):
        number = int(questions[start])
        if number not in cell_of:
            continue
        judgements_of_question = latest_judgements[start:end]
        full_judgements = [
            judgement for judgement in judgements_of_question if judgement.judges_more_than_key
        ]
        adjudication = adjudication_by_question.get(number)
        decision, errors, key_error = _resolve_outcome(
            full_judgements or judgements_of_question, adjudication
        )
        if adjudication is None and 0 < len(full_judgements) < len(judgements_of_question):
            # Verdicts that judge only the key count only for key errors.
            key_error = any(judgement.key_error for judgement in judgements_of_question)
        outcomes.append(
            Outcome(
                question_row_id=number,
                cluster=cluster_of[number],
                cell=cell_of[number],
                decision=decision,
                errors=errors,
                key_error=key_error,
                key_only=not full_judgements,
            )
        )
    return outcomes


def _build_judgements(judgements: Judgements, rows: NDArray[np.int64]) -> list[_LatestJudgement]:
    """Return the verdicts of these rows. Equal verdicts share one object."""
    latest = judgements.latest_verdicts
    judges_more_than_key = ~np.isin(latest.batches[rows], list(judgements.key_only_batches))
    cache: dict[tuple[int, bool, int, int, bool], _LatestJudgement] = {}
    latest_judgements = []
    for columns in zip(
        latest.people[rows].tolist(),
        judges_more_than_key.tolist(),
        latest.decisions[rows].tolist(),
        latest.errors[rows].tolist(),
        latest.changes_key[rows].tolist(),
        strict=True,
    ):
        judgement = cache.get(columns)
        if judgement is None:
            person, is_full, decision, error_index, key_changed = columns
            errors = latest.error_sets[error_index]
            key_error = key_changed or not KEY_ERROR_KINDS.isdisjoint(errors)
            judgement = cache[columns] = _LatestJudgement(
                person, is_full, DECISIONS[decision], errors, key_error
            )
        latest_judgements.append(judgement)
    return latest_judgements


def _resolve_outcome(
    latest_judgements: Sequence[_LatestJudgement], adjudication: AdjudicationSummary | None
) -> tuple[Decision | None, frozenset[ErrorKind], bool]:
    """Return the decision, the kinds of error, and whether the key is wrong.

    They are taken from the adjudication if there is one, otherwise from the reviewers. The decision is None
    if the reviewers disagree and there is no adjudication.
    """
    if adjudication is None and len(latest_judgements) == 1:
        return latest_judgements[0].decision, latest_judgements[0].errors, latest_judgements[0].key_error
    if adjudication is None:
        decisions = {judgement.decision for judgement in latest_judgements}
        errors = frozenset[ErrorKind]().union(*(judgement.errors for judgement in latest_judgements))
        decision = decisions.pop() if len(decisions) == 1 else None
        return decision, errors, any(judgement.key_error for judgement in latest_judgements)
    if adjudication.decision is Decision.ACCEPT:
        return adjudication.decision, frozenset(), False
    adopted = [
        judgement for judgement in latest_judgements if judgement.person_id in adjudication.follows
    ] or list(latest_judgements)
    errors = frozenset[ErrorKind]().union(*(judgement.errors for judgement in adopted))
    rejected_for_key = adjudication.decision is Decision.REJECT and any(
        judgement.key_error for judgement in adopted
    )
    return adjudication.decision, errors, adjudication.key_changed or rejected_for_key
