"""Notes for the coordinator about a draw: tiers with too few questions, strata without a drawn question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from domain.batches import SamplingPlan, Stratum
from domain.count_texts import count_text
from sampling.allocation import TIERS_IN_DISPLAY_ORDER, Tier, allocate_to_tiers, compute_target_count


def write_draw_notes(
    strata: Sequence[Stratum], *, plan: SamplingPlan, already_drawn: int = 0
) -> tuple[str, ...]:
    """Write sentences about the differences between a plan and its draw, the most important first.

    Args:
        strata: the strata that :func:`sampling.allocation.allocate` returned.
        plan: the sampling plan.
        already_drawn: the number of questions that earlier draws of the plan took.
    """
    sizes: dict[Tier, int] = defaultdict(int)
    drawn: dict[Tier, int] = defaultdict(int)
    for stratum in strata:
        sizes[stratum.tier] += stratum.size
        drawn[stratum.tier] += stratum.drawn
    tiers = [tier for tier in TIERS_IN_DISPLAY_ORDER if tier in sizes]
    n = compute_target_count(plan, size=sum(sizes.values()), already_drawn=already_drawn)
    return (
        *_describe_too_few(
            n, sum(drawn.values()), sum(sizes.values()), plan=plan, already_drawn=already_drawn
        ),
        *_describe_short_tiers(n, tiers, sizes=sizes, drawn=drawn, plan=plan),
        *_describe_undrawn_tiers(tiers, sizes=sizes, plan=plan),
        *_describe_untiered(tiers, sizes=sizes, drawn=drawn),
        *_describe_empty_strata(strata),
    )


def _describe_too_few(n: int, drawn: int, size: int, *, plan: SamplingPlan, already_drawn: int) -> list[str]:
    if plan.n is not None and plan.n - already_drawn > size:
        return [
            f"{count_text(plan.n - already_drawn, 'question')} requested, but only {size:,} are available."
        ]
    if drawn < n:
        return [
            f"{count_text(n, 'question')} requested, but difficulties with a share over 0 have {drawn:,}."
        ]
    return []


def _describe_short_tiers(
    n: int, tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int], plan: SamplingPlan
) -> list[str]:
    """Describe the tiers that have fewer questions than their share of n."""
    full_share = allocate_to_tiers(n, sizes=dict.fromkeys(tiers, n), plan=plan)
    short = [tier for tier in tiers if sizes[tier] < full_share[tier]]
    notes = [_describe_short_tier(tier, size=sizes[tier], share=full_share[tier]) for tier in short]
    compensating = [tier for tier in tiers if drawn[tier] > full_share[tier]]
    if short and compensating:
        additions = ", ".join(
            f"{drawn[tier] - full_share[tier]:,} more from {_format_tier(tier).lower()}"
            for tier in compensating
        )
        notes.append(f"The shortfall is taken evenly from the other difficulties: {additions}.")
    return notes


def _describe_short_tier(tier: Tier, *, size: int, share: int) -> str:
    if tier is None:
        subject = f"Only {count_text(size, 'question')} without a difficulty; their share"
    else:
        subject = f"Difficulty {tier} has only {count_text(size, 'question')}; its share"
    return f"{subject} is {share:,}, so all are drawn."


def _describe_undrawn_tiers(
    tiers: Sequence[Tier], *, sizes: dict[Tier, int], plan: SamplingPlan
) -> list[str]:
    return [
        f"{_format_tier(tier)}: {count_text(sizes[tier], 'question')}, and a share of 0, so none can be"
        " drawn."
        for tier in tiers
        if plan.share(tier) == 0
    ]


def _describe_untiered(tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int]) -> list[str]:
    if tiers == [None]:
        return ["No question has a difficulty, so the sample is not divided by difficulty."]
    if None not in tiers or drawn[None] == sizes[None]:
        return []
    return [
        f"{count_text(sizes[None], 'question')} without a difficulty form a stratum: {drawn[None]:,} drawn."
    ]


def _describe_empty_strata(strata: Sequence[Stratum]) -> list[str]:
    empty = [stratum for stratum in strata if stratum.size and not stratum.drawn and stratum.further]
    if not empty:
        return []
    unrepresented = sum(stratum.size for stratum in empty)
    subject = f"{count_text(len(empty), 'stratum', 'strata')} {'is' if len(empty) == 1 else 'are'}"
    return [f"{subject} too small for one question: {count_text(unrepresented, 'question')} not represented."]


def _format_tier(tier: Tier) -> str:
    return f"Difficulty {tier}" if tier else "The questions without a difficulty"
