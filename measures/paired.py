"""Two raters on the same questions: McNemar's tests, Tango's interval; also Cochran's Q and Holm.

Conventions. The table is (both correct, only a, only b, neither). A difference is the accuracy of a minus the
accuracy of b, -1 to 1. If several questions are of one exam, the permutation test swaps the two raters exam
by exam, and Tango's interval is computed at the effective sample size.

Edge cases. Without a discordant question every p is 1. Without a question the difference is None with a note.
If only the margins are known (how many each answered correctly, not which), the result is a range over every
pairing that the margins allow.

Sources: McNemar Q, Psychometrika 1947;12:153-157; Fagerland MW, Lydersen S, Laake P, BMC Med Res Methodol
2013;13:91 (mid-p); Tango T, Stat Med 1998;17:891-908; Newcombe RG, Stat Med 1998;17:2635-2650 (method 10) and
873-890 (unpaired); Cochran WG, Biometrika 1950;37:256-266; Holm S, Scand J Stat 1979;6:65-70.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE, Proportion, wilson

#: Of the pairings that two margins allow, this many to twice as many are computed, evenly spaced.
MIN_PAIRINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Two raters on the ``n`` questions that both answered; ``note`` explains a None."""

    n: int
    both: int
    a_only: int
    b_only: int
    neither: int
    difference: float | None
    low: float | None
    high: float | None
    p_exact: float | None
    p_mid: float | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRange:
    """Results over every pairing that two margins allow; each pair of values is (least, most)."""

    n: int
    difference: float
    a_only: tuple[int, int]
    low: tuple[float, float]
    high: tuple[float, float]
    p_exact: tuple[float, float]
    note: str = "the pairing is not known: the range over every pairing that the margins allow"


def mcnemar(a_only: int, b_only: int) -> tuple[float, float]:
    """McNemar's exact and mid-p tests, two-sided.

    Prefer mid-p for a single comparison: the exact test is conservative. Holm's adjustment uses the exact
    one.

    Args:
        a_only: questions that only rater a answered correctly.
        b_only: questions that only rater b answered correctly.

    Returns:
        The exact and the mid-p value; 1 and 1 without a discordant question.

    >>> exact, mid = mcnemar(1, 5)
    >>> (round(exact, 5), round(mid, 5))
    (0.21875, 0.125)
    """
    return sign_flip_test(np.repeat([1, -1], [a_only, b_only]))


def sign_flip_test(differences: NDArray[np.int64]) -> tuple[float, float]:
    """Exact and mid-p values of the sum of ``differences``, if each is as likely to have the other sign.

    With one question per cluster (differences of -1, 0 and 1) this is McNemar's exact test. The distribution
    is enumerated, not sampled.

    Args:
        differences: whole numbers, one per cluster: questions that only a answered correctly minus those that
            only b did.

    Returns:
        The exact and the mid-p value, two-sided; 1 and 1 if all differences are 0.

    >>> sign_flip_test(np.array([2, 1, 0, 1]))
    (0.25, 0.125)
    """
    sizes = np.abs(differences[differences != 0]).astype(np.int64)
    if not sizes.size:
        return 1.0, 1.0
    total = int(sizes.sum())
    distribution = np.ones(1)  # of the sum of the sizes whose sign is plus
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        part = np.zeros(int(size) * int(count) + 1)
        part[:: int(size)] = scipy.stats.binom.pmf(np.arange(int(count) + 1), int(count), 0.5)
        distribution = np.convolve(distribution, part)
    distance = np.abs(2 * np.arange(total + 1) - total)
    observed = abs(int(differences.sum()))
    at_observed = float(distribution[distance == observed].sum())
    exact = float(distribution[distance >= observed].sum())
    exact = 1.0 if exact > 1 - 1e-12 else exact  # rounding leaves 1 - 2e-16 for all
    return exact, max(0.0, exact - at_observed / 2)


def tango(a_only: float, b_only: float, n: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Tango's score interval of the difference of two paired proportions.

    Prefer to the Wald interval in every case: it covers with few discordant questions and stays within -1 to
    1.

    Args:
        a_only: questions that only rater a answered correctly; may be an effective size, not whole.
        b_only: questions that only rater b answered correctly; likewise.
        n: all questions that both answered, above 0; likewise.
        confidence: of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Source: Tango T, Stat Med 1998;17:891-908.

    >>> low, high = tango(12, 2, 44)
    >>> (round(low, 3), round(high, 3))
    (0.069, 0.386)
    """
    critical = NormalDist().inv_cdf(0.5 + confidence / 2)

    def score(difference: float) -> float:
        # The maximum-likelihood share of "only b" under the difference: Tango's quadratic.
        linear = -a_only - b_only + (2 * n - a_only + b_only) * difference
        constant = -b_only * difference * (1 - difference)
        share = (math.sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
        variance = n * (2 * share + difference * (1 - difference))
        distance = a_only - b_only - n * difference
        if variance <= 1e-300:
            return math.copysign(math.inf, distance) if distance else 0.0
        return distance / math.sqrt(variance)

    middle, edge = (a_only - b_only) / n, 1 - 1e-12
    low, high = -1.0, 1.0
    if middle > -edge and score(-edge) > critical:
        low = scipy.optimize.brentq(lambda x: score(x) - critical, -edge, min(middle, edge), xtol=1e-12)
    if middle < edge and score(edge) < -critical:
        high = scipy.optimize.brentq(lambda x: score(x) + critical, max(middle, -edge), edge, xtol=1e-12)
    return float(low), float(high)


def newcombe_paired(
    both: int, a_only: int, b_only: int, neither: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Newcombe's square-and-add interval (method 10) of the paired difference, with his continuity rule.

    :func:`tango` is the interval that reports use; this one is for comparison with published tables.

    Args:
        both: questions that both raters answered correctly.
        a_only: questions that only rater a answered correctly.
        b_only: questions that only rater b answered correctly.
        neither: questions that neither answered correctly.
        confidence: of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Raises:
        ValueError: no question.

    Source: Newcombe RG, Stat Med 1998;17:2635-2650.

    >>> low, high = newcombe_paired(24, 12, 2, 6)
    >>> (round(low, 3), round(high, 3))
    (0.064, 0.377)
    """
    n = both + a_only + b_only + neither
    a, b = wilson(both + a_only, n, confidence=confidence), wilson(both + b_only, n, confidence=confidence)
    margins = (both + a_only) * (b_only + neither) * (both + b_only) * (a_only + neither)
    product = float(both * neither - a_only * b_only)
    product = max(0.0, product - n / 2) if product > 0 else product
    phi = 0.0 if margins == 0 else product / math.sqrt(margins)
    return _square_and_add(_estimate_and_limits(a), _estimate_and_limits(b), phi)


def newcombe_unpaired(
    a_correct: int, a_n: int, b_correct: int, b_n: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Newcombe's square-and-add interval of the difference of two accuracies on different questions.

    Args:
        a_correct: correct answers of rater a.
        a_n: questions of rater a, 1 or more.
        b_correct: correct answers of rater b.
        b_n: questions of rater b, 1 or more.
        confidence: of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Raises:
        ValueError: a rater without a question.

    Source: Newcombe RG, Stat Med 1998;17:873-890 (method 10).

    >>> low, high = newcombe_unpaired(56, 70, 48, 80)
    >>> (round(low, 4), round(high, 4))
    (0.0524, 0.3339)
    """
    a, b = wilson(a_correct, a_n, confidence=confidence), wilson(b_correct, b_n, confidence=confidence)
    return _square_and_add(_estimate_and_limits(a), _estimate_and_limits(b), 0.0)


def compare_paired(
    a: Sequence[bool] | NDArray[np.bool_],
    b: Sequence[bool] | NDArray[np.bool_],
    *,
    clusters: Sequence[int] | NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> PairedComparison:
    """Rater a against rater b on the same questions: difference, Tango's interval, McNemar's tests.

    Args:
        a: whether each question was answered correctly, in the order of the questions.
        b: the same for the other rater.
        clusters: number of each question's exam; None when all are independent.
        confidence: of Tango's interval.

    Returns:
        The difference of the accuracies, a minus b; not defined without a question.

    Raises:
        ValueError: ``a``, ``b`` and ``clusters`` differ in length.

    >>> result = compare_paired([True, True, True, False], [True, False, False, False])
    >>> (result.a_only, result.b_only, result.difference, result.p_exact)
    (2, 0, 0.5, 0.5)
    """
    first, second = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise ValueError("raters and clusters must be of one length")
    n = len(first)
    both, neither = int((first & second).sum()), int((~first & ~second).sum())
    a_only, b_only = int((first & ~second).sum()), int((~first & second).sum())
    cells = {"n": n, "both": both, "a_only": a_only, "b_only": b_only, "neither": neither}
    if n == 0:
        return PairedComparison(
            **cells, difference=None, low=None, high=None, p_exact=None, p_mid=None,
            note="not defined: no question was answered by both",
        )  # fmt: skip
    differences = first.astype(np.int64) - second.astype(np.int64)
    effect, sums, note = 1.0, differences, ""
    if clusters is not None:
        cluster_index, n_clusters = renumber_clusters(clusters)
        if n_clusters < n:
            sums = np.bincount(cluster_index, weights=differences).round().astype(np.int64)
            effect, note = _design_effect(differences, cluster_index, n_clusters), "clustered by exam"
    low, high = tango(a_only / effect, b_only / effect, n / effect, confidence=confidence)
    p_exact, p_mid = sign_flip_test(sums)
    return PairedComparison(
        **cells, difference=(a_only - b_only) / n, low=low, high=high, p_exact=p_exact, p_mid=p_mid, note=note
    )


def compare_margins(a_correct: int, b_correct: int, n: int, *, confidence: float = CONFIDENCE) -> PairedRange:
    """Two raters on the same questions of whom only the counts are known: the range over every pairing.

    The number of questions that only a answered correctly lies between max(0, a - b) and min(a, n - b).

    Args:
        a_correct: correct answers of rater a.
        b_correct: correct answers of rater b.
        n: questions, 1 or more.
        confidence: of Tango's intervals.

    Returns:
        The difference, and the smallest and largest interval limits and exact p over the pairings.

    Raises:
        ValueError: counts that are not possible.

    >>> result = compare_margins(166, 153, 198)
    >>> result.a_only
    (13, 45)
    """
    if not (0 <= a_correct <= n and 0 <= b_correct <= n and n > 0):
        raise ValueError(f"{a_correct} and {b_correct} of {n}")
    excess = a_correct - b_correct
    minimum, maximum = max(0, excess), min(a_correct, n - b_correct)
    # Limits and p change smoothly with the pairing, so a hundred evenly spaced ones give the range.
    step = max(1, (maximum - minimum) // MIN_PAIRINGS)
    candidates = sorted({*range(minimum, maximum + 1, step), maximum})
    limits = [tango(count, count - excess, n, confidence=confidence) for count in candidates]
    exact = [mcnemar(count, count - excess)[0] for count in candidates]
    return PairedRange(
        n=n,
        difference=excess / n,
        a_only=(minimum, maximum),
        low=(min(low for low, _ in limits), max(low for low, _ in limits)),
        high=(min(high for _, high in limits), max(high for _, high in limits)),
        p_exact=(min(exact), max(exact)),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values of one family.

    Args:
        p_values: in any order; None is not part of the family.

    Returns:
        The adjusted values in the same order, at most 1; None stays None.

    Source: Holm S, Scand J Stat 1979;6:65-70.

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, index) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[index] = highest
    return adjusted


def cochran_q(correct: NDArray[np.bool_]) -> tuple[float | None, int, float | None]:
    """Cochran's Q: whether three or more raters have the same accuracy.

    Args:
        correct: shape (questions, raters); every rater answered every question.

    Returns:
        Q, its degrees of freedom, and p. Q is None and p 1 where no question divides the raters; both are
        None without two raters or without a question.

    Source: Cochran WG, Biometrika 1950;37:256-266.

    >>> q, degrees, p = cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool))
    >>> (round(q, 3), degrees, round(p, 3))
    (4.667, 2, 0.097)
    """
    questions, raters = correct.shape
    if questions == 0 or raters < 2:
        return None, max(0, raters - 1), None
    hits = correct.astype(np.float64)
    by_rater, by_question = hits.sum(axis=0), hits.sum(axis=1)
    disagreement = float(np.sum(by_question * (raters - by_question)))
    if disagreement == 0:
        return None, raters - 1, 1.0
    q = (raters - 1) * raters * float(np.sum((by_rater - by_rater.mean()) ** 2)) / disagreement
    return q, raters - 1, float(scipy.special.chdtrc(raters - 1, q))


def _design_effect(
    differences: NDArray[np.int64], cluster_index: NDArray[np.int64], n_clusters: int
) -> float:
    """Variance of the mean difference by exam divided by that of independent questions, at least 1."""
    n, mean = len(differences), float(differences.mean())
    independent = float(np.sum((differences - mean) ** 2)) / (n - 1) / n if n > 1 else 0.0
    if n_clusters < 2 or independent == 0:
        return 1.0
    sums = np.bincount(cluster_index, weights=differences - mean)
    return max(1.0, n_clusters / (n_clusters - 1) * float(np.sum(sums**2)) / n**2 / independent)


def _estimate_and_limits(share: Proportion) -> tuple[float, float, float]:
    if share.estimate is None or share.low is None or share.high is None:
        raise ValueError("a share without a question has no interval")
    return share.estimate, share.low, share.high


def _square_and_add(
    a: tuple[float, float, float], b: tuple[float, float, float], phi: float
) -> tuple[float, float]:
    difference = a[0] - b[0]
    lower_square = (a[0] - a[1]) ** 2 - 2 * phi * (a[0] - a[1]) * (b[2] - b[0]) + (b[2] - b[0]) ** 2
    upper_square = (a[2] - a[0]) ** 2 - 2 * phi * (a[2] - a[0]) * (b[0] - b[1]) + (b[0] - b[1]) ** 2
    return difference - math.sqrt(max(0.0, lower_square)), difference + math.sqrt(max(0.0, upper_square))
