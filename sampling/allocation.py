"""Allocates a draw to strata: evenly over the tiers, proportionally to size within a tier.

The computation uses only integers and exact fractions, so that all machines give the same result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from domain.batches import SamplingPlan, Stratum
from domain.vocabulary import Difficulty

#: A tier of the frame; None for the questions without a difficulty.
Tier = Difficulty | None

#: The order in which tiers get remaining questions. Of 100 questions, 33 are easy, 33 medium and 34 hard.
TIERS_BY_PREFERENCE: tuple[Tier, ...] = (Difficulty.HARD, Difficulty.MEDIUM, Difficulty.EASY, None)

#: The order in which strata are shown and stored.
TIERS_IN_DISPLAY_ORDER: tuple[Tier, ...] = (Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD, None)

#: A cell of the frame: its tier and the values of the further strata ("" if a question has no value).
Cell = tuple[Tier, tuple[str, ...]]


def compute_target_count(plan: SamplingPlan, *, size: int, already_drawn: int = 0) -> int:
    """Compute the number of questions to draw, provided that the tiers have enough questions.

    Args:
        plan: the sampling plan. With ``per_1000``, the number is size x per_1000 / 1000, with halves rounded
            up. With ``n``, it is n minus ``already_drawn``, and at most ``size``.
        size: the number of questions in the frame.
        already_drawn: the number of questions that earlier draws of the plan took.
    """
    if plan.n is not None:
        return min(max(0, plan.n - already_drawn), size)
    return (2 * size * (plan.per_1000 or 0) + 1000) // 2000


def allocate_to_tiers(n: int, *, sizes: Mapping[Tier, int], plan: SamplingPlan) -> dict[Tier, int]:
    """Divide ``n`` questions among the tiers, as evenly as shares and sizes allow.

    Each question goes to the tier with the lowest (taken + 1/2) / share (Webster's rule) that is not
    exhausted; ties go to the harder tier. With equal shares, tiers differ by at most one question unless a
    tier is exhausted. The remaining questions are then divided evenly among the others. A larger ``n`` never
    takes fewer questions from a tier.

    Args:
        n: the number of questions to divide, 0 or more.
        sizes: the number of questions of each tier.
        plan: the sampling plan, whose shares are used.

    Returns:
        The number for each tier of ``sizes``. The sum is less than ``n`` if all tiers with a share above 0
        are exhausted.
    """
    order = [tier for tier in TIERS_BY_PREFERENCE if sizes.get(tier, 0) and plan.share(tier) > 0]
    shares = {tier: Fraction(plan.share(tier)) for tier in order}
    counts = _compute_lower_bounds(n, sizes={tier: sizes[tier] for tier in order}, shares=shares)
    missing_count = min(n, sum(sizes[tier] for tier in order)) - sum(counts.values())
    for _ in range(missing_count):
        available = (tier for tier in order if counts[tier] < sizes[tier])
        counts[min(available, key=lambda tier: (2 * counts[tier] + 1) / shares[tier])] += 1
    return {tier: counts.get(tier, 0) for tier in sizes}


def _compute_lower_bounds(
    n: int, *, sizes: Mapping[Tier, int], shares: Mapping[Tier, Fraction]
) -> dict[Tier, int]:
    """Compute a lower bound for each tier, so that only a few questions must be allocated one by one.

    There is a level at which the sum of min(size, level x share) is ``n``. Webster's rule gives each of k
    tiers at least its term of this sum minus (k + 1) / 2, because the level of Webster's rule is lower by at
    most k / 2 questions per tier.
    """
    unfilled, remaining = dict(shares), Fraction(n)
    exact_counts: dict[Tier, Fraction] = {}
    while unfilled:
        level = remaining / sum(unfilled.values())
        exhausted = [tier for tier in unfilled if sizes[tier] <= level * unfilled[tier]]
        if not exhausted:
            exact_counts |= {tier: level * share for tier, share in unfilled.items()}
            break
        for tier in exhausted:
            exact_counts[tier] = Fraction(sizes[tier])
            remaining -= sizes[tier]
            del unfilled[tier]
    slack = Fraction(len(shares) + 1, 2)
    return {tier: max(0, int(value - slack)) for tier, value in exact_counts.items()}


def allocate_to_cells(n: int, *, sizes: Sequence[int]) -> list[int]:
    """Divide ``n`` questions among the cells of one tier in proportion to their sizes, by largest remainder.

    If remainders are equal, the larger cell gets the question; if sizes are equal too, the earlier cell.

    Args:
        n: the number of questions to divide, at most the sum of the sizes.
        sizes: the number of questions of each cell.

    Returns:
        The number for each cell, in the same order.
    """
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    counts = [n * size // total for size in sizes]
    by_remainder = sorted(
        range(len(sizes)), key=lambda cell: (-(n * sizes[cell] % total), -sizes[cell], cell)
    )
    for cell in by_remainder[: n - sum(counts)]:
        counts[cell] += 1
    return counts


def allocate(
    counts: Mapping[Cell, int], *, plan: SamplingPlan, already_drawn: int = 0
) -> tuple[Stratum, ...]:
    """Compute the number of questions that a draw takes from each stratum of a frame.

    Args:
        counts: the number of questions in each cell of the frame.
        plan: the sampling plan.
        already_drawn: the number of questions that earlier draws of the same plan took. They count towards a
            fixed total.

    Returns:
        Strata in the order easy, medium, hard, no tier; within a tier ordered by their further values.
    """
    cells: dict[Tier, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for (tier, further), size in sorted(counts.items(), key=lambda item: item[0][1]):
        cells[tier].append((further, size))
    sizes = {tier: sum(size for _, size in cells[tier]) for tier in TIERS_IN_DISPLAY_ORDER if tier in cells}
    n = compute_target_count(plan, size=sum(sizes.values()), already_drawn=already_drawn)
    tier_counts = allocate_to_tiers(n, sizes=sizes, plan=plan)
    return tuple(
        Stratum(tier=tier, further=further, size=size, drawn=drawn)
        for tier in sizes
        for (further, size), drawn in zip(
            cells[tier],
            allocate_to_cells(tier_counts[tier], sizes=[size for _, size in cells[tier]]),
            strict=True,
        )
    )
