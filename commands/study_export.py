"""``cli.py study export``: write the readings of a study for other ROC programs and for ``measure``."""

from __future__ import annotations

import argparse
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.errors import Refused
from reader_study import service as studies
from storage.unit_of_work import read_only_session


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    export = subcommands.add_parser(
        "export",
        help="write the yes/no questions for iMRMC and RJafroc, and all ratings for measure",
        description="Write study.imrmc (iMRMC), study.xlsx (RJafroc), ids.csv (the names of the numbers in "
        "both) and ratings.csv (cli.py measure). Scores are the readers' confidences.",
    )
    export.add_argument("study", metavar="NAME")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    export.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the files. Returns 0; raises DomainError if refused."""
    from reader_study import roc_files  # noqa: PLC0415 - imports pandas

    if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise Refused(f"The folder {args.out} is not empty. Choose another folder for the files.")
    with read_only_session() as db:
        data = studies.load_report_data(db, by=command_line_person(), study=args.study)
    selected = roc_files.select_roc_ratings(data)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, content in roc_files.render_all(data, selected).items():
        (args.out / name).write_bytes(content)
    reader_count = len({rating.reader for rating in selected.ratings})
    print(
        f"{len(selected.cases):,} yes/no questions ({sum(selected.truth):,} yes), {reader_count:,} readers, "
        f"{len(selected.arms):,} modalities, {len(selected.ratings):,} ratings in {args.out}."
    )
    for note in selected.notes:
        print(f"Note: {note}")
    print(f"Our AUC from the same scores: cli.py measure {args.out / 'ratings.csv'} --positive yes --out …")
    return 0
