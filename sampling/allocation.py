"""How many questions a draw takes from each stratum: evenly over the tiers, in proportion within a tier.

Only whole numbers and exact fractions, so that every machine allocates alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from domain.batches import SamplingPlan, Stratum
from domain.vocabulary import Difficulty

#: A tier of the frame; None holds the questions without one.
Tier = Difficulty | None

#: Who gets the question that can't be split: the hardest tier first (33 easy, 33 medium, 34 hard of 100).
TIERS_BY_PREFERENCE: tuple[Tier, ...] = (Difficulty.HARD, Difficulty.MEDIUM, Difficulty.EASY, None)

#: The order in which strata are shown and stored.
TIERS_AS_SHOWN: tuple[Tier, ...] = (Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD, None)

#: A cell of the frame: its tier and the values of the further strata ("" where a question has none).
Cell = tuple[Tier, tuple[str, ...]]


def wanted(plan: SamplingPlan, *, size: int, already: int = 0) -> int:
    """How many questions a draw from a frame of ``size`` takes, if the tiers have them.

    Per 1,000: size x per_1000 / 1000, a half rounded up. A fixed number: what is still missing to it
    after the ``already`` drawn ones, at most ``size``.
    """
    if plan.n is not None:
        return min(max(0, plan.n - already), size)
    return (2 * size * (plan.per_1000 or 0) + 1000) // 2000


def over_tiers(n: int, *, sizes: Mapping[Tier, int], plan: SamplingPlan) -> dict[Tier, int]:
    """``n`` questions over the tiers, as evenly as the shares and the sizes allow.

    Each further question goes to the tier, not yet exhausted, for which (taken + 1/2) / share is lowest
    (Webster's rule), the harder tier where that is equal. So equal shares never differ by more than one
    question unless a tier is exhausted, and then the others share evenly what it lacks; and a larger ``n``
    never takes fewer from any tier. Less than ``n`` comes out when all tiers with a share are exhausted.
    """
    order = [tier for tier in TIERS_BY_PREFERENCE if sizes.get(tier, 0) and plan.share(tier) > 0]
    shares = {tier: Fraction(plan.share(tier)) for tier in order}
    taken = _safe_start(n, sizes={tier: sizes[tier] for tier in order}, shares=shares)
    missing = min(n, sum(sizes[tier] for tier in order)) - sum(taken.values())
    for _ in range(missing):
        open_ones = (tier for tier in order if taken[tier] < sizes[tier])
        taken[min(open_ones, key=lambda tier: (2 * taken[tier] + 1) / shares[tier])] += 1
    return {tier: taken.get(tier, 0) for tier in sizes}


def _safe_start(n: int, *, sizes: Mapping[Tier, int], shares: Mapping[Tier, Fraction]) -> dict[Tier, int]:
    """What each tier gets in any case, so that only a handful must be dealt out one by one.

    With the level at which min(size, level x share) adds up to ``n``, Webster's rule gives each of k tiers
    at least that minus (k + 1) / 2: its own level is lower by at most k / 2 questions of any tier.
    """
    unfilled, left = dict(shares), Fraction(n)
    exact: dict[Tier, Fraction] = {}
    while unfilled:
        level = left / sum(unfilled.values())
        full = [tier for tier in unfilled if sizes[tier] <= level * unfilled[tier]]
        if not full:
            exact |= {tier: level * share for tier, share in unfilled.items()}
            break
        for tier in full:
            exact[tier] = Fraction(sizes[tier])
            left -= sizes[tier]
            del unfilled[tier]
    slack = Fraction(len(shares) + 1, 2)
    return {tier: max(0, int(value - slack)) for tier, value in exact.items()}


def over_cells(n: int, *, sizes: Sequence[int]) -> list[int]:
    """``n`` questions over the cells of one tier in proportion to their sizes, by largest remainder.

    Equal remainders go to the larger cell, then to the one named first. ``n`` is at most the sum of sizes.
    """
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    taken = [n * size // total for size in sizes]
    by_remainder = sorted(
        range(len(sizes)), key=lambda cell: (-(n * sizes[cell] % total), -sizes[cell], cell)
    )
    for cell in by_remainder[: n - sum(taken)]:
        taken[cell] += 1
    return taken


def allocate(counts: Mapping[Cell, int], *, plan: SamplingPlan, already: int = 0) -> tuple[Stratum, ...]:
    """The strata of a frame, each with its size N and the n that is drawn from it.

    Args:
        counts: questions in each cell of the frame.
        plan: how many, with which shares.
        already: questions that earlier draws of the same plan took; they count towards a fixed number.

    Returns:
        Strata in the order easy, medium, hard, no tier, and by their further values within a tier.
    """
    cells: dict[Tier, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for (tier, further), size in sorted(counts.items(), key=lambda item: item[0][1]):
        cells[tier].append((further, size))
    sizes = {tier: sum(size for _, size in cells[tier]) for tier in TIERS_AS_SHOWN if tier in cells}
    n = wanted(plan, size=sum(sizes.values()), already=already)
    of_tier = over_tiers(n, sizes=sizes, plan=plan)
    return tuple(
        Stratum(tier=tier, further=further, size=size, drawn=drawn)
        for tier in sizes
        for (further, size), drawn in zip(
            cells[tier], over_cells(of_tier[tier], sizes=[size for _, size in cells[tier]]), strict=True
        )
    )
