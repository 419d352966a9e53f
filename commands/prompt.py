"""``cli.py prompt``: versions of prompts for language models."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.file_errors import describe_file_error
from language_models import service as models
from language_models.prompts import compare_prompts, read_exam_variables
from release import service as release
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("prompt")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    add = verbs.add_parser(
        "add",
        help="store a prompt file as the next version of its name",
        description="FILE is TOML with name, system, user, parameters, schema and examples "
        "(docs/language-models.md). A stored version never changes. A file that equals the newest "
        "version adds nothing.",
    )
    add.add_argument("file", type=Path, metavar="FILE")
    add.add_argument("--note", default="", help="what changed, or the purpose of a first version")
    add.set_defaults(run=run_add)
    verbs.add_parser("list", help="list all versions").set_defaults(run=run_list)
    show = verbs.add_parser("show", help="print a version as a file")
    show.add_argument("prompt", metavar="NAME[@VERSION]")
    show.set_defaults(run=run_show)
    diff = verbs.add_parser("diff", help="compare two versions")
    diff.add_argument("old", metavar="NAME@VERSION")
    diff.add_argument("new", metavar="NAME@VERSION")
    diff.set_defaults(run=run_diff)
    _add_example_commands(verbs)


def _add_example_commands(verbs: Subparsers) -> None:
    examples = verbs.add_parser("examples", help="list the examples that were written for a prompt")
    examples.add_argument("prompt", metavar="NAME")
    examples.set_defaults(run=run_examples)
    add = verbs.add_parser(
        "add-example",
        help="write an in-context example from an exam",
        description="The variables report, indication, age and sex have the values of the exam unless --set "
        "gives others.",
    )
    add.add_argument("prompt", metavar="NAME")
    add.add_argument("reply", type=Path, metavar="FILE", help="the reply that is wanted, as text")
    add.add_argument("--dataset", required=True)
    add.add_argument("--exam", required=True, help="the id of the exam in its file")
    add.add_argument("--set", action="append", default=[], metavar="VARIABLE=TEXT", dest="values")
    add.add_argument("--radiograph", action="append", default=[], metavar="ID", dest="radiographs")
    add.set_defaults(run=run_add_example)
    corrected = verbs.add_parser(
        "add-corrected",
        help="write examples from replies whose questions experts corrected",
        description="An example is a reply of this version with the accepted questions as experts corrected "
        "them. Rejected questions and those that nobody judged are left out of it.",
    )
    corrected.add_argument("prompt", metavar="NAME@VERSION")
    corrected.add_argument("dataset", metavar="DATASET")
    corrected.set_defaults(run=run_add_corrected)
    remove = verbs.add_parser("remove-example", help="remove an example; versions with it do not change")
    remove.add_argument("example", type=int, metavar="NUMBER")
    remove.set_defaults(run=run_remove_example)
    export = verbs.add_parser("export-examples", help="add examples to the next version of a prompt")
    export.add_argument("prompt", metavar="NAME[@VERSION]", help="the version to extend")
    export.add_argument("--note", required=True, help="what changed")
    export.add_argument("--example", type=int, nargs="+", metavar="NUMBER", help="default: all")
    export.set_defaults(run=run_export_examples)


def run_add(args: argparse.Namespace) -> int:
    """Store the file."""
    content = _read_text(args.file)
    with unit_of_work() as db:
        version, is_new = models.save_prompt(
            db, by=command_line_person(), content=content, note=args.note, now=datetime.now(UTC)
        )
    print(f"{'Saved' if is_new else 'Unchanged:'} {version.label}, SHA-256 {version.sha256}.")
    return 0


def run_list(_: argparse.Namespace) -> int:
    """Print one line per version."""
    with read_only_session() as db:
        versions = models.list_prompts(db, by=command_line_person())
    for version in versions:
        print(
            f"{version.label}\t{version.added_at:%Y-%m-%d}\t{version.sha256[:12]}\t"
            f"{count_text(version.runs, 'run')}\t{version.note}"
        )
    if not versions:
        print("No prompts. Add one with `cli.py prompt add`.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the file."""
    with read_only_session() as db:
        version = models.load_prompt(db, by=command_line_person(), label=args.prompt)
    print(version.content, end="")
    return 0


def run_diff(args: argparse.Namespace) -> int:
    """Print a unified diff."""
    by = command_line_person()
    with read_only_session() as db:
        old = models.load_prompt(db, by=by, label=args.old)
        new = models.load_prompt(db, by=by, label=args.new)
    print(
        compare_prompts(old.content, new.content, old_name=old.label, new_name=new.label) or "No difference."
    )
    return 0


def run_examples(args: argparse.Namespace) -> int:
    """Print one line per example."""
    with read_only_session() as db:
        examples = models.list_examples(db, by=command_line_person(), prompt=args.prompt)
    for example in examples:
        reply = " ".join(example.reply.split())
        print(f"{example.id}\t{example.dataset}\t{example.exam}\t{example.written_by}\t{reply[:100]}")
    if not examples:
        print("No examples. Write one on the page Prompts or with `cli.py prompt add-example`.")
    return 0


def run_add_example(args: argparse.Namespace) -> int:
    """Store an example."""
    by = command_line_person()
    given_values = dict(_split_value(text) for text in args.values)
    reply = _read_text(args.reply).strip()
    with unit_of_work() as db:
        source = models.load_example_source(db, by=by, dataset=args.dataset, exam=args.exam)
        fields = models.list_example_fields(models.load_prompt(db, by=by, label=args.prompt))
        exam_values = read_exam_variables(source.exam)
        example_id = models.save_example(
            db,
            by=by,
            prompt=args.prompt,
            dataset=args.dataset,
            exam=args.exam,
            variables={name: exam_values[name] for name in fields if name in exam_values} | given_values,
            reply=reply,
            radiographs=args.radiographs,
            now=datetime.now(UTC),
        )
    print(f"Added example {example_id}. `cli.py prompt export-examples` makes it part of the next version.")
    return 0


def run_add_corrected(args: argparse.Namespace) -> int:
    """Store the examples. Returns 0, or 1 after printing the replies that cannot be used."""
    with unit_of_work() as db:
        result = release.add_corrected_examples(
            db, by=command_line_person(), prompt=args.prompt, dataset=args.dataset, now=datetime.now(UTC)
        )
    for reason in result.unusable:
        print(reason, file=sys.stderr)
    print(
        f"Added {count_text(result.added, 'example')} from {result.prompt}, {result.known:,} stored before."
    )
    if result.added:
        print("`cli.py prompt export-examples` makes them part of the next version.")
    return 1 if result.unusable else 0


def run_remove_example(args: argparse.Namespace) -> int:
    """Remove an example."""
    with unit_of_work() as db:
        models.remove_example(db, by=command_line_person(), example=args.example, now=datetime.now(UTC))
    print(f"Removed example {args.example}.")
    return 0


def run_export_examples(args: argparse.Namespace) -> int:
    """Store the next version."""
    by = command_line_person()
    with unit_of_work() as db:
        name = models.load_prompt(db, by=by, label=args.prompt).name
        example_ids = [example.id for example in models.list_examples(db, by=by, prompt=name)]
        version = models.export_examples(
            db,
            by=by,
            prompt=args.prompt,
            examples=args.example or example_ids,
            note=args.note,
            now=datetime.now(UTC),
        )
    print(f"Saved {version.label}, SHA-256 {version.sha256}.")
    return 0


def _split_value(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise InvalidValue("--set", f"must be VARIABLE=TEXT, not {text!r}")
    return name, value


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidValue(str(path), "is not text in UTF-8") from error
    except OSError as error:
        raise InvalidValue(str(path), describe_file_error(error)) from error
