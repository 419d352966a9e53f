"""``cli.py audit``: verify the audit trail, take a checkpoint, or export the trail."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from accounts.audit_files import FORMATS, format_audit_lines
from accounts.service import command_line_person
from accounts.service.audit_checkpoints import current_deposits, take_checkpoint
from accounts.service.audit_trail import (
    AuditCheck,
    AuditFilter,
    describe_checkpoint,
    describe_unanchored,
    export_audit,
    verify_audit,
)
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from storage.schema import prepare_workspace
from storage.unit_of_work import explain_database_errors, read_only_session
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the commands and their arguments."""
    parser = subparsers.add_parser(
        "audit",
        description="The audit trail records each action with person, time, old and new value, and reason. "
        "Each entry is linked to the previous one by a hash.",
    )
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    verify = subcommands.add_parser(
        "verify",
        help="check that no entry and no covered row was changed or removed",
        description="Check the hashes of all entries, compare every judgement with its "
        "entry, and compare the schema and the covered tables with the last checkpoint. Heads that were "
        "deposited outside this system (OVERREAD_AUDIT_DEPOSIT) must be in the chain. Lists each row and "
        "column that differs. Prints the head, which is the hash of the newest entry. If heads are not "
        "deposited, store it elsewhere and pass it with --head next time.",
    )
    verify.add_argument("--head", metavar="HASH", help="a head that an earlier verification printed")
    # The command itself reports differences of the schema, so the schema is not checked first.
    verify.set_defaults(run=_verify, needs_workspace=False)
    checkpoint = subcommands.add_parser(
        "checkpoint",
        help="verify, record digests of the tables, and deposit the head",
        description="Verify like `audit verify`. Then record digests of all tables that affect the gold set "
        "and deposit the head at OVERREAD_AUDIT_DEPOSIT. The nightly timer runs this; a release, a new "
        "reader study and a backup take a checkpoint too.",
    )
    checkpoint.add_argument(
        "--accept-because",
        default="",
        metavar="REASON",
        help="take the checkpoint although the tables differ from the last one; the differences are recorded",
    )
    checkpoint.set_defaults(run=_checkpoint)
    export = subcommands.add_parser("export", help="export the trail as CSV or JSON Lines")
    export.add_argument("--format", choices=FORMATS, default="csv", help="default: csv")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    export.add_argument("--person", metavar="NAME", help="only actions of this person (sign-in name)")
    export.add_argument("--what", metavar="ACTION", help='only this action, such as "give verdict"')
    export.add_argument("--subject", help='only entries on this subject or a part of it, such as "batch 3"')
    export.add_argument(
        "--since", type=date.fromisoformat, metavar="DAY", help="date as YYYY-MM-DD, UTC, inclusive"
    )
    export.add_argument(
        "--until", type=date.fromisoformat, metavar="DAY", help="date as YYYY-MM-DD, UTC, inclusive"
    )
    export.set_defaults(run=_export)


def _verify(args: argparse.Namespace) -> int:
    """Verify the audit trail. Returns 0 if it is intact; otherwise prints the faults and returns 1."""
    workspace = current_workspace()
    with explain_database_errors("The audit trail could not be verified"):
        prepare_workspace(checks_tables=False)
        with read_only_session() as db:
            result = verify_audit(
                db,
                by=command_line_person(),
                head=args.head,
                deposits=current_deposits(workspace),
                workspace=workspace,
                progress=_print_progress,
            )
    for line in format_text(result):
        print(line)
    for index, fault in enumerate(result.faults):
        message = f"Entry {result.number}: {fault}" if result.number and index == 0 else fault
        print(message.rstrip(".") + ".", file=sys.stderr)
    return 1 if result.faults else 0


def _checkpoint(args: argparse.Namespace) -> int:
    """Take a checkpoint. Raises Refused if the verification finds faults."""
    workspace = current_workspace()
    result = take_checkpoint(
        by=command_line_person(),
        workspace=workspace,
        deposits=current_deposits(workspace),
        accept_because=args.accept_because,
        clock=lambda: datetime.now(UTC),
    )
    print(
        f"Checkpoint: entry {result.number:,} has the digests of {result.rows:,} rows of {result.tables} "
        "tables."
    )
    print(f"head {result.head}")
    if result.deposit is None:
        print(
            "Not deposited. Set OVERREAD_AUDIT_DEPOSIT to a location outside this system, or store the "
            "head elsewhere.",
            file=sys.stderr,
        )
    else:
        print(f"Deposited as {result.deposit}")
    return 0


def format_text(result: AuditCheck) -> Iterable[str]:
    """Format the result of the verification as lines of text."""
    if result.fault is not None:
        entries = count_text(result.entries, "entry", "entries")
        yield f"The audit trail is NOT intact ({entries}, {count_text(len(result.faults), 'fault')})."
    else:
        unanchored = describe_unanchored(result)
        state = "consistent" if unanchored else "intact"
        entries = count_text(result.entries, "entry", "entries")
        counts = f"{entries}, {count_text(result.judgements, 'judgement')} compared"
        yield f"The audit trail is {state}: {counts}."
        yield describe_checkpoint(result)
        if unanchored:
            yield unanchored
    yield f"head {result.head}"


def _export(args: argparse.Namespace) -> int:
    entry_filter = AuditFilter(
        person=args.person,
        action=args.what,
        subject=args.subject,
        since=_to_midnight(args.since),
        before=_to_midnight(args.until and args.until + timedelta(days=1)),
    )
    with read_only_session() as db:
        head, entries = export_audit(db, by=command_line_person(), entry_filter=entry_filter)
        lines = format_audit_lines(entries, file_format=args.format)
        if args.out is None:
            sys.stdout.writelines(lines)
        else:
            with add_filename_to_errors(args.out), args.out.open("w", encoding="utf-8", newline="") as file:
                file.writelines(lines)
    print(f"head {head}", file=sys.stderr)
    return 0


def _to_midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=UTC)


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,} entries", end="\r", file=sys.stderr, flush=True)
