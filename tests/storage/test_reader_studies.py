"""Creating a study, assigning readers, and what is frozen after the first answer; on both databases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from domain.batches import SamplingPlan
from domain.corrections import Correction
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.protocols import Hypothesis, Protocol
from domain.studies import CaseKind, CaseSource, Crossing, ReaderLevel, ReaderProfile, SourceKind
from domain.verdicts import Decision
from reader_study import service as studies
from storage.reader_study.cases import list_blind_cases, list_cases, list_slots
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import accept, give
from tests.storage.made_releases import create_release
from tests.storage.study_worlds import SOURCE, answer, make_design, make_study_world
from tests.storage.worlds import NOW, make_world


def create(engine, *, name="second", design=None, protocol=None, source=SOURCE, by):
    with unit_of_work(engine) as db:
        return studies.create_study(
            db,
            by=by,
            name=name,
            source=source,
            design=design or make_design(),
            protocol=protocol or Protocol(),
            now=NOW,
        )


def test_a_study_draws_its_cases_evenly_and_the_same_again(engine: Engine) -> None:
    made = make_study_world(engine, cases=9, questions=36)
    create(engine, by=made.cora, design=make_design(9))
    with read_only_session(engine) as db:
        first = list_cases(db, study_id=made.study.id)
        second = list_cases(db, study_id=made.study.id + 1)
    tiers = sorted(case.question.difficulty for case in first)
    assert tiers == ["easy"] * 3 + ["hard"] * 3 + ["medium"] * 3
    assert [case.blind_case.question_id for case in first] == [case.blind_case.question_id for case in second]


def test_training_cases_are_about_other_exams(engine: Engine) -> None:
    made = make_study_world(engine, design=make_design(6, training=3))
    with read_only_session(engine) as db:
        cases = list_cases(db, study_id=made.study.id)
    exams = {
        kind: {case.blind_case.exam_number for case in cases if case.blind_case.kind is kind}
        for kind in CaseKind
    }
    assert len(cases) == 9
    assert exams[CaseKind.SCORED] & exams[CaseKind.TRAINING] == set()


def test_one_question_an_exam_where_the_design_says_so(engine: Engine) -> None:
    made = make_study_world(engine, cases=12, design=make_design(12, one_per_exam=True))
    with read_only_session(engine) as db:
        exams = [case.exam_number for case in list_blind_cases(db, study_id=made.study.id)]
    assert len(exams) == len(set(exams)) == 12


def test_cases_come_from_a_batch_alone(engine: Engine) -> None:
    source = CaseSource(kind=SourceKind.BATCH, dataset="demo", name="first")
    made = make_study_world(engine, source=source)
    with read_only_session(engine) as db:
        found = {case.question_number for case in list_blind_cases(db, study_id=made.study.id)}
    assert found <= set(made.world.questions)


def test_a_source_that_is_not_there_is_named(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(NotFound, match="no release 'v9'"):
        create(engine, by=made.cora, source=CaseSource(kind=SourceKind.RELEASE, dataset="demo", name="v9"))


def test_a_name_is_given_once(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(AlreadyThere, match="Choose another name"):
        create(engine, by=made.cora, name="first")


def test_more_training_than_exams_are_left_is_refused(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(Refused, match="training cases are left"):
        create(engine, by=made.cora, design=make_design(20, training=20))


def test_the_protocol_is_hashed_and_every_version_stays(engine: Engine) -> None:
    made = make_study_world(engine)
    changed = Protocol(hypothesis=Hypothesis.NON_INFERIORITY, margin=0.05)
    with unit_of_work(engine) as db:
        studies.change_protocol(db, by=made.cora, study="first", protocol=changed, now=NOW)
    with read_only_session(engine) as db:
        versions = studies.list_protocol_versions(db, by=made.cora, study="first")
    assert [each.sha256 for each in versions] == [Protocol().sha256(), changed.sha256()]
    assert [each.answers_before for each in versions] == [0, 0]


def test_after_the_first_answer_a_change_is_an_amendment_with_a_reason(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made)
    changed = Protocol(exclusions="questions reported by two readers")
    with pytest.raises(Refused, match="say why"), unit_of_work(engine) as db:
        studies.change_protocol(db, by=made.cora, study="first", protocol=changed, now=NOW)
    with unit_of_work(engine) as db:
        version = studies.change_protocol(
            db, by=made.cora, study="first", protocol=changed, why="two keys are wrong", now=NOW
        )
    assert (version.version, version.answers_before, version.why) == (2, 1, "two keys are wrong")


@pytest.mark.parametrize("change", [{"going_back": True}, {"shuffle_options": False}, {"guideline": "Look."}])
def test_what_a_reader_meets_stays_after_the_first_answer(engine: Engine, change: dict[str, Any]) -> None:
    made = make_study_world(engine)
    answer(made)
    with pytest.raises(Refused, match="can't be changed any more"), unit_of_work(engine) as db:
        studies.change_protocol(
            db, by=made.cora, study="first", protocol=replace(Protocol(), **change), why="better", now=NOW
        )


def test_readers_may_come_until_the_first_answer(engine: Engine) -> None:
    made = make_study_world(engine)
    with unit_of_work(engine) as db:
        studies.assign_readers(db, by=made.cora, study="first", to=["ria"], now=NOW)
    answer(made)
    with pytest.raises(Refused, match="first answer of first is in"), unit_of_work(engine) as db:
        studies.remove_reader(db, by=made.cora, study="first", reader="ria", now=NOW)


def test_a_reader_who_leaves_takes_the_order_along(engine: Engine) -> None:
    made = make_study_world(engine)
    with unit_of_work(engine) as db:
        left = studies.remove_reader(db, by=made.cora, study="first", reader="rob", now=NOW)
    with read_only_session(engine) as db:
        slots = list_slots(db, study_id=made.study.id)
    assert [reader.name for reader in left] == ["rea"]
    assert {slot.reader_id for slot in slots} == {left[0].id}


def test_only_readers_may_be_assigned(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(Refused, match="ruth is no reader"), unit_of_work(engine) as db:
        studies.assign_readers(db, by=made.cora, study="first", to=["ruth"], now=NOW)


def test_a_profile_goes_along_to_the_next_study(engine: Engine) -> None:
    made = make_study_world(engine)
    profile = ReaderProfile(level=ReaderLevel.ATTENDING, years=12, subspecialty="chest")
    with unit_of_work(engine) as db:
        studies.set_profile(db, by=made.cora, study="first", reader="rea", profile=profile, now=NOW)
    create(engine, by=made.cora)
    with unit_of_work(engine) as db:
        readers = studies.assign_readers(db, by=made.cora, study="second", to=["rea"], now=NOW)
    assert readers[0].profile == profile


def test_an_exclusion_names_its_case_and_its_reason(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(InvalidValue, match="has no case 99"), unit_of_work(engine) as db:
        studies.exclude_readings(db, by=made.cora, study="first", case=99, why="wrong key", now=NOW)
    with pytest.raises(InvalidValue, match="say why"), unit_of_work(engine) as db:
        studies.exclude_readings(db, by=made.cora, study="first", case=1, why=" ", now=NOW)


def test_parts_need_as_many_readers_as_each_case(engine: Engine) -> None:
    design = make_design(6, crossing=Crossing.PARTS, readers_per_case=3)
    with pytest.raises(Refused, match="read by 3 readers, and there are 2"):
        make_study_world(engine, design=design)


FROZEN = [
    ("UPDATE study_slot SET position = position + 100", "frozen"),
    ("DELETE FROM study_slot", "frozen"),
    (
        (
            "INSERT INTO study_slot "
            "(reader_id, position, study_id, case_id, arm, repeat, period, option_order) "
            "SELECT reader_id, 999, study_id, case_id, 'other', 0, 1, '[]' FROM study_slot LIMIT 1"
        ),
        "frozen",
    ),
    ("UPDATE reader_study SET design = '{}'", "frozen"),
    ("UPDATE reading SET answer = '[0]'", "append-only"),
    ("DELETE FROM reading", "append-only"),
    ("UPDATE study_case SET stem = 'another'", "append-only"),
    ("UPDATE study_case_key SET answer = '[0]'", "append-only"),
    ("UPDATE study_protocol SET body = '{}'", "append-only"),
    ("DELETE FROM study_protocol", "append-only"),
]


@pytest.mark.parametrize(("statement", "says"), FROZEN)
def test_the_database_keeps_a_study_once_it_is_read(engine: Engine, statement: str, says: str) -> None:
    made = make_study_world(engine, cases=3)
    answer(made)
    with pytest.raises(DBAPIError, match=says), engine.begin() as connection:
        connection.execute(text(statement))


def test_a_frozen_study_can_still_be_closed(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made)
    with unit_of_work(engine) as db:
        assert studies.close_study(db, by=made.cora, study="first", now=NOW).state == "closed"
    with pytest.raises(Refused, match="closed"):
        answer(made, position=2)


def test_a_plan_that_draws_nothing_is_refused(engine: Engine) -> None:
    world = make_world(engine)
    design = replace(make_design(), plan=SamplingPlan(seed=1, per_1000=1))
    with pytest.raises(Refused, match="draws no case"):
        create(engine, by=world.people["cora"], design=design)


def test_from_a_release_the_corrected_question_is_read(sqlite_engine: Engine, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=["ruth"])
    give(world, accept(world, question=1))
    correction = Correction(stem="Which zone is opaque?", answer=(2,))
    give(world, accept(world, question=3, decision=Decision.REVISE, correction=correction))
    with unit_of_work(sqlite_engine) as db:
        create_release(
            db,
            by=world.people["cora"],
            dataset="demo",
            name="v1",
            out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""),
            now=NOW,
        )
    source = CaseSource(kind=SourceKind.RELEASE, dataset="demo", name="v1")
    study = create(sqlite_engine, by=world.people["cora"], source=source)
    with read_only_session(sqlite_engine) as db:
        found = {case.blind_case.question_number: case for case in list_cases(db, study_id=study.id)}
    assert sorted(found) == [1, 3]
    assert (found[3].blind_case.stem, found[3].question.answer) == ("Which zone is opaque?", (2,))


def test_a_release_that_was_changed_since_is_not_read_from(sqlite_engine: Engine, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=["ruth"])
    give(world, accept(world, question=1))
    with unit_of_work(sqlite_engine) as db:
        create_release(
            db,
            by=world.people["cora"],
            dataset="demo",
            name="v1",
            out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""),
            now=NOW,
        )
    gold = tmp_path / "v1" / "gold.jsonl"
    gold.write_text(gold.read_text().replace("Q1", "Q2"))
    source = CaseSource(kind=SourceKind.RELEASE, dataset="demo", name="v1")
    with pytest.raises(Refused, match="was changed since"):
        create(sqlite_engine, by=world.people["cora"], source=source)
