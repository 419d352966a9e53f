"""Two raters on the same questions, right or wrong: McNemar's tests and Tango's interval; Cochran Q; Holm.

Conventions. The table is (both right, only a, only b, neither); a difference is a's accuracy less b's, -1 to
1. Where several questions are of one exam, both raters' results are swapped exam by exam (which of the two is
called a is what the null hypothesis leaves to chance), and Tango's interval is taken at the effective size.

Edge cases. No discordant question: p = 1, of every kind. No question: None with a note. Only the margins
known (who had how many right, not on which): a range over every pairing that they allow.

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
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom, chi2

from measures.clusters import members
from measures.proportions import CONFIDENCE, wilson

#: Of the pairings that two margins allow, up to so many are all looked at, and of more about so many.
PAIRINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Two raters on ``n`` questions that both answered; what is not defined is None, and ``note`` says
    why.
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
    """What two margins of one sample allow, over every pairing: each pair of values is (least, most)."""

    n: int
    difference: float
    a_only: tuple[int, int]
    low: tuple[float, float]
    high: tuple[float, float]
    p_exact: tuple[float, float]
    note: str = "the pairing is not known: the range over every pairing that the margins allow"


def mcnemar(a_only: int, b_only: int) -> tuple[float, float]:
    """Exact and mid-p values, two-sided, from the discordant questions; (1, 1) where there are none."""
    return swap_test(np.repeat([1, -1], [a_only, b_only]))


def mcnemar_chi_square(a_only: int, b_only: int, *, corrected: bool = False) -> tuple[float | None, float]:
    """The large-sample statistic (1 degree of freedom) and its p; (None, 1) without discordant questions."""
    discordant = a_only + b_only
    if discordant == 0:
        return None, 1.0
    distance = max(0.0, abs(a_only - b_only) - (1.0 if corrected else 0.0))
    statistic = distance**2 / discordant
    return statistic, float(chi2.sf(statistic, 1))


def swap_test(differences: NDArray[np.int64]) -> tuple[float, float]:
    """Exact and mid-p values of the sum of ``differences``, each as likely to have the other sign.

    With one question a cluster (differences of -1, 0 and 1) this is McNemar's exact test. The distribution is
    enumerated, not drawn.

    Args:
        differences: whole numbers, one a cluster: questions only a had right less those only b had.
    """
    sizes = np.abs(differences[differences != 0]).astype(np.int64)
    if not sizes.size:
        return 1.0, 1.0
    total = int(sizes.sum())
    chance = np.ones(1)  # of the sum of the sizes whose sign is plus
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        part = np.zeros(int(size) * int(count) + 1)
        part[:: int(size)] = binom.pmf(np.arange(int(count) + 1), int(count), 0.5)
        chance = np.convolve(chance, part)
    distance = np.abs(2 * np.arange(total + 1) - total)
    seen = abs(int(differences.sum()))
    at = float(chance[distance == seen].sum())
    exact = float(chance[distance >= seen].sum())
    exact = 1.0 if exact > 1 - 1e-12 else exact  # rounding leaves 1 - 2e-16 for all
    return exact, max(0.0, exact - at / 2)


def tango(a_only: float, b_only: float, n: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Tango's score interval of the difference of two paired proportions, in -1 to 1.

    The score statistic is monotone in the difference; its two roots are the limits.
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
        low = brentq(lambda at: score(at) - critical, -edge, min(middle, edge), xtol=1e-12)
    if middle < edge and score(edge) < -critical:
        high = brentq(lambda at: score(at) + critical, max(middle, -edge), edge, xtol=1e-12)
    return float(low), float(high)


def newcombe_paired(
    both: int, a_only: int, b_only: int, neither: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Newcombe's square-and-add interval (method 10) of the paired difference, with his continuity rule."""
    n = both + a_only + b_only + neither
    a, b = wilson(both + a_only, n, confidence=confidence), wilson(both + b_only, n, confidence=confidence)
    margins = (both + a_only) * (b_only + neither) * (both + b_only) * (a_only + neither)
    product = float(both * neither - a_only * b_only)
    product = max(0.0, product - n / 2) if product > 0 else product
    phi = 0.0 if margins == 0 else product / math.sqrt(margins)
    return _square_and_add(_parts(a), _parts(b), phi)


def newcombe_unpaired(
    a_right: int, a_n: int, b_right: int, b_n: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Newcombe's square-and-add interval of the difference where each rater answered other questions."""
    a, b = wilson(a_right, a_n, confidence=confidence), wilson(b_right, b_n, confidence=confidence)
    return _square_and_add(_parts(a), _parts(b), 0.0)


def compare(
    a: Sequence[bool] | NDArray[np.bool_],
    b: Sequence[bool] | NDArray[np.bool_],
    *,
    clusters: Sequence[int] | NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> Paired:
    """Rater a against rater b on the same questions.

    Args:
        a: whether each question was right, in the order of the questions.
        b: the same of the other rater.
        clusters: number of each question's exam; None when all are independent.
        confidence: of Tango's interval.
    """
    first, second = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise ValueError("raters and clusters must be of one length")
    n = len(first)
    both, neither = int((first & second).sum()), int((~first & ~second).sum())
    a_only, b_only = int((first & ~second).sum()), int((~first & second).sum())
    cells = {"n": n, "both": both, "a_only": a_only, "b_only": b_only, "neither": neither}
    if n == 0:
        return Paired(
            **cells, difference=None, low=None, high=None, p_exact=None, p_mid=None,
            note="not defined: no question was answered by both",
        )  # fmt: skip
    step = first.astype(np.int64) - second.astype(np.int64)
    effect, sums, note = 1.0, step, ""
    if clusters is not None:
        member, groups = members(clusters)
        if groups < n:
            sums = np.bincount(member, weights=step).round().astype(np.int64)
            effect, note = _design_effect(step, member, groups), "clustered by exam"
    low, high = tango(a_only / effect, b_only / effect, n / effect, confidence=confidence)
    p_exact, p_mid = swap_test(sums)
    return Paired(
        **cells, difference=(a_only - b_only) / n, low=low, high=high, p_exact=p_exact, p_mid=p_mid, note=note
    )


def compare_margins(a_right: int, b_right: int, n: int, *, confidence: float = CONFIDENCE) -> PairedRange:
    """Two raters of whom only the counts are known, as 166 and 153 of 198: every pairing's interval and p.

    The questions that only a had right number from max(0, a - b) to min(a, n - b).
    """
    if not (0 <= a_right <= n and 0 <= b_right <= n and n > 0):
        raise ValueError(f"{a_right} and {b_right} of {n}")
    extra = a_right - b_right
    least, most = max(0, extra), min(a_right, n - b_right)
    # Limits and p move smoothly with the pairing: of thousands, a hundred evenly spaced ones tell the range.
    step = max(1, (most - least) // PAIRINGS)
    tried = sorted({*range(least, most + 1, step), most})
    limits = [tango(only, only - extra, n, confidence=confidence) for only in tried]
    exact = [mcnemar(only, only - extra)[0] for only in tried]
    return PairedRange(
        n=n,
        difference=extra / n,
        a_only=(least, most),
        low=(min(low for low, _ in limits), max(low for low, _ in limits)),
        high=(min(high for _, high in limits), max(high for _, high in limits)),
        p_exact=(min(exact), max(exact)),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p of one family, in the order given; None stays None and does not count."""
    known = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[at] = highest
    return adjusted


def cochran_q(right: NDArray[np.bool_]) -> tuple[float | None, int, float | None]:
    """Whether three or more raters have one accuracy: Q, its degrees of freedom, p.

    Args:
        right: shape (questions, raters), all of them answered by all.

    Returns:
        Q None and p 1 where no question divides the raters; both None without two raters or a question.
    """
    questions, raters = right.shape
    if questions == 0 or raters < 2:
        return None, max(0, raters - 1), None
    hits = right.astype(np.float64)
    by_rater, by_question = hits.sum(axis=0), hits.sum(axis=1)
    divided = float(np.sum(by_question * (raters - by_question)))
    if divided == 0:
        return None, raters - 1, 1.0
    q = (raters - 1) * raters * float(np.sum((by_rater - by_rater.mean()) ** 2)) / divided
    return q, raters - 1, float(chi2.sf(q, raters - 1))


def _design_effect(step: NDArray[np.int64], member: NDArray[np.int64], groups: int) -> float:
    """Variance of the mean difference by exam over that of independent questions, at least 1."""
    n, mean = len(step), float(step.mean())
    independent = float(np.sum((step - mean) ** 2)) / (n - 1) / n if n > 1 else 0.0
    if groups < 2 or independent == 0:
        return 1.0
    sums = np.bincount(member, weights=step - mean)
    return max(1.0, groups / (groups - 1) * float(np.sum(sums**2)) / n**2 / independent)


def _parts(share: object) -> tuple[float, float, float]:
    estimate, low, high = (getattr(share, name) for name in ("estimate", "low", "high"))
    return float(estimate), float(low), float(high)


def _square_and_add(
    a: tuple[float, float, float], b: tuple[float, float, float], phi: float
) -> tuple[float, float]:
    difference = a[0] - b[0]
    down = (a[0] - a[1]) ** 2 - 2 * phi * (a[0] - a[1]) * (b[2] - b[0]) + (b[2] - b[0]) ** 2
    up = (a[2] - a[0]) ** 2 - 2 * phi * (a[2] - a[0]) * (b[0] - b[1]) + (b[0] - b[1]) ** 2
    return difference - math.sqrt(max(0.0, down)), difference + math.sqrt(max(0.0, up))
