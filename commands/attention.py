"""``cli.py attention``: results of a batch's reviewers on hidden repeats and planted faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import add_batch_results, format_estimate, print_results
from domain.count_texts import count_text
from measures.proportions import Proportion
from review.agreement import Aspect, aspect_to_plain
from review.service import BatchAttention, compute_batch_attention
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = add_batch_results(
        subparsers,
        "attention",
        description="Print for each reviewer of a batch: intra-reviewer agreement on hidden repeats, the "
        "share of planted faults found by kind, and both over time, with 95 % intervals and n.",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; raises DomainError if refused."""
    with read_only_session() as db:
        results = compute_batch_attention(db, by=command_line_person(), batch=args.batch)
    print_results(args, plain=to_plain(results), lines=format_text(results))
    return 0


def to_plain(results: BatchAttention) -> dict[str, Any]:
    """Return all results as values for JSON. Shares are 0 to 1; undefined values are None."""
    return {
        "batch": results.batch.name,
        "hidden": results.hidden_count,
        "judged": results.judged_count,
        "removed": results.removed_count,
        "reviewers": [
            {
                "reviewer": reviewer.person,
                "repeats_hidden": reviewer.repeat_count,
                "planted_hidden": reviewer.planted_count,
                "repeats_judged_twice": reviewer.attention.pairs,
                "judged_in_between_median": reviewer.attention.median_verdicts_between,
                "aspects": [aspect_to_plain(aspect) for aspect in reviewer.attention.agreement.aspects]
                if reviewer.attention.agreement
                else [],
                "faults": [asdict(fault) for fault in reviewer.attention.faults],
                "over_time": [
                    {**asdict(block), "until": block.until.isoformat()} for block in reviewer.attention.blocks
                ],
            }
            for reviewer in results.reviewers
        ],
    }


def format_text(results: BatchAttention) -> Iterable[str]:
    """Format the results as lines of text."""
    yield (
        f"Batch {results.batch.name}: {results.judged_count:,} of "
        f"{count_text(results.hidden_count, 'hidden question')} judged, {results.removed_count:,} removed"
    )
    for reviewer in results.reviewers:
        attention = reviewer.attention
        yield from ("", reviewer.person or "all reviewers")
        distance_text = (
            ""
            if attention.median_verdicts_between is None
            else f", median {attention.median_verdicts_between:.0f} verdicts in between"
        )
        yield f"  repeats judged twice: {attention.pairs:,} of {reviewer.repeat_count:,}{distance_text}"
        for aspect in attention.agreement.aspects if attention.agreement else ():
            yield _format_aspect(aspect)
        for fault in attention.faults:
            yield (
                f"  {fault.fault or 'planted faults'}: found {_format_share(fault.found)}; "
                f"not accepted {_format_share(fault.not_accepted)}"
            )
        for block in attention.blocks:
            yield (
                f"  hidden {block.first:,} to {block.last:,}: same decision {_format_share(block.same)}; "
                f"found {_format_share(block.found)}"
            )


def _format_aspect(aspect: Aspect) -> str:
    kappa = "weighted kappa" if aspect.weighted else "kappa"
    agreement = format_estimate(aspect.percent, percent=True)
    return f"  {aspect.name}: agreement {agreement}; {kappa} {format_estimate(aspect.kappa)}"


def _format_share(share: Proportion) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return f"not defined (n = {share.n:,})"
    interval = f"{100 * share.low:.1f} to {100 * share.high:.1f}"
    return f"{100 * share.estimate:.1f} % ({interval}), n = {share.n:,}"
