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


def import_lines(study_world: StudyWorld, *lines: str, header: str = HEADER):
    with unit_of_work(study_world.engine) as db:
        return studies.import_readings(
            db,
            by=study_world.cora,
            study="first",
            content="\n".join([header, *lines]).encode(),
            file="readings.csv",
            now=NOW,
        )


def list_question_ids(study_world: StudyWorld) -> list[str]:
    with read_only_session(study_world.engine) as db:
        return [case.question_id for case in list_blind_cases(db, study_id=study_world.study.id)]


def make_line(
    question: str, answer: str = "B", *, reader: str = "ext-1", at: str = "2026-03-02T09:00:00Z"
) -> str:
    return f"first,{reader},{question},{answer},3,12.5,{at}"


@pytest.fixture
def study_world(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(sqlite_engine)


def test_readings_are_imported_under_the_names_in_the_file(study_world) -> None:
    first, second, *_ = list_question_ids(study_world)
    outcome = import_lines(
        study_world, make_line(first), make_line(second, "C"), make_line(first, "?", reader="ext-2")
    )
    assert (outcome.readings, outcome.readers, outcome.refusals) == (3, ("ext-1", "ext-2"), ())
    with read_only_session(study_world.engine) as db:
        readings = list(iterate_readings(db, study_id=study_world.study.id))
        external_readers = [
            reader for reader in list_readers(db, study_id=study_world.study.id) if reader.is_external
        ]
    assert [reader.name for reader in external_readers] == ["ext-1", "ext-2"]
    assert [(reading.answer, reading.cannot_determine, reading.is_external) for reading in readings] == [
        ((1,), False, True),
        ((2,), False, True),
        (None, True, True),
    ]


def test_imported_readings_are_ordered_by_time(study_world) -> None:
    first, second, *_ = list_question_ids(study_world)
    late, early = "2026-03-02T10:00:00Z", "2026-03-02T10:30:00+01:00"
    import_lines(study_world, make_line(first, at=late), make_line(second, at=early))
    with read_only_session(study_world.engine) as db:
        question_id_by_case = {
            case.id: case.question_id for case in list_blind_cases(db, study_id=study_world.study.id)
        }
        readings = list(iterate_readings(db, study_id=study_world.study.id))
    assert [(reading.position, question_id_by_case[reading.key.case_id]) for reading in readings] == [
        (1, second),
        (2, first),
    ]


def test_second_reading_is_a_repeat_and_a_third_is_refused(study_world) -> None:
    [first, *_] = list_question_ids(study_world)
    import_lines(study_world, make_line(first), make_line(first, "C", at="2026-03-02T11:00:00Z"))
    with read_only_session(study_world.engine) as db:
        assert [reading.key.repeat for reading in iterate_readings(db, study_id=study_world.study.id)] == [
            0,
            1,
        ]
    [refusal] = import_lines(study_world, make_line(first)).refusals
    assert (refusal.record, refusal.field) == ("2", "question_id")


@pytest.mark.parametrize(
    ("invalid_line", "field", "expected_reason"),
    [
        ("first,ext-1,nowhere,B,3,12.5,2026-03-02T09:00:00Z", "question_id", "is not a case"),
        ("other,ext-1,{q},B,3,12.5,2026-03-02T09:00:00Z", "study", "is not 'first'"),
        ("first,ext-1,{q},E,3,12.5,2026-03-02T09:00:00Z", "answer", "is not a letter from A to"),
        ("first,ext-1,{q},,3,12.5,2026-03-02T09:00:00Z", "answer", "is empty"),
        ("first,ext-1,{q},A|B,3,12.5,2026-03-02T09:00:00Z", "answer", "several options of a single-choice"),
        ("first,ext-1,{q},B,9,12.5,2026-03-02T09:00:00Z", "confidence", "not a whole number from 1 to 5"),
        ("first,ext-1,{q},B,3,soon,2026-03-02T09:00:00Z", "seconds", "is not a number"),
        ("first,ext-1,{q},B,3,nan,2026-03-02T09:00:00Z", "seconds", "not a valid number of seconds"),
        ("first,ext-1,{q},B,3,12.5,2026-03-02T09:00:00", "read_at", "has no time zone"),
        ("first,ext-1,{q},B,3,12.5,yesterday", "read_at", "ISO 8601"),
        ("first,,{q},B,3,12.5,2026-03-02T09:00:00Z", "reader", "is empty"),
        ("first,rea,{q},B,3,12.5,2026-03-02T09:00:00Z", "reader", "reads in the app"),
        ("first,ext-1,{q},B,3,12.5", "", "has 6 cells"),
    ],
)
@pytest.mark.slow
def test_one_invalid_line_refuses_the_whole_file(
    study_world, invalid_line: str, field: str, expected_reason: str
) -> None:
    first, second, *_ = list_question_ids(study_world)
    outcome = import_lines(study_world, make_line(second), invalid_line.format(q=first))
    [refusal] = outcome.refusals
    assert (refusal.file, refusal.record, refusal.field) == ("readings.csv", "3", field)
    assert expected_reason in refusal.reason
    with read_only_session(study_world.engine) as db:
        assert list(iterate_readings(db, study_id=study_world.study.id)) == []
        assert not any(reader.is_external for reader in list_readers(db, study_id=study_world.study.id))


@pytest.mark.parametrize(
    ("header", "field"),
    [("study,reader,question_id,answer,seconds", "read_at"), (HEADER + ",mood", "mood"), ("", "")],
)
def test_invalid_header_is_refused(study_world, header: str, field: str) -> None:
    [refusal] = import_lines(study_world, header=header).refusals
    assert (refusal.record, refusal.field) == ("1", field)


def test_file_without_readings_is_refused(study_world) -> None:
    [refusal] = import_lines(study_world).refusals
    assert refusal.reason == "contains no readings"


def test_json_lines_are_imported_too(study_world) -> None:
    [first, *_] = list_question_ids(study_world)
    record = (
        f'{{"study": "first", "reader": "ext-1", "question_id": "{first}", "answer": "B", "seconds": 3, '
        '"read_at": "2026-03-02T09:00:00Z", "confidence": null}'
    )
    assert import_lines(study_world, header=record).readings == 1


def test_file_that_is_not_text_is_refused(study_world) -> None:
    with unit_of_work(study_world.engine) as db:
        outcome = studies.import_readings(
            db, by=study_world.cora, study="first", content=b"\xff\xfe\x00", file="x.csv", now=NOW
        )
    assert "UTF-8" in outcome.refusals[0].reason


def test_imported_readings_do_not_freeze_the_slots(study_world) -> None:
    [first, *_] = list_question_ids(study_world)
    import_lines(study_world, make_line(first))
    with unit_of_work(study_world.engine) as db:
        readers = studies.assign_readers(db, by=study_world.cora, study="first", to=["ria"], now=NOW)
    assert [reader.name for reader in readers] == ["rea", "rob", "ext-1", "ria"]


def test_closed_study_refuses_imported_readings(study_world) -> None:
    with unit_of_work(study_world.engine) as db:
        studies.close_study(db, by=study_world.cora, study="first", now=NOW)
    with pytest.raises(Refused, match="is closed"):
        import_lines(study_world, make_line(list_question_ids(study_world)[0]))


@pytest.mark.slow
def test_file_and_its_content_give_the_same_result(study_world, tmp_path) -> None:
    first, second, *_ = list_question_ids(study_world)
    path = tmp_path / "readings.csv"
    path.write_text("\n".join([HEADER, make_line(first, "Z"), "too,few", make_line(second, at="yesterday")]))

    def import_content(content):
        with unit_of_work(study_world.engine) as db:
            return studies.import_readings(
                db, by=study_world.cora, study="first", content=content, file="readings.csv", now=NOW
            )

    assert len(import_content(path).refusals) == 3
    assert import_content(path) == import_content(path.read_bytes())
    path.write_text("\n".join([HEADER, make_line(first), make_line(second)]))
    assert import_content(path).readings == 2
