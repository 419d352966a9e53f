"""Attention: self-agreement on hidden repeats, and the share of planted faults that a reviewer found.

Both use first verdicts, because a changed verdict may be based on more than the question. Self-agreement is
percent agreement (Wilson's interval by exam), Cohen's kappa and AC1, with quadratic weights for ratings.
Shares have Wilson's interval by exam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from domain.hidden import PlantedFault
from domain.questions import Question
from domain.verdicts import Verdict
from measures.proportions import Proportion, wilson_by_cluster
from review.agreement import Between, agreement_between
from review.faults import FaultSeen, seen
from review.shared_questions import SharedQuestion

#: Hidden questions per block of the drift.
BLOCK = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPair:
    """A question judged twice by one person, with ``between`` other verdicts of theirs in between."""

    question: Question
    exam_number: int
    first: Verdict
    second: Verdict
    between: int

    @property
    def same(self) -> bool:
        return self.first.decision is self.second.decision


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedJudged:
    """A planted question with its verdict."""

    fault: PlantedFault
    exam_number: int
    verdict: Verdict

    @property
    def seen(self) -> FaultSeen:
        return seen(self.fault, self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultLine:
    """Results for planted faults of one kind (None: of all kinds): shares found, and not accepted."""

    fault: PlantedFault | None
    found: Proportion
    not_accepted: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionBlock:
    """Results for the hidden questions ``first`` to ``last`` in the order of verdicts.

    ``until`` is the time of the last verdict.
    """

    first: int
    last: int
    until: datetime
    same: Proportion
    found: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The attention of one reviewer or of all. ``between`` is None if no repeat was judged twice.

    ``gap`` is the median number of other verdicts between the first and the second; ``blocks`` is the drift.
    """

    pairs: int
    between: Between | None
    gap: float | None
    faults: tuple[FaultLine, ...]
    blocks: tuple[AttentionBlock, ...]


def attention_of(
    pairs: Sequence[RepeatPair], planted: Sequence[PlantedJudged], *, block: int = BLOCK
) -> Attention:
    """Compute the attention of one person, or of several together.

    Args:
        pairs: the repeats that were judged twice.
        planted: the planted questions that were judged.
        block: hidden questions per block of the drift.
    """
    # The two judgements are treated as those of two reviewers: the first is 1, the second 2.
    shared = [
        SharedQuestion(
            question=each.question,
            exam_number=each.exam_number,
            verdicts=(replace(each.first, person_id=1), replace(each.second, person_id=2)),
        )
        for each in pairs
    ]
    kinds = [each for each in PlantedFault if any(one.fault is each for one in planted)]
    return Attention(
        pairs=len(pairs),
        between=agreement_between(shared)[0] if shared else None,
        gap=median(each.between for each in pairs) if pairs else None,
        faults=(
            _line(None, planted),
            *(_line(kind, [each for each in planted if each.fault is kind]) for kind in kinds),
        ),
        blocks=_blocks(pairs, planted, block),
    )


def _line(fault: PlantedFault | None, planted: Sequence[PlantedJudged]) -> FaultLine:
    exams = [each.exam_number for each in planted]
    return FaultLine(
        fault=fault,
        found=wilson_by_cluster([each.seen is FaultSeen.FOUND for each in planted], exams),
        not_accepted=wilson_by_cluster([each.seen is not FaultSeen.MISSED for each in planted], exams),
    )


def _blocks(
    pairs: Sequence[RepeatPair], planted: Sequence[PlantedJudged], block: int
) -> tuple[AttentionBlock, ...]:
    every: list[RepeatPair | PlantedJudged] = [*pairs, *planted]
    every.sort(key=lambda each: (_verdict(each).given_at, _verdict(each).question_id))
    found = []
    for start in range(0, len(every), block):
        part = every[start : start + block]
        repeats = [each for each in part if isinstance(each, RepeatPair)]
        faults = [each for each in part if isinstance(each, PlantedJudged)]
        found.append(
            AttentionBlock(
                first=start + 1,
                last=start + len(part),
                until=_verdict(part[-1]).given_at,
                same=wilson_by_cluster(
                    [each.same for each in repeats], [each.exam_number for each in repeats]
                ),
                found=wilson_by_cluster(
                    [each.seen is FaultSeen.FOUND for each in faults], [each.exam_number for each in faults]
                ),
            )
        )
    return tuple(found)


def _verdict(each: RepeatPair | PlantedJudged) -> Verdict:
    return each.second if isinstance(each, RepeatPair) else each.verdict
