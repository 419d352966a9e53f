"""``cli.py practice``: create practice sets, assign them, require them for batches, list results."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.batches import BatchSettings
from domain.count_texts import count_text
from domain.errors import NotFound
from domain.practice import PassMark
from review.known_answers import parse_known_answers
from review.practice import format_pass_mark, format_share
from review.service import (
    PracticeOverview,
    PracticePlan,
    assign_practice,
    create_practice_from_answers,
    create_practice_from_batch,
    exempt_reviewer,
    list_practice_overviews,
    load_named_batch,
    require_practice,
)
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "practice",
        description="Practice sets: questions with known answers, which reviewers judge with feedback before "
        "a batch. A batch that requires one is locked for reviewers who have not passed it.",
    )
    commands = parser.add_subparsers(dest="practice_command", required=True, metavar="COMMAND")
    _add_create(commands)
    command = commands.add_parser("list", description="List practice sets and the results of reviewers.")
    command.set_defaults(run=run_list)
    command = commands.add_parser("assign", description="Assign a practice set to reviewers.")
    command.add_argument("practice", metavar="PRACTICE")
    command.add_argument("--to", nargs="+", required=True, metavar="NAME", help="sign-in names of reviewers")
    command.set_defaults(run=run_assign)
    command = commands.add_parser(
        "require",
        description="Require one of these practice sets for a batch. Without any PRACTICE, the requirement "
        "is removed.",
    )
    command.add_argument("batch", metavar="BATCH")
    command.add_argument("practices", nargs="*", metavar="PRACTICE")
    command.set_defaults(run=run_require)
    command = commands.add_parser(
        "exempt",
        description="Allow a reviewer to review a batch without having passed a practice set. The audit "
        "trail records the exemption.",
    )
    command.add_argument("batch", metavar="BATCH")
    command.add_argument("reviewer", metavar="NAME")
    command.add_argument("--reason", required=True)
    command.set_defaults(run=run_exempt)


def _add_create(commands: Subparsers) -> None:
    command = commands.add_parser(
        "create",
        description="Create a practice set from settled questions of a batch, or from questions of a dataset "
        "with known errors.",
    )
    command.add_argument("practice", metavar="PRACTICE", help="name of the practice set")
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--from-batch", metavar="BATCH", help="settled questions of this batch")
    source.add_argument(
        "--known", metavar="FILE", type=Path,
        help='JSON object of known errors by question id, such as {"q1": "wrong key", "q2": []}',
    )  # fmt: skip
    command.add_argument("--dataset", metavar="DATASET", help="with --known: the dataset of the questions")
    command.add_argument(
        "--settings-of", metavar="BATCH", help="with --known: the batch whose review settings are used"
    )
    command.add_argument("--sound", type=int, default=10, metavar="N", help="sound questions (default 10)")
    command.add_argument("--faulty", type=int, default=10, metavar="N", help="faulty questions (default 10)")
    command.add_argument(
        "--min-found", type=float, default=PassMark().found, metavar="SHARE",
        help="share of errors to find (default 0.7)",
    )  # fmt: skip
    command.add_argument(
        "--min-accepted", type=float, default=PassMark().accepted, metavar="SHARE",
        help="share of sound questions to accept (default 0.7)",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, help="determines which questions are chosen")
    command.set_defaults(run=run_create, parser=command)


def run_create(args: argparse.Namespace) -> int:
    """Create a practice set. Returns 0; raises DomainError if refused."""
    if (args.known is None) != (args.dataset is None) or (args.settings_of and args.known is None):
        args.parser.error("--known and --dataset must be used together, --settings-of only with --known")
    by, now = command_line_person(), datetime.now(UTC)
    plan = PracticePlan(
        name=args.practice,
        sound=args.sound,
        faulty=args.faulty,
        pass_mark=PassMark(found=args.min_found, accepted=args.min_accepted),
        seed=args.seed,
    )
    with unit_of_work() as db:
        if args.from_batch is not None:
            practice = create_practice_from_batch(db, by=by, batch=args.from_batch, plan=plan, now=now)
        else:
            settings = BatchSettings()
            if args.settings_of:
                settings = load_named_batch(db, by=by, name=args.settings_of).settings
            practice = create_practice_from_answers(
                db, by=by, dataset=args.dataset, plan=plan, settings=settings, file_name=args.known.name,
                answers=parse_known_answers(_read_text(args.known), file_name=args.known.name), now=now,
            )  # fmt: skip
    print(
        f"Practice set {practice.name}: {count_text(practice.sound, 'sound question')} and "
        f"{count_text(practice.faulty, 'faulty question')}."
    )
    return 0


def run_list(args: argparse.Namespace) -> int:  # noqa: ARG001 - all commands take the arguments
    """Print practice sets and results. Returns 0."""
    with read_only_session() as db:
        overviews = list_practice_overviews(db, by=command_line_person())
    for overview in overviews:
        _print_overview(overview)
    if not overviews:
        print("There are no practice sets.")
    return 0


def run_assign(args: argparse.Namespace) -> int:
    """Assign a practice set. Returns 0; raises DomainError if refused."""
    with unit_of_work() as db:
        added_names = assign_practice(
            db, by=command_line_person(), practice=args.practice, to=args.to, now=datetime.now(UTC)
        )
    print(
        f"Practice set {args.practice} is assigned to {', '.join(added_names)}."
        if added_names
        else "No change."
    )
    return 0


def run_require(args: argparse.Namespace) -> int:
    """Set the practice sets that a batch requires. Returns 0; raises DomainError if refused."""
    with unit_of_work() as db:
        requirement = require_practice(
            db, by=command_line_person(), batch=args.batch, practices=args.practices, now=datetime.now(UTC)
        )
    names = " or ".join(practice.name for practice in requirement.practices)
    print(f"Batch {args.batch} requires {names or 'no practice set'}.")
    return 0


def run_exempt(args: argparse.Namespace) -> int:
    """Exempt a reviewer. Returns 0; raises DomainError if refused."""
    with unit_of_work() as db:
        exempt_reviewer(
            db, by=command_line_person(), batch=args.batch, reviewer=args.reviewer, reason=args.reason,
            now=datetime.now(UTC),
        )  # fmt: skip
    print(f"{args.reviewer} may review batch {args.batch} without having passed a practice set.")
    return 0


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path} cannot be read as UTF-8 text: {error}") from error


def _print_overview(overview: PracticeOverview) -> None:
    practice = overview.practice
    requirement_text = f"; required by {', '.join(overview.required_by)}" if overview.required_by else ""
    print(
        f"{practice.name}: {count_text(practice.sound, 'sound question')} and "
        f"{count_text(practice.faulty, 'faulty question')} ({practice.source}); "
        f"{format_pass_mark(practice.pass_mark)}{requirement_text}"
    )
    for row in overview.reviewers:
        score = row.score
        print(
            f"  {row.person.name}: {score.state}; errors found {format_share(score.found)}; sound questions "
            f"accepted {format_share(score.accepted)}; {score.judged} of {score.questions} judged"
        )
