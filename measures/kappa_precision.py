"""Plans the number of cases for a kappa of two or more raters and two possible answers.

Assumptions. All raters give the rarer answer with the same probability ``share``, and kappa is the intraclass
kappa of the common-correlation model. The expected interval contains the values of kappa whose expected
numbers of cases (by the number of raters who give the rarer answer) fit the expected data by the chi-square
test of goodness of fit. R's package kappaSize uses the same formula. The formula takes the share as known. In
a report it is estimated, so the interval there is somewhat wider.

Sources: Donner A, Eliasziw M, Stat Med 1992;11:1511-1519; Altaye M, Donner A, Klar N, Biometrics
2001;57:584-588; Donner A, Rotondi MA, Int J Biostat 2010;6:31.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.errors import InvalidValue
from measures.proportions import CONFIDENCE

#: The maximum number of raters.
MAX_RATERS = 20


def expected_kappa_limits(
    kappa: float, share: float, *, cases: int, raters: int = 2, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Compute the expected interval of kappa.

    Args:
        kappa: the expected agreement beyond chance, 0 or more, below 1.
        share: the share of the rarer answer, above 0 and below 1.
        cases: the number of cases, 1 or more.
        raters: the number of raters, 2 to ``MAX_RATERS``.
        confidence: the confidence level of the interval.

    Returns:
        The lower and the upper limit; the upper limit is 1 if no value of kappa is refuted.

    Raises:
        InvalidValue: a value is outside its range.

    >>> low, high = expected_kappa_limits(0.6, 0.5, cases=100)
    >>> (round(low, 3), round(high, 3))
    (0.422, 0.733)
    """
    if cases < 1:
        raise InvalidValue("cases", f"must be 1 or more, not {cases}")
    _check_assumptions(kappa, share, raters)
    critical = float(scipy.special.chdtri(1, 1 - confidence)) / cases
    lowest_kappa, tiny = _find_lowest_kappa(share, raters), 1e-9

    def excess_distance(limit: float) -> float:
        return _compute_distance_per_case(kappa, limit, share, raters) - critical

    low, high = lowest_kappa, 1.0
    if excess_distance(lowest_kappa + tiny) > 0:
        low = float(scipy.optimize.brentq(excess_distance, lowest_kappa + tiny, kappa))
    if excess_distance(1 - tiny) > 0:
        high = float(scipy.optimize.brentq(excess_distance, kappa, 1 - tiny))
    return low, high


def cases_for_kappa(
    kappa: float, share: float, *, half_width: float, raters: int = 2, confidence: float = CONFIDENCE
) -> int:
    """Compute the number of cases whose expected interval is within kappa plus and minus ``half_width``.

    Args:
        kappa: the expected agreement beyond chance, 0 or more, below 1.
        share: the share of the rarer answer, above 0 and below 1.
        half_width: the distance to each limit, above 0 and below 1. A limit of 1 or more, or below the lowest
            possible kappa, is not required.
        raters: the number of raters, 2 to ``MAX_RATERS``.
        confidence: the confidence level of the interval.

    Returns:
        The minimum number of cases, 2 or more.

    Raises:
        InvalidValue: a value is outside its range, or neither limit is a possible kappa.

    >>> cases_for_kappa(0.4, 0.3, half_width=0.1)
    397
    """
    if not 0 < half_width < 1:
        raise InvalidValue("half_width", f"must be between 0 and 1 (for example 0.1), not {half_width}")
    _check_assumptions(kappa, share, raters)
    limits = [
        limit
        for limit in (kappa - half_width, kappa + half_width)
        if _find_lowest_kappa(share, raters) < limit < 1
    ]
    if not limits:
        raise InvalidValue("half_width", f"{half_width} is so large that every interval is narrower")
    critical = float(scipy.special.chdtri(1, 1 - confidence))
    return max(
        2,
        *(math.ceil(critical / _compute_distance_per_case(kappa, limit, share, raters)) for limit in limits),
    )


def _check_assumptions(kappa: float, share: float, raters: int) -> None:
    if not 0 <= kappa < 1:
        raise InvalidValue("kappa", f"must be at least 0 and below 1, not {kappa}")
    if not 0 < share < 1:
        raise InvalidValue("share", f"must be between 0 and 1, not {share}")
    if not 2 <= raters <= MAX_RATERS:
        raise InvalidValue("raters", f"must be 2 to {MAX_RATERS}, not {raters}")


def _find_lowest_kappa(share: float, raters: int) -> float:
    """Return the kappa below which a probability of the common-correlation model is negative."""
    return -min(p**raters / (p - p**raters) for p in (share, 1 - share))


def _compute_distance_per_case(kappa: float, limit: float, share: float, raters: int) -> float:
    """Compute the chi-square of one case, if kappa is true and ``limit`` is the hypothesis."""
    expected, hypothesis = (
        _compute_probabilities(kappa, share, raters),
        _compute_probabilities(limit, share, raters),
    )
    return float(np.sum((expected - hypothesis) ** 2 / hypothesis))


def _compute_probabilities(kappa: float, share: float, raters: int) -> NDArray[np.float64]:
    """Return the probabilities that 0, 1, …, ``raters`` raters give the rarer answer."""
    probabilities: NDArray[np.float64] = (1 - kappa) * scipy.stats.binom.pmf(
        np.arange(raters + 1), raters, share
    )
    probabilities[0] += kappa * (1 - share)
    probabilities[raters] += kappa * share
    return probabilities
