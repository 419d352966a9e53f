"""The search arguments of ``cli.py find`` and ``cli.py apply``."""

from __future__ import annotations

import argparse

from browsing.service import QuestionStatus, Search
from domain.checks import Check
from domain.vocabulary import AnswerFormat, Difficulty, Task


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the dataset, the words and the properties of a question."""
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--format", choices=[answer_format.value for answer_format in AnswerFormat])
    parser.add_argument("--task", choices=[task.value for task in Task])
    parser.add_argument("--difficulty", choices=[difficulty.value for difficulty in Difficulty])
    parser.add_argument("--category", metavar="NAME")
    parser.add_argument("--content-type", metavar="NAME")
    parser.add_argument("--controlled-category", metavar="NAME", help="a name of the taxonomy")
    parser.add_argument("--domain", metavar="NAME", help="a heading of the taxonomy, such as Cardiovascular")
    parser.add_argument("--controlled-content-type", metavar="NAME", help="a name of the taxonomy")
    parser.add_argument("--generator", metavar="NAME")
    parser.add_argument("--prompt-version", metavar="NAME")
    parser.add_argument("--with-boxes", action="store_true")
    parser.add_argument(
        "--check",
        choices=[check.value for check in Check],
        help="only questions for which this check reported a problem",
    )


def build_search(
    args: argparse.Namespace, *, status: QuestionStatus | None = None, batch: str | None = None
) -> Search:
    """Build the search from the arguments. An argument that contains a space is searched for as a phrase."""
    return Search(
        dataset=args.dataset,
        words=" ".join(f'"{word}"' if " " in word else word for word in args.words),
        format=AnswerFormat(args.format) if args.format else None,
        task=Task(args.task) if args.task else None,
        difficulty=Difficulty(args.difficulty) if args.difficulty else None,
        category=args.category,
        content_type=args.content_type,
        controlled_category=args.controlled_category,
        domain=args.domain,
        controlled_content_type=args.controlled_content_type,
        generator=args.generator,
        prompt_version=args.prompt_version,
        with_boxes=args.with_boxes,
        status=status,
        batch=batch,
        check=Check(args.check) if args.check else None,
    )
