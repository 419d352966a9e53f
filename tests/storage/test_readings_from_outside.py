"""Readings imported from a file: all or nothing; each refusal has line and field."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from domain.errors import Refused
from reader_study import service as studies
from storage.reader_study.cases import list_blind_cases
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import iterate_readings
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import StudyWorld, make_study_world
from tests.storage.worlds import NOW

HEADER = "study,reader,question_id,answer,confidence,seconds,read_at"


def take(made: StudyWorld, *lines: str, header: str = HEADER):
    with unit_of_work(made.engine) as db:
        return studies.import_readings(
            db,
            by=made.cora,
            study="first",
            content="\n".join([header, *lines]).encode(),
            file="readings.csv",
            now=NOW,
        )


def questions(made: StudyWorld) -> list[str]:
    with read_only_session(made.engine) as db:
        return [case.question_id for case in list_blind_cases(db, study_id=made.study.id)]


def line(question: str, answer: str = "B", *, reader: str = "ext-1", at: str = "2026-03-02T09:00:00Z") -> str:
    return f"first,{reader},{question},{answer},3,12.5,{at}"


@pytest.fixture
def made(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(sqlite_engine)


def test_readings_come_in_under_the_names_of_the_file(made) -> None:
    first, second, *_ = questions(made)
    done = take(made, line(first), line(second, "C"), line(first, "?", reader="ext-2"))
    assert (done.readings, done.readers, done.refusals) == (3, ("ext-1", "ext-2"), ())
    with read_only_session(made.engine) as db:
        found = list(iterate_readings(db, study_id=made.study.id))
        outside = [each for each in list_readers(db, study_id=made.study.id) if each.is_external]
    assert [each.name for each in outside] == ["ext-1", "ext-2"]
    assert [(each.answer, each.cannot_determine, each.outside) for each in found] == [
        ((1,), False, True),
        ((2,), False, True),
        (None, True, True),
    ]


def test_the_order_of_reading_is_that_of_the_times(made) -> None:
    first, second, *_ = questions(made)
    late, early = "2026-03-02T10:00:00Z", "2026-03-02T10:30:00+01:00"
    take(made, line(first, at=late), line(second, at=early))
    with read_only_session(made.engine) as db:
        cases = {case.id: case.question_id for case in list_blind_cases(db, study_id=made.study.id)}
        found = list(iterate_readings(db, study_id=made.study.id))
    assert [(each.position, cases[each.key.case_id]) for each in found] == [(1, second), (2, first)]


def test_a_question_read_twice_is_a_repeat_and_a_third_time_is_refused(made) -> None:
    [first, *_] = questions(made)
    take(made, line(first), line(first, "C", at="2026-03-02T11:00:00Z"))
    with read_only_session(made.engine) as db:
        assert [each.key.repeat for each in iterate_readings(db, study_id=made.study.id)] == [0, 1]
    [refusal] = take(made, line(first)).refusals
    assert (refusal.record, refusal.field) == ("2", "question_id")


@pytest.mark.parametrize(
    ("bad", "field", "says"),
    [
        ("first,ext-1,nowhere,B,3,12.5,2026-03-02T09:00:00Z", "question_id", "is no case"),
        ("other,ext-1,{q},B,3,12.5,2026-03-02T09:00:00Z", "study", "is not 'first'"),
        ("first,ext-1,{q},E,3,12.5,2026-03-02T09:00:00Z", "answer", "neither one of A to"),
        ("first,ext-1,{q},,3,12.5,2026-03-02T09:00:00Z", "answer", "is empty"),
        ("first,ext-1,{q},A|B,3,12.5,2026-03-02T09:00:00Z", "answer", "several options of a single-choice"),
        ("first,ext-1,{q},B,9,12.5,2026-03-02T09:00:00Z", "confidence", "none of 1 to 5"),
        ("first,ext-1,{q},B,3,soon,2026-03-02T09:00:00Z", "seconds", "is no number"),
        ("first,ext-1,{q},B,3,nan,2026-03-02T09:00:00Z", "seconds", "no number of seconds"),
        ("first,ext-1,{q},B,3,12.5,2026-03-02T09:00:00", "read_at", "has no zone"),
        ("first,ext-1,{q},B,3,12.5,yesterday", "read_at", "ISO 8601"),
        ("first,,{q},B,3,12.5,2026-03-02T09:00:00Z", "reader", "is empty"),
        ("first,rea,{q},B,3,12.5,2026-03-02T09:00:00Z", "reader", "reads on the screen"),
        ("first,ext-1,{q},B,3,12.5", "", "has 6 cells"),
    ],
)
def test_one_bad_line_keeps_the_whole_file_out(made, bad: str, field: str, says: str) -> None:
    first, second, *_ = questions(made)
    done = take(made, line(second), bad.format(q=first))
    [refusal] = done.refusals
    assert (refusal.file, refusal.record, refusal.field) == ("readings.csv", "3", field)
    assert says in refusal.reason
    with read_only_session(made.engine) as db:
        assert list(iterate_readings(db, study_id=made.study.id)) == []
        assert not any(each.is_external for each in list_readers(db, study_id=made.study.id))


@pytest.mark.parametrize(
    ("header", "field"),
    [("study,reader,question_id,answer,seconds", "read_at"), (HEADER + ",mood", "mood"), ("", "")],
)
def test_a_header_that_is_none_is_refused(made, header: str, field: str) -> None:
    [refusal] = take(made, header=header).refusals
    assert (refusal.record, refusal.field) == ("1", field)


def test_a_header_without_a_reading_is_refused(made) -> None:
    [refusal] = take(made).refusals
    assert refusal.reason == "holds no reading"


def test_json_lines_say_the_same(made) -> None:
    [first, *_] = questions(made)
    record = (
        f'{{"study": "first", "reader": "ext-1", "question_id": "{first}", "answer": "B", "seconds": 3, '
        '"read_at": "2026-03-02T09:00:00Z", "confidence": null}'
    )
    assert take(made, header=record).readings == 1


def test_what_is_no_text_is_refused(made) -> None:
    with unit_of_work(made.engine) as db:
        done = studies.import_readings(
            db, by=made.cora, study="first", content=b"\xff\xfe\x00", file="x.csv", now=NOW
        )
    assert "UTF-8" in done.refusals[0].reason


def test_readings_from_outside_do_not_freeze_the_orders(made) -> None:
    [first, *_] = questions(made)
    take(made, line(first))
    with unit_of_work(made.engine) as db:
        readers = studies.assign_readers(db, by=made.cora, study="first", to=["ria"], now=NOW)
    assert [each.name for each in readers] == ["rea", "rob", "ext-1", "ria"]


def test_a_closed_study_takes_no_file(made) -> None:
    with unit_of_work(made.engine) as db:
        studies.close_study(db, by=made.cora, study="first", now=NOW)
    with pytest.raises(Refused, match="is closed"):
        take(made, line(questions(made)[0]))


def test_a_file_gives_what_its_content_gives(made, tmp_path) -> None:
    first, second, *_ = questions(made)
    path = tmp_path / "readings.csv"
    path.write_text("\n".join([HEADER, line(first, "Z"), "too,few", line(second, at="yesterday")]))

    def ask(content):
        with unit_of_work(made.engine) as db:
            return studies.import_readings(
                db, by=made.cora, study="first", content=content, file="readings.csv", now=NOW
            )

    assert len(ask(path).refusals) == 3
    assert ask(path) == ask(path.read_bytes())
    path.write_text("\n".join([HEADER, line(first), line(second)]))
    assert ask(path).readings == 2
