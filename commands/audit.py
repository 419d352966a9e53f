"""``cli.py audit``: verify that the audit trail is unchanged, or export it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from accounts.audit_files import FORMATS, audit_lines
from accounts.service import command_line_person
from accounts.service.audit_trail import AuditCheck, AuditFilter, export_audit, verify_audit
from commands.arguments import Subparsers
from domain.file_errors import naming
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the commands and their arguments."""
    parser = subparsers.add_parser(
        "audit",
        description="Who did what, when, what was before and after, and why; each entry is chained to the "
        "one before by its hash.",
    )
    ways = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    verify = ways.add_parser(
        "verify",
        help="prove that no entry and no judgement was altered or removed",
        description="Follow the chain from the first entry to the last, and hold every saved judgement "
        "against its entry. Prints the head, the hash of the newest entry: keep it elsewhere, and give it "
        "with --head next time, so that entries taken away at the end are noticed too.",
    )
    verify.add_argument("--head", metavar="HASH", help="a head that was printed before")
    verify.set_defaults(run=_verify)
    export = ways.add_parser("export", help="write the trail as CSV or JSON Lines")
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
    with reading() as db:
        found = verify_audit(db, by=command_line_person(), head=args.head, progress=_progress)
    for line in as_text(found):
        print(line)
    if found.fault is None:
        return 0
    where = f"Entry {found.number}: {found.fault}" if found.number else found.fault
    print(where.rstrip(".") + ".", file=sys.stderr)
    return 1


def as_text(found: AuditCheck) -> Iterable[str]:
    """The result of the verification as lines of text."""
    if found.fault is None:
        yield f"The audit trail is whole: {found.entries:,} entries, {found.judgements:,} judgements agree."
    else:
        yield f"The audit trail is NOT whole ({found.entries:,} entries)."
    yield f"head {found.head}"


def _export(args: argparse.Namespace) -> int:
    wanted = AuditFilter(
        person=args.person,
        what=args.what,
        subject=args.subject,
        since=_midnight(args.since),
        before=_midnight(args.until and args.until + timedelta(days=1)),
    )
    with reading() as db:
        head, entries = export_audit(db, by=command_line_person(), wanted=wanted)
        lines = audit_lines(entries, file_format=args.format)
        if args.out is None:
            sys.stdout.writelines(lines)
        else:
            with naming(args.out), args.out.open("w", encoding="utf-8", newline="") as file:
                file.writelines(lines)
    print(f"head {head}", file=sys.stderr)
    return 0


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=UTC)


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,} entries", end="\r", file=sys.stderr, flush=True)
