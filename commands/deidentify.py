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
from domain.table_cells import harmless
from imaging.deidentify_folder import Cleaned, CleaningJob, clean_all, plan
from imaging.guarded import GuardedReader
from imaging.pseudonyms import LENGTH, PseudonymKey
from privacy.service import pseudonym_key
from storage.unit_of_work import reading

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
    wrong = _wrong_usage(args)
    if wrong is not None:
        print(wrong, file=sys.stderr)
        return _WRONG_USAGE
    jobs, others = plan(args.source, args.out, key=(key := _key(args)), keep_names=args.keep_names)
    done = _clean(jobs, key=key, processes=min(args.processes, max(1, len(jobs))))
    for each in done:
        if each.refusal is not None:
            print(each.refusal, file=sys.stderr)
        for note in each.notes:
            print(f"{each.job.name}: {note}", file=sys.stderr)
    written = [each for each in done if each.target is not None]
    if args.list:
        _write_list(args.list, written)
    summary = f"{len(written):,} of {len(jobs):,} files written to {args.out} without their patients."
    print(summary + (f" {others:,} other files were left out." if others else ""))
    print("What is in the pictures was not touched: look at them before you give them away.")
    return 0 if len(written) == len(jobs) else 1


def _key(args: argparse.Namespace) -> PseudonymKey:
    if args.fresh_key:
        return PseudonymKey(secret=secrets.token_bytes(LENGTH))
    with reading() as db:
        return pseudonym_key(db, by=command_line_person())


def _clean(jobs: list[CleaningJob], *, key: PseudonymKey, processes: int) -> list[Cleaned]:
    done: list[Cleaned] = []
    with GuardedReader(workers=processes) as reader:
        for each in clean_all(jobs, reader=reader, workers=processes, key=key):
            done.append(each)
            if len(jobs) > 1:
                print(f"\r{len(done):,} of {len(jobs):,}", end="", file=sys.stderr, flush=True)
    if len(jobs) > 1:
        print(file=sys.stderr)
    return done


def _write_list(path: Path, written: list[Cleaned]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["old", "new"])
        rows.writerows([harmless(each.job.name), harmless(str(each.target))] for each in written)


def _wrong_usage(args: argparse.Namespace) -> str | None:
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
