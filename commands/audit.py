"""``cli.py audit``: verify that the audit trail is unchanged, or export it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from accounts.audit_files import FORMATS, format_audit_lines
from accounts.service import command_line_person
from accounts.service.audit_trail import AuditCheck, AuditFilter, export_audit, verify_audit
from commands.arguments import Subparsers
from domain.file_errors import add_filename_to_errors
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the commands and their arguments."""
    parser = subparsers.add_parser(
        "audit",
        description="Who did what, when, what was before and after, and why; each entry is chained to the "
        "one before by its hash.",
    )
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    verify = subcommands.add_parser(
        "verify",
        help="prove that no entry and no judgement was altered or removed",
        description="Follow the chain from the first entry to the last, and hold every saved judgement "
        "against its entry. Prints the head, the hash of the newest entry: keep it elsewhere, and give it "
        "with --head next time, so that entries taken away at the end are noticed too.",
    )
    verify.add_argument("--head", metavar="HASH", help="a head that was printed before")
    verify.set_defaults(run=_verify)
    export = subcommands.add_parser("export", help="write the trail as CSV or JSON Lines")
    export.add_argument("--format", choices=FORMATS, default="csv", help="default: csv")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    export.add_argument("--person", metavar="NAME", help="only what this sign-in name did")
    export.add_argument("--what", metavar="ACTION", help='only this action, such as "give verdict"')
    export.add_argument("--subject", help='only this subject and what is below it, such as "batch 3"')
    export.add_argument("--since", type=date.fromisoformat, metavar="DAY", help="YYYY-MM-DD, UTC, included")
    export.add_argument("--until", type=date.fromisoformat, metavar="DAY", help="YYYY-MM-DD, UTC, included")
    export.set_defaults(run=_export)


def _verify(args: argparse.Namespace) -> int:
    """Verify the audit trail. Returns 0 if it is intact, else 1 with the first fault on standard error."""
    with read_only_session() as db:
        result = verify_audit(db, by=command_line_person(), head=args.head, progress=_print_progress)
    for line in format_text(result):
        print(line)
    if result.fault is None:
        return 0
    message = f"Entry {result.number}: {result.fault}" if result.number else result.fault
    print(message.rstrip(".") + ".", file=sys.stderr)
    return 1


def format_text(result: AuditCheck) -> Iterable[str]:
    """The result of the verification as lines of text."""
    if result.fault is None:
        yield f"The audit trail is whole: {result.entries:,} entries, {result.judgements:,} judgements agree."
    else:
        yield f"The audit trail is NOT whole ({result.entries:,} entries)."
    yield f"head {result.head}"


def _export(args: argparse.Namespace) -> int:
    entry_filter = AuditFilter(
        person=args.person,
        what=args.what,
        subject=args.subject,
        since=_midnight(args.since),
        before=_midnight(args.until and args.until + timedelta(days=1)),
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


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=UTC)


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,} entries", end="\r", file=sys.stderr, flush=True)
