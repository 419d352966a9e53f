"""The demo workspace is created completely or not at all, and the services create its content."""

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
    list_practice_overviews,
    load_requirement,
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
SMALL_DEMO: dict[str, Any] = {
    "cases": [case for case in CASES if case.number in (1, 3, 4, 7, 15, 24, 27, 36)],
    "rows": 250,
    "columns": 205,
}


def locate_workspace(folder) -> Workspace:
    return Workspace(home=folder / "home", database_url=f"sqlite:///{folder / 'home' / 'overread.sqlite'}")


@pytest.fixture(scope="module")
def demo_build(tmp_path_factory):
    workspace = locate_workspace(tmp_path_factory.mktemp("demo"))
    result = make_demo(workspace, now=NOW, report_progress=lambda _: None, **SMALL_DEMO)
    return workspace, result


@pytest.fixture
def db(demo_build):
    engine = make_engine(demo_build[0].database_url)
    with read_only_session(engine) as db:
        yield db
    engine.dispose()


def test_all_questions_of_the_file_are_imported(demo_build, db):
    assert list_drawable_datasets(db, by=command_line_person()) == {DATASET: demo_build[1].questions}


def test_no_build_files_are_left(demo_build):
    assert {path.name for path in demo_build[0].home.iterdir()} <= {
        "overread.sqlite", "images", "refusals", "demo", "demo.json", "cache",
    }  # fmt: skip


def test_all_people_are_marked_as_demo_and_cover_every_role_that_has_demo_data(db):
    people = list_people(db, by=command_line_person())
    assert all(person.demo for person in people)
    assert {role for person in people for role in person.roles} == set(Role) - {Role.SUBMITTER}


def test_demo_has_batches_with_three_combinations_of_mode_and_fields(db):
    batches = [batch for batch, _ in list_batches(db, by=command_line_person())]
    assert len({(batch.settings.mode, batch.settings.parts) for batch in batches}) == 3
    assert {overview.batch.name for overview in list_batch_overviews(db, by=command_line_person())} == {
        batch.name for batch in batches
    }


def test_demo_readers_are_simulated_with_the_stated_accuracy(db):
    by = command_line_person()
    progress = studies.load_study_progress(db, by=by, study=STUDY)
    assert [reader_progress.reader.name for reader_progress in progress] == [
        reader.name for reader in READERS
    ]
    assert all(
        reader_progress.reader.simulated and reader_progress.done == reader_progress.total > 50
        for reader_progress in progress
    )
    study = studies.load_study_summary(db, by=by, study=STUDY).study
    assert study.simulated
    cases_by_id = {case.blind_case.id: case for case in list_cases(db, study_id=study.id)}
    for reader, reader_progress in zip(READERS, progress, strict=True):
        first_readings = [
            reading
            for reading in iterate_readings(
                db, study_id=reader_progress.reader.study_id, reader_id=reader_progress.reader.id
            )
            if not reading.key.repeat
        ]
        right_count = sum(
            cases_by_id[reading.key.case_id].question.is_correct(reading.answer) for reading in first_readings
        )
        assert right_count == round(reader.accuracy * len(first_readings))


def test_one_batch_has_disputes_and_hidden_questions(db):
    by = command_line_person()
    ravi = next(person for person in list_people(db, by=by) if person.name == "ravi")
    [batch] = list_batches_to_adjudicate(db, person=ravi)
    assert list_disputes(db, person=ravi, batch_id=batch.id)
    overall, *by_reviewer = compute_batch_attention(db, by=by, batch=batch.name).reviewers
    assert [reviewer.person for reviewer in by_reviewer] == ["Renate Reviewer", "Rosa Reviewer"]
    assert overall.attention.pairs
    assert overall.attention.faults[0].found.count


def test_one_reviewer_did_the_practice_set_and_another_is_exempted(db):
    by = command_line_person()
    [overview] = list_practice_overviews(db, by=by)
    [renate] = overview.reviewers
    assert (renate.person.name, renate.score.judged > 0) == ("renate", True)
    requirement = load_requirement(db, by=by, batch="Answer first")
    assert [practice.name for practice in requirement.practices] == [overview.practice.name]
    assert [person.name for person, _ in requirement.exemptions] == ["ravi"]


def test_demo_reader_sees_a_study_with_a_guideline(db):
    leo = next(person for person in list_people(db, by=command_line_person()) if person.name == "leo")
    [study_entry] = studies.list_studies_for_reader(db, person=leo)
    stop = studies.open_case(db, person=leo, study_id=study_entry.study.id, now=NOW)
    assert study_entry.progress.training == 2
    assert isinstance(stop, ReadingStop)
    assert "Answer what the images" in stop.guideline


def test_demo_reviewer_sees_an_open_question_with_images(db):
    person = next(
        candidate for candidate in list_people(db, by=command_line_person()) if candidate.name == "rosa"
    )
    batches = [batch for batch, _ in list_batches(db, by=command_line_person())]
    batch = next(candidate for candidate in batches if candidate.name == "Round 1")
    sheet = load_sheet(db, person=person, batch_id=batch.id, now=NOW)
    assert sheet.progress.done > 0
    assert all(radiograph.sha256 for radiograph in sheet.exam.radiographs)


def test_planted_errors_are_listed_in_the_workspace(demo_build):
    kinds = json.loads((demo_build[0].home / "demo" / "planted.json").read_text(encoding="utf-8"))
    assert sum(not kind.startswith("check") for kind in kinds.values()) == demo_build[1].planted


def test_existing_demo_workspace_is_not_overwritten(demo_build):
    before = (demo_build[0].home / "overread.sqlite").read_bytes()
    with pytest.raises(AlreadyThere, match="already exists in"):
        make_demo(demo_build[0], now=NOW, report_progress=lambda _: None, **SMALL_DEMO)
    assert (demo_build[0].home / "overread.sqlite").read_bytes() == before


def test_real_workspace_is_never_replaced(tmp_path):
    workspace = locate_workspace(tmp_path)
    workspace.home.mkdir()
    (workspace.home / "overread.sqlite").write_bytes(b"user's")
    with pytest.raises(Refused, match="is not a demo workspace"):
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL_DEMO)
    assert (workspace.home / "overread.sqlite").read_bytes() == b"user's"


def test_an_interrupted_demo_leaves_no_workspace(tmp_path, monkeypatch):
    workspace = locate_workspace(tmp_path)

    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_workspace, "_write_marker", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_demo(
            workspace,
            now=NOW,
            report_progress=lambda _: None,
            **{**SMALL_DEMO, "cases": SMALL_DEMO["cases"][:3]},
        )
    assert not workspace_exists(workspace)
    assert list(workspace.home.iterdir()) == []


def test_stale_build_of_a_killed_demo_is_removed(tmp_path):
    workspace = locate_workspace(tmp_path)
    stale_build = workspace.home / ".demo-in-the-making-x"
    stale_build.mkdir(parents=True)
    os.utime(stale_build, (0, 0))
    demo_workspace._remove_stale_builds(workspace.home, now=NOW)
    assert not stale_build.exists()


def test_replacing_a_demo_discards_changes_made_in_it(demo_build, tmp_path):
    workspace = locate_workspace(tmp_path)
    three_cases = {**SMALL_DEMO, "cases": SMALL_DEMO["cases"][:3]}
    make_demo(workspace, now=NOW, report_progress=lambda _: None, **three_cases)
    engine = make_engine(workspace.database_url)
    with unit_of_work(engine) as db:
        from accounts.service import disable_person

        disable_person(db, by=command_line_person(), name="leo", now=NOW)
    engine.dispose()
    make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **three_cases)
    engine = make_engine(workspace.database_url)
    with read_only_session(engine) as db:
        assert all(person.disabled_at is None for person in list_people(db, by=command_line_person()))
    engine.dispose()


def test_demo_with_a_real_person_is_not_replaced(tmp_path):
    from accounts.service import add_person
    from storage.schema import upgrade

    workspace = locate_workspace(tmp_path)
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
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL_DEMO)


def test_demo_can_be_created_in_an_empty_server_database(tmp_path, postgres_engine):
    workspace = replace(
        locate_workspace(tmp_path), database_url=postgres_engine.url.render_as_string(hide_password=False)
    )
    assert not workspace_exists(workspace)
    make_demo(
        workspace, now=NOW, report_progress=lambda _: None, **{**SMALL_DEMO, "cases": SMALL_DEMO["cases"][:3]}
    )
    assert workspace_exists(workspace)
    with pytest.raises(Refused, match="on a server"):
        make_demo(workspace, now=NOW, report_progress=lambda _: None, replace_existing=True, **SMALL_DEMO)


def test_ctrl_c_stops_the_command_and_leaves_no_files(tmp_path):
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
    _, error_output = command.communicate(timeout=120)
    assert command.returncode == 1
    assert "Stopped. Unfinished changes were undone." in error_output
    assert list(home.iterdir()) == []
