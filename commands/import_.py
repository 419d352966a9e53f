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
from commands.output import print_refusals
from commands.search_index import update_search_index
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.questions import format_answer, option_letter
from intake.service import (
    FORMATS,
    DryRun,
    ImportProgress,
    ImportRefused,
    ImportReport,
    Mapping,
    dry_run,
    import_questions,
    list_builtin_mappings,
    load_builtin_mapping,
    load_deidentification,
    load_mapping,
)
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace

#: Maximum number of refusals shown in the terminal; the file in the workspace lists all of them.
_MAX_SHOWN = 20
#: The folder of ReXVQA's images, next to the folder of its question files.
_REXVQA_IMAGE_FOLDER = "deid_png"
#: The modules of the other subcommands of ``import``.
_SUBCOMMAND_MODULES = ("import_boxes", "import_predictions", "import_readings")


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("import")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    questions = kinds.add_parser(
        "questions",
        help="import a question file: native, ReXVQA, GEMeX, VQA-RAD, or any other with a mapping",
        description="An import is complete or has no effect. Each invalid record is listed with file, "
        "record, field and reason, in the output and in a CSV file in the workspace.",
    )
    questions.add_argument(
        "file", type=Path, metavar="FILE", help="question file; for some mappings a folder of files"
    )
    questions.add_argument("--dataset", required=True, metavar="NAME", help="a new or an existing dataset")
    questions.add_argument(
        "--format", choices=["auto", *FORMATS], default="auto", help="default: auto (detected from the file)"
    )
    questions.add_argument(
        "--mapping",
        metavar="MAP.toml",
        help="a mapping file (docs/formats/mapping.md), or the name of one that ships with Overread: "
        + ", ".join(list_builtin_mappings()),
    )
    questions.add_argument(
        "--dry-run",
        action="store_true",
        help="print counts, five examples and the invalid records, without importing",
    )
    images = questions.add_mutually_exclusive_group(required=True)
    images.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="folder of the images; for ReXVQA, the metadata folder is accepted",
    )
    images.add_argument("--without-images", action="store_true", help="import the questions without images")
    questions.add_argument(
        "--deidentify",
        action="store_true",
        help="de-identify image files even if the rule of the workspace does not require it",
    )
    questions.add_argument(
        "--skip-known",
        action="store_true",
        help="skip duplicates of imported records; with --images, their exams get images that they lack",
    )
    questions.add_argument("--skip-bad", action="store_true", help="skip invalid records and list them")
    questions.add_argument(
        "--minimum-explanation",
        type=int,
        metavar="N",
        help="minimum length in characters, for the format check of the dataset",
    )
    questions.set_defaults(run=run)
    for name in _SUBCOMMAND_MODULES:
        if find_spec(f"commands.{name}") is not None:
            import_module(f"commands.{name}").add_kind(kinds)


def run(args: argparse.Namespace) -> int:
    """Import the file. Returns 0, or 1 after printing the invalid records."""
    mapping, images = _load_mapping(args.mapping), _find_image_folder(args.images)
    if args.dry_run:
        return _print_dry_run(
            dry_run(
                by=command_line_person(),
                path=args.file,
                file_format=args.format,
                mapping=mapping,
                images=images,
            )
        )
    return import_file(
        args.file,
        dataset=args.dataset,
        images=images,
        file_format=args.format,
        mapping=mapping,
        deidentify=args.deidentify,
        skip_known=args.skip_known,
        skip_bad=args.skip_bad,
        minimum_explanation=args.minimum_explanation,
    )


def import_file(
    path: Path,
    *,
    dataset: str,
    images: Path | None,
    file_format: str = "auto",
    mapping: Mapping | None = None,
    deidentify: bool = False,
    skip_known: bool = False,
    skip_bad: bool = False,
    minimum_explanation: int | None = None,
) -> int:
    """Import a question file and print the result. Returns 0, or 1 after printing the invalid records."""
    printer, by = _ProgressPrinter(), command_line_person()
    with read_only_session() as db:
        deidentification = load_deidentification(db, by=by, deidentify=deidentify)
    try:
        with unit_of_work() as db:
            report = import_questions(
                db,
                by=by,
                deidentification=deidentification,
                path=path,
                file_format=file_format,
                mapping=mapping,
                dataset=dataset,
                images=images,
                workspace=current_workspace(),
                skip_known=skip_known,
                skip_bad=skip_bad,
                minimum_explanation=minimum_explanation,
                now=datetime.now(UTC),
                progress=printer,
            )
    except ImportRefused as error:
        printer.finish()
        _list_refusals(error.report)
        print(f"Nothing was imported: {count_text(error.report.refused, 'invalid record')}.", file=sys.stderr)
        return 1
    printer.finish()
    if report.refused:
        _list_refusals(report)
    print(
        f"{count_text(report.questions, 'question')} of {count_text(report.exams, 'new exam')} with "
        f"{count_text(report.images, 'new image')} imported into dataset {report.dataset!r} from "
        f"{report.file_name} ({report.file_format})."
    )
    if report.completed_exams:
        print(report.describe_added_images())
    if report.known:
        print(f"Skipped {count_text(report.known, 'duplicate')}.")
    if report.filtered:
        print(f"Excluded by the filter of the mapping: {count_text(report.filtered, 'record')}.")
    if report.refused:
        print(f"Skipped {count_text(report.refused, 'invalid record')}.")
    update_search_index()
    problem_counts = ", ".join(f"{check} {count:,}" for check, count in report.problems.items() if count)
    print(f"Structural checks: {problem_counts or 'no problems'}. Details: cli.py check {report.dataset}")
    return 0


def _load_mapping(path_or_name: str | None) -> Mapping | None:
    """Load a mapping file, or by its name a mapping that ships with Overread."""
    if path_or_name is None:
        return None
    path = Path(path_or_name)
    if not path.is_file():
        return load_builtin_mapping(path_or_name)
    try:
        return load_mapping(path.read_text(encoding="utf-8-sig"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue("mapping", f"{path} cannot be read as UTF-8 text: {error}") from error


def _print_dry_run(result: DryRun) -> int:
    """Print what an import would do. Returns 0 if no record would be refused, otherwise 1."""
    print(f"{result.file_format}: {count_text(result.records, 'record')}; nothing was imported.")
    rows = {
        "questions": result.questions,
        "excluded by the filter": result.filtered,
        "refused": result.refused,
    }
    for name, count in rows.items():
        print(f"  {name}: {count:,}")
    for heading, counts in (
        ("questions by format", result.formats),
        ("questions by task", result.tasks),
        ("refusals by field", result.refused_fields),
    ):
        print(f"{heading}: " + (", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"))
    missing_text = "not checked without --images" if result.missing is None else f"{len(result.missing):,}"
    print(f"images referenced: {result.images:,}; not in the folder: {missing_text}")
    for number, (question, exam) in enumerate(result.examples, start=1):
        files = ", ".join(radiograph.file for radiograph in exam.radiographs)
        print(f"\nExample {number}: {question.id} ({question.format}; exam {exam.id}; {files})")
        print(f"  {question.stem}")
        for index, option in enumerate(question.options):
            print(f"    {option_letter(index)}. {option}")
        print(f"  Answer: {format_answer(question.answer, question.options)}")
    print_refusals(result.refusals, count=result.refused, limit=_MAX_SHOWN)
    return 1 if result.refused else 0


def _list_refusals(report: ImportReport) -> None:
    print_refusals(report.refusals, count=report.refused, limit=_MAX_SHOWN)
    print(f"Full list: {report.refusals_file}", file=sys.stderr)


def _find_image_folder(folder: Path | None) -> Path | None:
    """Return the folder in which the images are searched for.

    The paths in ReXVQA's files are relative to its metadata folder, so some users pass that folder. The
    images are then searched for in its parent folder.
    """
    if folder is None or folder.resolve().name != "metadata":
        return folder
    parent = folder.resolve().parent
    return parent if (parent / _REXVQA_IMAGE_FOLDER).is_dir() else folder


class _ProgressPrinter:
    """Prints progress on standard error if the import takes more than two seconds."""

    def __init__(self) -> None:
        self._started_at = self._printed_at = time.monotonic()
        self._has_open_line = False

    def __call__(self, progress: ImportProgress) -> None:
        now = time.monotonic()
        if now - self._started_at < 2 or (now - self._printed_at < 1 and self._has_open_line):
            return
        self._printed_at, self._has_open_line = now, True
        counts = f"{progress.images:,} images, {progress.refused:,} invalid"
        line = f"\r{progress.fraction:4.0%}  {progress.records:,} records, {counts}"
        print(line, end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._has_open_line:
            print(file=sys.stderr)
