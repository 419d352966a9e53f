"""``cli.py release``: create, verify, compare and list releases of the gold set."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.checkpoints import take_checkpoint_after_job
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from release.service import (
    FormatName,
    ReviewerNaming,
    SplitPlan,
    Tally,
    compare_releases,
    list_releases,
    preview_release,
    record_release,
    verify_release,
    write_release,
)
from release.splits import Split
from release.training.box_formats import BoxFormat
from release.training.conversations import TrainingLibrary
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("release")
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="create | verify | compare | list | training"
    )
    create = verbs.add_parser(
        "create",
        help="create a release from the accepted and corrected questions",
        description="Write the accepted questions, and the revised questions with corrections applied: "
        "gold.jsonl, gold.csv, gold.parquet, rexvqa.json, gemex/, boxes.coco.json, corrections.jsonl, "
        "left_out.jsonl, images.jsonl, datacard.md, croissant.json, manifest.json. The same "
        "verdicts give identical files.",
    )
    create.add_argument("dataset", metavar="DATASET")
    create.add_argument("--name", required=True, metavar="NAME", help="name of the release, such as v1")
    create.add_argument("--out", type=Path, metavar="DIR", help="folder of the release")
    create.add_argument(
        "--batch",
        action="append",
        dest="batches",
        metavar="BATCH",
        help="use only this batch; can be repeated",
    )
    create.add_argument(
        "--names",
        choices=[choice.value for choice in ReviewerNaming],
        default=ReviewerNaming.ACCOUNT.value,
        help="reviewer names: sign-in name (default), display name, or reviewer-1, reviewer-2, …",
    )
    create.add_argument(
        "--with-images",
        action="store_true",
        help="include the original images, and images in gold.parquet",
    )
    create.add_argument("--with-reports", action="store_true", help="include the reports")
    create.add_argument(
        "--with-sr", action="store_true", help="include bounding boxes as DICOM structured reports (sr/)"
    )
    create.add_argument(
        "--private",
        type=float,
        metavar="SHARE",
        default=0.0,
        help="withhold the keys of about this share of the exams, such as 0.25; patients and images are "
        "never in two splits; the keys are written to DIR-keys",
    )
    for split in ("valid", "test"):
        create.add_argument(
            f"--{split}",
            type=float,
            metavar="SHARE",
            default=0.0,
            help=f"put about this share of the exams into the split {split}; the rest is train",
        )
    create.add_argument(
        "--split-seed", type=int, default=0, metavar="SEED", help="seed of the splits (default 0)"
    )
    create.add_argument(
        "--only-if-key-errors-under",
        type=float,
        metavar="PERCENT",
        help="require an upper 95 %% limit of the key errors in the whole dataset below this value; "
        "skipped and uncovered questions count as errors",
    )
    create.add_argument(
        "--forms",
        metavar="FORM,FORM",
        help=(f"additional formats, separated by commas: {', '.join(FormatName)}; or none (default: all)"),
    )
    create.add_argument(
        "--dry-run", action="store_true", help="print the content of the release without writing it"
    )
    create.set_defaults(run=_create, parser=create)
    verify = verbs.add_parser("verify", help="compare the files of a release with its manifest")
    verify.add_argument("folder", type=Path, metavar="DIR")
    verify.set_defaults(run=_verify)
    compare = verbs.add_parser("compare", help="print the differences between two releases of a dataset")
    compare.add_argument("old", type=Path, metavar="OLD_DIR")
    compare.add_argument("new", type=Path, metavar="NEW_DIR")
    compare.add_argument("--ids", action="store_true", help="also print the ids of the questions")
    compare.add_argument(
        "--with-keys",
        action="store_true",
        help="compare the keys of private questions, from the folders OLD_DIR-keys and NEW_DIR-keys",
    )
    compare.add_argument(
        "--out", type=Path, metavar="FILE", help="write each changed field with both values as JSON lines"
    )
    compare.set_defaults(run=_compare_folders)
    list_parser = verbs.add_parser("list", help="list all releases")
    list_parser.set_defaults(run=_list_releases)
    training = verbs.add_parser(
        "training",
        help="write the training split of a release for TRL, LLaMA-Factory or ms-swift",
        description="Write train.jsonl, the images of all views and the settings of a full fine-tune. Only "
        "the split train is exported; see docs/training.md.",
    )
    training.add_argument("release", type=Path, metavar="DIR", help="folder of a release with images")
    training.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    training.add_argument(
        "--for", dest="library", required=True, choices=[library.value for library in TrainingLibrary]
    )
    training.add_argument(
        "--boxes",
        choices=[box_format.value for box_format in BoxFormat],
        default=BoxFormat.GEMEX.value,
        help="format of the boxes (default gemex: the grid of 224 x 224); ms-swift converts them itself",
    )
    training.add_argument(
        "--split",
        choices=[split.value for split in Split],
        default=Split.TRAIN.value,
        help="train (default), or public for a release without the splits train, valid and test",
    )
    training.set_defaults(run=_export_training_data)


def _create(args: argparse.Namespace) -> int:
    by = command_line_person()
    if args.dry_run:
        with read_only_session() as db:
            tally = preview_release(db, by=by, dataset=args.dataset, batches=args.batches)
        _print_tally(tally)
        return 0
    if args.out is None:
        args.parser.error("--out DIR is required")
    limit = args.only_if_key_errors_under
    if limit is not None and not 0 < limit <= 100:
        args.parser.error("--only-if-key-errors-under must be above 0 and at most 100")
    split_plan = None
    if args.private or args.valid or args.test:
        split_plan = SplitPlan(
            private_share=args.private, valid_share=args.valid, test_share=args.test, seed=args.split_seed
        )
    # The release is written in a read transaction, so that it does not block reviewers who save verdicts.
    with read_only_session() as db:
        result = write_release(
            db,
            by=by,
            dataset=args.dataset,
            name=args.name,
            out=args.out,
            batches=args.batches,
            reviewer_naming=ReviewerNaming(args.names),
            with_images=args.with_images,
            with_reports=args.with_reports,
            with_sr=args.with_sr,
            split=split_plan,
            key_errors_under=None if limit is None else limit / 100,
            with_audit_head=True,
            formats=_parse_forms(args),
            workspace=current_workspace(),
            progress=_print_progress,
        )
    with unit_of_work() as db:
        record_release(db, by=by, release=result, now=datetime.now(UTC))
    take_checkpoint_after_job()
    _print_tally(result.tally)
    if result.condition_note is not None:
        print(result.condition_note)
    outcome = "already existed with identical files" if result.already_existed else "written"
    print(f"Release {result.name}: {outcome}, {result.folder}")
    if result.keys_folder is not None:
        print(f"Keys of the private questions: {result.keys_folder} (keep them private)")
    print(f"SHA-256 of its manifest: {result.manifest_sha256}")
    return 0


def _parse_forms(args: argparse.Namespace) -> tuple[FormatName, ...]:
    if args.forms is None:
        return tuple(FormatName)
    names = [name.strip() for name in args.forms.split(",") if name.strip() and name.strip() != "none"]
    unknown = sorted(set(names) - {format_name.value for format_name in FormatName})
    if unknown:
        args.parser.error(
            f"--forms: unknown format {', '.join(unknown)}; choose from {', '.join(FormatName)}, or none"
        )
    return tuple(FormatName(name) for name in names)


def _verify(args: argparse.Namespace) -> int:
    report = verify_release(args.folder)
    for fault in report.faults:
        print(fault, file=sys.stderr)
    if not report.ok:
        count = len(report.faults)
        print(
            f"{args.folder} was changed after its creation: {count_text(count, 'fault')}.",
            file=sys.stderr,
        )
        return 1
    print(
        f"{args.folder} is unchanged: {count_text(report.files, 'file')}, "
        f"{count_text(report.questions, 'question')}, {count_text(report.corrections, 'correction')}."
    )
    print(f"SHA-256 of its manifest: {report.manifest_sha256}")
    return 0


def _compare_folders(args: argparse.Namespace) -> int:
    comparison = compare_releases(args.old, args.new, with_keys=args.with_keys)
    print(comparison.sentence)
    if args.out is not None:
        with add_filename_to_errors(args.out), args.out.open("wb") as file:
            for field_change in comparison.changes:
                file.write(msgspec.json.encode(asdict(field_change)) + b"\n")
        print(f"{count_text(len(comparison.changes), 'changed field')} written to {args.out}.")
    if args.ids:
        for change, ids in (
            ("added", comparison.added),
            ("removed", comparison.removed),
            ("moved", comparison.moved),
        ):
            print(*(f"{change}\t{question_id}" for question_id in ids), sep="\n", end="\n" if ids else "")
        for field, ids in comparison.changed.items():
            print(*(f"{field}\t{question_id}" for question_id in ids), sep="\n")
    return 0


def _export_training_data(args: argparse.Namespace) -> int:
    # Pillow and the decoder are not needed by the other commands.
    from release.training.export import export_training_data  # noqa: PLC0415 - see above

    export = export_training_data(
        args.release,
        args.out,
        library=TrainingLibrary(args.library),
        form=BoxFormat(args.boxes),
        split=Split(args.split),
        progress=_print_question_progress,
    )
    questions, images = count_text(export.questions, "question"), count_text(export.images, "image")
    print(f"{questions} with {images}: {export.folder}")
    for reason, count in export.left_out.items():
        print(f"{count:,} {reason}")
    return 0


def _list_releases(args: argparse.Namespace) -> int:  # noqa: ARG001 - all commands have this signature
    with read_only_session() as db:
        releases = list_releases(db, by=command_line_person())
    if not releases:
        print("No releases yet. To create one, see: cli.py release create --help", file=sys.stderr)
    for release in releases:
        print(
            f"{release.id}\t{release.dataset}\t{release.name}\t{release.items:,} questions\t"
            f"{release.made_at:%Y-%m-%d %H:%M} UTC\t{release.folder}"
        )
    return 0


def _print_progress(count: int) -> None:
    if count % 5_000 == 0:
        print(f"{count:,} judged questions", file=sys.stderr, flush=True)


def _print_question_progress(count: int) -> None:
    if count % 500 == 0:
        print(f"{count_text(count, 'question')} read", file=sys.stderr, flush=True)


def _print_tally(tally: Tally) -> None:
    print(f"released   {tally.released:,} (accepted {tally.accepted:,}, revised {tally.revised:,})")
    for reason, count in tally.excluded.items():
        print(f"excluded   {count:,} {reason}")
    print(f"not judged {tally.unjudged:,}")
