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
from storage.rows import AuditRow, ReadingRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import StudyWorld, answer, make_design, make_study_world, read_all, sheet_of
from tests.storage.worlds import NOW, SECRETS

TOLD, BARE = Arm(name="told"), Arm(name="image only", clinical_info_shown=False)
CROSSED: dict[str, Any] = {"crossing": Crossing.CROSSOVER, "arms": (TOLD, BARE), "washout_days": 14}


def texts(value: object) -> str:
    """All texts in an object, joined into one."""
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(texts(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple | list | frozenset):
        return " ".join(map(texts, value))
    return str(value)


def saved(made: StudyWorld) -> list:
    with read_only_session(made.engine) as db:
        return list(iterate_readings(db, study_id=made.study.id))


def test_nothing_that_answers_a_case_is_fetched(engine: Engine) -> None:
    made = make_study_world(engine)
    found = texts(sheet_of(made))
    assert not [word for word in SECRETS.values() if word in found]


def test_a_reader_is_told_indication_age_sex_and_view(engine: Engine) -> None:
    exam = sheet_of(make_study_world(engine)).exam
    assert (exam.indication, exam.age, exam.sex) == ("Cough for two weeks.", "061Y", Sex.FEMALE)
    assert [each.view for each in exam.radiographs] == [View.PA, View.LATERAL]


def test_in_the_arm_that_is_told_nothing_nothing_is_fetched(engine: Engine) -> None:
    made = make_study_world(engine, design=make_design(6, **CROSSED))
    while (untold := sheet_of(made)).arm.clinical_info_shown:
        answer(made)
    assert (untold.exam.indication, untold.exam.age, untold.exam.sex) == (None, None, None)
    assert {each.view for each in untold.exam.radiographs} == {View.UNKNOWN}


def test_the_answer_is_kept_in_the_questions_own_order_of_options(engine: Engine) -> None:
    made = make_study_world(engine)
    slot = sheet_of(made).slot
    given = answer(made, place=2)
    assert given.answer == (slot.option_order[2],)


def test_the_same_answer_given_twice_is_saved_once(engine: Engine) -> None:
    made = make_study_world(engine)
    first = answer(made, position=1)
    again = answer(made, position=1, now=NOW + timedelta(seconds=2))
    assert again == first
    assert len(saved(made)) == 1


def test_another_answer_in_place_of_the_first_is_refused_with_its_time(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made, position=1, place=0)
    with pytest.raises(StaleRevision, match="answered at 09:00:00 UTC already"):
        answer(made, position=1, place=1)


def test_a_case_is_answered_in_its_turn(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(Refused, match="comes later"):
        answer(made, position=3)


def test_going_back_is_refused_where_the_protocol_does_not_allow_it(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made)
    with pytest.raises(Refused, match="does not allow going back"):
        sheet_of(made, position=1)
    with pytest.raises(Refused, match="does not allow going back"):
        answer(made, position=1, revision=2, place=0)


def test_going_back_supersedes_and_keeps_both(engine: Engine) -> None:
    made = make_study_world(engine, protocol=Protocol(going_back=True))
    first = answer(made, place=0)
    assert sheet_of(made, position=1).reading == first
    second = answer(made, position=1, revision=2, place=1)
    with read_only_session(made.engine) as db:
        every = list(iterate_readings(db, study_id=made.study.id, all_revisions=True))
    assert saved(made) == [second]
    assert every == [first, second]


def test_somebody_elses_study_is_not_there(engine: Engine) -> None:
    made = make_study_world(engine, readers=["rea"])
    with pytest.raises(NotFound, match="Rob's to read"):
        sheet_of(made, "rob")
    with pytest.raises(NotAllowed), read_only_session(engine) as db:
        studies.open_case(db, person=made.people["ruth"], study_id=made.study.id, now=NOW)


def test_the_guideline_comes_before_the_first_case(engine: Engine) -> None:
    made = make_study_world(engine, protocol=Protocol(guideline="Look at both views."))
    stop = sheet_of(made)
    assert isinstance(stop, ReadingStop)
    assert stop.guideline == "Look at both views."
    with pytest.raises(Refused, match="guideline first"):
        answer(made, position=1)
    with unit_of_work(engine) as db:
        studies.record_guideline_read(db, person=made.people["rea"], study_id=made.study.id, now=NOW)
    assert isinstance(sheet_of(made), ReadingSheet)


def test_a_training_case_shows_its_key_only_once_it_is_answered(engine: Engine) -> None:
    made = make_study_world(engine, design=make_design(6, training=2))
    before = sheet_of(made)
    assert before.training
    assert before.feedback is None
    assert SECRETS["explanation"] not in texts(before)
    answer(made, position=1)
    after = sheet_of(made, position=1)
    assert after.feedback.question.explanation == SECRETS["explanation"]
    with pytest.raises(Refused, match="shown already"):
        answer(made, position=1, revision=2, place=0)


def test_training_and_repeats_count_nowhere_in_ones_own_result(engine: Engine) -> None:
    design = make_design(6, training=2, repeats=2, repeat_gap=2)
    made = make_study_world(engine, design=design, protocol=Protocol(show_own_result=True))
    assert read_all(made) == 10
    stop = sheet_of(made)
    assert (stop.guideline, stop.opens_at, stop.closed) == (None, None, False)  # all cases are read
    assert stop.result.n == 6
    with read_only_session(engine) as db:
        [rea, _] = studies.load_study_progress(db, by=made.cora, study="first")
    assert (rea.done, rea.total, rea.repeats_done, rea.training_done) == (6, 6, 2, 2)


def test_without_the_setting_no_result_is_shown(engine: Engine) -> None:
    made = make_study_world(engine)
    read_all(made)
    assert sheet_of(made).result is None


def test_the_second_period_waits_for_the_end_of_the_wash_out(engine: Engine) -> None:
    made = make_study_world(engine, design=make_design(4, **CROSSED))
    for minute in range(4):
        answer(made, now=NOW + timedelta(minutes=minute))
    opens_at = NOW + timedelta(minutes=3, days=14)
    early = sheet_of(made, now=opens_at - timedelta(seconds=1))
    assert early.opens_at == opens_at
    with pytest.raises(Refused, match="days of wash-out"):
        answer(made, position=5, now=opens_at - timedelta(seconds=1))
    assert sheet_of(made, now=opens_at).slot.period == 2


def test_no_confidence_is_refused_where_it_is_asked_for(engine: Engine) -> None:
    made = make_study_world(engine)
    with pytest.raises(InvalidValue, match="how sure"):
        answer(made, confidence=None)


def test_cannot_determine_needs_no_confidence_and_is_no_wrong_answer(engine: Engine) -> None:
    made = make_study_world(engine)
    given = answer(made, answer=None, cannot_determine=True, confidence=None)
    assert (given.answer, given.cannot_determine, given.unanswered) == (None, True, False)


def test_a_faulty_question_may_be_reported_instead_of_answered(engine: Engine) -> None:
    made = make_study_world(engine)
    given = answer(made, answer=None, faulty="two options are right", confidence=None)
    assert given.unanswered
    with read_only_session(engine) as db:
        [report] = studies.list_faulty_questions(db, by=made.cora, study="first")
    assert (report.reader, report.why) == ("rea", "two options are right")


@pytest.mark.parametrize("said", [{"answer": (7,)}, {"answer": (0, 1)}, {"answer": ()}, {"answer": "yes"}])
def test_an_answer_that_the_question_can_not_have_is_refused(engine: Engine, said: dict) -> None:
    made = make_study_world(engine)
    with pytest.raises(InvalidValue):
        answer(made, **said)
    assert saved(made) == []


def test_a_box_is_taken_where_the_case_asks_for_a_place_and_nowhere_else(engine: Engine) -> None:
    made = make_study_world(engine, cases=10, readers=["rea"])
    with read_only_session(engine) as db:
        tasks = {case.blind_case.id: case.question.task for case in list_cases(db, study_id=made.study.id)}
    kept = refused = 0
    while isinstance(found := sheet_of(made), ReadingSheet):
        radiograph = found.exam.radiographs[0].id
        box = LabelledBox(radiograph=radiograph, label="", box=Box(x_min=10, y_min=10, x_max=50, y_max=60))
        if tasks[found.case.id] is Task.LOCATION:
            assert answer(made, boxes=(box,)).boxes == (box,)
            kept += 1
        else:
            with pytest.raises(InvalidValue, match="asks for none"):
                answer(made, boxes=(box,))
            answer(made)
            refused += 1
    assert kept > 0
    assert refused > 0


def test_drafts_and_times_come_back_and_end_with_the_answer(engine: Engine) -> None:
    made = make_study_world(engine)
    where: dict[str, Any] = {
        "person": made.people["rea"],
        "study_id": made.study.id,
        "position": 1,
        "now": NOW,
    }
    with unit_of_work(engine) as db:
        studies.save_reading_draft(db, **where, revision=0, body={"answer": [1]})
        studies.record_reading_time(db, **where, seconds=9, seconds_looking=5, seconds_away=2)
        studies.record_reading_time(db, **where, seconds=4, seconds_looking=3, seconds_away=1)
    found = sheet_of(made)
    assert (found.draft, found.draft_revision, found.times) == ({"answer": [1]}, 1, (9.0, 5.0, 2.0))
    answer(made)
    with pytest.raises(StaleRevision, match="answered in another tab"), unit_of_work(engine) as db:
        studies.save_reading_draft(db, **where, revision=1, body={"answer": [2]})


def test_a_reader_sees_the_image_of_the_case_at_hand_and_the_next_alone(engine: Engine) -> None:
    made = make_study_world(engine, design=make_design(8, one_per_exam=True))
    with read_only_session(engine) as db:
        exams = {
            case.blind_case.id: case.blind_case.exam_number for case in list_cases(db, study_id=made.study.id)
        }
    order = [exams[sheet_of(made).case.id]]
    seen = set()
    for exam in sorted(exams.values()):
        with read_only_session(engine) as db:
            try:
                studies.load_reading_image(
                    db, person=made.people["rea"], exam_number=exam, radiograph_key="pa"
                )
                seen.add(exam)
            except (NotAllowed, NotFound) as error:
                if isinstance(error, NotFound):
                    seen.add(exam)
    assert order[0] in seen
    assert len(seen) == 2


def test_every_answer_is_on_record(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made)
    with read_only_session(engine) as db:
        entries = list(db.execute(select(AuditRow).order_by(AuditRow.number)).scalars())
    assert [each.what for each in entries][-3:] == ["create study", "assign readers", "give reading"]
    assert entries[-1].subject.startswith(f"study {made.study.id} reader ")


def test_the_row_says_when_it_began_and_under_which_protocol(engine: Engine) -> None:
    made = make_study_world(engine)
    answer(made)
    with unit_of_work(engine) as db:
        changed = replace(Protocol(), exclusions="none")
        studies.change_protocol(db, by=made.cora, study="first", protocol=changed, why="named", now=NOW)
    answer(made)
    with read_only_session(engine) as db:
        rows = list(db.execute(select(ReadingRow).order_by(ReadingRow.position)).scalars())
    assert [row.protocol_version for row in rows] == [1, 2]
    assert all(row.began_at <= row.read_at for row in rows)
