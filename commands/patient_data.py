"""``cli.py patient-data``: search a dataset's texts and images for patient data."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.patient_data import HitKind, PixelDecision
from privacy.service import (
    decide_images,
    describe_ranking,
    find_hits,
    list_hits,
    load_hit_report,
    load_next_images,
    load_pixel_state,
    rank_images,
    record_hits,
    record_ranks,
)
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace

_CONTEXT_LENGTH = 30
_CHOICES = {"clean": PixelDecision.NO_PATIENT_TEXT, "remove": PixelDecision.REMOVE}


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("patient-data")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="texts | rank | next | decide")
    texts = verbs.add_parser(
        "texts",
        help="search questions and reports for patient data",
        description="Search for patterns (dates, names with titles, numbers, addresses) and for the names, "
        "numbers and dates in the image headers. The search finds likely passages; it does not prove that "
        "there are no others.",
    )
    texts.add_argument("dataset", metavar="DATASET")
    texts.add_argument(
        "--examples", type=int, default=3, metavar="N", help="number of examples per kind (default 3)"
    )
    texts.set_defaults(run=run_texts)
    rank = verbs.add_parser("rank", help="rank the images by the amount of detected text")
    rank.add_argument("dataset", metavar="DATASET")
    rank.set_defaults(run=_rank_images)
    next_parser = verbs.add_parser("next", help="list images that have not been checked, most text first")
    next_parser.add_argument("dataset", metavar="DATASET")
    next_parser.add_argument("--count", type=int, default=20, metavar="N")
    next_parser.set_defaults(run=_list_next)
    decide = verbs.add_parser("decide", help="record the result of checking images")
    decide.add_argument("decision", choices=list(_CHOICES), help="clean: the image contains no patient text")
    decide.add_argument("images", metavar="SHA256", nargs="+")
    decide.set_defaults(run=_record_decisions)


def run_texts(args: argparse.Namespace) -> int:
    """Search the texts and print the hits by kind. Returns 0 even if there are hits."""
    by = command_line_person()

    has_printed = False

    def print_progress(done: int, total: int, unit: str) -> None:
        nonlocal has_printed
        if total > 1_000:
            has_printed = True
            print(f"\r{done:,} of {total:,} {unit}", end="", file=sys.stderr, flush=True)

    with read_only_session() as db:
        search_result = find_hits(
            db, by=by, dataset=args.dataset, workspace=current_workspace(), progress=print_progress
        )
    if has_printed:
        print(file=sys.stderr)
    with unit_of_work() as db:
        record_hits(db, by=by, result=search_result, now=datetime.now(UTC))
    with read_only_session() as db:
        report = load_hit_report(db, by=by, dataset=args.dataset)
        print(
            f"{report.dataset}: {report.with_hits:,} of {report.questions:,} questions contain a passage "
            f"that may identify a patient. Image headers searched for: {search_result.headers:,}."
        )
        for kind, count in report.counts.items():
            print(f"{kind}: {count:,}")
            for match in list_hits(db, by=by, dataset=args.dataset, kind=HitKind(kind), limit=args.examples):
                passage = _format_context(match.text, match.hit.start, match.hit.end)
                print(f"    {match.question_id}, {match.hit.field}: {passage}")
    if not search_result.headers_available:
        print("This workspace does not store image headers; their values were searched for during import.")
    return 0


def _rank_images(args: argparse.Namespace) -> int:
    by = command_line_person()

    def print_progress(done: int, total: int) -> None:
        print(f"\r{done:,} of {total:,} images", end="", file=sys.stderr, flush=True)

    with read_only_session() as db:
        ranking = rank_images(
            db, by=by, dataset=args.dataset, workspace=current_workspace(), progress=print_progress
        )
    if ranking[1]:
        print(file=sys.stderr)
    with unit_of_work() as db:
        record_ranks(db, by=by, ranking=ranking, now=datetime.now(UTC))
    print(describe_ranking(ranking))
    print("To check the images, use the page Patient data, or cli.py patient-data next and decide.")
    return 0


def _list_next(args: argparse.Namespace) -> int:
    by = command_line_person()
    with read_only_session() as db:
        state = load_pixel_state(db, by=by, dataset=args.dataset)
        for image in load_next_images(db, by=by, dataset=args.dataset, count=args.count):
            score = "not ranked" if image.score is None else f"{image.score:g}"
            print(f"{image.sha256}\t{score}\texam {image.exam_row_id}\t{image.radiograph}")
    print(f"{state.decided:,} of {count_text(state.images, 'image')} checked.", file=sys.stderr)
    return 0


def _record_decisions(args: argparse.Namespace) -> int:
    invalid_values = [
        sha256 for sha256 in args.images if len(sha256) != 64 or set(sha256) - set("0123456789abcdef")
    ]
    if invalid_values:
        raise InvalidValue("SHA256", f"{invalid_values[0]!r} is not a SHA-256 of 64 hex digits")
    decisions = [(sha256, _CHOICES[args.decision]) for sha256 in args.images]
    with unit_of_work() as db:
        decide_images(db, by=command_line_person(), decisions=decisions, now=datetime.now(UTC))
    print(f"Recorded for {count_text(len(decisions), 'image')}: {_CHOICES[args.decision]}.")
    return 0


def _format_context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _CONTEXT_LENGTH) : start], text[end : end + _CONTEXT_LENGTH]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())
