"""``cli.py attention``: results of a batch's reviewers on hidden repeats and planted faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.telling import add_batch_figures, figure_text, print_figures
from measures.proportions import Proportion
from review.agreement import Aspect
from review.service import BatchAttention, batch_attention
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = add_batch_figures(
        subparsers,
        "attention",
        description="For each reviewer of a batch: agreement with oneself on hidden repeats, the share of "
        "planted faults found by kind, and both over time; 95 % intervals and n throughout.",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; a refusal is raised."""
    with reading() as db:
        found = batch_attention(db, by=command_line_person(), batch=args.batch)
    print_figures(args, plain=to_plain(found), lines=as_text(found))
    return 0


def to_plain(found: BatchAttention) -> dict[str, Any]:
    """Every figure of the page as JSON: shares are 0 to 1, undefined figures are None."""
    return {
        "batch": found.batch.name,
        "hidden": found.hidden,
        "judged": found.judged,
        "removed": found.removed,
        "reviewers": [
            {
                "reviewer": each.person,
                "repeats_hidden": each.repeats_hidden,
                "planted_hidden": each.planted_hidden,
                "repeats_judged_twice": each.attention.pairs,
                "judged_in_between_median": each.attention.gap,
                "aspects": [asdict(one) for one in each.attention.between.aspects]
                if each.attention.between
                else [],
                "faults": [asdict(one) for one in each.attention.faults],
                "over_time": [
                    {**asdict(one), "until": one.until.isoformat()} for one in each.attention.blocks
                ],
            }
            for each in found.reviewers
        ],
    }


def as_text(found: BatchAttention) -> Iterable[str]:
    """The page as lines of text."""
    yield (
        f"Batch {found.batch.name}: {found.judged:,} of {found.hidden:,} hidden questions are judged, "
        f"{found.removed:,} were removed"
    )
    for each in found.reviewers:
        attention = each.attention
        yield from ("", each.person or "all together")
        gap = "" if attention.gap is None else f", median {attention.gap:.0f} judged in between"
        yield f"  repeats judged twice: {attention.pairs:,} of {each.repeats_hidden:,}{gap}"
        for aspect in attention.between.aspects if attention.between else ():
            yield _aspect(aspect)
        for line in attention.faults:
            yield (
                f"  {line.fault or 'planted faults'}: found {_share(line.found)}; "
                f"not accepted {_share(line.not_accepted)}"
            )
        for block in attention.blocks:
            yield (
                f"  hidden {block.first:,} to {block.last:,}: same decision {_share(block.same)}; "
                f"found {_share(block.found)}"
            )


def _aspect(aspect: Aspect) -> str:
    kappa = "weighted kappa" if aspect.weighted else "kappa"
    same = figure_text(aspect.percent, percent=True)
    return f"  {aspect.name}: the same {same}; {kappa} {figure_text(aspect.kappa)}"


def _share(share: Proportion) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return f"not defined (n = {share.n:,})"
    reach = f"{100 * share.low:.1f} to {100 * share.high:.1f}"
    return f"{100 * share.estimate:.1f} % ({reach}), n = {share.n:,}"
