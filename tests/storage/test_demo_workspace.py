"""The demo workspace is created completely or not at all, and its content goes through the services."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from accounts.service import command_line_person, list_people
from demo import workspace as demo_workspace
from demo.cases import CASES
from demo.existing import workspace_exists
from demo.history import DATASET
from demo.simulated_studies import READERS, STUDY
from demo.workspace import make_demo
from domain.errors import AlreadyThere, Refused
from domain.people import Role
from reader_study import service as studies
from reader_study.sheet import ReadingStop
from review.service import (
    compute_batch_attention,
    list_batch_overviews,
    list_batches_to_adjudicate,
    list_disputes,
    load_sheet,
)
from sampling.service import list_batches, list_drawable_datasets
from storage.engine import make_engine
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SMALL: dict[str, Any] = {
    "cases": [case for case in CASES if case.number in (1, 3, 4, 7, 15, 24, 27, 36)],
    "rows": 250,
    "columns": 205,
}


def place(folder) -> Workspace:
    return Workspace(home=folder / "home", database_url=f"sqlite:///{folder / 'home' / 'overread.sqlite'}")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    workspace = place(tmp_path_factory.mktemp("demo"))
    made = make_demo(workspace, now=NOW, report_progress=lambda _: None, **SMALL)
    return workspace, made


@pytest.fixture
def db(made):
    engine = make_engine(made[0].database_url)
    with read_only_session(engine) as db:
        yield db
    engine.dispose()


def test_all_questions_of_the_file_are_in(made, db):
    assert list_drawable_datasets(db, by=command_line_person()) == {DATASET: made[1].questions}


def test_nothing_of_the_making_is_left(made):
    assert {path.name for path in made[0].home.iterdir()} <= {
        "overread.sqlite", "images", "refusals", "demo", "demo.json", "cache",
    }  # fmt: skip


def test_everybody_is_marked_as_demo_and_each_role_is_there(db):
    people = list_people(db, by=command_line_person())
    assert all(person.demo for person in people)
    assert {role for person in people for role in person.roles} == set(Role)


def test_there_are_batches_of_each_way_of_judging_partly_done(db):
    batches = [batch for batch, _ in list_batches(db, by=command_line_person())]
    assert len({(batch.settings.mode, batch.settings.parts) for batch in batches}) == 3
    assert {each.batch.name for each in list_batch_overviews(db, by=command_line_person())} == {
        batch.name for batch in batches
    }


def test_the_demos_readers_are_simulated_and_right_as_often_as_the_papers(db):
    by = command_line_person()
    progress = studies.load_study_progress(db, by=by, study=STUDY)
    assert [each.reader.name for each in progress] == [reader.name for reader in READERS]
    assert all(each.reader.simulated and each.done == each.total > 50 for each in progress)
    study = studies.load_study_summary(db, by=by, study=STUDY).study
    assert study.simulated
    keys = {case.blind_case.id: case for case in list_cases(db, study_id=study.id)}
    for reader, each in zip(READERS, progress, strict=True):
        first = [
            reading
            for reading in iterate_readings(db, study_id=each.reader.study_id, reader_id=each.reader.id)
            if not reading.key.repeat
        ]
        right = sum(keys[reading.key.case_id].is_correct(reading.answer) for reading in first)
        assert right == round(reader.accuracy * len(first))


def test_one_batch_was_judged_twice_with_disputes_to_settle_and_hidden_questions(db):
    by = command_line_person()
    ravi = next(each for each in list_people(db, by=by) if each.name == "ravi")
    [batch] = list_batches_to_adjudicate(db, person=ravi)
    assert list_disputes(db, person=ravi, batch_id=batch.id)
    together, *each = compute_batch_attention(db, by=by, batch=batch.name).reviewers
    assert [one.person for one in each] == ["Renate Reviewer", "Rosa Reviewer"]
    assert together.attention.pairs
    assert together.attention.faults[0].found.count


def test_the_demos_reader_finds_a_study_with_a_guideline(db):
    leo = next(each for each in list_people(db, by=command_line_person()) if each.name == "leo")
    [found] = studies.list_studies_for_reader(db, person=leo)
    stop = studies.open_case(db, person=leo, study_id=found.study.id, now=NOW)
    assert found.progress.training == 2
    assert isinstance(stop, ReadingStop)
    assert "Answer what the images" in stop.guideline


def test_a_reviewer_finds_an_open_question_with_images(db):
    person = next(each for each in list_people(db, by=command_line_person()) if each.name == "rosa")
    batches = [batch for batch, _ in list_batches(db, by=command_line_person())]
    batch = next(each for each in batches if each.name == "Round 1")
    sheet = load_sheet(db, person=person, batch_id=batch.id, now=NOW)
    assert sheet.progress.done > 0
    assert all(each.sha256 for each in sheet.exam.radiographs)


def test_the_hidden_key_lies_beside_the_file(made):
    key = json.loads((made[0].home / "demo" / "planted.json").read_text(encoding="utf-8"))
    assert sum(not kind.startswith("check") for kind in key.values()) == made[1].planted


def test_a_workspace_that_is_there_is_left_as_it_is(made):
    before = (made[0].home / "overread.sqlite").read_bytes()
    with pytest.raises(AlreadyThere, match="there already"):
        make_demo(made[0], now=NOW, report_progress=lambda _: None, **SMALL)
    assert (made[0].home / "overread.sqlite").read_bytes() == before


def test_a_real_workspace_is_not_made_anew(tmp_path):
    workspace = place(tmp_path)
    workspace.home.mkdir()
    (workspace.home / "overread.sqlite").write_bytes(b"somebody's")
    with pytest.raises(Refused, match="no demo workspace"):
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL)
    assert (workspace.home / "overread.sqlite").read_bytes() == b"somebody's"


def test_an_interrupted_demo_leaves_no_workspace(tmp_path, monkeypatch):
    workspace = place(tmp_path)

    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_workspace, "_write_marker", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_demo(
            workspace, now=NOW, report_progress=lambda _: None, **{**SMALL, "cases": SMALL["cases"][:3]}
        )
    assert not workspace_exists(workspace)
    assert list(workspace.home.iterdir()) == []


def test_what_a_killed_demo_left_is_swept_away_later(tmp_path):
    workspace = place(tmp_path)
    left = workspace.home / ".demo-in-the-making-x"
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    demo_workspace._remove_stale_builds(workspace.home, now=NOW)
    assert not left.exists()


def test_a_demo_is_made_anew_and_what_was_done_in_it_is_gone(made, tmp_path):
    workspace = place(tmp_path)
    few = {**SMALL, "cases": SMALL["cases"][:3]}
    make_demo(workspace, now=NOW, report_progress=lambda _: None, **few)
    engine = make_engine(workspace.database_url)
    with unit_of_work(engine) as db:
        from accounts.service import disable_person

        disable_person(db, by=command_line_person(), name="leo", now=NOW)
    engine.dispose()
    make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **few)
    engine = make_engine(workspace.database_url)
    with read_only_session(engine) as db:
        assert all(person.disabled_at is None for person in list_people(db, by=command_line_person()))
    engine.dispose()


def test_a_demo_with_a_real_person_in_it_is_not_made_anew(tmp_path):
    from accounts.service import add_person
    from storage.schema import upgrade

    workspace = place(tmp_path)
    workspace.home.mkdir()
    (workspace.home / "demo.json").write_text("{}")
    engine = make_engine(workspace.database_url)
    upgrade(engine)
    with unit_of_work(engine) as db:
        add_person(
            db, by=command_line_person(), name="grace", display_name=None, roles=[Role.ADMIN],
            password="a real password", now=NOW,
        )  # fmt: skip
    engine.dispose()
    with pytest.raises(Refused, match="grace"):
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL)


def test_an_empty_database_on_a_server_takes_a_demo(tmp_path, postgres_engine):
    workspace = replace(
        place(tmp_path), database_url=postgres_engine.url.render_as_string(hide_password=False)
    )
    assert not workspace_exists(workspace)
    make_demo(workspace, now=NOW, report_progress=lambda _: None, **{**SMALL, "cases": SMALL["cases"][:3]})
    assert workspace_exists(workspace)
    with pytest.raises(Refused, match="on a server"):
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL)


def test_ctrl_c_ends_the_command_and_leaves_nothing(tmp_path):
    home = tmp_path / "home"
    environment = {**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": ""}
    command = subprocess.Popen(
        [sys.executable, "cli.py", "demo"],
        cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # Shells start background jobs with SIGINT ignored, which the command would inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread runs here
    )  # fmt: skip
    while "Rendering" not in command.stderr.readline():
        pass
    time.sleep(3)  # until the child processes are at work
    os.killpg(command.pid, signal.SIGINT)
    _, said = command.communicate(timeout=120)
    assert command.returncode == 1
    assert "Stopped; what was not finished was undone." in said
    assert list(home.iterdir()) == []
