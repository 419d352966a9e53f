"""The decisions of a batch by consensus: by majority, by Dawid and Skene's model, and by adjudication.

All judged questions of the batch count. A question with one verdict has its decision by majority.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.verdicts import Decision
from measures.dawid_skene import (
    EstimatedShare,
    estimate_model_shares,
    explain_not_identified,
    fit_dawid_skene,
)
from measures.proportions import Proportion, wilson_by_cluster
from records.columns import DECISIONS, LatestVerdicts
from review.progress import format_interval, format_percent

ASSUMPTIONS = (
    "Dawid and Skene's model assumes that reviewers err independently of each other, equally often in all "
    "questions with the same true decision, and that they are right more often than by guessing. It is not "
    "valid if a kind of question misleads all reviewers alike. It needs questions with three reviewers: two "
    "who disagree do not show which of them is right."
)
_SEED = 7  # seed of the bootstrap, so that the results are reproducible


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """The decisions of ``questions`` judged questions.

    ``ties`` is the number of questions without a majority. ``majority`` has the share of each decision among
    the questions with a majority. ``model`` has the shares of the true decisions. ``confusion`` has the share
    of each stated decision, by person id and true decision. ``model`` and ``confusion`` are empty if they are
    not defined; ``note`` then has the reason. ``changed`` is the number of questions whose most probable
    decision differs from the majority. ``adjudicated`` is the number of adjudicated questions;
    ``majority_agrees`` and ``model_agrees`` are the shares of them (for the majority: without ties) for which
    the majority, or the model, has the adjudicated decision.
    """

    questions: int
    ties: int
    majority: Mapping[Decision, Proportion]
    model: Mapping[Decision, EstimatedShare]
    confusion: Mapping[int, Mapping[Decision, Mapping[Decision, EstimatedShare]]]
    changed: int
    adjudicated: int
    majority_agrees: Proportion
    model_agrees: Proportion
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionCounts:
    """The decisions of each reviewer about each question.

    ``counts`` has the shape (questions, people, decisions), ``questions`` and ``exams`` (questions,).
    """

    counts: NDArray[np.int64]
    questions: NDArray[np.int64]
    exams: NDArray[np.int64]
    people: tuple[int, ...]


def count_decisions(verdicts: LatestVerdicts, *, people: tuple[int, ...] = ()) -> DecisionCounts:
    """Count the decisions of a batch. ``people`` are included even without a verdict."""
    questions, first_rows, inverse = np.unique(verdicts.questions, return_index=True, return_inverse=True)
    all_people = tuple(sorted({*verdicts.people.tolist(), *people}))
    counts = np.zeros((len(questions), len(all_people), len(DECISIONS)), dtype=np.int64)
    counts[inverse, np.searchsorted(all_people, verdicts.people), verdicts.decisions] = 1
    return DecisionCounts(
        counts=counts, questions=questions, exams=verdicts.exams[first_rows], people=all_people
    )


def compute_consensus(verdicts: LatestVerdicts, adjudicated: Mapping[int, Decision]) -> Consensus:
    """Compute the consensus of a batch with at least one verdict.

    Args:
        verdicts: the latest verdicts of the batch.
        adjudicated: the decisions of the latest adjudications, by question id.
    """
    decisions = count_decisions(verdicts)
    votes = decisions.counts.sum(axis=1)
    has_majority = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    majority = votes.argmax(axis=1)
    adjudicated_codes = np.array(
        [
            DECISIONS.index(adjudicated[number]) if number in adjudicated else -1
            for number in decisions.questions.tolist()
        ],
        dtype=np.int64,
    )
    is_adjudicated = adjudicated_codes >= 0
    exams = decisions.exams
    note = explain_not_identified(decisions.counts) or ""
    probable = np.full(len(majority), -1)
    model: dict[Decision, EstimatedShare] = {}
    confusion: dict[int, dict[Decision, dict[Decision, EstimatedShare]]] = {}
    if not note:
        fitted = fit_dawid_skene(decisions.counts)
        probable = fitted.posteriors.argmax(axis=1)
        shares = estimate_model_shares(decisions.counts, fitted, exams, seed=_SEED)
        model = dict(zip(DECISIONS, shares.prevalence, strict=True))
        confusion = {
            person: {
                true: dict(zip(DECISIONS, row, strict=True))
                for true, row in zip(DECISIONS, rows, strict=True)
            }
            for person, rows in zip(decisions.people, shares.confusion, strict=True)
        }
    compared_rows = np.flatnonzero(is_adjudicated & has_majority)
    model_rows = np.flatnonzero(is_adjudicated) if not note else np.empty(0, dtype=np.int64)
    return Consensus(
        questions=len(majority),
        ties=int(np.count_nonzero(~has_majority)),
        majority={
            decision: wilson_by_cluster(majority[has_majority] == index, exams[has_majority])
            for index, decision in enumerate(DECISIONS)
        },
        model=model,
        confusion=confusion,
        changed=0 if note else int(np.count_nonzero(has_majority & (probable != majority))),
        adjudicated=int(np.count_nonzero(is_adjudicated)),
        majority_agrees=wilson_by_cluster(
            majority[compared_rows] == adjudicated_codes[compared_rows], exams[compared_rows]
        ),
        model_agrees=wilson_by_cluster(
            probable[model_rows] == adjudicated_codes[model_rows], exams[model_rows]
        ),
        note=note,
    )


def format_share(share: Proportion | EstimatedShare | None) -> str:
    """Format a share with its 95 % interval."""
    if share is None or share.estimate is None:
        return "not defined"
    return f"{format_percent(share.estimate)} ({format_interval(share.low, share.high)})"
