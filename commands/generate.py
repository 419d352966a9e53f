"""``cli.py generate``: write questions from reports and structured findings, and import them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.import_ import import_file
from commands.model_calls import (
    add_budget,
    add_lease,
    make_worker_name,
    read_budget,
    read_lease,
    stopping_on_signals,
)
from commands.output import ProgressPrinter, print_refusals
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.language_models import Budget, DataUse
from domain.vocabulary import AnswerFormat, Task
from generation.recipes import RECIPES
from generation.regions import ComposedBox, MissingPart, RegionSettings
from generation.service import (
    PILOT_EXAMS,
    GenerationPlan,
    RecipeCounts,
    choose_pilot_exams,
    describe_forecast,
    left_out_path,
    run_recipe,
)
from generation.source_exams import SourceContent
from generation.sources import SOURCES, load_source
from generation.sources.scene_graphs import add_region_boxes
from generation.templates.question_file import GenerationCounts, write_question_file
from generation.templates.selection import PER_EXAM, check_per_exam, describe_per_exam
from language_models.service import describe_progress

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
        "native file, or as many as the options state. With --dataset, the file is imported like any other. "
        "docs/generation.md has the rules.",
    )
    _add_source(template)
    template.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of distractors and selection (default 1)"
    )
    for format_, number in PER_EXAM.items():
        template.add_argument(
            f"--{format_}",
            type=int,
            default=number,
            metavar="N",
            help=f"{format_.value} questions per exam, at most (default {number})",
        )
    _add_pilot(template)
    template.set_defaults(run=run_template)
    for name, purpose, description in (
        (
            "gemex",
            "write questions with a language model, using GEMeX's method",
            (
                "Stage I splits each report into sentences with one region each; stage II writes 3 open, 2 "
                "closed, 3 single and 3 multiple choice questions with answer, reason and region."
            ),
        ),
        (
            "rexvqa",
            "write questions with a language model, using ReXVQA's method",
            (
                "Each report becomes bullets, and the bullets become single choice questions with "
                "explanation, task, difficulty and categories."
            ),
        ),
    ):
        model_recipe = recipes.add_parser(
            name,
            help=purpose,
            description=f"{description} Every stage is a model run (`cli.py run list`). The same command "
            "continues after a stop or a kill and repeats no stored call. docs/generation.md has the rules.",
        )
        _add_source(model_recipe)
        _add_model_arguments(model_recipe)
        model_recipe.set_defaults(run=run_with_model)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", choices=list(SOURCES), metavar="SOURCE", help=", ".join(SOURCES))
    parser.add_argument("path", type=Path, metavar="PATH", help="file or folder of the source")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the new question file")
    parser.add_argument("--dataset", metavar="NAME", help="import the file into this dataset")
    images = parser.add_mutually_exclusive_group()
    images.add_argument("--images", type=Path, metavar="DIR", help="folder of the images")
    images.add_argument("--without-images", action="store_true", help="import the questions without images")
    parser.add_argument("--skip-bad", action="store_true", help="skip invalid records and list them")
    parser.add_argument(
        "--without-comparison",
        action="store_true",
        help="leave the section on prior exams out of the reports",
    )
    parser.add_argument(
        "--composed-box",
        choices=list(ComposedBox),
        default=ComposedBox.ENCLOSING,
        help="boxes of composed regions (default enclosing)",
    )
    parser.add_argument(
        "--missing-part",
        choices=list(MissingPart),
        default=MissingPart.OMIT,
        help="if a part of a composed region has no box: omit the region (default), or use the other boxes",
    )
    parser.add_argument(
        "--keep-merged-box",
        action="store_true",
        help="do not enlarge merged regions; by default their box encloses the boxes of all their sources",
    )


def _add_pilot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pilot",
        action="store_true",
        help=f"only {PILOT_EXAMS} exams, for inspection; writes FILE with .pilot before the ending and "
        "imports nothing; with a model, estimates the whole run",
    )


def _choose_path(args: argparse.Namespace) -> Path:
    """Return the path of the question file, with .pilot before the ending for a pilot."""
    out: Path = args.out
    return out.with_name(f"{out.stem}.pilot{out.suffix}") if args.pilot else out


def _add_model_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--endpoint", required=True, metavar="NAME", help="`cli.py model list` shows all")
    parser.add_argument(
        "--name",
        metavar="RUN",
        help="beginning of the names of the runs (default: recipe and name of the file)",
    )
    parser.add_argument(
        "--prompt",
        action="append",
        default=[],
        metavar="NAME@VERSION",
        help="a version of a stage's prompt; without it the shipped one",
    )
    parser.add_argument(
        "--short-replies",
        action="store_true",
        help="request fewer questions, shorter texts and shorter lists with the shipped prompts: for small "
        "models on servers that constrain decoding to a schema, such as llama.cpp",
    )
    _add_pilot(parser)
    parser.add_argument(
        "--data-use",
        type=DataUse,
        choices=list(DataUse),
        help="what the licence of the reports permits, if the dataset does not exist yet (default: local)",
    )
    parser.add_argument("--retry-failed", action="store_true", help="call failed requests again")
    parser.add_argument(
        "--scene-graphs",
        type=Path,
        metavar="DIR",
        help="Chest ImaGenome's scene graphs of the images, for the boxes of regions",
    )
    add_lease(parser)
    add_budget(parser)


def _load_content(args: argparse.Namespace, printer: ProgressPrinter) -> SourceContent | None:
    """Load the source. Print invalid records and return None, unless they are skipped."""
    if args.dataset and not (args.images or args.without_images):
        raise InvalidValue("images", "give --images DIR or --without-images with --dataset")
    if not args.dataset and (args.images or args.without_images):
        raise InvalidValue("dataset", "give --dataset NAME to import the questions")
    for name, folder in (("out", args.out.absolute().parent), ("images", args.images)):
        if folder is not None and not folder.is_dir():  # refused now, not after all calls of the model
            raise InvalidValue(name, f"{folder} is not a folder")
    content = load_source(
        args.source,
        args.path,
        regions=_read_region_settings(args),
        report_progress=lambda done: printer("Records read", done, 0),
    )
    print_refusals(content.refusals, count=len(content.refusals), limit=_MAX_SHOWN)
    if content.refusals and not args.skip_bad:
        print(
            f"Nothing was written: {count_text(len(content.refusals), 'invalid record')}. "
            "Correct them, or use --skip-bad.",
            file=sys.stderr,
        )
        return None
    if not content.exams:
        raise InvalidValue("source", f"{args.path} has no valid record")
    return content


def _read_region_settings(args: argparse.Namespace) -> RegionSettings:
    return RegionSettings(
        composed=ComposedBox(args.composed_box),
        missing=MissingPart(args.missing_part),
        merged_grow=not args.keep_merged_box,
    )


def run_template(args: argparse.Namespace) -> int:
    """Write the file and import it. Returns 0, or 1 after printing the invalid records."""
    per_exam = {format_: getattr(args, format_) for format_ in PER_EXAM}
    check_per_exam(per_exam)
    printer = ProgressPrinter()
    content = _load_content(args, printer)
    if content is None:
        return 1
    path = _choose_path(args)
    exams = choose_pilot_exams(content.exams) if args.pilot else content.exams
    counts = write_question_file(
        path,
        exams,
        seed=args.seed,
        source=args.source,
        comparison=not args.without_comparison,
        per_exam=per_exam,
        report_progress=lambda done: printer("Exams", done, len(exams)),
    )
    _print_template_counts(counts, path, content, per_exam)
    if args.pilot or not args.dataset:
        return 0
    if not counts.questions:
        raise InvalidValue("source", "no question can be made from the records; nothing was imported")
    return import_file(args.out, dataset=args.dataset, images=args.images, file_format="native")


def run_with_model(args: argparse.Namespace) -> int:
    """Run the stages, write the file and import it. Returns 1 if records are invalid or work is left."""
    printer = ProgressPrinter()
    content = _load_content(args, printer)
    if content is None:
        return 1
    exams = content.exams
    if args.scene_graphs:
        exams = add_region_boxes(exams, args.scene_graphs, settings=_read_region_settings(args))
    path = _choose_path(args)
    plan = GenerationPlan(
        name=args.name or f"{args.recipe} {args.out.stem}",
        recipe=RECIPES[args.recipe],
        source=args.source,
        endpoint=args.endpoint,
        prompts=tuple(args.prompt),
        short_replies=args.short_replies,
        dataset=args.dataset,
        data_use=args.data_use,
        comparison=not args.without_comparison,
        budget=read_budget(args) or Budget(),
        is_pilot=args.pilot,
    )
    with stopping_on_signals() as should_stop:
        result = run_recipe(
            by=command_line_person(),
            plan=plan,
            exams=choose_pilot_exams(exams) if args.pilot else exams,
            path=path,
            worker=make_worker_name(),
            clock=lambda: datetime.now(UTC),
            report=printer,
            should_stop=should_stop,
            retry_failed=args.retry_failed,
            lease=read_lease(args),
        )
    for progress in result.runs:
        print(f"{progress.run.name}: {describe_progress(progress)}")
    if result.counts is None:
        print("Not finished. The same command continues.", file=sys.stderr)
        return 1
    _print_model_counts(result.counts, path, content, recipe=args.recipe)
    if args.pilot:
        print(describe_forecast(result, exams=len(exams)))
        return 0
    if not args.dataset:
        return 0
    if not result.counts.questions:
        raise InvalidValue("replies", "contain no valid question, so there is nothing to import")
    # Repeating the command after the import adds nothing: identical records are skipped.
    return import_file(path, dataset=args.dataset, images=args.images, file_format="native", skip_known=True)


def _print_model_counts(counts: RecipeCounts, path: Path, content: SourceContent, *, recipe: str) -> None:
    print(
        f"{count_text(counts.questions, 'question')} written to {path}, for {counts.with_questions:,} of "
        f"{count_text(counts.exams, 'exam')}."
    )
    _print_skipped(content)
    if recipe == "gemex":
        print(f"Exams with {describe_per_exam(PER_EXAM)}: {_format_share(counts.complete, counts.exams)}")
    print("By format: " + _join_counts(counts.formats.most_common()))
    print("By task: " + _join_counts(counts.tasks.most_common()))
    if counts.left_out:
        print(f"Left out, listed in {left_out_path(path)}:")
        for (stage, kind), number in counts.left_out.most_common():
            print(f"  {number:,}  {stage}: {kind}")
    _print_reasons("Left out of the source", Counter(content.ignored))


def _print_template_counts(
    counts: GenerationCounts, out: Path, content: SourceContent, per_exam: Mapping[AnswerFormat, int]
) -> None:
    with_questions = counts.exams - counts.without_questions
    print(
        f"{count_text(counts.questions, 'question')} written to {out}: "
        f"questions for {with_questions:,} of {count_text(counts.exams, 'exam')}."
    )
    _print_skipped(content)
    print(f"Exams with {describe_per_exam(per_exam)}: {_format_share(counts.complete, counts.exams)}")
    for format_, number in per_exam.items():
        share = _format_share(counts.full_formats[format_], counts.exams)
        print(f"  {format_.label}: {counts.formats[format_]:,}; {number} in {share} of the exams")
    print("By task: " + _join_counts(counts.tasks.most_common()))
    _print_reasons("Not built", counts.not_built)
    _print_reasons("Findings not used", counts.unused)
    _print_reasons("Left out of the source", Counter(content.ignored))


def _print_skipped(content: SourceContent) -> None:
    if content.refusals:
        print(f"Skipped {count_text(len(content.refusals), 'invalid record')}.")


def _print_reasons(heading: str, reasons: Counter[str]) -> None:
    if reasons:
        print(f"{heading}:")
        for reason, number in reasons.most_common():
            print(f"  {number:,}  {reason}")


def _join_counts(counts: Iterable[tuple[AnswerFormat | Task, int]]) -> str:
    return ", ".join(f"{value.label} {number:,}" for value, number in counts) or "none"


def _format_share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} ({100 * count / total:.1f} %)"
