"""``cli.py patient-data``: search a dataset's texts and images for patient data."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.errors import InvalidValue
from domain.patient_data import HitKind, PixelDecision
from privacy.service import (
    decide_images,
    find_hits,
    hit_report,
    hits,
    next_looks,
    pixel_state,
    rank_images,
    ranking_told,
    record_hits,
    record_ranks,
)
from storage.unit_of_work import reading, unit_of_work
from storage.workspace import current_workspace

_AROUND = 30
_CHOICES = {"clean": PixelDecision.NO_PATIENT_TEXT, "remove": PixelDecision.REMOVE}


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("patient-data")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="texts | rank | next | decide")
    texts = verbs.add_parser(
        "texts",
        help="search questions and reports",
        description="Patterns (dates, names by title, numbers, addresses), and the names, numbers and dates "
        "of the image headers themselves. It shows where to look; it proves nothing.",
    )
    texts.add_argument("dataset", metavar="DATASET")
    texts.add_argument(
        "--examples", type=int, default=3, metavar="N", help="so many of each kind (default 3)"
    )
    texts.set_defaults(run=run_texts)
    rank = verbs.add_parser("rank", help="rank the images by how much text a program finds in them")
    rank.add_argument("dataset", metavar="DATASET")
    rank.set_defaults(run=_rank)
    following = verbs.add_parser("next", help="the images that nobody has looked at, most text first")
    following.add_argument("dataset", metavar="DATASET")
    following.add_argument("--count", type=int, default=20, metavar="N")
    following.set_defaults(run=_next)
    decide = verbs.add_parser("decide", help="keep what you saw in images")
    decide.add_argument("decision", choices=list(_CHOICES), help="clean: no patient text in it")
    decide.add_argument("images", metavar="SHA256", nargs="+")
    decide.set_defaults(run=_decide)


def run_texts(args: argparse.Namespace) -> int:
    """Search the texts and print the hits, by kind. Hits are not a failure: the exit code is 0."""
    by = command_line_person()

    is_told = False

    def tell(done: int, of: int, what: str) -> None:
        nonlocal is_told
        if of > 1_000:
            is_told = True
            print(f"\r{done:,} of {of:,} {what}", end="", file=sys.stderr, flush=True)

    with reading() as db:
        found = find_hits(db, by=by, dataset=args.dataset, workspace=current_workspace(), progress=tell)
    if is_told:
        print(file=sys.stderr)
    with unit_of_work() as db:
        record_hits(db, by=by, found=found, now=datetime.now(UTC))
    with reading() as db:
        report = hit_report(db, by=by, dataset=args.dataset)
        print(
            f"{report.dataset}: {report.with_hits:,} of {report.questions:,} questions have a passage that "
            f"may tell who the patient is. Image headers searched for: {found.headers:,}."
        )
        for kind, count in report.counts.items():
            print(f"{kind}: {count:,}")
            for each in hits(db, by=by, dataset=args.dataset, kind=HitKind(kind), count=args.examples):
                passage = _around(each.text, each.hit.start, each.hit.end)
                print(f"    {each.question_id}, {each.hit.field}: {passage}")
    if not found.headers_kept:
        print("Headers are not kept in this workspace: they were searched for when the files came in.")
    return 0


def _rank(args: argparse.Namespace) -> int:
    by = command_line_person()

    def tell(done: int, of: int) -> None:
        print(f"\r{done:,} of {of:,} images", end="", file=sys.stderr, flush=True)

    with reading() as db:
        ranked = rank_images(db, by=by, dataset=args.dataset, workspace=current_workspace(), progress=tell)
    if ranked[1]:
        print(file=sys.stderr)
    with unit_of_work() as db:
        record_ranks(db, by=by, ranked=ranked, now=datetime.now(UTC))
    print(ranking_told(ranked))
    print("A person decides: the page Patient data, or cli.py patient-data next and decide.")
    return 0


def _next(args: argparse.Namespace) -> int:
    by = command_line_person()
    with reading() as db:
        state = pixel_state(db, by=by, dataset=args.dataset)
        for each in next_looks(db, by=by, dataset=args.dataset, count=args.count):
            score = "not ranked" if each.score is None else f"{each.score:g}"
            print(f"{each.sha256}\t{score}\texam {each.exam_number}\t{each.radiograph}")
    print(f"{state.decided:,} of {state.images:,} images looked at.", file=sys.stderr)
    return 0


def _decide(args: argparse.Namespace) -> int:
    wrong = [each for each in args.images if len(each) != 64 or set(each) - set("0123456789abcdef")]
    if wrong:
        raise InvalidValue("SHA256", f"{wrong[0]!r} is none: 64 hex digits")
    decisions = [(each, _CHOICES[args.decision]) for each in args.images]
    with unit_of_work() as db:
        decide_images(db, by=command_line_person(), decisions=decisions, now=datetime.now(UTC))
    print(f"Kept for {len(decisions):,} images: {_CHOICES[args.decision]}.")
    return 0


def _around(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())
