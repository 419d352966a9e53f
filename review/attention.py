"""Reviewers' attention: self-agreement on hidden repeats, and the share of planted faults that were found.

Only first verdicts are used, because a reviewer may change a verdict for reasons outside the question.
Self-agreement is percent agreement, Cohen's kappa and AC1, with quadratic weights for ratings. Percent
agreement and shares have Wilson intervals clustered by exam.
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
from review.agreement import GroupAgreement, compute_agreement
from review.faults import FaultDetection, classify_detection
from review.shared_questions import SharedQuestion

#: The number of hidden questions per block.
DEFAULT_BLOCK = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPair:
    """A question that one person judged twice, and the number of the person's other verdicts in between."""

    question: Question
    exam_row_id: int
    first: Verdict
    second: Verdict
    verdicts_between: int

    @property
    def has_same_decision(self) -> bool:
        return self.first.decision is self.second.decision


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedVerdict:
    """A question with a planted fault, and the verdict on it."""

    fault: PlantedFault
    exam_row_id: int
    verdict: Verdict

    @property
    def detection(self) -> FaultDetection:
        return classify_detection(self.fault, self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultDetectionRates:
    """The share of planted faults found, and the share not accepted. ``fault`` is None for all kinds."""

    fault: PlantedFault | None
    found: Proportion
    not_accepted: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionBlock:
    """The results of the hidden questions ``first`` to ``last``, in the order of their verdicts.

    ``until`` is the time of the last verdict. ``same`` is the share of repeats with the same decision, and
    ``found`` the share of planted faults that were found.
    """

    first: int
    last: int
    until: datetime
    same: Proportion
    found: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The attention of one reviewer or of all reviewers.

    ``agreement`` is None if no repeat was judged twice. ``median_verdicts_between`` is the median number of
    other verdicts between the two verdicts on a repeat. ``blocks`` has the results over time.
    """

    pairs: int
    agreement: GroupAgreement | None
    median_verdicts_between: float | None
    faults: tuple[FaultDetectionRates, ...]
    blocks: tuple[AttentionBlock, ...]


def compute_attention(
    pairs: Sequence[RepeatPair], planted: Sequence[PlantedVerdict], *, block: int = DEFAULT_BLOCK
) -> Attention:
    """Compute the attention of one person, or of several people together.

    Args:
        pairs: the repeats that were judged twice.
        planted: the planted questions that were judged.
        block: the number of hidden questions per block.
    """
    # The two verdicts are treated as verdicts of two reviewers with the ids 1 and 2.
    shared = [
        SharedQuestion(
            question=pair.question,
            exam_row_id=pair.exam_row_id,
            verdicts=(replace(pair.first, person_id=1), replace(pair.second, person_id=2)),
        )
        for pair in pairs
    ]
    kinds = [fault for fault in PlantedFault if any(verdict.fault is fault for verdict in planted)]
    return Attention(
        pairs=len(pairs),
        agreement=compute_agreement(shared)[0] if shared else None,
        median_verdicts_between=median(pair.verdicts_between for pair in pairs) if pairs else None,
        faults=(
            _estimate_fault_rates(None, planted),
            *(
                _estimate_fault_rates(
                    kind, [planted_verdict for planted_verdict in planted if planted_verdict.fault is kind]
                )
                for kind in kinds
            ),
        ),
        blocks=_compute_blocks(pairs, planted, block),
    )


def _estimate_fault_rates(
    fault: PlantedFault | None, planted: Sequence[PlantedVerdict]
) -> FaultDetectionRates:
    exams = [verdict.exam_row_id for verdict in planted]
    return FaultDetectionRates(
        fault=fault,
        found=wilson_by_cluster([verdict.detection is FaultDetection.FOUND for verdict in planted], exams),
        not_accepted=wilson_by_cluster(
            [verdict.detection is not FaultDetection.MISSED for verdict in planted], exams
        ),
    )


def _compute_blocks(
    pairs: Sequence[RepeatPair], planted: Sequence[PlantedVerdict], block: int
) -> tuple[AttentionBlock, ...]:
    hidden_verdicts: list[RepeatPair | PlantedVerdict] = [*pairs, *planted]
    hidden_verdicts.sort(
        key=lambda hidden_verdict: (
            _select_verdict(hidden_verdict).given_at,
            _select_verdict(hidden_verdict).question_row_id,
        )
    )
    blocks = []
    for start in range(0, len(hidden_verdicts), block):
        block_judgements = hidden_verdicts[start : start + block]
        repeats = [judgement for judgement in block_judgements if isinstance(judgement, RepeatPair)]
        planted_verdicts = [
            judgement for judgement in block_judgements if isinstance(judgement, PlantedVerdict)
        ]
        blocks.append(
            AttentionBlock(
                first=start + 1,
                last=start + len(block_judgements),
                until=_select_verdict(block_judgements[-1]).given_at,
                same=wilson_by_cluster(
                    [repeat.has_same_decision for repeat in repeats],
                    [repeat.exam_row_id for repeat in repeats],
                ),
                found=wilson_by_cluster(
                    [verdict.detection is FaultDetection.FOUND for verdict in planted_verdicts],
                    [verdict.exam_row_id for verdict in planted_verdicts],
                ),
            )
        )
    return tuple(blocks)


def _select_verdict(judgement: RepeatPair | PlantedVerdict) -> Verdict:
    return judgement.second if isinstance(judgement, RepeatPair) else judgement.verdict
