"""Builds the demo workspace in a temporary folder and then moves it into place."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path

from sqlalchemy import Engine

from accounts.service import command_line_person, list_people
from demo.cases import CASES, Case
from demo.existing import database_file, workspace_exists
from demo.facts import with_report_from
from demo.planted import QuestionSet, plant_errors
from demo.questions import write_questions
from demo.radiographs import COLUMNS, ROWS, ExamFiles, render_cases
from demo.source_exams import make_source_exam
from domain.errors import AlreadyThere, Refused
from generation.question_files import encode_questions, writing_files
from sampling.service import list_drawable_datasets
from storage.engine import make_engine
from storage.images.files import image_path
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace

SEED = 2024
#: The file that marks a workspace as a demo, and the folder of the imported files.
MARKER_FILE, SOURCE = "demo.json", "demo"
_BUILD_PREFIX = ".demo-in-the-making-"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCounts:
    """The counts of exams, questions and planted errors in a new demo workspace."""

    exams: int
    questions: int
    planted: int


def make_demo(
    workspace: Workspace,
    *,
    now: datetime,
    report_progress: Callable[[str], None],
    replace_existing: bool = False,
    cases: Sequence[Case] = CASES,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> DemoCounts:
    """Create the demo workspace. If the creation is interrupted, the workspace is complete or absent.

    Raises:
        AlreadyThere: a workspace exists.
        Refused: with ``replace_existing``, the existing workspace is not a demo, or contains other data.
    """
    exists = workspace_exists(workspace)
    if exists and not replace_existing:
        raise AlreadyThere(
            f"A workspace already exists in {workspace.home}. Nothing was changed. Set OVERREAD_HOME to "
            "another folder, or create a demo workspace again with --again."
        )
    if exists:
        _check_only_demo(workspace)
    workspace.home.mkdir(parents=True, exist_ok=True)
    _remove_stale_builds(workspace.home, now=now)
    build_folder = Path(tempfile.mkdtemp(prefix=_BUILD_PREFIX, dir=workspace.home))
    try:
        new_workspace = replace(workspace, home=build_folder)
        if database_file(workspace) is not None:
            new_workspace = replace(
                new_workspace, database_url=f"sqlite:///{build_folder / 'overread.sqlite'}"
            )
        engine = make_engine(new_workspace.database_url)
        try:
            counts, question_set, rendered_exams = _write_source_files(
                build_folder / SOURCE,
                cases=cases,
                rows=rows,
                columns=columns,
                report_progress=report_progress,
                during_rendering=partial(_prepare_database, engine),
            )
            from browsing.service import index_questions  # noqa: PLC0415 - see _prepare_database
            from demo.history import build_history  # noqa: PLC0415 - see _prepare_database

            with unit_of_work(engine) as db:
                build_history(
                    db,
                    workspace=new_workspace,
                    file=build_folder / SOURCE / "questions.jsonl",
                    question_set=question_set,
                    seed=SEED,
                    now=now,
                    report_progress=report_progress,
                )
                index_questions(db)
                if workspace.bucket is None:
                    _share_images(new_workspace, build_folder / SOURCE / "images", rendered_exams)
                _write_marker(build_folder, counts, now=now)
                if database_file(workspace) is None:
                    _merge_move(
                        build_folder, workspace.home
                    )  # the transaction on the server is committed last
        finally:
            engine.dispose()  # closing the last connection merges the write-ahead log into the file
        if (file := database_file(workspace)) is not None:
            _move_into_place(workspace, build_folder, file, replace_existing=exists)
    finally:
        shutil.rmtree(build_folder, ignore_errors=True)
    return counts


def _prepare_database(engine: Engine) -> None:
    """Create the tables and import demo.history, while other processes render."""
    upgrade(engine)
    import_module("demo.history")


def _write_source_files(
    folder: Path,
    *,
    cases: Sequence[Case],
    rows: int,
    columns: int,
    report_progress: Callable[[str], None],
    during_rendering: Callable[[], None],
) -> tuple[DemoCounts, QuestionSet, list[ExamFiles]]:
    """Write the radiographs, the question file, and the list of the planted errors and faults."""
    report_progress(f"Rendering {len(cases)} exams")
    rendered_exams = render_cases(
        cases,
        folder / "images",
        rows=rows,
        columns=columns,
        on_done=lambda number: (
            report_progress(f"{number} of {len(cases)} exams rendered") if number % 6 == 0 else None
        ),
        while_rendering=during_rendering,
    )
    facts_by_number = {
        rendered_exam.facts.case.number: rendered_exam.facts for rendered_exam in rendered_exams
    }
    reported_facts = [
        with_report_from(rendered_exam.facts, facts_by_number[rendered_exam.facts.case.report_from_exam])
        if rendered_exam.facts.case.report_from_exam in facts_by_number
        else rendered_exam.facts
        for rendered_exam in rendered_exams
    ]
    exams = [
        (facts, make_source_exam(facts, rendered_exam.files, seed=SEED))
        for facts, rendered_exam in zip(reported_facts, rendered_exams, strict=True)
    ]
    question_set = plant_errors(write_questions(exams, seed=SEED), seed=SEED)
    with writing_files(folder / "questions.jsonl") as (file,):
        for _, exam in exams:
            questions = [
                generated for generated in question_set.generated if generated.question.exam_id == exam.id
            ]
            file.writelines(encode_questions(exam, questions, comparison=True))
    planted_json = json.dumps(question_set.build_answer_key(), indent=1, ensure_ascii=False)
    (folder / "planted.json").write_text(planted_json + "\n", encoding="utf-8")
    counts = DemoCounts(
        exams=len(rendered_exams), questions=len(question_set.questions), planted=len(question_set.planted)
    )
    return counts, question_set, rendered_exams


def _check_only_demo(workspace: Workspace) -> None:
    """Raise Refused if the workspace contains data that are not part of the demo."""
    if database_file(workspace) is None:
        raise Refused("The database is on a server. Empty it there, then create the demo without --again.")
    not_a_demo = f"{workspace.home} is not a demo workspace. Nothing was changed."
    if not (workspace.home / MARKER_FILE).exists():
        raise Refused(not_a_demo)
    from demo.history import DATASET  # noqa: PLC0415 - importing it at the start would delay rendering

    engine = make_engine(workspace.database_url)
    by = command_line_person()
    try:
        upgrade(engine)
        with read_only_session(engine) as db:
            foreign_names = [person.name for person in list_people(db, by=by) if not person.demo]
            foreign_names += [name for name in list_drawable_datasets(db, by=by) if name != DATASET]
    finally:
        engine.dispose()
    if foreign_names:
        raise Refused(f"{not_a_demo} It contains other people or datasets: {', '.join(foreign_names)}.")


def _remove_stale_builds(home: Path, *, now: datetime) -> None:
    """Remove folders of interrupted runs. A run takes minutes, so older folders are not in use."""
    for stale_folder in home.glob(f"{_BUILD_PREFIX}*"):
        if stale_folder.stat().st_mtime < now.timestamp() - 3600:
            shutil.rmtree(stale_folder, ignore_errors=True)


def _share_images(workspace: Workspace, folder: Path, rendered_exams: Sequence[ExamFiles]) -> None:
    """Replace the imported image files by hard links to the stored images, if possible."""
    for rendered_exam in rendered_exams:
        for name in rendered_exam.files.values():
            path = folder / name
            stored = image_path(workspace, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
            link = path.with_suffix(".link")
            try:
                link.hardlink_to(stored)
            except OSError:
                return  # the file system has no hard links; both copies are kept
            link.replace(path)


def _write_marker(folder: Path, counts: DemoCounts, *, now: datetime) -> None:
    text = json.dumps({"made_at": now.isoformat(), "seed": SEED, "questions": counts.questions})
    (folder / MARKER_FILE).write_text(text + "\n", encoding="utf-8")


def _move_into_place(workspace: Workspace, build_folder: Path, file: Path, *, replace_existing: bool) -> None:
    """Move everything into place; the database last, because it determines whether a workspace exists."""
    if file.exists() and not replace_existing:
        raise AlreadyThere(
            f"A workspace was created in {workspace.home} in the meantime. Nothing was changed."
        )
    new_database = build_folder / "overread.sqlite"
    if replace_existing:
        old_folder = build_folder / "old"
        old_folder.mkdir()
        for path in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-shm"))):
            if path.exists():
                path.rename(old_folder / path.name)
        for name in ("images", "cache", "releases", "refusals", "uploads", SOURCE, MARKER_FILE):
            if (workspace.home / name).exists():
                (workspace.home / name).rename(old_folder / name)
    for path in sorted(build_folder.iterdir()):
        if path != new_database and path.name != "old":
            _merge_move(path, workspace.home / path.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(new_database, file)


def _merge_move(source: Path, target: Path) -> None:
    """Move a file or a folder. An existing target folder is merged with the source."""
    if source.is_dir() and target.is_dir():
        for child in sorted(source.iterdir()):
            _merge_move(child, target / child.name)
        return
    source.replace(target)
