"""Notes for the coordinator about a draw: tiers with too few questions, strata without a drawn question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from domain.batches import SamplingPlan, Stratum
from sampling.allocation import TIERS_AS_SHOWN, Tier, over_tiers, wanted


def notes_on(strata: Sequence[Stratum], *, plan: SamplingPlan, already: int = 0) -> tuple[str, ...]:
    """Sentences about differences between a plan and its draw, the most important first.

    Args:
        strata: of :func:`sampling.allocation.allocate`.
        plan: the sampling plan.
        already: questions that earlier draws of the plan took.
    """
    sizes: dict[Tier, int] = defaultdict(int)
    drawn: dict[Tier, int] = defaultdict(int)
    for stratum in strata:
        sizes[stratum.tier] += stratum.size
        drawn[stratum.tier] += stratum.drawn
    tiers = [tier for tier in TIERS_AS_SHOWN if tier in sizes]
    n = wanted(plan, size=sum(sizes.values()), already=already)
    return (
        *_fewer_in_all(n, sum(drawn.values()), sum(sizes.values()), plan=plan, already=already),
        *_short_tiers(n, tiers, sizes=sizes, drawn=drawn, plan=plan),
        *_tiers_not_drawn(tiers, sizes=sizes, plan=plan),
        *_untiered(tiers, sizes=sizes, drawn=drawn),
        *_empty_strata(strata),
    )


def _fewer_in_all(n: int, drawn: int, size: int, *, plan: SamplingPlan, already: int) -> list[str]:
    if plan.n is not None and plan.n - already > size:
        return [f"{_many(plan.n - already)} are asked for, but there are only {size:,} to draw from."]
    if drawn < n:
        return [f"{_many(n)} are asked for, but the tiers with a share have only {drawn:,}."]
    return []


def _short_tiers(
    n: int, tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int], plan: SamplingPlan
) -> list[str]:
    """A tier is short if it has fewer questions than its share of n."""
    full_share = over_tiers(n, sizes=dict.fromkeys(tiers, n), plan=plan)
    short = [tier for tier in tiers if sizes[tier] < full_share[tier]]
    found = [_short(tier, size=sizes[tier], share=full_share[tier]) for tier in short]
    takers = [tier for tier in tiers if drawn[tier] > full_share[tier]]
    if short and takers:
        more = ", ".join(
            f"{drawn[tier] - full_share[tier]:,} more from {_named(tier).lower()}" for tier in takers
        )
        found.append(f"What is missing is taken evenly from the others: {more}.")
    return found


def _short(tier: Tier, *, size: int, share: int) -> str:
    if tier is None:
        return f"There are only {_many(size)} without a tier, and their share is {share:,}: all are drawn."
    return f"Tier {tier} has only {_many(size)}, and its share is {share:,}: all are drawn."


def _tiers_not_drawn(tiers: Sequence[Tier], *, sizes: dict[Tier, int], plan: SamplingPlan) -> list[str]:
    return [
        f"{_named(tier)}: {_many(sizes[tier])}, and a share of 0, so none can be drawn."
        for tier in tiers
        if plan.share(tier) == 0
    ]


def _untiered(tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int]) -> list[str]:
    if tiers == [None]:
        return ["No question has a tier of difficulty, so all are drawn as one tier."]
    if None not in tiers or drawn[None] == sizes[None]:
        return []
    return [
        f"{_many(sizes[None])} without a tier are a tier of their own: {drawn[None]:,} of them are drawn."
    ]


def _empty_strata(strata: Sequence[Stratum]) -> list[str]:
    empty = [each for each in strata if each.size and not each.drawn and each.further]
    if not empty:
        return []
    hidden = sum(each.size for each in empty)
    which = "1 stratum is" if len(empty) == 1 else f"{len(empty):,} strata are"
    return [f"{which} too small for one question: {_many(hidden)} stand for nothing in this draw."]


def _named(tier: Tier) -> str:
    return f"Tier {tier}" if tier else "The questions without a tier"


def _many(n: int) -> str:
    return "1 question" if n == 1 else f"{n:,} questions"
