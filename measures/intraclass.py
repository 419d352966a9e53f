"""Intraclass correlation of raters on a numeric scale: the six coefficients of Shrout and Fleiss.

Conventions. ``ratings`` has shape (questions, raters), NaN where missing. Only the ``n`` questions that all
raters rated are used. For ICC1, each question has its own raters. For ICC2, the raters are a sample of all
raters. ICC3 holds for these raters only. A name that ends in "k" is the reliability of the raters' mean.

Edge cases. The coefficients are not defined with fewer than two raters or two complete questions, or if all
ratings are equal.

Source: Shrout PE, Fleiss JL, Psychol Bull 1979;86:420-428; the interval of ICC2 after McGraw KO, Wong SP,
Psychol Methods 1996;1:30-46.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.proportions import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Intraclass:
    """One coefficient (at most 1) of ``n`` questions and ``raters`` raters; ``ratio`` is its F statistic."""

    icc_type: str
    n: int
    raters: int
    estimate: float | None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    note: str = ""


ICC_TYPES = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")


def intraclass(ratings: NDArray[np.float64], *, confidence: float = CONFIDENCE) -> list[Intraclass]:
    """Compute the six intraclass correlations of Shrout and Fleiss for raters on a numeric scale.

    Use them instead of kappa if answers are measurements. ICC2 holds for similar raters, ICC3 for these
    raters only. A name that ends in "k" is the reliability of the mean of all raters.

    Args:
        ratings: shape (questions, raters), NaN where missing. Only questions that all raters rated are used.
        confidence: the confidence level of the intervals.

    Returns:
        Six results in the order of ``ICC_TYPES``, each at most 1. They are not defined with fewer than two
        raters or complete questions, or if all ratings are equal.

    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> [round(result.estimate, 2) for result in intraclass(np.array(rows, dtype=float))[:3]]
    [0.17, 0.29, 0.71]
    """
    complete = ratings[~np.isnan(ratings).any(axis=1)]
    n, k = complete.shape
    if n < 2 or k < 2 or np.ptp(complete) == 0:
        reason = (
            "all ratings are equal" if n >= 2 and k >= 2 else "fewer than two raters or complete questions"
        )
        return [
            Intraclass(icc_type=icc_type, n=n, raters=k, estimate=None, note=f"not defined: {reason}")
            for icc_type in ICC_TYPES
        ]
    rows, columns, grand_mean = complete.mean(axis=1), complete.mean(axis=0), complete.mean()
    between = k * float(np.sum((rows - grand_mean) ** 2)) / (n - 1)
    within = float(np.sum((complete - rows[:, None]) ** 2)) / (n * (k - 1))
    between_raters = n * float(np.sum((columns - grand_mean) ** 2)) / (k - 1)
    residual = float(np.sum((complete - rows[:, None] - columns + grand_mean) ** 2)) / ((n - 1) * (k - 1))
    tail = 0.5 + confidence / 2

    icc1 = _compute_icc_from_f_ratio(between, within, k, (n - 1, n * (k - 1)), tail)
    icc3 = _compute_icc_from_f_ratio(between, residual, k, (n - 1, (n - 1) * (k - 1)), tail)
    icc2 = (between - residual) / (between + (k - 1) * residual + k * (between_raters - residual) / n)
    icc2k = (between - residual) / (between + (between_raters - residual) / n)
    low, high = _compute_icc2_limits((between, between_raters, residual), icc2, (n, k), tail)
    ratio = between / residual if residual > 0 else None
    values = {
        "ICC1": icc1[:4],
        "ICC2": (icc2, low, high, ratio),
        "ICC3": icc3[:4],
        "ICC1k": (icc1[4], *_convert_to_mean_of_raters(icc1[1], icc1[2], k), icc1[3]),
        "ICC2k": (icc2k, *_convert_to_mean_of_raters(low, high, k), ratio),
        "ICC3k": (icc3[4], *_convert_to_mean_of_raters(icc3[1], icc3[2], k), icc3[3]),
    }
    return [
        Intraclass(
            icc_type=icc_type,
            n=n,
            raters=k,
            estimate=result[0],
            low=result[1],
            high=result[2],
            ratio=result[3],
        )
        for icc_type, result in values.items()
    ]


def _compute_icc_from_f_ratio(
    between: float, error: float, k: int, degrees: tuple[int, int], tail: float
) -> tuple[float, float | None, float | None, float | None, float]:
    """Compute the coefficient of one rater, its limits, F, and the coefficient of the raters' mean."""
    single = (between - error) / (between + (k - 1) * error)
    mean = (between - error) / between if between else 0.0
    if error == 0:
        return single, None, None, None, mean
    ratio = between / error
    low = ratio / float(scipy.special.fdtri(*degrees, tail))
    high = ratio * float(scipy.special.fdtri(degrees[1], degrees[0], tail))
    return single, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1), ratio, mean


def _compute_icc2_limits(
    mean_squares: tuple[float, float, float], icc2: float, size: tuple[int, int], tail: float
) -> tuple[float | None, float | None]:
    (between, between_raters, residual), (n, k) = mean_squares, size
    if residual == 0:
        return None, None
    ratio = between_raters / residual
    spread = n * (1 + (k - 1) * icc2) - k * icc2
    degrees = (k - 1) * (n - 1) * (k * icc2 * ratio + spread) ** 2
    degrees /= (n - 1) * k**2 * icc2**2 * ratio**2 + spread**2
    upper, lower = (
        float(scipy.special.fdtri(n - 1, degrees, tail)),
        float(scipy.special.fdtri(degrees, n - 1, tail)),
    )
    error_terms = k * between_raters + (k * n - k - n) * residual
    return (
        n * (between - upper * residual) / (upper * error_terms + n * between),
        n * (lower * between - residual) / (error_terms + n * lower * between),
    )


def _convert_to_mean_of_raters(
    low: float | None, high: float | None, k: int
) -> tuple[float | None, float | None]:
    """Convert the limits of one rater to those of the mean of k raters (Spearman-Brown formula)."""
    if low is None or high is None:
        return None, None
    return k * low / (1 + (k - 1) * low), k * high / (1 + (k - 1) * high)
