"""Subcommands of ``cli.py study``: markers, marks (exports open answers), mark (imports marks)."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person, load_person_by_name
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.marks import MarkerRole
from reader_study import service as studies
from reader_study.marks_file import parse_marks, render_blank_marks, render_marks
from storage.unit_of_work import read_only_session, unit_of_work


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommands and their arguments."""
    markers = subcommands.add_parser(
        "markers",
        help="show or set who marks the open answers of a study",
        description="The marks of the first marker count. The second marker's marks are used only to measure "
        "the agreement between markers.",
    )
    markers.add_argument("study", metavar="NAME")
    markers.add_argument("--first", metavar="PERSON", help="sign-in name of the first marker")
    markers.add_argument("--second", metavar="PERSON", help="sign-in name of the second marker")
    markers.add_argument(
        "--remove", choices=[role.value for role in MarkerRole], help="remove the first or the second marker"
    )
    markers.set_defaults(run=run_markers)
    marks = subcommands.add_parser(
        "marks",
        help="write the open answers and their marks as CSV",
        description="Prints the distinct open answers that differ from the key. Who answered is not stated.",
    )
    marks.add_argument("study", metavar="NAME")
    marks.add_argument(
        "--blank",
        action="store_true",
        help="leave the column `mark` empty, for an expert who does not use the app",
    )
    marks.set_defaults(run=export_marks)
    mark = subcommands.add_parser(
        "mark",
        help="import marks from a CSV file",
        description="The file has the columns question_id, answer and mark (right, partly or wrong); see "
        "`study marks --blank`. Lines with an empty mark are left out.",
    )
    mark.add_argument("study", metavar="NAME")
    mark.add_argument("file", type=Path, metavar="FILE")
    mark.add_argument("--by", required=True, metavar="PERSON", help="sign-in name of the marker")
    mark.set_defaults(run=import_marks)


def run_markers(args: argparse.Namespace) -> int:
    """Set markers if requested, then print the markers with their progress."""
    by = command_line_person()
    changes: dict[MarkerRole, str | None] = {
        role: name
        for role, name in ((MarkerRole.FIRST, args.first), (MarkerRole.SECOND, args.second))
        if name
    }
    if args.remove:
        changes[MarkerRole(args.remove)] = None
    if changes:
        with unit_of_work() as db:
            for role, name in changes.items():
                studies.assign_marker(db, by=by, study=args.study, role=role, to=name, now=datetime.now(UTC))
    with read_only_session() as db:
        progress = studies.load_marking_progress(db, by=by, study=args.study)
    for marker in progress.markers:
        print(
            f"{marker.role.label}: {marker.name}, {progress.marked[marker.role]:,} of "
            f"{count_text(progress.total, 'answer')} marked"
        )
    if not progress.markers:
        print(
            f"No markers; {count_text(progress.total, 'open answer')} to mark. To assign a marker: "
            f"cli.py study markers {args.study} --first PERSON",
            file=sys.stderr,
        )
    return 0


def export_marks(args: argparse.Namespace) -> int:
    """Print the answers as CSV."""
    with read_only_session() as db:
        answers = studies.list_marked_answers(db, by=command_line_person(), study=args.study)
    sys.stdout.write(render_blank_marks(answers) if args.blank else render_marks(answers))
    return 0


def import_marks(args: argparse.Namespace) -> int:
    """Store the marks of the file. Returns 0; raises DomainError if refused."""
    try:
        text = args.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue("file", f"{args.file} cannot be read as text: {error}") from error
    marks = parse_marks(text, file=args.file.name)
    with unit_of_work() as db:
        count = studies.import_marks(
            db,
            person=load_person_by_name(db, name=args.by),
            study=args.study,
            marks=marks,
            now=datetime.now(UTC),
        )
    print(f"Saved {count_text(count, 'new or changed mark')}; the file has {count_text(len(marks), 'mark')}.")
    return 0
