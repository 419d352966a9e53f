"""The demo workspace: built in a temporary folder and then moved into place."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import inspect
from sqlalchemy.engine import make_url

from accounts.service import any_people, command_line_person, list_people
from browsing.service import index_questions
from demo.cases import CASES, Case
from demo.facts import with_report_of
from demo.furnishing import DATASET, furnish
from demo.native_file import write_native
from demo.planted import QuestionSet, plant
from demo.questions import write_questions
from demo.radiographs import COLUMNS, ROWS, Shot, take_radiographs
from demo.reports import report_of
from domain.errors import AlreadyThere, Refused
from sampling.service import drawable
from storage.engine import make_engine
from storage.images.files import image_path
from storage.schema import upgrade
from storage.unit_of_work import reading, unit_of_work
from storage.workspace import Workspace

SEED = 2024
#: The file that marks a workspace as a demo, and the folder of the imported files.
MARK, SOURCE = "demo.json", "demo"
_MAKING = ".demo-in-the-making-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The contents of a new demo workspace, as counts."""

    exams: int
    questions: int
    planted: int


def is_there(workspace: Workspace) -> bool:
    """Whether a workspace exists: an SQLite file, or a database on a server that has accounts."""
    file = _database_file(workspace)
    if file is not None:
        return file.exists()
    engine = make_engine(workspace.database_url)
    try:
        if not inspect(engine).has_table("person"):
            return False
        with reading(engine) as db:
            return any_people(db)
    finally:
        engine.dispose()


def make_demo(
    workspace: Workspace,
    *,
    now: datetime,
    say: Callable[[str], None],
    again: bool = False,
    cases: Sequence[Case] = CASES,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> Made:
    """Make the demo workspace. If this is interrupted, the workspace is either complete or absent.

    Raises:
        AlreadyThere: a workspace exists.
        Refused: with ``again``, the existing workspace is not a demo, or holds data that are not the demo's.
    """
    there = is_there(workspace)
    if there and not again:
        raise AlreadyThere(
            f"A workspace is there already: {workspace.home}. Nothing was changed. Name another folder by "
            "OVERREAD_HOME, or remake a demo workspace with --again."
        )
    if there:
        _check_only_demo(workspace)
    workspace.home.mkdir(parents=True, exist_ok=True)
    _sweep(workspace.home, now=now)
    making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=workspace.home))
    try:
        made, question_set, shots = _write_source(
            making / SOURCE, cases=cases, rows=rows, columns=columns, say=say
        )
        built = replace(workspace, home=making)
        if _database_file(workspace) is not None:
            built = replace(built, database_url=f"sqlite:///{making / 'overread.sqlite'}")
        engine = make_engine(built.database_url)
        try:
            upgrade(engine)
            with unit_of_work(engine) as db:
                furnish(
                    db,
                    workspace=built,
                    file=making / SOURCE / "questions.jsonl",
                    question_set=question_set,
                    seed=SEED,
                    now=now,
                    say=say,
                )
                index_questions(db)
                if workspace.bucket is None:
                    _share_images(built, making / SOURCE / "images", shots)
                _mark(making, made, now=now)
                if _database_file(workspace) is None:
                    _move(making, workspace.home)  # the transaction on the server is committed last
        finally:
            engine.dispose()  # closing the last connection merges the write-ahead log into the file
        if (file := _database_file(workspace)) is not None:
            _settle(workspace, making, file, again=there)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return made


def _write_source(
    folder: Path, *, cases: Sequence[Case], rows: int, columns: int, say: Callable[[str], None]
) -> tuple[Made, QuestionSet, list[Shot]]:
    """Write radiographs, question file and hidden key, as a generator of questions would deliver them."""
    say(f"Rendering {len(cases)} exams")
    shots = take_radiographs(
        cases, folder / "images", rows=rows, columns=columns,
        done=lambda number: say(f"{number} of {len(cases)} exams rendered") if number % 6 == 0 else None,
    )  # fmt: skip
    by_number = {shot.facts.case.number: shot.facts for shot in shots}
    believed = [
        with_report_of(shot.facts, by_number[shot.facts.case.report_of])
        if shot.facts.case.report_of in by_number
        else shot.facts
        for shot in shots
    ]
    question_set = plant(write_questions(believed, seed=SEED), seed=SEED)
    write_native(
        folder / "questions.jsonl",
        question_set.questions,
        exams={shot.facts.exam_id: (shot.facts.case, shot.files) for shot in shots},
        reports={facts.exam_id: report_of(facts, seed=SEED) for facts in believed},
    )
    key = json.dumps(question_set.key(), indent=1, ensure_ascii=False)
    (folder / "planted.json").write_text(key + "\n", encoding="utf-8")
    made = Made(exams=len(shots), questions=len(question_set.questions), planted=len(question_set.planted))
    return made, question_set, shots


def _check_only_demo(workspace: Workspace) -> None:
    """Raise Refused unless everything in the workspace is the demo's own."""
    if _database_file(workspace) is None:
        raise Refused("The database is on a server; empty it there, and then make the demo without --again.")
    no_demo = f"{workspace.home} is no demo workspace; it is left as it is."
    if not (workspace.home / MARK).exists():
        raise Refused(no_demo)
    engine = make_engine(workspace.database_url)
    by = command_line_person()
    try:
        upgrade(engine)
        with reading(engine) as db:
            real = [person.name for person in list_people(db, by=by) if not person.demo]
            real += [name for name in drawable(db, by=by) if name != DATASET]
    finally:
        engine.dispose()
    if real:
        raise Refused(f"{no_demo} It holds {', '.join(real)}, which is not the demo's.")


def _sweep(home: Path, *, now: datetime) -> None:
    """Remove the folders of interrupted runs. A run takes a minute, so a folder an hour old is not in use."""
    for left in home.glob(f"{_MAKING}*"):
        if left.stat().st_mtime < now.timestamp() - 3600:
            shutil.rmtree(left, ignore_errors=True)


def _share_images(workspace: Workspace, folder: Path, shots: Sequence[Shot]) -> None:
    """Replace the imported image files with hard links to the workspace's copies, if the file system can."""
    for shot in shots:
        for name in shot.files.values():
            path = folder / name
            kept = image_path(workspace, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
            twin = path.with_suffix(".twin")
            try:
                twin.hardlink_to(kept)
            except OSError:
                return  # no hard links: both copies stay
            twin.replace(path)


def _mark(folder: Path, made: Made, *, now: datetime) -> None:
    text = json.dumps({"made_at": now.isoformat(), "seed": SEED, "questions": made.questions})
    (folder / MARK).write_text(text + "\n", encoding="utf-8")


def _settle(workspace: Workspace, making: Path, file: Path, *, again: bool) -> None:
    """Move everything into place, the database last: a workspace exists only once its database does."""
    if file.exists() and not again:
        raise AlreadyThere(f"A workspace was made at {workspace.home} in the meantime; it is left as it is.")
    new = making / "overread.sqlite"
    if again:
        old = making / "old"
        old.mkdir()
        for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
            if path.exists():
                path.rename(old / path.name)
        for name in ("images", "cache", "releases", "refusals", "uploads", SOURCE, MARK):
            if (workspace.home / name).exists():
                (workspace.home / name).rename(old / name)
    for path in sorted(making.iterdir()):
        if path != new and path.name != "old":
            _move(path, workspace.home / path.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(new, file)


def _move(source: Path, target: Path) -> None:
    """Move a file or a folder. An existing target folder is merged with the source."""
    if source.is_dir() and target.is_dir():
        for child in sorted(source.iterdir()):
            _move(child, target / child.name)
        return
    source.replace(target)


def _database_file(workspace: Workspace) -> Path | None:
    """The file of an SQLite database; None for a database on a server."""
    url = make_url(workspace.database_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
