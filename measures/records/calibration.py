"""Calibration of each rater who states a confidence with the answers, and the reliability diagrams."""

from __future__ import annotations

from measures.calibration import measure_calibration
from measures.rating_matrix import RatingMatrix
from measures.records.settings import Settings
from measures.results import CalibrationResult, ReliabilityResult


def compute_calibration(
    matrix: RatingMatrix, settings: Settings
) -> tuple[tuple[CalibrationResult, ...], tuple[ReliabilityResult, ...]]:
    """Compute the calibration of each rater with confidences, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence level is used.

    Returns:
        One result per task and rater, and the bins of the reliability diagrams.
    """
    calibrations: list[CalibrationResult] = []
    bins: list[ReliabilityResult] = []
    for subset in matrix.task_subsets():
        for rater in matrix.non_reference_raters:
            stated, correct = matrix.probabilities[subset.rows, rater], matrix.correct[subset.rows, rater]
            rows = subset.rows[(stated >= 0) & (correct >= 0)]  # comparisons with NaN are false
            if not len(rows):
                continue
            result = measure_calibration(
                matrix.probabilities[rows, rater],
                matrix.correct[rows, rater] == 1,
                clusters=matrix.cluster_numbers(rows),
                level=settings.confidence,
            )
            calibrations.append(
                CalibrationResult(
                    rater=matrix.raters[rater],
                    kind=matrix.kinds[rater],
                    task=subset.name,
                    n=result.n,
                    ece=result.ece,
                    low=result.low,
                    high=result.high,
                    expected_if_calibrated=result.expected_if_calibrated,
                    brier=result.brier,
                    note=result.note,
                )
            )
            bins += [
                ReliabilityResult(
                    rater=matrix.raters[rater],
                    task=subset.name,
                    lower=bin_.lower,
                    upper=bin_.upper,
                    n=bin_.share.n,
                    mean_confidence=bin_.mean_confidence,
                    correct=bin_.share.count,
                    estimate=bin_.share.estimate,
                    low=bin_.share.low,
                    high=bin_.share.high,
                    note=bin_.share.note,
                )
                for bin_ in result.bins
            ]
    return tuple(calibrations), tuple(bins)
