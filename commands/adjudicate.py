"""``cli.py adjudicate``: set the adjudicators of a batch, list its disputes, and adjudicate one."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person, load_person_by_name
from commands.arguments import Subparsers
from domain.adjudications import Adjudication, AdjudicationRules
from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.verdicts import Decision
from review.correction_choices import ORIGINAL, combine_value_sources
from review.disputes import FIELDS
from review.service import (
    DisputeSheet,
    adjudicate,
    change_adjudication_rules,
    list_disputes,
    load_adjudication_rules,
    load_named_batch,
    open_dispute,
)
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("adjudicate")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="rules | list | settle")
    rules = verbs.add_parser("rules", help="set the adjudicators of a batch and how they adjudicate")
    rules.add_argument("batch", metavar="BATCH")
    rules.add_argument("--adjudicators", nargs="*", metavar="NAME", help="sign-in names")
    rules.add_argument(
        "--names",
        choices=["hidden", "shown"],
        help="whether adjudicators see the names of the reviewers",
    )
    rules.add_argument(
        "--same-box", type=float, metavar="IOU", help="minimum IoU at which two boxes count as the same"
    )
    rules.set_defaults(run=_change_rules)
    list_parser = verbs.add_parser("list", help="list the disputes that an adjudicator sees")
    list_parser.add_argument("batch", metavar="BATCH")
    list_parser.add_argument("--by", required=True, metavar="NAME", help="sign-in name of the adjudicator")
    list_parser.set_defaults(run=_list_disputes)
    settle = verbs.add_parser("settle", help="adjudicate one dispute")
    settle.add_argument("batch", metavar="BATCH")
    settle.add_argument("question", metavar="QUESTION_ID")
    settle.add_argument("--by", required=True, metavar="NAME", help="sign-in name of the adjudicator")
    settle.add_argument(
        "--take",
        required=True,
        metavar="VERSION",
        help="A, B … for a reviewer's version, machine for the original, or reject to reject the question",
    )
    settle.add_argument("--reason", required=True, metavar="TEXT")
    settle.set_defaults(run=_settle)


def _change_rules(args: argparse.Namespace) -> int:
    by = command_line_person()
    with unit_of_work() as db:
        current = load_adjudication_rules(db, by=by, batch=args.batch)
        rules = AdjudicationRules(
            adjudicators=current.rules.adjudicators
            if args.adjudicators is None
            else tuple(args.adjudicators),
            hide_names=current.rules.hide_names if args.names is None else args.names == "hidden",
            same_box_iou=current.rules.same_box_iou if args.same_box is None else args.same_box,
        )
        now = datetime.now(UTC)
        changed_rules = change_adjudication_rules(
            db, by=by, batch=args.batch, rules=rules, revision=current.revision, now=now
        ).rules
    print(f"adjudicators: {', '.join(changed_rules.adjudicators) or 'none'}")
    print(
        f"names: {'hidden' if changed_rules.hide_names else 'shown'}; boxes count as the same from IoU "
        f"{changed_rules.same_box_iou:g}"
    )
    return 0


def _list_disputes(args: argparse.Namespace) -> int:
    with read_only_session() as db:
        batch = load_named_batch(db, by=command_line_person(), name=args.batch)
        disputes = list_disputes(db, person=load_person_by_name(db, name=args.by), batch_id=batch.id)
    for dispute in disputes:
        state = (
            "open"
            if dispute.is_open or dispute.adjudication is None
            else f"{dispute.adjudication.decision.value}: {dispute.adjudication.reason}"
        )
        print(f"{dispute.question_id}\t{', '.join(sorted(dispute.kinds))}\t{state}")
    if not disputes:
        print(
            f"No disputes in batch {batch.name}. A dispute appears when two reviewers of a question "
            "disagree.",
            file=sys.stderr,
        )
    return 0


def _settle(args: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    with unit_of_work() as db:
        batch = load_named_batch(db, by=command_line_person(), name=args.batch)
        person = load_person_by_name(db, name=args.by)
        disputes = list_disputes(db, person=person, batch_id=batch.id)
        question_row_id = next(
            (dispute.question_row_id for dispute in disputes if dispute.question_id == args.question), None
        )
        if question_row_id is None:
            raise InvalidValue("question", f"{args.question!r} is not a dispute of batch {batch.name}")
        sheet = open_dispute(db, person=person, batch_id=batch.id, question_row_id=question_row_id)
        decision, correction, adopted_ids = _resolve_choice(sheet, args.take)
        adjudicate(
            db,
            person=person,
            adjudication=Adjudication(
                batch_id=batch.id,
                question_row_id=question_row_id,
                revision=sheet.revision,
                person_id=person.id,
                decision=decision,
                correction=correction,
                follows=adopted_ids,
                reason=args.reason,
                given_at=now,
            ),
            report_ids=[report.id for report in sheet.reports],
        )
    print(f"{args.question}: {decision.value}")
    return 0


def _resolve_choice(sheet: DisputeSheet, choice: str) -> tuple[Decision, Correction, tuple[int, ...]]:
    verdicts = sheet.verdicts
    if choice == "reject":
        rejecters = tuple(verdict.person_id for verdict in verdicts if verdict.decision is Decision.REJECT)
        return Decision.REJECT, Correction(), rejecters
    source: int | str = ORIGINAL if choice == "machine" else ord(choice.upper()[:1] or "?") - ord("A")
    value_sources = dict.fromkeys(FIELDS, source)
    correction, adopted_ids = combine_value_sources(sheet.question, verdicts, value_sources, {})
    return Decision.ACCEPT if correction.is_empty() else Decision.REVISE, correction, adopted_ids
