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
from domain.count_texts import count_text
from domain.table_cells import escape_formula
from imaging.deidentify_folder import (
    DeidentificationJob,
    DeidentificationResult,
    deidentify_all,
    plan_deidentification,
)
from imaging.guarded_decoder import GuardedDecoder
from imaging.pseudonyms import KEY_LENGTH, PseudonymKey
from privacy.service import load_pseudonym_key
from storage.unit_of_work import read_only_session

_WRONG_USAGE = 2


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "deidentify",
        description="Apply the Basic Confidentiality Profile of the DICOM standard to DICOM files: "
        "identifying and private attributes are removed, UIDs and patient IDs are replaced. From PNG and "
        "JPEG files, all metadata is removed. The image content is kept: check it for burned-in text. "
        "Source files are never changed. With the key of the workspace, the same patient, exam and file "
        "always get the same pseudonyms.",
    )
    parser.add_argument("source", metavar="FILE|DIR", type=Path)
    parser.add_argument("out", metavar="OUT", type=Path, help="folder for the de-identified files")
    parser.add_argument(
        "--fresh-key",
        action="store_true",
        help="use a temporary key for this run, so that pseudonyms can never be linked to the original ids",
    )
    parser.add_argument(
        "--keep-names",
        action="store_true",
        help="keep the names of files and folders, if a question file needs them; they must not "
        "identify patients",
    )
    parser.add_argument(
        "--list",
        type=Path,
        metavar="CSV",
        help="file for the list of old and new paths; store it separately, because it identifies the files",
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N",
        help="number of processes (default: one per processor)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """De-identify the files. Returns 1 if any file was refused, 2 if the arguments are not valid."""
    usage_error = _check_usage(args)
    if usage_error is not None:
        print(usage_error, file=sys.stderr)
        return _WRONG_USAGE
    key = _load_key(args)
    jobs, other_count = plan_deidentification(args.source, args.out, key=key, keep_names=args.keep_names)
    results = _deidentify_files(jobs, key=key, processes=min(args.processes, max(1, len(jobs))))
    for result in results:
        if result.refusal is not None:
            print(result.refusal, file=sys.stderr)
        for note in result.notes:
            print(f"{result.job.name}: {note}", file=sys.stderr)
    written_results = [result for result in results if result.target is not None]
    if args.list:
        _write_list(args.list, written_results)
    summary = f"{len(written_results):,} of {len(jobs):,} files de-identified in {args.out}."
    print(summary + (f" {count_text(other_count, 'other file')} skipped." if other_count else ""))
    print("The image content was not changed. Check the images for burned-in text before you share them.")
    return 0 if len(written_results) == len(jobs) else 1


def _load_key(args: argparse.Namespace) -> PseudonymKey:
    if args.fresh_key:
        return PseudonymKey(secret=secrets.token_bytes(KEY_LENGTH))
    with read_only_session() as db:
        return load_pseudonym_key(db, by=command_line_person())


def _deidentify_files(
    jobs: list[DeidentificationJob], *, key: PseudonymKey, processes: int
) -> list[DeidentificationResult]:
    results: list[DeidentificationResult] = []
    with GuardedDecoder(workers=processes) as decoder:
        for result in deidentify_all(jobs, decoder=decoder, workers=processes, key=key):
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
        return f"{args.source} does not exist."
    if args.processes < 1:
        return f"--processes must be at least 1, not {args.processes}."
    if args.out.exists() and not args.out.is_dir():
        return f"{args.out} is a file. OUT must be a folder."
    if source.is_dir() and out == source:
        return f"{args.out} is the source folder. Choose another OUT."
    return None
