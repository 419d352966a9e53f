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
        *_describe_undrawn_strata(strata),
    )


def _describe_too_few(n: int, drawn: int, size: int, *, plan: SamplingPlan, already_drawn: int) -> list[str]:
    if plan.n is not None and plan.n - already_drawn > size:
        return [f"{_describe_request(plan.n - already_drawn, size)}."]
    if drawn < n:
        return [f"{_describe_request(n, drawn)} in difficulties with a share above 0."]
    return []


def _describe_request(requested: int, available: int) -> str:
    verb = "is" if available == 1 else "are"
    return f"{count_text(requested, 'question')} requested, but only {available:,} {verb} available"


def _describe_short_tiers(
    n: int, tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int], plan: SamplingPlan
) -> list[str]:
    """Describe the tiers that have fewer questions than their share of n."""
    # The number of questions per tier if every tier had enough.
    unrestricted_counts = allocate_to_tiers(n, sizes=dict.fromkeys(tiers, n), plan=plan)
    short_tiers = [tier for tier in tiers if sizes[tier] < unrestricted_counts[tier]]
    notes = [
        _describe_short_tier(tier, size=sizes[tier], share=unrestricted_counts[tier]) for tier in short_tiers
    ]
    compensating_tiers = [tier for tier in tiers if drawn[tier] > unrestricted_counts[tier]]
    if short_tiers and compensating_tiers:
        additions = ", ".join(
            f"{drawn[tier] - unrestricted_counts[tier]:,} more from {_format_tier(tier).lower()}"
            for tier in compensating_tiers
        )
        notes.append(f"The shortfall is taken evenly from the other difficulties: {additions}.")
    return notes


def _describe_short_tier(tier: Tier, *, size: int, share: int) -> str:
    if tier is None:
        verb, pronoun = ("has", "its") if size == 1 else ("have", "their")
        subject = f"Only {count_text(size, 'question')} {verb} no difficulty; {pronoun} share"
    else:
        subject = f"Difficulty {tier} has only {count_text(size, 'question')}; its share"
    return f"{subject} is {share:,}, so {'it is' if size == 1 else 'all are'} drawn."


def _describe_undrawn_tiers(
    tiers: Sequence[Tier], *, sizes: dict[Tier, int], plan: SamplingPlan
) -> list[str]:
    return [_describe_undrawn_tier(tier, sizes[tier]) for tier in tiers if plan.share(tier) == 0]


def _describe_undrawn_tier(tier: Tier, size: int) -> str:
    size_text = count_text(size, "question")
    if tier is None:
        verb, pronoun = ("has", "Its") if size == 1 else ("have", "Their")
        return f"{size_text} {verb} no difficulty. {pronoun} share is 0, so none can be drawn."
    return f"Difficulty {tier} has {size_text}. Its share is 0, so none can be drawn."


def _describe_untiered(tiers: Sequence[Tier], *, sizes: dict[Tier, int], drawn: dict[Tier, int]) -> list[str]:
    if tiers == [None]:
        return ["No question has a difficulty, so the sample is not divided by difficulty."]
    if None not in tiers or drawn[None] == sizes[None]:
        return []
    size = sizes[None]
    verb = "forms" if size == 1 else "form"
    return [f"{count_text(size, 'question')} without a difficulty {verb} a stratum: {drawn[None]:,} drawn."]


def _describe_undrawn_strata(strata: Sequence[Stratum]) -> list[str]:
    undrawn_strata = [stratum for stratum in strata if stratum.size and not stratum.drawn and stratum.further]
    if not undrawn_strata:
        return []
    size_text = count_text(sum(stratum.size for stratum in undrawn_strata), "question")
    if len(undrawn_strata) == 1:
        return [
            f"1 stratum ({size_text}) is so small that its share rounds to 0; no question is drawn from it."
        ]
    subject = f"{len(undrawn_strata):,} strata ({size_text})"
    return [f"{subject} are so small that their shares round to 0; no question is drawn from them."]


def _format_tier(tier: Tier) -> str:
    return f"Difficulty {tier}" if tier else "The questions without a difficulty"
