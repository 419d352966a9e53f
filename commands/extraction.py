"""``cli.py extraction``: how many replies of a model each extraction rule reads, from files of replies."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from commands.arguments import Subparsers
from domain.errors import InvalidValue
from domain.file_errors import add_filename_to_errors
from domain.questions import option_letter
from domain.vocabulary import AnswerFormat
from reader_study.extraction import extract_answer


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "extraction",
        description="Read an answer from each reply of the files. Print CSV: file, rule, replies, percent, "
        "and with --key the replies whose answer equals the key. A file is JSON Lines, a JSON array, or a "
        "JSON object of records. Needs no workspace.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--reply", required=True, metavar="FIELD", help="field with the reply")
    parser.add_argument("--key", metavar="FIELD", help="field with the key: yes, no, or letters (A, A|C)")
    parser.add_argument("--records", metavar="FIELD", help="field of the file with its records")
    parser.add_argument(
        "--format",
        dest="answer_format",
        choices=[member.value for member in AnswerFormat if not member.is_free_text],
        default=AnswerFormat.SINGLE.value,
        help="answer format of the questions (default single)",
    )
    parser.add_argument(
        "--options", type=int, default=4, metavar="N", help="number of options of each question (default 4)"
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Print the counts by file and rule."""
    answer_format = AnswerFormat(args.answer_format)
    # The texts of the options are not known, so an answer that quotes an option counts as failed.
    options = () if answer_format is AnswerFormat.CLOSED else ("\0",) * args.options
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["file", "rule", "replies", "percent", *(["equal_to_key"] if args.key else [])])
    for path in args.files:
        reply_counts, equal_counts = Counter[str](), Counter[str]()
        for record in _iterate_records(path, args.records):
            extraction = extract_answer(
                _get_text(record, args.reply, path), format_=answer_format, options=options
            )
            reply_counts[extraction.rule] += 1
            if args.key:
                key = _get_text(record, args.key, path).strip().casefold()
                equal_counts[extraction.rule] += _format_answer(extraction.answer) == key
        for rule, count in reply_counts.most_common():
            percent = f"{100 * count / reply_counts.total():.1f}"
            writer.writerow([path.name, rule, count, percent, *([equal_counts[rule]] if args.key else [])])
    return 0


def _iterate_records(path: Path, field: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records of a file.

    Raises:
        InvalidValue: the file is not valid, or has no records.
    """
    with add_filename_to_errors(path):
        content = path.read_bytes()
    try:
        data = msgspec.json.decode(content)
    except msgspec.DecodeError:
        try:
            data = [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidValue("file", f"{path} is neither JSON nor JSON Lines: {error}") from error
    if field is not None:
        data = data.get(field) if isinstance(data, dict) else None
    records = list(data.values()) if isinstance(data, dict) else data
    if (
        not isinstance(records, list)
        or not records
        or not all(isinstance(record, dict) for record in records)
    ):
        location = f"the field {field!r}" if field else "the file"
        raise InvalidValue("records", f"{path}: {location} has no records. Name their field with --records.")
    yield from records


def _get_text(record: dict[str, Any], field: str, path: Path) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidValue(
            field, f"{path}: a record has no text in this field. Its fields: {', '.join(map(str, record))}"
        )
    return value


def _format_answer(answer: tuple[int, ...] | str | None) -> str:
    if answer is None or isinstance(answer, str):
        return (answer or "").casefold()
    return "|".join(option_letter(index) for index in answer).casefold()
