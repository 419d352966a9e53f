"""``cli.py study``: create, show, change, close and analyse reader studies."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.checkpoints import take_checkpoint_after_job
from domain.batches import SamplingPlan
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.protocols import Protocol, protocol_from_plain, protocol_to_plain
from domain.studies import Arm, CaseKind, CaseSource, Crossing, SourceKind, StudyDesign
from domain.vocabulary import AnswerFormat
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work

_CROSSINGS = {"full": Crossing.FULL, "parts": Crossing.PARTS, "crossover": Crossing.CROSSOVER}
#: The modules of the other subcommands of ``study``.
_SUBCOMMAND_MODULES = (
    "study_readers",
    "study_models",
    "study_marking",
    "study_power",
    "study_report",
    "study_export",
    "study_compare",
    "study_extraction",
    "study_case",
)


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "study",
        description="Creating a study draws and freezes its cases and records its protocol with a hash. "
        "After the first answer, readers and the order of cases are fixed.",
    )
    subcommands = parser.add_subparsers(dest="kind", required=True, metavar="COMMAND")
    _add_create(subcommands)
    list_parser = subcommands.add_parser("list", help="list all studies")
    list_parser.set_defaults(run=run_list)
    show_parser = subcommands.add_parser("show", help="show design, protocol, readers and progress as JSON")
    show_parser.add_argument("study", metavar="NAME")
    show_parser.set_defaults(run=run_show)
    for verb, run in (("close", run_close), ("reopen", run_close)):
        state_parser = subcommands.add_parser(verb, help=f"{verb} a study")
        state_parser.add_argument("study", metavar="NAME")
        state_parser.set_defaults(run=run, reopen=verb == "reopen")
    _add_protocol(subcommands)
    for name in _SUBCOMMAND_MODULES:
        if find_spec(f"commands.{name}") is not None:
            import_module(f"commands.{name}").add_subcommands(subcommands)


def _add_create(subcommands: Subparsers) -> None:
    create = subcommands.add_parser(
        "create",
        help="create a study: draw its cases and record its protocol",
        description="Draw the cases of a new study. The same seed gives the same cases, orders and repeats.",
    )
    create.add_argument("name", metavar="NAME")
    create.add_argument("--dataset", required=True, metavar="DATASET")
    source = create.add_mutually_exclusive_group()
    source.add_argument("--batch", metavar="NAME", help="draw from a batch of the dataset")
    source.add_argument("--release", metavar="NAME", help="draw from a release, with its corrections")
    amount = create.add_mutually_exclusive_group(required=True)
    amount.add_argument("--n", type=int, help="number of cases, evenly over the tiers")
    amount.add_argument("--per-1000", type=int, metavar="N", help="number of cases per 1,000 questions")
    create.add_argument("--seed", type=int, required=True, help="seed of cases, orders, repeats and options")
    create.add_argument(
        "--strata", default="", metavar="FIELDS", help="additional strata, such as task,category"
    )
    create.add_argument("--one-per-exam", action="store_true", help="draw at most one question per exam")
    create.add_argument(
        "--formats",
        nargs="+",
        choices=[format_.value for format_ in AnswerFormat],
        default=[],
        help="answer formats of the cases (default: all); open answers are marked, see `study markers`",
    )
    create.add_argument("--crossing", choices=list(_CROSSINGS), default="full")
    create.add_argument(
        "--readers-per-case", type=int, metavar="K", help="readers per case, with --crossing parts"
    )
    create.add_argument(
        "--shared", type=int, default=0, metavar="N", help="cases read by all readers, with --crossing parts"
    )
    create.add_argument(
        "--arms",
        nargs=2,
        metavar=("WITH", "WITHOUT"),
        help="names of the arms with and without clinical information, with --crossing crossover",
    )
    create.add_argument(
        "--washout-days",
        type=int,
        default=0,
        metavar="DAYS",
        help="wash-out in days, with --crossing crossover",
    )
    create.add_argument(
        "--training", type=int, default=0, metavar="N", help="training cases with feedback, shown first"
    )
    create.add_argument("--repeats", type=int, default=0, metavar="N", help="hidden repeats per reader")
    create.add_argument(
        "--repeat-gap",
        type=int,
        default=10,
        metavar="N",
        help="minimum number of cases between first showing and repeat",
    )
    create.add_argument("--blocks", type=int, default=4, metavar="N", help="blocks of the Latin square")
    create.add_argument(
        "--protocol", type=Path, metavar="FILE", help="JSON file; fields: see `study protocol`"
    )
    create.add_argument(
        "--models",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="models in the study (default: none); see `study models`",
    )
    create.add_argument(
        "--minimum-cases", type=int, metavar="N", help="minimum number of cases for a comparison"
    )
    create.add_argument(
        "--guideline", type=Path, metavar="FILE", help="Markdown file, shown before the first case"
    )
    create.set_defaults(run=run_create)


def _add_protocol(subcommands: Subparsers) -> None:
    protocol = subcommands.add_parser(
        "protocol",
        help="show all versions of the protocol, or save a new version",
        description="Without --set, print all versions with their SHA-256. Fields: "
        + ", ".join(protocol_field.name for protocol_field in fields(Protocol)),
    )
    protocol.add_argument("study", metavar="NAME")
    protocol.add_argument(
        "--set", type=Path, metavar="FILE", dest="file", help="JSON file with the fields to change"
    )
    # --why is the previous name of the option
    protocol.add_argument(
        "--reason", "--why", default="", help="reason for the change; required after the first answer"
    )
    protocol.set_defaults(run=run_protocol)


def run_create(args: argparse.Namespace) -> int:
    """Create the study. Returns 0; raises DomainError if refused."""
    plain = protocol_to_plain(Protocol())
    if args.protocol:
        plain |= _read_json(args.protocol)
    if args.guideline:
        plain["guideline"] = _read_text(args.guideline)
    if args.models:
        plain["models"] = args.models
    if args.minimum_cases is not None:
        plain["minimum_cases"] = args.minimum_cases
    protocol = protocol_from_plain(plain)
    with unit_of_work() as db:
        study = studies.create_study(
            db,
            by=command_line_person(),
            name=args.name,
            source=_parse_source(args),
            design=_build_design(args),
            protocol=protocol,
            now=datetime.now(UTC),
        )
        summary = studies.load_study_summary(db, by=command_line_person(), study=study.name)
    take_checkpoint_after_job()
    case_count, training_count = (summary.cases[kind] for kind in (CaseKind.SCORED, CaseKind.TRAINING))
    print(
        f"Created study {study.name}: {count_text(case_count, 'case')} and "
        f"{count_text(training_count, 'training case')} from {study.source}."
    )
    print(f"Protocol version 1, SHA-256 {summary.protocol.sha256}.")
    return 0


def run_list(_args: argparse.Namespace) -> int:
    """Print one line per study."""
    with read_only_session() as db:
        summaries = studies.list_studies(db, by=command_line_person())
    if not summaries:
        print("No reader studies yet. To create one, see: cli.py study create --help", file=sys.stderr)
    for summary in summaries:
        print(
            f"{summary.study.name}: {summary.study.state}, "
            f"{count_text(summary.cases[CaseKind.SCORED], 'case')} from {summary.study.source}, "
            f"{count_text(summary.readers, 'reader')}, {count_text(summary.answers, 'answer')}"
        )
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the study as JSON, without questions and answers."""
    by = command_line_person()
    with read_only_session() as db:
        summary = studies.load_study_summary(db, by=by, study=args.study)
        progress = studies.load_study_progress(db, by=by, study=args.study)
        fault_reports = studies.list_faulty_questions(db, by=by, study=args.study)
    study = summary.study
    plain = {
        "study": study.name,
        "state": study.state.value,
        "frozen": study.frozen,
        "simulated": study.simulated,
        "source": str(study.source),
        "design": studies.describe_design(study.design),
        "cases": {kind.value: count for kind, count in summary.cases.items()},
        "answers": summary.answers,
        "protocol": {
            "version": summary.protocol.version,
            "sha256": summary.protocol.sha256,
            **protocol_to_plain(summary.protocol.protocol),
        },
        "readers": [
            {
                "name": reader_progress.reader.name,
                "level": reader_progress.reader.profile.level.value
                if reader_progress.reader.profile.level
                else None,
                "years": reader_progress.reader.profile.years,
                "subspecialty": reader_progress.reader.profile.subspecialty,
                "of_reference": reader_progress.reader.of_reference,
                "outside": reader_progress.reader.is_external,
                "simulated": reader_progress.reader.simulated,
                "done": reader_progress.done,
                "total": reader_progress.total,
                "repeats_done": reader_progress.repeats_done,
                "repeats": reader_progress.repeats,
                "training_done": reader_progress.training_done,
                "training": reader_progress.training,
                "seconds_median": reader_progress.seconds_median,
                "cannot_determine": reader_progress.cannot_determine,
                "faulty": reader_progress.faulty,
                "last_read_at": reader_progress.last_read_at.isoformat()
                if reader_progress.last_read_at
                else None,
            }
            for reader_progress in progress
        ],
        "faulty": [
            {
                "case": fault_report.case,
                "question_id": fault_report.question_id,
                "reader": fault_report.reader,
                "why": fault_report.why,
            }
            for fault_report in fault_reports
        ],
    }
    print(json.dumps(plain, ensure_ascii=False, indent=2))
    return 0


def run_close(args: argparse.Namespace) -> int:
    """Close or reopen the study."""
    change_state = studies.reopen_study if args.reopen else studies.close_study
    with unit_of_work() as db:
        study = change_state(db, by=command_line_person(), study=args.study, now=datetime.now(UTC))
    print(f"Study {study.name} is now {study.state}.")
    return 0


def run_protocol(args: argparse.Namespace) -> int:
    """Print all versions of the protocol; with ``--set``, write a new version first."""
    by = command_line_person()
    if args.file:
        with unit_of_work() as db:
            current_version = studies.load_study_summary(db, by=by, study=args.study).protocol
            plain = protocol_to_plain(current_version.protocol) | _read_json(args.file)
            version = studies.change_protocol(
                db,
                by=by,
                study=args.study,
                protocol=protocol_from_plain(plain),
                reason=args.reason,
                now=datetime.now(UTC),
            )
        if version.version == current_version.version:
            print("No changes, so no version was saved.", file=sys.stderr)
    with read_only_session() as db:
        versions = studies.list_protocol_versions(db, by=by, study=args.study)
    print(
        json.dumps(
            [
                {
                    "version": protocol_version.version,
                    "sha256": protocol_version.sha256,
                    "written_at": protocol_version.written_at.isoformat(),
                    "answers_before": protocol_version.answers_before,
                    "why": protocol_version.reason,
                    "protocol": protocol_to_plain(protocol_version.protocol),
                }
                for protocol_version in versions
            ],
            ensure_ascii=False,
            indent=2,
        )
    )
    return 0


def _parse_source(args: argparse.Namespace) -> CaseSource:
    if args.batch:
        return CaseSource(kind=SourceKind.BATCH, dataset=args.dataset, name=args.batch)
    if args.release:
        return CaseSource(kind=SourceKind.RELEASE, dataset=args.dataset, name=args.release)
    return CaseSource(kind=SourceKind.DATASET, dataset=args.dataset)


def _build_design(args: argparse.Namespace) -> StudyDesign:
    crossing = _CROSSINGS[args.crossing]
    arm_options: dict[str, Any] = {}
    if crossing is Crossing.CROSSOVER:
        with_info, without_info = args.arms or ("with clinical information", "image only")
        arm_options["arms"] = (Arm(name=with_info), Arm(name=without_info, clinical_info_shown=False))
    elif args.arms:
        raise InvalidValue("arms", "can only be used with --crossing crossover")
    return StudyDesign(
        plan=SamplingPlan(
            seed=args.seed,
            per_1000=args.per_1000,
            n=args.n,
            strata=tuple(field.strip() for field in args.strata.split(",") if field.strip()),
        ),
        crossing=crossing,
        readers_per_case=args.readers_per_case,
        shared=args.shared,
        washout_days=args.washout_days,
        training=args.training,
        repeats=args.repeats,
        repeat_gap=args.repeat_gap,
        blocks=args.blocks,
        one_per_exam=args.one_per_exam,
        formats=tuple(map(AnswerFormat, args.formats)),
        **arm_options,
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        plain = json.loads(_read_text(path))
    except ValueError as error:
        raise InvalidValue("protocol", f"{path} is not valid JSON: {error}") from error
    if not isinstance(plain, dict):
        raise InvalidValue("protocol", f"{path} must contain a JSON object with fields of the protocol")
    return plain


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue("file", f"{path} cannot be read as text: {error}") from error
