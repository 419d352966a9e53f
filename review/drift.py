"""How one reviewer's verdicts change over time, in blocks of so many in the order in which they came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.verdicts import RATING_NAMES, Decision, Verdict
from measures.means import Mean, mean_by_cluster
from measures.proportions import Proportion, wilson_by_cluster

BLOCK = 25
#: So many blocks a person at most: nobody reads a table of thousands.
_MOST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedVerdict:
    """The verdict that stands, and when and after how many seconds of looking the person's first came."""

    verdict: Verdict
    exam_number: int
    first_given_at: datetime
    first_seconds_looking: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftBlock:
    """Verdicts ``first`` to ``last`` of a person, counted from 1; the last block may be short.

    ``ratings`` by the rating's name, 1 to 5; ``seconds`` of looking until the first verdict.
    """

    first: int
    last: int
    accepted: Proportion
    ratings: dict[str, Mean]
    seconds: Mean


def block_size(most: int) -> int:
    """How many verdicts a block has where the busiest of a batch's reviewers has given ``most``: 25, or a
    multiple of it that makes 40 blocks at the most.
    """
    return BLOCK * max(1, math.ceil(most / (BLOCK * _MOST)))


def drift_of(verdicts: Sequence[TimedVerdict], *, block: int = BLOCK) -> tuple[DriftBlock, ...]:
    """One person's blocks, by when the verdicts were first given."""
    ordered = sorted(verdicts, key=lambda each: (each.first_given_at, each.verdict.question_id))
    return tuple(_block(start + 1, ordered[start : start + block]) for start in range(0, len(ordered), block))


def _block(first: int, verdicts: Sequence[TimedVerdict]) -> DriftBlock:
    exams = [each.exam_number for each in verdicts]
    ratings = {}
    for name in RATING_NAMES:
        given = [
            (value, each.exam_number)
            for each in verdicts
            if (value := getattr(each.verdict.opinion.ratings, name)) is not None
        ]
        ratings[name] = mean_by_cluster(
            [value for value, _ in given], [exam for _, exam in given], least=1, most=5
        )
    return DriftBlock(
        first=first,
        last=first + len(verdicts) - 1,
        accepted=wilson_by_cluster([each.verdict.decision is Decision.ACCEPT for each in verdicts], exams),
        ratings=ratings,
        seconds=mean_by_cluster([each.first_seconds_looking for each in verdicts], exams, least=0),
    )
