"""``cli.py release``: create a release of the gold set, verify one, list the existing ones."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.checkpoints import take_checkpoint_afterwards
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
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("release")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="create | verify | compare | list")
    create = verbs.add_parser(
        "create",
        help="write the accepted and corrected questions to a folder",
        description="Write the accepted questions, and the revised ones with their corrections in them: "
        "gold.jsonl, gold.csv, gold.parquet, rexvqa.json, gemex/, boxes.coco.json, corrections.jsonl, "
        "left_out.jsonl, images.jsonl, datacard.md, croissant.json, manifest.json. Made again of the same "
        "verdicts, a release is the same byte for byte.",
    )
    create.add_argument("dataset", metavar="DATASET")
    create.add_argument("--name", required=True, metavar="NAME", help="of the release, such as v1")
    create.add_argument("--out", type=Path, metavar="DIR", help="the folder that it becomes")
    create.add_argument(
        "--batch", action="append", dest="batches", metavar="BATCH", help="only this batch; may be repeated"
    )
    create.add_argument(
        "--names",
        choices=[choice.value for choice in ReviewerNaming],
        default=ReviewerNaming.ACCOUNT.value,
        help="how reviewers are named: sign-in name (default), display name, or reviewer-1, reviewer-2, …",
    )
    create.add_argument(
        "--with-images",
        action="store_true",
        help="copy the original images too, and put pictures into gold.parquet",
    )
    create.add_argument("--with-reports", action="store_true", help="give the exams' reports too")
    create.add_argument(
        "--with-sr", action="store_true", help="write boxes as DICOM structured reports too (sr/)"
    )
    create.add_argument(
        "--private",
        type=float,
        metavar="SHARE",
        help="hold back the keys of about this share of the exams, such as 0.25: no patient and no image is "
        "on both sides; the keys go to DIR-keys",
    )
    create.add_argument("--split-seed", type=int, default=0, metavar="SEED", help="of the split; default 0")
    create.add_argument(
        "--only-if-key-errors-under",
        type=float,
        metavar="PERCENT",
        help="refuse unless the upper 95 %% limit of the key errors in the whole dataset is below it, with "
        "all that is not covered or skipped counted as errors",
    )
    create.add_argument(
        "--forms",
        metavar="FORM,FORM",
        help=(
            f"what it is written as beside the native form, of {', '.join(FormatName)}; or none; default all"
        ),
    )
    create.add_argument("--dry-run", action="store_true", help="count what it would hold; write nothing")
    create.set_defaults(run=_create, parser=create)
    verify = verbs.add_parser("verify", help="check a release's folder against its manifest")
    verify.add_argument("folder", type=Path, metavar="DIR")
    verify.set_defaults(run=_verify)
    compare = verbs.add_parser("compare", help="say what is different between two releases of one dataset")
    compare.add_argument("old", type=Path, metavar="OLD_DIR")
    compare.add_argument("new", type=Path, metavar="NEW_DIR")
    compare.add_argument("--ids", action="store_true", help="name the questions too")
    compare.set_defaults(run=_compare_folders)
    listing = verbs.add_parser("list", help="list the releases that were made")
    listing.set_defaults(run=_list_releases)


def _create(args: argparse.Namespace) -> int:
    by = command_line_person()
    if args.dry_run:
        with read_only_session() as db:
            tally = preview_release(db, by=by, dataset=args.dataset, batches=args.batches)
        _print_tally(tally)
        return 0
    if args.out is None:
        args.parser.error("say where to: --out DIR")
    limit = args.only_if_key_errors_under
    if limit is not None and not 0 < limit <= 100:
        args.parser.error("--only-if-key-errors-under must be above 0 and at most 100")
    split = None
    if args.private is not None:
        split = SplitPlan(private_share=args.private, seed=args.split_seed)
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
            split=split,
            key_errors_under=None if limit is None else limit / 100,
            with_audit_head=True,
            formats=_parse_forms(args),
            workspace=current_workspace(),
            progress=_print_progress,
        )
    with unit_of_work() as db:
        record_release(db, by=by, release=result, now=datetime.now(UTC))
    take_checkpoint_afterwards()
    _print_tally(result.tally)
    if result.condition_note is not None:
        print(result.condition_note)
    outcome = "was there already, the same byte for byte" if result.already_existed else "written"
    print(f"Release {result.name}: {outcome}, {result.folder}")
    if result.keys_folder is not None:
        print(f"Keys of the private questions: {result.keys_folder} (not to be given out)")
    print(f"SHA-256 of its manifest: {result.manifest_sha256}")
    return 0


def _parse_forms(args: argparse.Namespace) -> tuple[FormatName, ...]:
    if args.forms is None:
        return tuple(FormatName)
    names = [name.strip() for name in args.forms.split(",") if name.strip() and name.strip() != "none"]
    unknown = sorted(set(names) - {choice.value for choice in FormatName})
    if unknown:
        args.parser.error(f"--forms knows {', '.join(FormatName)}, or none; not {', '.join(unknown)}")
    return tuple(FormatName(name) for name in names)


def _verify(args: argparse.Namespace) -> int:
    report = verify_release(args.folder)
    for fault in report.faults:
        print(fault, file=sys.stderr)
    if not report.ok:
        count = len(report.faults)
        print(
            f"{args.folder} is not as it was made: {count:,} fault{'' if count == 1 else 's'}.",
            file=sys.stderr,
        )
        return 1
    print(
        f"{args.folder} is as it was made: {report.files:,} files, {report.questions:,} questions, "
        f"{report.corrections:,} corrections."
    )
    print(f"SHA-256 of its manifest: {report.manifest_sha256}")
    return 0


def _compare_folders(args: argparse.Namespace) -> int:
    comparison = compare_releases(args.old, args.new)
    print(comparison.sentence)
    if args.ids:
        for change, ids in (
            ("came", comparison.added),
            ("went", comparison.removed),
            ("moved", comparison.moved),
        ):
            print(*(f"{change}\t{question_id}" for question_id in ids), sep="\n", end="\n" if ids else "")
        for name, ids in comparison.changed.items():
            print(*(f"{name}\t{question_id}" for question_id in ids), sep="\n")
    return 0


def _list_releases(args: argparse.Namespace) -> int:  # noqa: ARG001 - every command is given its arguments
    with read_only_session() as db:
        releases = list_releases(db, by=command_line_person())
    if not releases:
        print("No release yet: cli.py release create --help", file=sys.stderr)
    for release in releases:
        print(
            f"{release.id}\t{release.dataset}\t{release.name}\t{release.items:,} questions\t"
            f"{release.made_at:%Y-%m-%d %H:%M} UTC\t{release.folder}"
        )
    return 0


def _print_progress(count: int) -> None:
    if count % 5_000 == 0:
        print(f"{count:,} judged questions", file=sys.stderr, flush=True)


def _print_tally(tally: Tally) -> None:
    print(f"released   {tally.released:,} (accepted {tally.accepted:,}, revised {tally.revised:,})")
    for reason, count in tally.excluded.items():
        print(f"left out   {count:,} {reason}")
    print(f"not judged {tally.unjudged:,}")
