"""Reading a case: what is loaded, what is refused, and that nothing is saved twice; on both databases."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.protocols import Protocol
from domain.studies import Arm, Crossing
from domain.vocabulary import Sex, Task, View
from reader_study import service as studies
from reader_study.sheet import ReadingSheet, ReadingStop
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.rows.audit import AuditRow
from storage.rows.studies import ReadingRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import (
    StudyWorld,
    answer_case,
    make_design,
    make_study_world,
    open_sheet,
    read_all,
)
from tests.storage.worlds import NOW, SECRETS

WITH_INFORMATION, IMAGE_ONLY = Arm(name="with information"), Arm(name="image only", clinical_info_shown=False)
CROSSOVER: dict[str, Any] = {
    "crossing": Crossing.CROSSOVER,
    "arms": (WITH_INFORMATION, IMAGE_ONLY),
    "washout_days": 14,
}


def join_texts(value: object) -> str:
    """All texts in an object, joined into one."""
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(join_texts(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, tuple | list | frozenset):
        return " ".join(map(join_texts, value))
    return str(value)


def list_saved_readings(study_world: StudyWorld) -> list:
    with read_only_session(study_world.engine) as db:
        return list(iterate_readings(db, study_id=study_world.study.id))


def test_sheet_contains_nothing_that_reveals_the_answer(engine: Engine) -> None:
    study_world = make_study_world(engine)
    sheet_text = join_texts(open_sheet(study_world))
    assert not [word for word in SECRETS.values() if word in sheet_text]


def test_reader_sees_indication_age_sex_and_view(engine: Engine) -> None:
    exam = open_sheet(make_study_world(engine)).exam
    assert (exam.indication, exam.age, exam.sex) == ("Cough for two weeks.", "061Y", Sex.FEMALE)
    assert [radiograph.view for radiograph in exam.radiographs] == [View.PA, View.LATERAL]


def test_image_only_arm_loads_no_clinical_information(engine: Engine) -> None:
    study_world = make_study_world(engine, design=make_design(6, **CROSSOVER))
    while (sheet := open_sheet(study_world)).arm.clinical_info_shown:
        answer_case(study_world)
    assert (sheet.exam.indication, sheet.exam.age, sheet.exam.sex) == (None, None, None)
    assert {radiograph.view for radiograph in sheet.exam.radiographs} == {View.UNKNOWN}


def test_answer_is_stored_in_the_original_order_of_options(engine: Engine) -> None:
    study_world = make_study_world(engine)
    slot = open_sheet(study_world).slot
    reading = answer_case(study_world, option=2)
    assert reading.answer == (slot.option_order[2],)


def test_same_answer_submitted_twice_is_saved_once(engine: Engine) -> None:
    study_world = make_study_world(engine)
    first = answer_case(study_world, position=1)
    second = answer_case(study_world, position=1, now=NOW + timedelta(seconds=2))
    assert second == first
    assert len(list_saved_readings(study_world)) == 1


def test_different_second_answer_is_refused_with_the_time_of_the_first(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world, position=1, option=0)
    with pytest.raises(StaleRevision, match="already answered at 09:00:00 UTC"):
        answer_case(study_world, position=1, option=1)


def test_later_case_cannot_be_answered_first(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(Refused, match="Answer the earlier cases first"):
        answer_case(study_world, position=3)


def test_going_back_is_refused_unless_the_protocol_allows_it(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    with pytest.raises(Refused, match="cannot go back to answered cases"):
        open_sheet(study_world, position=1)
    with pytest.raises(Refused, match="cannot go back to answered cases"):
        answer_case(study_world, position=1, revision=2, option=0)


def test_revised_answer_supersedes_the_first_answer_which_is_kept(engine: Engine) -> None:
    study_world = make_study_world(engine, protocol=Protocol(going_back=True))
    first = answer_case(study_world, option=0)
    assert open_sheet(study_world, position=1).reading == first
    second = answer_case(study_world, position=1, revision=2, option=1)
    with read_only_session(study_world.engine) as db:
        all_readings = list(iterate_readings(db, study_id=study_world.study.id, all_revisions=True))
    assert list_saved_readings(study_world) == [second]
    assert all_readings == [first, second]


def test_study_of_other_readers_cannot_be_opened(engine: Engine) -> None:
    study_world = make_study_world(engine, readers=["rea"])
    with pytest.raises(NotFound, match="Rob is not a reader"):
        open_sheet(study_world, "rob")
    with pytest.raises(NotAllowed), read_only_session(engine) as db:
        studies.open_case(db, person=study_world.people["ruth"], study_id=study_world.study.id, now=NOW)


def test_the_guideline_comes_before_the_first_case(engine: Engine) -> None:
    study_world = make_study_world(engine, protocol=Protocol(guideline="Look at both views."))
    stop = open_sheet(study_world)
    assert isinstance(stop, ReadingStop)
    assert stop.guideline == "Look at both views."
    with pytest.raises(Refused, match="guideline first"):
        answer_case(study_world, position=1)
    with unit_of_work(engine) as db:
        studies.record_guideline_read(
            db, person=study_world.people["rea"], study_id=study_world.study.id, now=NOW
        )
    assert isinstance(open_sheet(study_world), ReadingSheet)


def test_training_case_shows_its_key_after_the_answer(engine: Engine) -> None:
    study_world = make_study_world(engine, design=make_design(6, training=2))
    before = open_sheet(study_world)
    assert before.training
    assert before.feedback is None
    assert SECRETS["explanation"] not in join_texts(before)
    answer_case(study_world, position=1)
    after = open_sheet(study_world, position=1)
    assert after.feedback.question.explanation == SECRETS["explanation"]
    with pytest.raises(Refused, match="feedback on this training case has been shown"):
        answer_case(study_world, position=1, revision=2, option=0)


def test_own_result_excludes_training_and_repeats(engine: Engine) -> None:
    design = make_design(6, training=2, repeats=2, repeat_gap=2)
    study_world = make_study_world(engine, design=design, protocol=Protocol(show_own_result=True))
    assert read_all(study_world) == 10
    stop = open_sheet(study_world)
    assert (stop.guideline, stop.opens_at, stop.closed) == (None, None, False)  # all cases are read
    assert stop.result.n == 6
    with read_only_session(engine) as db:
        [rea, _] = studies.load_study_progress(db, by=study_world.cora, study="first")
    assert (rea.done, rea.total, rea.repeats_done, rea.training_done) == (6, 6, 2, 2)


def test_own_result_is_hidden_by_default(engine: Engine) -> None:
    study_world = make_study_world(engine)
    read_all(study_world)
    assert open_sheet(study_world).result is None


def test_second_period_opens_after_the_wash_out(engine: Engine) -> None:
    study_world = make_study_world(engine, design=make_design(4, **CROSSOVER))
    for minute in range(4):
        answer_case(study_world, now=NOW + timedelta(minutes=minute))
    opens_at = NOW + timedelta(minutes=3, days=14)
    early_stop = open_sheet(study_world, now=opens_at - timedelta(seconds=1))
    assert early_stop.opens_at == opens_at
    with pytest.raises(Refused, match="after the wash-out period"):
        answer_case(study_world, position=5, now=opens_at - timedelta(seconds=1))
    assert open_sheet(study_world, now=opens_at).slot.period == 2


def test_missing_confidence_is_refused_when_required(engine: Engine) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(InvalidValue, match="choose a confidence"):
        answer_case(study_world, confidence=None)


def test_cannot_determine_needs_no_confidence(engine: Engine) -> None:
    study_world = make_study_world(engine)
    reading = answer_case(study_world, answer=None, cannot_determine=True, confidence=None)
    assert (reading.answer, reading.cannot_determine, reading.unanswered) == (None, True, False)


def test_faulty_question_can_be_reported_instead_of_answered(engine: Engine) -> None:
    study_world = make_study_world(engine)
    reading = answer_case(study_world, answer=None, faulty="two options are right", confidence=None)
    assert reading.unanswered
    with read_only_session(engine) as db:
        [report] = studies.list_faulty_questions(db, by=study_world.cora, study="first")
    assert (report.reader, report.why) == ("rea", "two options are right")


@pytest.mark.parametrize(
    "answer_values", [{"answer": (7,)}, {"answer": (0, 1)}, {"answer": ()}, {"answer": "yes"}]
)
def test_answer_outside_the_options_is_refused(engine: Engine, answer_values: dict) -> None:
    study_world = make_study_world(engine)
    with pytest.raises(InvalidValue):
        answer_case(study_world, **answer_values)
    assert list_saved_readings(study_world) == []


@pytest.mark.slow
def test_box_is_accepted_for_location_cases_only(engine: Engine) -> None:
    study_world = make_study_world(engine, cases=10, readers=["rea"])
    with read_only_session(engine) as db:
        tasks = {
            case.blind_case.id: case.question.task for case in list_cases(db, study_id=study_world.study.id)
        }
    accepted_count = refused_count = 0
    while isinstance(sheet := open_sheet(study_world), ReadingSheet):
        radiograph = sheet.exam.radiographs[0].id
        box = LabelledBox(radiograph=radiograph, label="", box=Box(x_min=10, y_min=10, x_max=50, y_max=60))
        if tasks[sheet.case.id] is Task.LOCATION:
            assert answer_case(study_world, boxes=(box,)).boxes == (box,)
            accepted_count += 1
        else:
            with pytest.raises(InvalidValue, match="does not ask for a box"):
                answer_case(study_world, boxes=(box,))
            answer_case(study_world)
            refused_count += 1
    assert accepted_count > 0
    assert refused_count > 0


def test_drafts_and_times_are_restored_until_the_answer(engine: Engine) -> None:
    study_world = make_study_world(engine)
    target: dict[str, Any] = {
        "person": study_world.people["rea"],
        "study_id": study_world.study.id,
        "position": 1,
        "now": NOW,
    }
    with unit_of_work(engine) as db:
        studies.save_reading_draft(db, **target, revision=0, body={"answer": [1]})
        studies.record_reading_time(db, **target, seconds=9, seconds_looking=5, seconds_away=2)
        studies.record_reading_time(db, **target, seconds=4, seconds_looking=3, seconds_away=1)
    sheet = open_sheet(study_world)
    assert (sheet.draft, sheet.draft_revision, sheet.times) == ({"answer": [1]}, 1, (9.0, 5.0, 2.0))
    answer_case(study_world)
    with pytest.raises(StaleRevision, match="answered in another tab"), unit_of_work(engine) as db:
        studies.save_reading_draft(db, **target, revision=1, body={"answer": [2]})


def test_reader_may_load_current_and_next_image_only(engine: Engine) -> None:
    study_world = make_study_world(engine, design=make_design(8, one_per_exam=True))
    with read_only_session(engine) as db:
        exams = {
            case.blind_case.id: case.blind_case.exam_row_id
            for case in list_cases(db, study_id=study_world.study.id)
        }
    opened_exams = [exams[open_sheet(study_world).case.id]]
    visible_exams = set()
    for exam in sorted(exams.values()):
        with read_only_session(engine) as db:
            try:
                studies.load_reading_image(
                    db, person=study_world.people["rea"], exam_row_id=exam, radiograph_key="pa"
                )
                visible_exams.add(exam)
            except (NotAllowed, NotFound) as error:
                if isinstance(error, NotFound):
                    visible_exams.add(exam)
    assert opened_exams[0] in visible_exams
    assert len(visible_exams) == 2


def test_every_answer_is_audited(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    with read_only_session(engine) as db:
        entries = list(db.execute(select(AuditRow).order_by(AuditRow.number)).scalars())
    assert [entry.what for entry in entries][-3:] == ["create study", "assign readers", "give reading"]
    assert entries[-1].subject.startswith(f"study {study_world.study.id} reader ")


def test_reading_records_its_start_and_protocol_version(engine: Engine) -> None:
    study_world = make_study_world(engine)
    answer_case(study_world)
    with unit_of_work(engine) as db:
        changed = replace(Protocol(), exclusions="none")
        studies.change_protocol(
            db, by=study_world.cora, study="first", protocol=changed, reason="named", now=NOW
        )
    answer_case(study_world)
    with read_only_session(engine) as db:
        rows = list(db.execute(select(ReadingRow).order_by(ReadingRow.position)).scalars())
    assert [row.protocol_version for row in rows] == [1, 2]
    assert all(row.began_at <= row.read_at for row in rows)
