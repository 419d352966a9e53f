"""``cli.py generate template``: write questions from structured findings, and import them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from commands.arguments import Subparsers
from commands.import_ import import_file
from commands.output import ProgressPrinter, print_refusals
from domain.count_texts import count_text
from domain.errors import InvalidValue
from generation.regions import ComposedBox, MissingPart, RegionSettings
from generation.sources import SOURCES, load_source
from generation.templates.question_file import GenerationCounts, write_question_file
from generation.templates.selection import PER_EXAM

#: Maximum number of refused records shown.
_MAX_SHOWN = 20


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("generate")
    recipes = parser.add_subparsers(dest="recipe", required=True, metavar="RECIPE")
    template = recipes.add_parser(
        "template",
        help="write questions from coded findings, without a model",
        description="Write up to 3 open, 2 closed, 3 single and 3 multiple choice questions per exam to a "
        "native file. With --dataset, the file is imported like any other. docs/generation.md has the rules.",
    )
    template.add_argument("source", choices=list(SOURCES), metavar="SOURCE", help=", ".join(SOURCES))
    template.add_argument("path", type=Path, metavar="PATH", help="file or folder of the source")
    template.add_argument("--out", type=Path, required=True, metavar="FILE", help="the new question file")
    template.add_argument("--dataset", metavar="NAME", help="import the file into this dataset")
    images = template.add_mutually_exclusive_group()
    images.add_argument("--images", type=Path, metavar="DIR", help="folder of the images")
    images.add_argument("--without-images", action="store_true", help="import the questions without images")
    template.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of distractors and selection (default 1)"
    )
    template.add_argument("--skip-bad", action="store_true", help="skip invalid records and list them")
    template.add_argument(
        "--without-comparison",
        action="store_true",
        help="leave the section on prior exams out of the reports",
    )
    template.add_argument(
        "--composed-box",
        choices=list(ComposedBox),
        default=ComposedBox.ENCLOSING,
        help="boxes of composed regions (default enclosing)",
    )
    template.add_argument(
        "--missing-part",
        choices=list(MissingPart),
        default=MissingPart.OMIT,
        help="composed regions of which a part has no box (default omit)",
    )
    template.add_argument(
        "--keep-merged-box",
        action="store_true",
        help="merged regions keep the box of the region with their name; by default they contain all sources",
    )
    template.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the file and import it. Returns 0, or 1 after printing the invalid records."""
    if args.dataset and not (args.images or args.without_images):
        raise InvalidValue("images", "give --images DIR or --without-images with --dataset")
    if not args.dataset and (args.images or args.without_images):
        raise InvalidValue("dataset", "give --dataset NAME to import the questions")
    printer = ProgressPrinter()
    content = load_source(
        args.source,
        args.path,
        regions=RegionSettings(
            composed=ComposedBox(args.composed_box),
            missing=MissingPart(args.missing_part),
            merged_grow=not args.keep_merged_box,
        ),
        report_progress=lambda done: printer("Records read", done, 0),
    )
    print_refusals(content.refusals, count=len(content.refusals), limit=_MAX_SHOWN)
    if content.refusals and not args.skip_bad:
        print(
            f"Nothing was written: {count_text(len(content.refusals), 'invalid record')}. "
            "Correct them, or use --skip-bad.",
            file=sys.stderr,
        )
        return 1
    if not content.exams:
        raise InvalidValue("source", f"{args.path} has no valid record")
    counts = write_question_file(
        args.out,
        content.exams,
        seed=args.seed,
        source=args.source,
        comparison=not args.without_comparison,
        report_progress=lambda done: printer("Exams", done, len(content.exams)),
    )
    _print_counts(counts, args.out, refused=len(content.refusals), ignored=content.ignored)
    if not args.dataset:
        return 0
    if not counts.questions:
        raise InvalidValue("source", "the records allow no question, so there is nothing to import")
    return import_file(args.out, dataset=args.dataset, images=args.images, file_format="native")


def _print_counts(counts: GenerationCounts, out: Path, *, refused: int, ignored: dict[str, int]) -> None:
    with_questions = counts.exams - counts.without_questions
    print(
        f"{count_text(counts.questions, 'question')} written to {out}: "
        f"{with_questions:,} of {count_text(counts.exams, 'exam')} allow questions."
    )
    if refused:
        print(f"Skipped {count_text(refused, 'invalid record')}.")
    full = " + ".join(f"{number} {format_.label}" for format_, number in PER_EXAM.items())
    print(f"Exams with {full}: {_format_share(counts.complete, counts.exams)}")
    for format_, number in PER_EXAM.items():
        share = _format_share(counts.full_formats[format_], counts.exams)
        print(f"  {format_.label}: {counts.formats[format_]:,}; {number} in {share} of the exams")
    print("By task: " + ", ".join(f"{task.label} {number:,}" for task, number in counts.tasks.most_common()))
    for heading, reasons in (
        ("Not built", counts.not_built),
        ("Findings not used", counts.unused),
        ("Left out of the source", Counter(ignored)),
    ):
        if reasons:
            print(f"{heading}:")
            for reason, number in reasons.most_common():
                print(f"  {number:,}  {reason}")


def _format_share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} ({100 * count / total:.1f} %)"
