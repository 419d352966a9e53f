"""Draws questions with a probability that increases with their risk of an error.

The inclusion probability of a question is floor + c x risk, at most 1. The floor gives every question the
same minimum chance, so that estimates stay valid if the risk is misleading. Questions are drawn
independently of each other (Poisson sampling): a question is drawn if a number from 0 to 1, made from the
stored hash of its id and the seed, is below its probability. So two questions are drawn together with the
product of their probabilities, and batches with different seeds are independent. The size of the draw is
random; its standard deviation is at most the root of the planned size.

Sources: Hajek J, Sampling from a Finite Population, 1981 (Poisson sampling); Zrnic T, Candes EJ, Active
statistical inference, ICML 2024 (probabilities mixed with a uniform part).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.batches import RiskDesign, RiskSource
from sampling.draw import mix_hashes

#: Fractions of float64 have 53 bits.
_FRACTION = 2.0**-53


def combine_signals(
    signals: Mapping[RiskSource, NDArray[np.float64]], design: RiskDesign
) -> NDArray[np.float64]:
    """Return the mean of the signals, weighted by the design: the risk of each question, 0 to 1.

    Args:
        signals: for each source, 0 (no sign of an error) to 1 of each question, shape (N,).
        design: the weights of the sources.
    """
    weights = np.array(list(design.weights.values()), dtype=np.float64)
    risks: NDArray[np.float64] = np.average(
        [signals[source] for source in design.weights], axis=0, weights=weights
    )
    return risks


def compute_inclusion_probabilities(
    risks: NDArray[np.float64],
    strata: NDArray[np.int32],
    is_available: NDArray[np.bool_],
    *,
    counts_to_draw: Sequence[int],
    uniform_share: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute floor + c x risk of each question, such that each stratum has its planned number on average.

    Args:
        risks: the risk of each question, 0 or more, shape (N,).
        strata: the stratum index of each question, shape (N,).
        is_available: whether the question can be drawn, shape (N,). The others get the probability that they
            would have, which later estimates need; the planned number does not count them.
        counts_to_draw: the planned number of each stratum, at most its number of available questions.
        uniform_share: the share of the planned number that is drawn uniformly, above 0 to 1.

    Returns:
        The probability and the floor of each question, shape (N,).

    >>> risks, everyone = np.array([0.0, 0.0, 1.0, 3.0]), np.ones(4, dtype=np.bool_)
    >>> strata = np.zeros(4, dtype=np.int32)
    >>> compute_inclusion_probabilities(risks, strata, everyone, counts_to_draw=[2], uniform_share=0.5)
    (array([0.25, 0.25, 0.5 , 1.  ]), array([0.25, 0.25, 0.25, 0.25]))
    """
    probabilities, floors = np.zeros(len(risks)), np.zeros(len(risks))
    for stratum, n in enumerate(counts_to_draw):
        members = np.flatnonzero(strata == stratum)
        is_member_available = is_available[members]
        size = int(np.count_nonzero(is_member_available))
        if not n or not size:
            continue
        floor, factor = _compute_floor_and_factor(risks[members[is_member_available]], n, uniform_share)
        floors[members] = floor
        probabilities[members] = np.minimum(1.0, floor + factor * risks[members])
    return probabilities, floors


def _compute_floor_and_factor(
    risks: NDArray[np.float64], n: int, uniform_share: float
) -> tuple[float, float]:
    """Compute floor and c so that the sum of min(1, floor + c x risk) is ``n``.

    If the questions with a risk are all certain to be drawn and more are planned, the floor is raised.
    """
    size = len(risks)
    floor = uniform_share * n / size
    if not risks.any():
        return n / size, 0.0
    sorted_risks = np.sort(risks)[::-1]
    tails = np.cumsum(sorted_risks[::-1])[::-1]  # the sum of the risks from each position on
    for certain_count in range(np.count_nonzero(sorted_risks)):
        factor = (n - certain_count - floor * (size - certain_count)) / tails[certain_count]
        if floor + factor * sorted_risks[certain_count] <= 1:
            return floor, max(0.0, float(factor))
    certain_count = int(np.count_nonzero(sorted_risks))
    if certain_count == size:
        return 1.0, 0.0
    return (n - certain_count) / (size - certain_count), 1 / float(sorted_risks[certain_count - 1])


def compute_draw_numbers(hashes: NDArray[np.int64], *, seed: int) -> NDArray[np.float64]:
    """Return a number from 0 to below 1 for each question; uniform, and unrelated for different seeds."""
    return (mix_hashes(hashes.copy(), seed=seed) >> np.uint64(11)).astype(np.float64) * _FRACTION


def sort_for_review(
    numbers: NDArray[np.float64], review_numbers: NDArray[np.float64], exams: Sequence[int]
) -> list[int]:
    """Order drawn questions for review: exams at random, the questions of an exam together.

    The order must not depend on the numbers that decided the draw. Questions with a low probability were
    drawn only with low numbers, so that the first half of a batch in that order would not represent it.

    Args:
        numbers: the numbers of the draw, shape (n,).
        review_numbers: unrelated numbers, shape (n,).
        exams: the exam of each question.

    Returns:
        The indices of the questions in the order of review.
    """
    indices_by_number = np.argsort(numbers, kind="stable").tolist()
    exam_order: dict[int, float] = {}
    for index in indices_by_number:
        exam_order.setdefault(exams[index], float(review_numbers[index]))
    return sorted(indices_by_number, key=lambda index: (exam_order[exams[index]], exams[index]))
