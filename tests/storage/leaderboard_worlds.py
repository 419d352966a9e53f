"""A release with a private split, people with the role submitter, and files of predictions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, update

from accounts import service as accounts
from domain.leaderboards import Leaderboard, ModelAccess, Quotas, SubmissionDetails
from domain.people import Person, Role
from domain.questions import option_letter
from leaderboard import service as leaderboards
from leaderboard.receipts import Receipt
from reader_study.release_keys import load_keys
from release.splits import Split, SplitPlan
from review import service as review
from storage.engine import make_engine
from storage.rows.datasets import QuestionRow
from storage.rows.releases import ReleaseRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.backup_worlds import make_workspace
from tests.storage.judgements import make_acceptance
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW, World, make_world

BY = accounts.command_line_person()
BOARD = "open board"
OPTIONS = 3
SPLIT = SplitPlan(private_share=0.5, seed=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardWorld:
    """The release "v1" of the dataset "demo"; ``keys`` are the keys of its private questions, as indices."""

    engine: Engine
    home: Path
    world: World
    keys: Mapping[str, int]

    @property
    def release(self) -> Path:
        return self.home / "releases" / "v1"


def key_of(question: int) -> int:
    """The index of the correct option of a question."""
    return question * 7 % 5 % OPTIONS


def make_leaderboard_world(engine: Engine, home: Path, *, questions: int = 48) -> LeaderboardWorld:
    """Make questions with three options on half as many patients; half of them are private."""
    world = make_world(engine, questions=questions, assigned_to=("ruth",))
    workspace = make_workspace(engine, home)
    with unit_of_work(engine) as db:
        for question in world.questions:
            db.execute(
                update(QuestionRow)
                .where(QuestionRow.id == question)
                .values(answer=f"[{key_of(question)}]", boxes="[]")
            )
        for question in world.questions:
            verdict = make_acceptance(world, question=question)
            review.save_verdict(db, verdict=verdict, person=world.people["ruth"])
        create_release(
            db, by=BY, dataset="demo", name="v1", out=home / "releases" / "v1", workspace=workspace, now=NOW,
            split=SPLIT,
        )  # fmt: skip
    keys = {
        question_id: int(keyed.question.answer[0])
        for question_id, keyed in load_keys(home / "releases" / "v1", split=Split.PRIVATE).items()
    }
    return LeaderboardWorld(engine=engine, home=home, world=world, keys=keys)


def copy_leaderboard_world(
    template: LeaderboardWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LeaderboardWorld]:
    """Copy a world on SQLite, and make the copy the workspace of commands."""
    home = folder / "home"
    shutil.copytree(template.home, home)
    database = home / "overread.sqlite"
    with (
        closing(sqlite3.connect(str(template.engine.url.database))) as source,
        closing(sqlite3.connect(database)) as target,
    ):
        source.backup(target)
    engine = make_engine(f"sqlite:///{database}")
    with unit_of_work(engine) as db:
        db.execute(update(ReleaseRow).values(folder=str(home / "releases" / "v1")))
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    yield LeaderboardWorld(engine=engine, home=home, world=template.world, keys=template.keys)
    engine.dispose()


def add_board(
    engine: Engine, *, uses_ladder: bool = False, name: str = BOARD, quotas: tuple[int, int, int] = (5, 8, 10)
) -> Leaderboard:
    """Create a leaderboard over the private split of "v1"."""
    per_day, per_month, total = quotas
    with unit_of_work(engine) as db:
        return leaderboards.create_leaderboard(
            db, by=BY, name=name, dataset="demo", release="v1", uses_ladder=uses_ladder,
            quotas=Quotas(per_day=per_day, per_month=per_month, total=total), now=NOW,
        )  # fmt: skip


def add_team(engine: Engine, team: str, *members: str, board: str = BOARD) -> dict[str, Person]:
    """Add a team with members, who get an account if they have none; return the people by name."""
    people: dict[str, Person] = {}
    with unit_of_work(engine) as db:
        people_by_name = {person.name: person for person in accounts.list_people(db, by=BY)}
        for name in members:
            people[name] = people_by_name.get(name) or accounts.add_person(
                db, by=BY, name=name, display_name=None, roles=[Role.SUBMITTER], password=None, now=NOW
            )
        leaderboards.add_team(db, by=BY, leaderboard=board, name=team, now=NOW)
        leaderboards.change_members(db, by=BY, leaderboard=board, team=team, members=list(members), now=NOW)
    return people


def write_predictions(path: Path, answers: Mapping[str, int], **extra: Any) -> Path:
    """Write a file of predictions; ``answers`` are indices of options by the id of the question."""
    lines = (
        json.dumps({"question_id": question_id, "answer": option_letter(index), **extra})
        for question_id, index in answers.items()
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def answer_with_errors(world: LeaderboardWorld, is_wrong: Callable[[int], bool]) -> dict[str, int]:
    """Correct answers, except at the positions among the sorted ids for which ``is_wrong`` is true."""
    return {
        question_id: (world.keys[question_id] + is_wrong(position)) % OPTIONS
        for position, question_id in enumerate(sorted(world.keys))
    }


def make_details(**changes: Any) -> SubmissionDetails:
    """Details of a public submission whose answers were computed on own computers."""
    fields: dict[str, Any] = {"method": "a method", "access": ModelAccess.OWN, "is_public": True}
    return SubmissionDetails(**(fields | changes))


def submit(
    engine: Engine,
    path: Path,
    *,
    by: Person = BY,
    team: str | None = None,
    board: str = BOARD,
    now: datetime = NOW,
    **details: Any,
) -> Receipt:
    """Check a file and submit it."""
    with read_only_session(engine) as db:
        checked = leaderboards.check_submission(db, by=by, leaderboard=board, team=team, path=path, now=now)
    with unit_of_work(engine) as db:
        return leaderboards.record_submission(
            db, by=by, checked=checked, details=make_details(**details), now=now
        )
