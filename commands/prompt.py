"""``cli.py prompt``: versions of prompts for language models."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.file_errors import describe_file_error
from language_models import service as models
from language_models.prompts import compare_prompts
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("prompt")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="add | list | show | diff")
    add = verbs.add_parser(
        "add",
        help="store a prompt file as the next version of its name",
        description="FILE is TOML with name, system, user, parameters, schema and examples "
        "(docs/language-models.md). A stored version never changes. A file that equals the newest "
        "version adds "
        "nothing.",
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


def run_add(args: argparse.Namespace) -> int:
    """Store the file."""
    try:
        content = args.file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidValue(str(args.file), "is not text in UTF-8") from error
    except OSError as error:
        raise InvalidValue(str(args.file), describe_file_error(error)) from error
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
