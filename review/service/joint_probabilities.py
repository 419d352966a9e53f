"""The probability of each question to be drawn and judged in any of several batches.

Draws have different seeds. A draw that allows questions of other batches is independent of the earlier
draws. A draw that leaves out the questions of other batches can take a question only if no earlier draw took
it, whether it was judged there or not. After two such draws, with the probabilities p1 and p2 and the judged
shares s1 and s2, a question is judged with the probability s1 p1 + (1 - p1) s2 p2. Draws of batches that do
not count have the judged share 0. The order of review is random, so the judged part of a draw represents it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from domain.batches import Batch
from review.outcomes import Judgements
from storage.review.outcomes import ReviewedQuestionColumns
from storage.sampling import draws
from storage.sampling.draws import Draw


def load_joint_probabilities(
    db: Session,
    *,
    batches: Sequence[Batch],
    left_out: Sequence[Batch],
    questions: ReviewedQuestionColumns,
    judgements: Judgements,
) -> dict[int, float]:
    """Return the probability of each question that a batch could draw; above 0, up to 1.

    Args:
        db: a read-only session.
        batches: the batches that count.
        left_out: other batches whose questions a draw of ``batches`` left out.
        questions: the questions.
        judgements: the judgements of ``batches``.
    """
    unjudged = np.ones(
        len(questions.numbers)
    )  # the probability that no batch that counts judged the question
    undrawn = np.ones(len(questions.numbers))  # the probability that no draw took it
    latest = judgements.latest_verdicts
    counted_batch_ids = {batch.id for batch in batches}
    for batch, draw in list_draws_in_order(db, (*batches, *left_out)):
        probabilities = _load_probabilities(db, batch, draw, questions)
        if batch.id in counted_batch_ids:
            share = _compute_judged_share(draw, np.unique(latest.questions[latest.batches == batch.id]))
            unjudged -= share * probabilities * (undrawn if batch.plan.exclude_drawn else unjudged)
        undrawn *= 1 - probabilities
    return {
        number: 1 - probability
        for number, probability in zip(questions.numbers.tolist(), unjudged.tolist(), strict=True)
        if probability < 1
    }


def list_draws_in_order(db: Session, batches: Sequence[Batch]) -> list[tuple[Batch, Draw]]:
    """Return the draws of several batches in the order in which they were drawn."""
    return sorted(
        ((batch, draw) for batch in batches for draw in draws.list_draws(db, batch_id=batch.id)),
        key=lambda pair: pair[1].id or 0,
    )


def _compute_judged_share(draw: Draw, judged: NDArray[np.int64]) -> float:
    n_drawn = sum(stratum.drawn for stratum in draw.strata)
    is_in_frame = (judged > draw.frame_after) & (judged <= draw.frame_through)
    return float(np.count_nonzero(is_in_frame)) / n_drawn if n_drawn else 0.0


def _load_probabilities(
    db: Session, batch: Batch, draw: Draw, questions: ReviewedQuestionColumns
) -> NDArray[np.float64]:
    """Return the probability of each question in one draw; 0 outside its frame."""
    numbers = questions.numbers
    is_in_frame = (numbers > draw.frame_after) & (numbers <= draw.frame_through)
    if batch.plan.risk is not None:
        stored = draws.load_probabilities(
            db, draw_id=draw.id or 0, question_ids=numbers[is_in_frame].tolist()
        )
        return np.array([stored.get(number, 0.0) for number in numbers.tolist()])
    probability_by_cell = {
        (stratum.tier, stratum.further): stratum.inclusion_probability for stratum in draw.strata
    }
    tiers, tier_codes = questions.tiers
    columns = [questions.derive_feature(name, batch.plan.names) for name in batch.plan.strata]
    probabilities = [
        probability_by_cell.get(
            (tiers[tier], tuple(values[code] for (values, _), code in zip(columns, codes, strict=True))), 0.0
        )
        for tier, *codes in zip(tier_codes.tolist(), *(codes.tolist() for _, codes in columns), strict=True)
    ]
    return np.where(is_in_frame, np.array(probabilities, dtype=np.float64), 0.0)
