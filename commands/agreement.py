"""``cli.py agreement``: agreement between the reviewers of a batch, and the drift of each reviewer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.telling import add_batch_figures, figure_text, print_figures
from measures.boxes import MeanOverlap
from measures.means import Mean
from measures.proportions import Proportion
from review.agreement import Between, names_of_pairs
from review.service import BatchAgreement, batch_agreement
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = add_batch_figures(
        subparsers,
        "agreement",
        description="Percent agreement, kappa and AC1 of each pair and of all reviewers together, boxes by "
        "overlap, and each reviewer's verdicts over time; 95 % intervals and n throughout.",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; a refusal is raised."""
    with reading() as db:
        found = batch_agreement(db, by=command_line_person(), batch=args.batch)
    print_figures(args, plain=to_plain(found), lines=as_text(found))
    return 0


def to_plain(found: BatchAgreement) -> dict[str, Any]:
    """Every figure of the page as JSON: shares are 0 to 1, undefined figures are None."""
    return {
        "batch": found.batch.name,
        "sought": None if found.sought is None else asdict(found.sought),
        "questions": found.questions,
        "shared": found.shared,
        "counted": found.counted,
        "notes": [each for each in (found.sought_text, found.left_out) if each],
        "between": [
            {"between": name, "questions": one.questions, "boxes": asdict(one.boxes),
             "aspects": [asdict(each) for each in one.aspects]}
            for name, one in zip(names_of_pairs(found.between, found.people), found.between, strict=True)
        ],
        "drift": {
            found.people[person]: [asdict(each) for each in blocks] for person, blocks in found.drift.items()
        },
    }  # fmt: skip


def as_text(found: BatchAgreement) -> Iterable[str]:
    """The page as lines of text."""
    yield (
        f"Batch {found.batch.name}: {found.shared:,} of {found.questions:,} questions were judged by two or "
        f"more, {found.counted:,} count for agreement"
    )
    yield from (each for each in (found.sought_text, found.left_out) if each)
    for name, one in zip(names_of_pairs(found.between, found.people), found.between, strict=True):
        yield from ("", f"{name}, {one.questions:,} questions")
        for each in one.aspects:
            kappa = "kappa (weighted)" if each.weighted else "kappa"
            yield f"  {each.name}"
            yield f"    agreement {figure_text(each.percent, percent=True)}"
            yield f"    {kappa} {figure_text(each.kappa)}"
            yield f"    {each.third_name} {figure_text(each.third)}"
        yield from boxes_text(one)
    for person, blocks in found.drift.items():
        yield from ("", f"{found.people[person]}, by {found.drift_block:,} verdicts")
        for block in blocks:
            ratings = ", ".join(
                f"{rating.replace('_', ' ')} {_mean(mean)}" for rating, mean in block.ratings.items()
            )
            yield (
                f"  {block.first:,} to {block.last:,}: accepted {_proportion(block.accepted)}; {ratings}; "
                f"seconds looking {_mean(block.seconds)}"
            )


def boxes_text(one: Between) -> Iterable[str]:
    """The box overlap of a pair of reviewers, with all three denominators."""
    boxes: MeanOverlap = one.boxes
    yield "  boxes, overlap (IoU) matched one to one"
    if boxes.score is None:
        yield f"    {boxes.note} (n = {boxes.n:,})"
        return
    reach = "" if boxes.low is None else f" ({boxes.low:.2f} to {boxes.high:.2f}, bootstrap)"
    yield f"    over the larger number of boxes (V-score) {boxes.score:.2f}{reach}, n = {boxes.n:,}"
    for name, value in (
        ("over the first one's boxes", boxes.per_truth),
        ("over matched pairs", boxes.per_match),
    ):
        yield f"    {name} {'not defined' if value is None else f'{value:.2f}'}"


def _proportion(share: Proportion) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return "not defined"
    return f"{100 * share.estimate:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f}), n = {share.n:,}"


def _mean(mean: Mean) -> str:
    if mean.estimate is None:
        return "not given"
    reach = "" if mean.low is None or mean.high is None else f" ({mean.low:.1f} to {mean.high:.1f})"
    return f"{mean.estimate:.1f}{reach}, n = {mean.n:,}"
