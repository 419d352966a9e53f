"""Sensitivity, specificity, predictive values and AUC for one positive answer.

A question is positive if its truth is the positive answer, and negative if its truth is another answer. If
the positive answer is yes or no, only questions with the truth yes or no count, because the option letters of
other questions are not negatives. Sensitivity, specificity and predictive values use the answers; "cannot
determine" is an incorrect answer for sensitivity and specificity, and neither a positive nor a negative
answer for predictive values. The AUC uses the ``score`` of each answer. Intervals are Wilson's, clustered by
exam or patient, and DeLong's for the AUC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from domain.errors import InvalidValue
from measures.arms import compare_arms
from measures.mrmc import compare_differences, compare_with_model
from measures.rating_matrix import RatingMatrix
from measures.records.accuracy import compute_share_correct
from measures.records.settings import Settings
from measures.results import ACCURACY, AUC, DiagnosticResult, MrmcComparison
from measures.roc import (
    analyse_mean_auc,
    auc_estimate,
    compare_auc_of_arms,
    compare_auc_with_model,
    compute_aucs,
)

Values = NDArray[np.float64]
_YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A measure by which readers, models and arms are compared.

    ``values`` (q, r) contains the correctness of each rater's answers, or their scores if ``truth`` is given
    (1 positive, 0 negative, -1 unknown); NaN where a question does not count.
    """

    measure: str
    values: Values
    truth: NDArray[np.int64] | None = None
    jackknife: bool = False

    def compare_with_model(
        self,
        readers: Values,
        model: Values,
        *,
        rows: NDArray[np.int64],
        clusters: NDArray[np.int64] | None,
        random_readers: bool,
        confidence: float,
    ) -> MrmcComparison:
        """Compare the readers' values with a model's on the questions ``rows``."""
        if self.truth is None:
            return compare_with_model(
                readers, model, clusters=clusters, random_readers=random_readers, confidence=confidence
            )
        return compare_auc_with_model(
            self.truth[rows], readers, model, clusters=clusters, random_readers=random_readers,
            jackknife=self.jackknife, confidence=confidence,
        )  # fmt: skip

    def analyse_mean(
        self,
        readers: Values,
        *,
        rows: NDArray[np.int64],
        clusters: NDArray[np.int64] | None,
        random_readers: bool,
        confidence: float,
    ) -> MrmcComparison:
        """Analyse the mean of the readers' values on the questions ``rows``; the result is ``difference``."""
        if self.truth is None:
            return compare_differences(
                readers,
                clusters=clusters,
                random_readers=random_readers,
                undefined_note="not defined: no scored answer",
                confidence=confidence,
            )
        return analyse_mean_auc(
            self.truth[rows], readers, clusters=clusters, random_readers=random_readers,
            jackknife=self.jackknife, confidence=confidence,
        )  # fmt: skip

    def compare_arms(
        self,
        first: Values,
        second: Values,
        *,
        rows: NDArray[np.int64],
        clusters: NDArray[np.int64] | None,
        confidence: float,
    ) -> tuple[MrmcComparison, ...]:
        """Compare the readers' values in two arms on the questions ``rows``."""
        if self.truth is None:
            return compare_arms(first, second, clusters=clusters, confidence=confidence)
        return compare_auc_of_arms(
            self.truth[rows],
            first,
            second,
            clusters=clusters,
            jackknife=self.jackknife,
            confidence=confidence,
        )

    def compute_mean(self, values: Values, rows: NDArray[np.int64]) -> float | None:
        """Compute the mean over readings, or the mean AUC over readers; None if it is not defined."""
        figures = values if self.truth is None else compute_aucs(self.truth[rows], values).values
        return None if np.isnan(figures).all() else float(np.nanmean(figures))


def list_endpoints(matrix: RatingMatrix, settings: Settings) -> list[Endpoint]:
    """Return accuracy, and with a positive answer also sensitivity, specificity and AUC (if scores exist)."""
    correct = np.where(matrix.correct < 0, np.nan, matrix.correct).astype(np.float64)
    endpoints = [Endpoint(measure=ACCURACY, values=correct)]
    truth = find_truth(matrix, settings)
    if truth is None:
        return endpoints
    endpoints += [
        Endpoint(measure=name, values=np.where((truth == value)[:, None], correct, np.nan))
        for name, value in (("sensitivity", 1), ("specificity", 0))
    ]
    if not np.isnan(matrix.scores).all():
        endpoints.append(
            Endpoint(
                measure=AUC,
                values=np.where((truth >= 0)[:, None], matrix.scores, np.nan),
                truth=truth,
                jackknife=settings.jackknife and matrix.cluster is None,
            )
        )
    return endpoints


def find_truth(matrix: RatingMatrix, settings: Settings) -> NDArray[np.int64] | None:
    """Return 1 for positive questions, 0 for negative ones and -1 for questions without a reference answer.

    Return None if the settings name no positive answer.

    Raises:
        InvalidValue: there is no reference, or the reference never gave the positive answer.
    """
    if settings.positive is None:
        return None
    if matrix.reference is None:
        raise InvalidValue("positive", "needs a reference, whose answers state which questions are positive")
    reference_answers = matrix.answers[:, matrix.reference]
    if (
        settings.positive not in matrix.labels
        or matrix.labels.index(settings.positive) not in reference_answers
    ):
        labels = ", ".join(
            matrix.labels[index] for index in sorted(set(reference_answers[reference_answers >= 0].tolist()))
        )
        raise InvalidValue(
            "positive", f"the reference never answered {settings.positive!r}. Its answers are {labels}"
        )
    is_positive = reference_answers == matrix.labels.index(settings.positive)
    is_known = (reference_answers >= 0) & (reference_answers != matrix.undetermined)
    if settings.positive.lower() in _YES_NO:
        is_known &= np.isin(
            reference_answers, [i for i, label in enumerate(matrix.labels) if label.lower() in _YES_NO]
        )
    return np.where(is_known, is_positive.astype(np.int64), -1)


def compute_diagnostic(matrix: RatingMatrix, settings: Settings) -> tuple[DiagnosticResult, ...]:
    """Compute the diagnostic measures of each rater except the reference, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; the positive answer, the confidence and the covariance of the AUC are used.

    Returns:
        Results ordered by task, then by rater; empty without a positive answer.
    """
    truth = find_truth(matrix, settings)
    if truth is None:
        return ()
    positive_label = matrix.labels.index(settings.positive or "")
    return tuple(_compute_diagnostic(matrix, settings, truth, positive_label))


def _compute_diagnostic(
    matrix: RatingMatrix, settings: Settings, truth: NDArray[np.int64], positive_label: int
) -> Iterator[DiagnosticResult]:
    for subset in matrix.task_subsets():
        rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
        for rater in matrix.non_reference_raters:
            correct, answers = matrix.correct[rows, rater], matrix.answers[rows, rater]
            is_determined = (answers >= 0) & (answers != matrix.undetermined)
            masks = {
                "sensitivity": truth[rows] == 1,
                "specificity": truth[rows] == 0,
                "ppv": is_determined & (answers == positive_label) & (truth[rows] >= 0),
                "npv": is_determined & (answers != positive_label) & (truth[rows] >= 0),
            }
            result = DiagnosticResult(
                rater=matrix.raters[rater], kind=matrix.kinds[rater], task=subset.name, measure="", n=0,
                count=None, estimate=None, low=None, high=None, se=None, note="",
            )  # fmt: skip
            for measure, is_counted in masks.items():
                share, _ = compute_share_correct(
                    np.where(is_counted, correct, -1), clusters, confidence=settings.confidence
                )
                yield replace(
                    result, measure=measure, n=share.n, count=share.count, estimate=share.estimate,
                    low=share.low, high=share.high, note=share.note,
                )  # fmt: skip
            scores = np.where(truth[rows] >= 0, matrix.scores[rows, rater], np.nan)
            n = int((~np.isnan(scores)).sum())
            if n:
                figures = compute_aucs(
                    truth[rows], scores[:, None], clusters=clusters,
                    jackknife=settings.jackknife and clusters is None,
                )  # fmt: skip
                auc = auc_estimate(figures, 0, n=n, confidence=settings.confidence)
                yield replace(
                    result, measure=AUC, n=n, estimate=auc.value, low=auc.low, high=auc.high, se=auc.se,
                    note=auc.note,
                )  # fmt: skip
