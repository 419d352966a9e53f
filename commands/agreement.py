"""``cli.py agreement``: agreement between the reviewers of a batch, and the drift of each reviewer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import add_batch_results, format_estimate, print_results
from domain.count_texts import count_text
from domain.second_opinions import SecondOpinions
from domain.verdicts import Decision
from measures.boxes import MeanOverlap
from measures.means import Mean
from measures.proportions import Proportion
from review.agreement import GroupAgreement, aspect_to_plain, format_pair_names
from review.consensus import format_share
from review.service import BatchAgreement, compute_batch_agreement
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = add_batch_results(
        subparsers,
        "agreement",
        description="Print percent agreement, kappa and AC1 for each pair and for all reviewers, the "
        "overlap of bounding boxes, and each reviewer's verdicts over time, with 95 % intervals and n.",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; raises DomainError if refused."""
    with read_only_session() as db:
        agreement = compute_batch_agreement(db, by=command_line_person(), batch=args.batch)
    print_results(args, plain=to_plain(agreement), lines=format_text(agreement))
    return 0


def to_plain(agreement: BatchAgreement) -> dict[str, Any]:
    """Return every figure of the page as values for JSON. Shares are 0 to 1; undefined figures are None."""
    return {
        "batch": agreement.batch.name,
        "sought": None if agreement.rule is None else _rule_to_plain(agreement.rule),
        "questions": agreement.questions,
        "shared": agreement.shared,
        "counted": agreement.counted,
        "notes": [note for note in (agreement.rule_text, agreement.exclusion_note) if note],
        "between": [
            {
                "between": name,
                "questions": pair.questions,
                "boxes": asdict(pair.box_overlap),
                "aspects": [aspect_to_plain(aspect) for aspect in pair.aspects],
            }
            for name, pair in zip(
                format_pair_names(agreement.agreements, agreement.people), agreement.agreements, strict=True
            )
        ],
        "consensus": None if agreement.consensus is None else _consensus_to_plain(agreement),
        "drift": {
            agreement.people[person_id]: [asdict(block) for block in blocks]
            for person_id, blocks in agreement.drift.items()
        },
    }


def _consensus_to_plain(agreement: BatchAgreement) -> dict[str, Any]:
    assert agreement.consensus is not None  # noqa: S101 - the caller has checked it
    return {
        **asdict(agreement.consensus),
        "confusion": {
            agreement.people[person_id]: {
                true_decision.value: {decision.value: asdict(share) for decision, share in shares.items()}
                for true_decision, shares in rows.items()
            }
            for person_id, rows in agreement.consensus.confusion.items()
        },
    }


def format_consensus(agreement: BatchAgreement) -> Iterable[str]:
    """Format the decisions by consensus and each reviewer's confusion matrix as lines of text."""
    consensus = agreement.consensus
    if consensus is None:
        return
    yield ""
    yield f"Consensus on {count_text(consensus.questions, 'question')}, {consensus.ties:,} without a majority"
    for decision in Decision:
        yield (
            f"  {decision.value}: by majority {format_share(consensus.majority[decision])}; Dawid and Skene "
            f"{format_share(consensus.model.get(decision))}"
        )
    if consensus.adjudicated:
        yield (
            f"  adjudicated {consensus.adjudicated:,}: same decision by majority "
            f"{format_share(consensus.majority_agrees)}, n = {consensus.majority_agrees.n:,}; by Dawid and "
            f"Skene {format_share(consensus.model_agrees)}, n = {consensus.model_agrees.n:,}"
        )
    yield (
        f"  the model of Dawid and Skene is {consensus.note}"
        if consensus.note
        else (
            f"  most probable decision differs from the majority: {count_text(consensus.changed, 'question')}"
        )
    )
    for person_id, rows in consensus.confusion.items():
        for true_decision, shares in rows.items():
            row = ", ".join(f"{decision.value} {format_share(shares[decision])}" for decision in Decision)
            n = next(iter(shares.values())).n
            yield f"  {agreement.people[person_id]}, true {true_decision.value} (n = {n:.1f}): {row}"


def _rule_to_plain(rule: SecondOpinions) -> dict[str, Any]:
    return {"way": rule.scope.value, "share": rule.share, "seed": rule.seed}


def format_text(agreement: BatchAgreement) -> Iterable[str]:
    """Format the page as lines of text."""
    yield (
        f"Batch {agreement.batch.name}: {agreement.shared:,} of "
        f"{count_text(agreement.questions, 'question')} judged by two or more reviewers, "
        f"{agreement.counted:,} included in agreement"
    )
    yield from (note for note in (agreement.rule_text, agreement.exclusion_note) if note)
    for name, pair in zip(
        format_pair_names(agreement.agreements, agreement.people), agreement.agreements, strict=True
    ):
        yield from ("", f"{name}, {count_text(pair.questions, 'question')}")
        for aspect in pair.aspects:
            kappa = "kappa (weighted)" if aspect.weighted else "kappa"
            yield f"  {aspect.name}"
            yield f"    agreement {format_estimate(aspect.percent, percent=True)}"
            yield f"    {kappa} {format_estimate(aspect.kappa)}"
            yield f"    {aspect.alternative_name} {format_estimate(aspect.alternative)}"
        yield from format_boxes(pair)
    yield from format_consensus(agreement)
    for person_id, blocks in agreement.drift.items():
        yield from ("", f"{agreement.people[person_id]}, by {agreement.drift_block:,} verdicts")
        for block in blocks:
            ratings = ", ".join(
                f"{rating.replace('_', ' ')} {_format_mean(mean)}" for rating, mean in block.ratings.items()
            )
            yield (
                f"  {block.first:,} to {block.last:,}: accepted {_format_proportion(block.accepted)}; "
                f"{ratings}; viewing time (s) {_format_mean(block.seconds)}"
            )


def format_boxes(pair: GroupAgreement) -> Iterable[str]:
    """Format the box overlap of a pair of reviewers, with all three denominators, as lines of text."""
    boxes: MeanOverlap = pair.box_overlap
    yield "  boxes, overlap (IoU) matched one to one"
    if boxes.score is None:
        yield f"    {boxes.note} (n = {boxes.n:,})"
        return
    interval = "" if boxes.low is None else f" ({boxes.low:.2f} to {boxes.high:.2f}, bootstrap)"
    yield f"    over the larger number of boxes (V-score) {boxes.score:.2f}{interval}, n = {boxes.n:,}"
    for name, value in (
        ("over the first reviewer's boxes", boxes.per_truth),
        ("over matched pairs", boxes.per_match),
    ):
        yield f"    {name} {'not defined' if value is None else f'{value:.2f}'}"


def _format_proportion(share: Proportion) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return "not defined"
    return f"{100 * share.estimate:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f}), n = {share.n:,}"


def _format_mean(mean: Mean) -> str:
    if mean.estimate is None:
        return "none"
    interval = "" if mean.low is None or mean.high is None else f" ({mean.low:.1f} to {mean.high:.1f})"
    return f"{mean.estimate:.1f}{interval}, n = {mean.n:,}"
