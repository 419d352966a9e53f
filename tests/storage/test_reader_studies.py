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
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.release_helpers import create_release
from tests.storage.study_worlds import SOURCE, answer_case, make_design, make_study_world
from tests.storage.worlds import NOW, make_world


def create_study(engine, *, name="second", design=None, protocol=None, source=SOURCE, by):
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


def test_study_draws_its_cases_evenly_and_reproducibly(engine: Engine) -> None:
    study_world = make_study_world(engine, cases=9, questions=36)
    create_study(engine, by=study_world.cora, design=make_design(9))
    with read_only_session(engine) as db:
        first = list_cases(db, study_id=study_world.study.id)
        second = list_cases(db, study_id=study_world.study.id + 1)
    tiers = sorted(case.question.difficulty for case in first)
    assert tiers == ["easy"] * 3 + ["hard"] * 3 + ["medium"] * 3
    assert [case.blind_case.question_id for case in first] == [case.blind_case.question_id for case in second]


def test_training_cases_use_other_exams(engine: Engine) -> None:
    study_world = make_study_world(engine, design=make_design(6, training=3))
    with read_only_session(engine) as db:
        cases = list_cases(db, study_id=study_world.study.id)
    exams = {
        kind: {case.blind_case.exam_row_id for case in cases if case.blind_case.kind is kind}
        for kind in CaseKind
    }
    assert len(cases) == 9
    assert exams[CaseKind.SCORED] & exams[CaseKind.TRAINING] == set()


def test_design_can_limit_cases_to_one_per_exam(engine: Engine) -> None:
    study_world = make_study_world(engine, cases=12, design=make_design(12, one_per_exam=True))
    with read_only_session(engine) as db:
        exams = [case.exam_row_id for case in list_blind_cases(db, study_id=study_world.study.id)]
    assert len(exams) == len(set(exams)) == 12


def test_all_cases_of_a_study_can_come_from_one_batch(engine: Engine) -> None:
    source = CaseSource(kind=SourceKind.BATCH, dataset="demo", name="first")
    study_world = make_study_world(engine, source=source)
    with read_only_session(engine) as db:
        question_row_ids = {
            case.question_row_id for case in list_blind_cases(db, study_id=study_world.study.id)
        }
    assert question_row_ids <= set(study_world.world.questions)


def test_the_message_names_the_unknown_source(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(NotFound, match="no release 'v9'"):
        create_study(
            engine, by=study_world.cora, source=CaseSource(kind=SourceKind.RELEASE, dataset="demo", name="v9")
        )


def test_study_name_must_be_unique(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(AlreadyThere, match="Choose another name"):
        create_study(engine, by=study_world.cora, name="first")


def test_too_many_training_cases_are_refused(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(Refused, match="Requested: 20 scored and 20 training cases"):
        create_study(engine, by=study_world.cora, design=make_design(20, training=20))


def test_every_protocol_version_is_hashed_and_kept(engine: Engine) -> None:
    study_world = make_study_world(engine)
    changed = Protocol(hypothesis=Hypothesis.NON_INFERIORITY, margin=0.05)
    with unit_of_work(engine) as db:
        studies.change_protocol(db, by=study_world.cora, study="first", protocol=changed, now=NOW)
    with read_only_session(engine) as db:
        versions = studies.list_protocol_versions(db, by=study_world.cora, study="first")
    assert [version.sha256 for version in versions] == [Protocol().sha256(), changed.sha256()]
    assert [version.answers_before for version in versions] == [0, 0]


def test_protocol_change_after_the_first_answer_needs_a_reason(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    changed = Protocol(exclusions="questions reported by two readers")
    with pytest.raises(Refused, match="Enter a reason"), unit_of_work(engine) as db:
        studies.change_protocol(db, by=study_world.cora, study="first", protocol=changed, now=NOW)
    with unit_of_work(engine) as db:
        version = studies.change_protocol(
            db, by=study_world.cora, study="first", protocol=changed, reason="two keys are wrong", now=NOW
        )
    assert (version.version, version.answers_before, version.reason) == (2, 1, "two keys are wrong")


@pytest.mark.parametrize("change", [{"going_back": True}, {"shuffle_options": False}, {"guideline": "Look."}])
def test_reading_conditions_are_fixed_after_the_first_answer(engine: Engine, change: dict[str, Any]) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    with pytest.raises(Refused, match="cannot be changed after the first answer"), unit_of_work(engine) as db:
        studies.change_protocol(
            db,
            by=study_world.cora,
            study="first",
            protocol=replace(Protocol(), **change),
            reason="better",
            now=NOW,
        )


def test_readers_can_be_changed_only_until_the_first_answer(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with unit_of_work(engine) as db:
        studies.assign_readers(db, by=study_world.cora, study="first", to=["ria"], now=NOW)
    answer_case(study_world)
    with pytest.raises(Refused, match="Reading of the study first has begun"), unit_of_work(engine) as db:
        studies.remove_reader(db, by=study_world.cora, study="first", reader="ria", now=NOW)


def test_removing_a_reader_removes_the_slots(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with unit_of_work(engine) as db:
        remaining = studies.remove_reader(db, by=study_world.cora, study="first", reader="rob", now=NOW)
    with read_only_session(engine) as db:
        slots = list_slots(db, study_id=study_world.study.id)
    assert [reader.name for reader in remaining] == ["rea"]
    assert {slot.reader_id for slot in slots} == {remaining[0].id}


def test_only_readers_may_be_assigned(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(Refused, match="ruth does not have the role reader"), unit_of_work(engine) as db:
        studies.assign_readers(db, by=study_world.cora, study="first", to=["ruth"], now=NOW)


def test_reader_profile_is_copied_to_the_next_study(engine: Engine) -> None:
    study_world = make_study_world(engine)
    profile = ReaderProfile(level=ReaderLevel.ATTENDING, years=12, subspecialty="chest")
    with unit_of_work(engine) as db:
        studies.set_profile(db, by=study_world.cora, study="first", reader="rea", profile=profile, now=NOW)
    create_study(engine, by=study_world.cora)
    with unit_of_work(engine) as db:
        readers = studies.assign_readers(db, by=study_world.cora, study="second", to=["rea"], now=NOW)
    assert readers[0].profile == profile


def test_exclusion_needs_an_existing_case_and_a_reason(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(InvalidValue, match="has cases 1 to 6, not 99"), unit_of_work(engine) as db:
        studies.exclude_readings(db, by=study_world.cora, study="first", case=99, reason="wrong key", now=NOW)
    with pytest.raises(InvalidValue, match="enter a reason"), unit_of_work(engine) as db:
        studies.exclude_readings(db, by=study_world.cora, study="first", case=1, reason=" ", now=NOW)


def test_parts_design_needs_enough_readers(engine: Engine) -> None:
    design = make_design(6, crossing=Crossing.PARTS, readers_per_case=3)
    with pytest.raises(Refused, match="needs 3 readers per case, but the study has 2"):
        make_study_world(engine, design=design)


REFUSED_STATEMENTS = [
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


@pytest.mark.parametrize(("statement", "message"), REFUSED_STATEMENTS)
@pytest.mark.slow
def test_database_refuses_changes_to_a_study_with_readings(
    engine: Engine, statement: str, message: str
) -> None:
    study_world = make_study_world(engine, cases=3)
    answer_case(study_world)
    with pytest.raises(DBAPIError, match=message), engine.begin() as connection:
        connection.execute(text(statement))


def test_study_with_readings_can_be_closed(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    with unit_of_work(engine) as db:
        assert studies.close_study(db, by=study_world.cora, study="first", now=NOW).state == "closed"
    with pytest.raises(Refused, match="closed"):
        answer_case(study_world, position=2)


def test_plan_that_draws_nothing_is_refused(engine: Engine) -> None:
    world = make_world(engine)
    design = replace(make_design(), plan=SamplingPlan(seed=1, per_1000=1))
    with pytest.raises(Refused, match="No cases could be drawn"):
        create_study(engine, by=world.people["cora"], design=design)


def test_study_of_a_release_uses_the_corrected_question(sqlite_engine: Engine, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    correction = Correction(stem="Which zone is opaque?", answer=(2,))
    save_verdict(world, make_acceptance(world, question=3, decision=Decision.REVISE, correction=correction))
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
    study = create_study(sqlite_engine, by=world.people["cora"], source=source)
    with read_only_session(sqlite_engine) as db:
        cases_by_number = {
            case.blind_case.question_row_id: case for case in list_cases(db, study_id=study.id)
        }
    assert sorted(cases_by_number) == [1, 3]
    assert (cases_by_number[3].blind_case.stem, cases_by_number[3].question.answer) == (
        "Which zone is opaque?",
        (2,),
    )


def test_study_of_an_altered_release_is_refused(sqlite_engine: Engine, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
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
    with pytest.raises(Refused, match="was changed after its creation"):
        create_study(sqlite_engine, by=world.people["cora"], source=source)
