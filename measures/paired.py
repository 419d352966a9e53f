"""Compares two raters on the same questions: McNemar's tests, Tango's interval; also Cochran's Q.

Conventions. The table is (both correct, only a, only b, neither). A difference is the accuracy of a minus the
accuracy of b, -1 to 1. If several questions belong to one exam, the permutation test swaps the two raters for
whole exams, and Tango's interval is computed at the effective sample size.

Edge cases. Without a discordant question, all p values are 1. Without a question the difference is None, with
a note. If only the margins are known (the number of correct answers of each rater), the result is a range
over all pairings that the margins allow.

Sources: McNemar Q, Psychometrika 1947;12:153-157; Fagerland MW, Lydersen S, Laake P, BMC Med Res Methodol
2013;13:91 (mid-p); Tango T, Stat Med 1998;17:891-908; Newcombe RG, Stat Med 1998;17:2635-2650 (method 10) and
873-890 (unpaired); Cochran WG, Biometrika 1950;37:256-266.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE, Proportion, wilson

#: At least this many of the pairings that two margins allow are computed, evenly spaced (or all, if fewer).
MIN_PAIRINGS = 100
#: Number of halvings after which an interval of length 2 is shorter than 1e-12.
_BISECTIONS = 41


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """The comparison of two raters on the ``n`` questions that both answered.

    If a value is None, ``note`` gives the reason.
    """

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
    """The range of results over all pairings that two margins allow; each pair of values is (least, most)."""

    n: int
    difference: float
    a_only: tuple[int, int]
    low: tuple[float, float]
    high: tuple[float, float]
    p_exact: tuple[float, float]
    note: str = "the pairing is not known: the range over all pairings that the margins allow"


def mcnemar(a_only: int, b_only: int) -> tuple[float, float]:
    """Compute McNemar's exact and mid-p tests, two-sided.

    Prefer the mid-p test for a single comparison, because the exact test is conservative. Holm's adjustment
    uses the exact test.

    Args:
        a_only: questions that only rater a answered correctly.
        b_only: questions that only rater b answered correctly.

    Returns:
        The exact p and the mid-p; both are 1 without a discordant question.

    >>> exact, mid = mcnemar(1, 5)
    >>> (round(exact, 5), round(mid, 5))
    (0.21875, 0.125)
    """
    return _compute_mcnemar(a_only, b_only)


@lru_cache(maxsize=10_000)
def _compute_mcnemar(a_only: int, b_only: int) -> tuple[float, float]:
    return sign_flip_test(np.repeat([1, -1], [a_only, b_only]))


def sign_flip_test(differences: NDArray[np.int64]) -> tuple[float, float]:
    """Compute the exact p and mid-p of the sum of ``differences`` if both signs of each are equally likely.

    With one question per cluster (differences of -1, 0 and 1) this is McNemar's exact test. The distribution
    is enumerated, not sampled.

    Args:
        differences: one integer per cluster: the number of questions that only a answered correctly, minus
            the number that only b answered correctly.

    Returns:
        The exact p and the mid-p, two-sided; both are 1 if all differences are 0.

    >>> sign_flip_test(np.array([2, 1, 0, 1]))
    (0.25, 0.125)
    """
    sizes = np.abs(differences[differences != 0]).astype(np.int64)
    if not sizes.size:
        return 1.0, 1.0
    total = int(sizes.sum())
    distribution = np.ones(1)  # the distribution of the sum of the positive differences
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        part_distribution = np.zeros(int(size) * int(count) + 1)
        part_distribution[:: int(size)] = _compute_symmetric_binomial(int(count))
        distribution = np.convolve(distribution, part_distribution)
    distance = np.abs(2 * np.arange(total + 1) - total)
    observed = abs(int(differences.sum()))
    at_observed = float(distribution[distance == observed].sum())
    exact = float(distribution[distance >= observed].sum())
    exact = 1.0 if exact > 1 - 1e-12 else exact  # the sum of all probabilities is rounded to 1 - 2e-16
    return exact, max(0.0, exact - at_observed / 2)


def _compute_symmetric_binomial(count: int) -> NDArray[np.float64]:
    """Compute the binomial probabilities of 0 to ``count`` with p = 1/2, from the middle outwards.

    ``scipy.stats`` has this function too, but its import takes longer than a report.
    """
    middle = np.arange(count // 2, count)
    upper = np.cumprod(np.concatenate([[1.0], (count - middle) / (middle + 1)]))
    probabilities = np.concatenate([upper[::-1], upper[1 + count % 2 :]])[: count + 1]
    return np.asarray(probabilities / probabilities.sum())


def tango(a_only: float, b_only: float, n: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Compute Tango's score interval of the difference of two paired proportions.

    Always prefer it to the Wald interval: its coverage is good with few discordant questions, and its limits
    stay within -1 and 1.

    Args:
        a_only: the number of questions that only rater a answered correctly, or an effective size.
        b_only: the number of questions that only rater b answered correctly, or an effective size.
        n: the number of questions that both answered, or an effective size; above 0.
        confidence: the confidence level of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Source: Tango T, Stat Med 1998;17:891-908.

    >>> low, high = tango(12, 2, 44)
    >>> (round(low, 3), round(high, 3))
    (0.069, 0.386)
    """
    return _compute_tango_limits(a_only, b_only, n, confidence)


@lru_cache(maxsize=10_000)  # the pairs of raters of a large study have few different counts
def _compute_tango_limits(a_only: float, b_only: float, n: float, confidence: float) -> tuple[float, float]:
    critical = NormalDist().inv_cdf(0.5 + confidence / 2)

    def score(difference: float) -> float:
        # The maximum-likelihood share of "only b" for this difference solves Tango's quadratic equation.
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
        low = _bisect(score, critical, -edge, min(middle, edge))
    if middle < edge and score(edge) < -critical:
        high = _bisect(score, -critical, max(middle, -edge), edge)
    return low, high


def _bisect(decreasing: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Find where a decreasing function has the value ``target``, within 1e-12.

    ``scipy.optimize`` has this function too, but its import takes as long as the report of a study.
    """
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if decreasing(middle) > target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def newcombe_paired(
    both: int, a_only: int, b_only: int, neither: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Compute Newcombe's square-and-add interval (method 10) of the paired difference.

    It includes Newcombe's continuity correction of phi. Reports use :func:`tango`; this interval is for
    comparison with published tables.

    Args:
        both: questions that both raters answered correctly.
        a_only: questions that only rater a answered correctly.
        b_only: questions that only rater b answered correctly.
        neither: questions that neither answered correctly.
        confidence: the confidence level of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Raises:
        ValueError: there is no question.

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
    return _compute_square_and_add_limits(_get_estimate_and_limits(a), _get_estimate_and_limits(b), phi)


def newcombe_unpaired(
    a_correct: int, a_n: int, b_correct: int, b_n: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Compute Newcombe's square-and-add interval of the difference of accuracies on different questions.

    Args:
        a_correct: correct answers of rater a.
        a_n: questions of rater a, 1 or more.
        b_correct: correct answers of rater b.
        b_n: questions of rater b, 1 or more.
        confidence: the confidence level of the interval.

    Returns:
        The lower and the upper limit of a minus b, -1 to 1.

    Raises:
        ValueError: a rater has no question.

    Source: Newcombe RG, Stat Med 1998;17:873-890 (method 10).

    >>> low, high = newcombe_unpaired(56, 70, 48, 80)
    >>> (round(low, 4), round(high, 4))
    (0.0524, 0.3339)
    """
    a, b = wilson(a_correct, a_n, confidence=confidence), wilson(b_correct, b_n, confidence=confidence)
    return _compute_square_and_add_limits(_get_estimate_and_limits(a), _get_estimate_and_limits(b), 0.0)


def compare_paired(
    a: Sequence[bool] | NDArray[np.bool_],
    b: Sequence[bool] | NDArray[np.bool_],
    *,
    clusters: Sequence[int] | NDArray[np.int64] | None = None,
    cluster_unit: str = "exam",
    confidence: float = CONFIDENCE,
) -> PairedComparison:
    """Compare two raters on the same questions: difference, Tango's interval, McNemar's tests.

    Args:
        a: whether rater a answered each question correctly.
        b: whether rater b answered each question correctly, in the same order.
        clusters: the exam or patient number of each question; None if all questions are independent.
        cluster_unit: what a cluster is, for the note.
        confidence: the confidence level of Tango's interval.

    Returns:
        The difference of the accuracies, a minus b. It is not defined if there is no question.

    Raises:
        ValueError: ``a``, ``b`` and ``clusters`` differ in length.

    >>> result = compare_paired([True, True, True, False], [True, False, False, False])
    >>> (result.a_only, result.b_only, result.difference, result.p_exact)
    (2, 0, 0.5, 0.5)
    """
    first, second = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise ValueError("a, b and clusters must have the same length")
    n = len(first)
    neither, b_only, a_only, both = np.bincount(2 * first + second, minlength=4).tolist()
    cells = {"n": n, "both": both, "a_only": a_only, "b_only": b_only, "neither": neither}
    if n == 0:
        return PairedComparison(
            **cells, difference=None, low=None, high=None, p_exact=None, p_mid=None,
            note="not defined: no question was answered by both",
        )  # fmt: skip
    effect, sums, note = 1.0, None, ""
    if clusters is not None:
        cluster_index, n_clusters = renumber_clusters(clusters)
        if n_clusters < n:
            differences = first.astype(np.int64) - second.astype(np.int64)
            sums = np.bincount(cluster_index, weights=differences).round().astype(np.int64)
            effect, note = (
                _compute_design_effect(differences, cluster_index, n_clusters),
                f"clustered by {cluster_unit}",
            )
    low, high = tango(a_only / effect, b_only / effect, n / effect, confidence=confidence)
    p_exact, p_mid = mcnemar(a_only, b_only) if sums is None else sign_flip_test(sums)
    return PairedComparison(
        **cells, difference=(a_only - b_only) / n, low=low, high=high, p_exact=p_exact, p_mid=p_mid, note=note
    )


def compare_margins(a_correct: int, b_correct: int, n: int, *, confidence: float = CONFIDENCE) -> PairedRange:
    """Compare two raters whose correct answers are only known as counts, as a range over all pairings.

    The number of questions that only a answered correctly is between max(0, a - b) and min(a, n - b).

    Args:
        a_correct: correct answers of rater a.
        b_correct: correct answers of rater b.
        n: the number of questions, 1 or more.
        confidence: the confidence level of Tango's intervals.

    Returns:
        The difference, and the smallest and largest interval limits and exact p over the pairings.

    Raises:
        ValueError: a count is not 0 to ``n``, or ``n`` is 0.

    >>> result = compare_margins(166, 153, 198)
    >>> result.a_only
    (13, 45)
    """
    if not (0 <= a_correct <= n and 0 <= b_correct <= n and n > 0):
        raise ValueError(f"{a_correct} and {b_correct} must be 0 to {n}")
    excess = a_correct - b_correct
    minimum, maximum = max(0, excess), min(a_correct, n - b_correct)
    # Limits and p change smoothly with the pairing, so evenly spaced pairings are enough for the range.
    step = max(1, (maximum - minimum) // MIN_PAIRINGS)
    candidates = sorted({*range(minimum, maximum + 1, step), maximum})
    limits = [tango(count, count - excess, n, confidence=confidence) for count in candidates]
    exact_p_values = [mcnemar(count, count - excess)[0] for count in candidates]
    return PairedRange(
        n=n,
        difference=excess / n,
        a_only=(minimum, maximum),
        low=(min(low for low, _ in limits), max(low for low, _ in limits)),
        high=(min(high for _, high in limits), max(high for _, high in limits)),
        p_exact=(min(exact_p_values), max(exact_p_values)),
    )


def cochran_q(correct: NDArray[np.bool_]) -> tuple[float | None, int, float | None]:
    """Compute Cochran's Q, which tests whether three or more raters have the same accuracy.

    Args:
        correct: whether each answer is correct, shape (questions, raters), without missing answers.

    Returns:
        Q, its degrees of freedom, and p. If the raters do not differ on any question, Q is None and p is 1.
        With fewer than two raters or without a question, both are None.

    Source: Cochran WG, Biometrika 1950;37:256-266.

    >>> q, degrees, p = cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool))
    >>> (round(q, 3), degrees, round(p, 3))
    (4.667, 2, 0.097)
    """
    questions, raters = correct.shape
    if questions == 0 or raters < 2:
        return None, max(0, raters - 1), None
    is_correct = correct.astype(np.float64)
    by_rater, by_question = is_correct.sum(axis=0), is_correct.sum(axis=1)
    disagreement = float(np.sum(by_question * (raters - by_question)))
    if disagreement == 0:
        return None, raters - 1, 1.0
    q = (raters - 1) * raters * float(np.sum((by_rater - by_rater.mean()) ** 2)) / disagreement
    return q, raters - 1, float(scipy.special.chdtrc(raters - 1, q))


def _compute_design_effect(
    differences: NDArray[np.int64], cluster_index: NDArray[np.int64], n_clusters: int
) -> float:
    """Compute the design effect, at least 1: the clustered variance of the mean over the independent one."""
    n, mean = len(differences), float(differences.mean())
    independent_variance = float(np.sum((differences - mean) ** 2)) / (n - 1) / n if n > 1 else 0.0
    if n_clusters < 2 or independent_variance == 0:
        return 1.0
    sums = np.bincount(cluster_index, weights=differences - mean)
    return max(1.0, n_clusters / (n_clusters - 1) * float(np.sum(sums**2)) / n**2 / independent_variance)


def _get_estimate_and_limits(share: Proportion) -> tuple[float, float, float]:
    if share.estimate is None or share.low is None or share.high is None:
        raise ValueError("a share of 0 questions has no interval")
    return share.estimate, share.low, share.high


def _compute_square_and_add_limits(
    a: tuple[float, float, float], b: tuple[float, float, float], phi: float
) -> tuple[float, float]:
    difference = a[0] - b[0]
    lower_square = (a[0] - a[1]) ** 2 - 2 * phi * (a[0] - a[1]) * (b[2] - b[0]) + (b[2] - b[0]) ** 2
    upper_square = (a[2] - a[0]) ** 2 - 2 * phi * (a[2] - a[0]) * (b[0] - b[1]) + (b[0] - b[1]) ** 2
    return difference - math.sqrt(max(0.0, lower_square)), difference + math.sqrt(max(0.0, upper_square))
