"""``cli.py leaderboard``: leaderboards over the private split of a release."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import print_refusals
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.leaderboards import ModelAccess, Quotas, Reference, SubmissionDetails
from leaderboard import service as leaderboards
from leaderboard.site import write_site
from leaderboard.standings_text import (
    REPEATED_NOTE,
    describe_leaderboard,
    describe_limits,
    describe_method,
    describe_problem_count,
    describe_remaining,
    describe_score,
    format_interval,
    list_difference_rows,
    list_standing_rows,
)
from storage.unit_of_work import read_only_session, unit_of_work

_MAX_SHOWN = 50  # refusals shown in the terminal
_ACCESS = {"own": ModelAccess.OWN, "api": ModelAccess.API}


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("leaderboard")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    _add_create(verbs)
    verbs.add_parser("list", help="list leaderboards, newest first").set_defaults(run=run_list)
    show = verbs.add_parser("show", help="print ranks, reference rows and all differences")
    show.add_argument("leaderboard", metavar="LEADERBOARD")
    show.add_argument("--version", type=int, metavar="N", help="a former version (default: the newest)")
    show.set_defaults(run=run_show)
    team = verbs.add_parser(
        "team",
        help="add a team, or set its members",
        description="Adds the team if it does not exist. With --members, these people replace its members.",
    )
    team.add_argument("leaderboard", metavar="LEADERBOARD")
    team.add_argument("team", metavar="TEAM")
    team.add_argument("--members", nargs="*", metavar="NAME", help="people with the role submitter")
    team.set_defaults(run=run_team)
    _add_submit(verbs)
    status = verbs.add_parser("status", help="print the submissions of a team and what is left of its quotas")
    select = verbs.add_parser("select", help="select the submission that counts for a team")
    receipt = verbs.add_parser("receipt", help="print the receipt of a submission as JSON")
    for verb in (status, select, receipt):
        verb.add_argument("leaderboard", metavar="LEADERBOARD")
        verb.add_argument("team", metavar="TEAM")
    for verb in (select, receipt):
        verb.add_argument("submission", type=int, metavar="ID")
    status.set_defaults(run=run_status)
    select.set_defaults(run=run_select)
    receipt.set_defaults(run=run_receipt)
    text_only = verbs.add_parser(
        "text-only", help="set the reference row of text only from the condition “no image” of an evaluation"
    )
    text_only.add_argument("leaderboard", metavar="LEADERBOARD")
    text_only.add_argument("evaluation", metavar="EVALUATION")
    text_only.set_defaults(run=run_text_only)
    readers = verbs.add_parser("readers", help="set the reference row of readers from a reader study")
    readers.add_argument("leaderboard", metavar="LEADERBOARD")
    readers.add_argument("study", metavar="STUDY")
    readers.set_defaults(run=run_readers)
    change = verbs.add_parser(
        "change-release",
        help="move to another release, such as a corrected one, and score all submissions again",
        description="The private questions of the release must be among the present ones, with the same "
        "options. Previous scores remain visible. Scoring again does not count against a quota.",
    )
    change.add_argument("leaderboard", metavar="LEADERBOARD")
    change.add_argument("release", metavar="RELEASE")
    change.set_defaults(run=run_change_release)
    site = verbs.add_parser(
        "site",
        help="write all leaderboards as a static web site",
        description="HTML and JSON without scripts, for any web server. Contains what submitters see of "
        "other teams, and nothing else.",
    )
    site.add_argument("--out", type=Path, required=True, metavar="DIR")
    site.set_defaults(run=run_site)


def _add_create(verbs: Subparsers) -> None:
    create = verbs.add_parser("create", help="create a leaderboard over the private split of a release")
    create.add_argument("leaderboard", metavar="LEADERBOARD")
    create.add_argument("dataset", metavar="DATASET")
    create.add_argument("release", metavar="RELEASE")
    create.add_argument(
        "--per-day", type=int, default=2, metavar="N", help="submissions of a team (default 2)"
    )
    create.add_argument("--per-month", type=int, default=20, metavar="N", help="default 20")
    create.add_argument("--total", type=int, default=100, metavar="N", help="default 100")
    create.add_argument(
        "--without-ladder",
        action="store_true",
        help="show the score of each submission, so that repeated submissions can fit the private questions",
    )
    create.add_argument("--seed", type=int, default=1, help="of the resamples of the ranking (default 1)")
    create.set_defaults(run=run_create)


def _add_submit(verbs: Subparsers) -> None:
    submit = verbs.add_parser(
        "submit",
        help="submit a file of predictions for a team",
        description="The file is checked first and must answer each closed private question. An invalid file "
        "is not charged. The same file is charged once. Prints the receipt as JSON.",
    )
    submit.add_argument("leaderboard", metavar="LEADERBOARD")
    submit.add_argument("team", metavar="TEAM")
    submit.add_argument("file", type=Path, metavar="FILE")
    submit.add_argument("--method", required=True, metavar="NAME", help="the name of the method")
    submit.add_argument("--description", default="", metavar="TEXT")
    submit.add_argument("--url", default="", metavar="URL")
    submit.add_argument(
        "--model",
        choices=list(_ACCESS),
        required=True,
        help="where the answers were computed: own computers, or the API of a provider",
    )
    submit.add_argument("--not-public", action="store_true", help="score it, but never show it to others")
    submit.set_defaults(run=run_submit)


def run_create(args: argparse.Namespace) -> int:
    """Create the leaderboard."""
    with unit_of_work() as db:
        board = leaderboards.create_leaderboard(
            db,
            by=command_line_person(),
            name=args.leaderboard,
            dataset=args.dataset,
            release=args.release,
            quotas=Quotas(per_day=args.per_day, per_month=args.per_month, total=args.total),
            uses_ladder=not args.without_ladder,
            seed=args.seed,
            now=datetime.now(UTC),
        )
    print(f"Created {board.name}. {describe_leaderboard(board)}")
    print(describe_limits(board))
    return 0


def run_list(_: argparse.Namespace) -> int:
    """Print one line per leaderboard."""
    with read_only_session() as db:
        boards = leaderboards.list_leaderboards(db, by=command_line_person())
    for board in boards:
        print(f"{board.name}\t{describe_leaderboard(board)}")
    if not boards:
        print("No leaderboards. Create one with `cli.py leaderboard create`.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the leaderboard."""
    with read_only_session() as db:
        standings = leaderboards.load_standings(
            db, by=command_line_person(), leaderboard=args.leaderboard, version=args.version
        )
    print(describe_leaderboard(standings.leaderboard))
    print(describe_limits(standings.leaderboard))
    for row in list_standing_rows(standings):
        print("\t".join(str(value) for value in row.values()))
    print(describe_method(standings))
    for row in list_difference_rows(standings):
        print("\t".join(str(value) for value in row.values()))
    return 0


def run_team(args: argparse.Namespace) -> int:
    """Add the team if it is new, and set its members if they are stated."""
    by, now = command_line_person(), datetime.now(UTC)
    with unit_of_work() as db:
        names = [team.name for team in leaderboards.list_teams(db, by=by, leaderboard=args.leaderboard)]
        if args.team not in names:
            leaderboards.add_team(db, by=by, leaderboard=args.leaderboard, name=args.team, now=now)
        if args.members is not None:
            leaderboards.change_members(
                db, by=by, leaderboard=args.leaderboard, team=args.team, members=args.members, now=now
            )
        teams = leaderboards.list_teams(db, by=by, leaderboard=args.leaderboard)
    team = next(team for team in teams if team.name == args.team)
    print(f"{team.name}: {', '.join(team.members) or 'no members'}")
    return 0


def run_submit(args: argparse.Namespace) -> int:
    """Check and submit the file. Returns 0, or 1 after printing the invalid lines."""
    if not args.file.is_file():
        raise InvalidValue(str(args.file), "is not a file")
    details = SubmissionDetails(
        method=args.method,
        description=args.description,
        url=args.url,
        access=_ACCESS[args.model],
        is_public=not args.not_public,
    )
    by, now = command_line_person(), datetime.now(UTC)
    with read_only_session() as db:
        checked = leaderboards.check_submission(
            db, by=by, leaderboard=args.leaderboard, team=args.team, path=args.file, now=now
        )
    if checked.refusals:
        count = len(checked.refusals)
        print_refusals(checked.refusals, count=count, limit=_MAX_SHOWN, record_label="line ")
        print(f"Nothing was submitted or charged: {describe_problem_count(count)}.", file=sys.stderr)
        return 1
    with unit_of_work() as db:
        receipt = leaderboards.record_submission(db, by=by, checked=checked, details=details, now=now)
    print(receipt.to_json())
    if receipt.is_repeated:
        print(REPEATED_NOTE, file=sys.stderr)
    print(f"{describe_score(receipt.score)}. {describe_remaining(receipt.remaining)}", file=sys.stderr)
    return 0


def run_status(args: argparse.Namespace) -> int:
    """Print the submissions of the team."""
    with read_only_session() as db:
        status = leaderboards.load_team_status(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            team=args.team,
            now=datetime.now(UTC),
        )
    print(describe_remaining(status.remaining))
    scores = {
        score.submission_id: score for score in status.scores if score.version == status.leaderboard.version
    }
    for submission in status.submissions:
        counted_text = "\ton the leaderboard" if submission.id == status.counted_submission_id else ""
        print(
            f"{submission.id}\t{submission.submitted_at:%Y-%m-%d %H:%M} UTC\t{submission.details.method}\t"
            f"{describe_score(scores.get(submission.id))}{counted_text}"
        )
    return 0


def run_select(args: argparse.Namespace) -> int:
    """Select the submission."""
    with unit_of_work() as db:
        leaderboards.select_submission(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            team=args.team,
            submission_id=args.submission,
            now=datetime.now(UTC),
        )
    print(f"Submission {args.submission} counts for {args.team}.")
    return 0


def run_receipt(args: argparse.Namespace) -> int:
    """Print the receipt."""
    with read_only_session() as db:
        receipt = leaderboards.load_receipt(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            team=args.team,
            submission_id=args.submission,
            now=datetime.now(UTC),
        )
    print(receipt.to_json())
    return 0


def run_text_only(args: argparse.Namespace) -> int:
    """Set the reference row of text only."""
    with unit_of_work() as db:
        reference = leaderboards.set_text_only_reference(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            evaluation=args.evaluation,
            now=datetime.now(UTC),
        )
    _print_reference(reference)
    return 0


def run_readers(args: argparse.Namespace) -> int:
    """Set the reference row of readers."""
    with unit_of_work() as db:
        reference = leaderboards.set_readers_reference(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            study=args.study,
            now=datetime.now(UTC),
        )
    _print_reference(reference)
    return 0


def run_change_release(args: argparse.Namespace) -> int:
    """Score all submissions again on another release."""
    with unit_of_work() as db:
        board = leaderboards.change_release(
            db,
            by=command_line_person(),
            leaderboard=args.leaderboard,
            release=args.release,
            now=datetime.now(UTC),
        )
    print(f"Scored all submissions again. {describe_leaderboard(board)}")
    print("Set the reference rows of text only and readers again.")
    return 0


def run_site(args: argparse.Namespace) -> int:
    """Write the site."""
    if args.out.exists() and not args.out.is_dir():
        raise InvalidValue(str(args.out), "is not a folder")
    by = command_line_person()
    with read_only_session() as db:
        standings = [
            leaderboards.load_standings(db, by=by, leaderboard=board.name)
            for board in leaderboards.list_leaderboards(db, by=by)
        ]
    paths = write_site(standings, args.out, now=datetime.now(UTC))
    print(f"Wrote {count_text(len(paths), 'file')}; open {paths[0]}.")
    return 0


def _print_reference(reference: Reference) -> None:
    interval = format_interval(reference.low, reference.high)
    print(
        f"{reference.name}: {reference.estimate:.2%}"
        + (f" ({interval})" if interval else "")
        + f", n = {reference.n:,}"
    )
