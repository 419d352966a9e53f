"""Draws samples of extracted answers by rule, and estimates the error rate of each rule from marks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from domain.marks import AnswerMark, ReplyId
from domain.readings import Prediction
from measures.proportions import CONFIDENCE, wilson_by_cluster
from reader_study.extraction import GIVEN, RULES
from reader_study.report.tables import ExtractionRate


def identify_reply(prediction: Prediction) -> ReplyId:
    """Return the identity of the reply of a prediction."""
    return ReplyId(model_id=prediction.model_id, question_row_id=prediction.question_row_id)


def group_replies(predictions: Iterable[Prediction], *, seed: int) -> dict[str, tuple[Prediction, ...]]:
    """Return the predictions with an extracted answer by rule, each group in a random order.

    The first n predictions of a group are a random sample. A larger sample contains the smaller one, because
    the sort key of a reply depends only on the seed and on the reply.

    Args:
        predictions: the predictions. Predictions with the rule ``GIVEN`` are left out.
        seed: the seed of the order.
    """

    def sort_key(prediction: Prediction) -> str:
        text = f"{seed} {prediction.model_id} {prediction.question_row_id}"
        return hashlib.sha256(text.encode()).hexdigest()

    groups: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        if prediction.rule != GIVEN and prediction.raw is not None:
            groups.setdefault(prediction.rule, []).append(prediction)
    return {rule: tuple(sorted(groups[rule], key=sort_key)) for rule in RULES if rule in groups}


def compute_extraction_rates(
    groups: Mapping[str, Sequence[Prediction]],
    marks: Mapping[ReplyId, AnswerMark],
    *,
    confidence: float = CONFIDENCE,
) -> tuple[ExtractionRate, ...]:
    """Compute the error rate of each rule from the marked replies.

    Args:
        groups: the predictions by rule.
        marks: the marks; replies without a mark are left out.
        confidence: the confidence level of the intervals.
    """
    rates = []
    for rule, predictions in groups.items():
        marked = [prediction for prediction in predictions if identify_reply(prediction) in marks]
        wrong = np.array(
            [marks[identify_reply(prediction)] is AnswerMark.WRONG for prediction in marked], dtype=np.bool_
        )
        questions = np.array([prediction.question_row_id for prediction in marked], dtype=np.int64)
        share = wilson_by_cluster(wrong, questions, confidence=confidence)
        rates.append(
            ExtractionRate(
                rule=rule,
                replies=len(predictions),
                marked=share.n,
                wrong=share.count,
                estimate=share.estimate,
                low=share.low,
                high=share.high,
                note=share.note if marked else "not marked",
            )
        )
    return tuple(rates)
