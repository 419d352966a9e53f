"""``cli.py deidentify``: remove patient data from image files before they leave the site."""

from __future__ import annotations

import argparse
import csv
import os
import secrets
import sys
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.table_cells import escape_formula
from imaging.deidentify_folder import (
    DeidentificationJob,
    DeidentificationResult,
    deidentify_all,
    plan_deidentification,
)
from imaging.guarded_reader import GuardedReader
from imaging.pseudonyms import KEY_LENGTH, PseudonymKey
from privacy.service import load_pseudonym_key
from storage.unit_of_work import read_only_session

_WRONG_USAGE = 2


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "deidentify",
        description="DICOM files go through the standard's Basic Confidentiality Profile: what tells who it "
        "is goes, private attributes too; UIDs and patient numbers become others. PNG and JPEG files lose "
        "all but the picture. What is in the picture stays: look at it. The input is never changed. With the "
        "workspace's key the same patient, exam and file get the same new numbers each time.",
    )
    parser.add_argument("source", metavar="FILE|DIR", type=Path)
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder that the new files go to")
    parser.add_argument(
        "--fresh-key",
        action="store_true",
        help="a key for this run alone, kept nowhere: nobody can ever link the new numbers to the old",
    )
    parser.add_argument(
        "--keep-names",
        action="store_true",
        help="keep the names of files and folders, which a question file may need; they must name nobody",
    )
    parser.add_argument(
        "--list", type=Path, metavar="CSV", help="old and new paths; it links them, so keep it apart"
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N",
        help="files at a time (default: one for each processor)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """De-identify the files. Returns 1 if any file was refused, 2 if the arguments are not valid."""
    usage_error = _check_usage(args)
    if usage_error is not None:
        print(usage_error, file=sys.stderr)
        return _WRONG_USAGE
    jobs, other_count = plan_deidentification(
        args.source, args.out, key=(key := _load_key(args)), keep_names=args.keep_names
    )
    results = _clean_files(jobs, key=key, processes=min(args.processes, max(1, len(jobs))))
    for result in results:
        if result.refusal is not None:
            print(result.refusal, file=sys.stderr)
        for note in result.notes:
            print(f"{result.job.name}: {note}", file=sys.stderr)
    written_results = [result for result in results if result.target is not None]
    if args.list:
        _write_list(args.list, written_results)
    summary = f"{len(written_results):,} of {len(jobs):,} files written to {args.out} without their patients."
    print(summary + (f" {other_count:,} other files were left out." if other_count else ""))
    print("What is in the pictures was not touched: look at them before you give them away.")
    return 0 if len(written_results) == len(jobs) else 1


def _load_key(args: argparse.Namespace) -> PseudonymKey:
    if args.fresh_key:
        return PseudonymKey(secret=secrets.token_bytes(KEY_LENGTH))
    with read_only_session() as db:
        return load_pseudonym_key(db, by=command_line_person())


def _clean_files(
    jobs: list[DeidentificationJob], *, key: PseudonymKey, processes: int
) -> list[DeidentificationResult]:
    results: list[DeidentificationResult] = []
    with GuardedReader(workers=processes) as reader:
        for result in deidentify_all(jobs, reader=reader, workers=processes, key=key):
            results.append(result)
            if len(jobs) > 1:
                print(f"\r{len(results):,} of {len(jobs):,}", end="", file=sys.stderr, flush=True)
    if len(jobs) > 1:
        print(file=sys.stderr)
    return results


def _write_list(path: Path, written_results: list[DeidentificationResult]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["old", "new"])
        writer.writerows(
            [escape_formula(result.job.name), escape_formula(str(result.target))]
            for result in written_results
        )


def _check_usage(args: argparse.Namespace) -> str | None:
    source, out = args.source.resolve(), args.out.resolve()
    if not args.source.exists():
        return f"{args.source} is not there."
    if args.processes < 1:
        return f"--processes: {args.processes} is not at least 1."
    if args.out.exists() and not args.out.is_dir():
        return f"{args.out} is a file; OUT is a folder."
    if source.is_dir() and out == source:
        return f"{args.out} is the folder that is read. Name another OUT."
    return None
