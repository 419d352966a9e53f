"""``cli.py import questions``: import a question file and its images into a dataset."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.indexing import bring_up_to_date
from intake.service import FORMATS, ImportRefused, ImportReport, Progress, door_of, import_questions
from storage.unit_of_work import reading, unit_of_work
from storage.workspace import current_workspace

# Number of refusals shown in the terminal; the file in the workspace lists all.
_SHOWN = 20
#: The folder of ReXVQA's images, next to the folder of its question files.
_PUBLISHED_BESIDE = "deid_png"
#: The modules of the other subcommands of ``import``.
_FURTHER = ("import_predictions", "import_readings")


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("import")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    questions = kinds.add_parser(
        "questions",
        help="a question file: native, ReXVQA, GEMeX or VQA-RAD",
        description="The file lands whole or not at all. Each record that is refused is listed with file, "
        "record, field and reason, on the screen and as CSV in the workspace.",
    )
    questions.add_argument("file", type=Path, metavar="FILE")
    questions.add_argument("--dataset", required=True, metavar="NAME", help="a new one, or one to add to")
    questions.add_argument(
        "--format", choices=["auto", *FORMATS], default="auto", help="default: recognised by itself"
    )
    images = questions.add_mutually_exclusive_group(required=True)
    images.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="the folder that holds the images; ReXVQA's metadata folder will do",
    )
    images.add_argument("--without-images", action="store_true", help="bring in the questions alone")
    questions.add_argument(
        "--deidentify",
        action="store_true",
        help="keep image files without their patient; the workspace's rule may ask for it anyway",
    )
    questions.add_argument(
        "--skip-known", action="store_true", help="leave out records that are there already, to the byte"
    )
    questions.add_argument(
        "--skip-bad", action="store_true", help="leave out records that can't come in, and list them"
    )
    questions.add_argument(
        "--minimum-explanation",
        type=int,
        metavar="N",
        help="characters; a setting of the dataset's format check",
    )
    questions.set_defaults(run=run)
    for name in _FURTHER:
        if find_spec(f"commands.{name}") is not None:
            import_module(f"commands.{name}").add_kind(kinds)


def run(args: argparse.Namespace) -> int:
    """Import the file. Returns 0 if done, 1 if refused, with the reasons."""
    teller, by = _Teller(), command_line_person()
    with reading() as db:
        door = door_of(db, by=by, deidentify=args.deidentify)
    try:
        with unit_of_work() as db:
            report = import_questions(
                db,
                by=by,
                door=door,
                path=args.file,
                file_format=args.format,
                dataset=args.dataset,
                images=_image_folder(args.images),
                workspace=current_workspace(),
                skip_known=args.skip_known,
                skip_bad=args.skip_bad,
                minimum_explanation=args.minimum_explanation,
                now=datetime.now(UTC),
                progress=teller,
            )
    except ImportRefused as error:
        teller.end()
        _list_refusals(error.report)
        print(f"Nothing was imported: {error.report.refused:,} refused.", file=sys.stderr)
        return 1
    teller.end()
    if report.refused:
        _list_refusals(report)
    print(
        f"{_count(report.questions, 'question')} of {_count(report.exams, 'new exam')} with "
        f"{_count(report.images, 'new image')} came into dataset {report.dataset!r} "
        f"from {report.file_name} ({report.file_format})."
    )
    if report.known:
        print(f"{report.known:,} were there already and were left out.")
    if report.refused:
        print(f"{report.refused:,} were refused and left out.")
    bring_up_to_date()
    found = ", ".join(f"{check} {count:,}" for check, count in report.problems.items() if count)
    print(f"Structural checks: {found or 'nothing found'}. Details: cli.py check {report.dataset}")
    return 0


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _list_refusals(report: ImportReport) -> None:
    for refusal in report.refusals[:_SHOWN]:
        place = ": ".join(part for part in (refusal.file, refusal.record, refusal.field) if part)
        print(f"{place}: {refusal.reason}", file=sys.stderr)
    if report.refused > _SHOWN:
        print(f"… and {report.refused - _SHOWN:,} more", file=sys.stderr)
    print(f"All of them: {report.refusals_file}", file=sys.stderr)


def _image_folder(named: Path | None) -> Path | None:
    """The folder in which the images are searched for.

    The paths in ReXVQA's files are relative to its metadata folder, so some users name that folder. The
    images are then searched for in its parent folder.
    """
    if named is None or named.resolve().name != "metadata":
        return named
    above = named.resolve().parent
    return above if (above / _PUBLISHED_BESIDE).is_dir() else named


class _Teller:
    """Prints progress on standard error if the import takes more than two seconds."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._open = False

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._began < 2 or (now - self._told < 1 and self._open):
            return
        self._told, self._open = now, True
        counts = f"{progress.images:,} images, {progress.refused:,} refused"
        line = f"\r{progress.part:4.0%}  {progress.records:,} records, {counts}"
        print(line, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._open:
            print(file=sys.stderr)
