"""Plans the number of cases for a kappa from the expected width of its interval.

Assumptions. Both raters use the categories with the same ``shares``, and kappa is the same in each category.
The half-width is that of the large-sample interval. If a category is rare, the interval in the report will be
somewhat wider.

Source: Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327; Cantor AB, Psychol Methods
1996;1:150-153.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from domain.errors import InvalidValue
from measures.agreement import CONFIDENCE, Weights, agreement_weights
from measures.pairs import kappa_influence


def kappa_half_width(
    kappa: float,
    shares: Sequence[float],
    *,
    cases: int,
    weights: Weights = Weights.NONE,
    confidence: float = CONFIDENCE,
) -> float:
    """Compute half of the expected width of kappa's interval.

    Args:
        kappa: the expected agreement beyond chance, 0 or more, below 1.
        shares: the share of each category; each is above 0, and the sum is 1.
        cases: the number of cases, 1 or more.
        weights: none, linear or quadratic.
        confidence: the confidence level of the interval.

    Returns:
        The distance from the estimate to each limit, above 0.

    Raises:
        InvalidValue: kappa is outside its range, the shares do not add up to 1, or there is no case.

    >>> round(kappa_half_width(0.6, [0.5, 0.5], cases=100), 3)
    0.157
    """
    if cases < 1:
        raise InvalidValue("cases", f"{cases} must be 1 or more")
    return NormalDist().inv_cdf(0.5 + confidence / 2) * _unit_error(kappa, shares, weights) / math.sqrt(cases)


def cases_for_kappa(
    kappa: float,
    shares: Sequence[float],
    *,
    half_width: float,
    weights: Weights = Weights.NONE,
    confidence: float = CONFIDENCE,
) -> int:
    """Compute the number of cases for an interval of kappa with the given half-width.

    Args:
        kappa: the expected agreement beyond chance, 0 or more, below 1.
        shares: the share of each category; each is above 0, and the sum is 1.
        half_width: the distance from the estimate to each limit, above 0 and below 1.
        weights: none, linear or quadratic.
        confidence: the confidence level of the interval.

    Returns:
        The minimum number of cases, 2 or more.

    Raises:
        InvalidValue: kappa or the half-width is outside its range, or the shares do not add up to 1.

    >>> cases_for_kappa(0.6, [0.5, 0.5], half_width=0.1)
    246
    """
    if not 0 < half_width < 1:
        raise InvalidValue("half_width", f"{half_width} must be between 0 and 1, for example 0.1")
    unit = NormalDist().inv_cdf(0.5 + confidence / 2) * _unit_error(kappa, shares, weights)
    return max(2, math.ceil((unit / half_width) ** 2))


def _unit_error(kappa: float, shares: Sequence[float], weights: Weights) -> float:
    """Compute the standard error for one case."""
    share = np.asarray(shares, dtype=np.float64)
    if not 0 <= kappa < 1:
        raise InvalidValue("kappa", f"{kappa} must be at least 0 and below 1")
    if len(share) < 2 or (share <= 0).any() or abs(float(share.sum()) - 1) > 1e-6:
        raise InvalidValue("shares", "must be two or more values above 0 whose sum is 1")
    table = kappa * np.diag(share) + (1 - kappa) * np.outer(share, share)
    _, influence = kappa_influence(table, agreement_weights(len(share), weights))
    return math.sqrt(float(np.sum(table * influence**2)))
