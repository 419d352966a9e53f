"""The compliance stages of a dataset: problems are stored in order, and a second run replaces them."""

from datetime import timedelta

import pytest
from sqlalchemy import select

import cli
from accounts.service import command_line_person
from domain.checks import Check, Need
from domain.errors import InvalidValue, NotAllowed, NotFound
from domain.people import Person, Role
from quality.service import examine_compliance, list_examples, list_results, load_check_report
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

BY = command_line_person()


def make_exam(number):
    return {
        "id": f"e-{number}", "patient": f"p-{number}", "age": "061Y", "sex": "FM"[number % 2],
        "radiographs": [{"id": "pa", "file": "pa.png", "view": "PA"}],
    }  # fmt: skip


def make_guessable_question(number, **fields):
    """A question whose key is always the longest option, which a text-only classifier learns."""
    options = ["Mass", "Nodule", "Hernia", "Edema"]
    options[number % 4] += " with several further words"
    return make_record(
        number, exam=make_exam(number), options=options, answer=[number % 4], stem="Which is it?", **fields
    )


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def examine(importer, **options):
    return examine_compliance(
        by=BY,
        dataset="d",
        clock=lambda: NOW + timedelta(days=1),
        read_session=lambda: read_only_session(importer.engine),
        transaction=lambda: unit_of_work(importer.engine),
        **options,
    )


def load_lines(importer):
    with read_only_session(importer.engine) as db:
        report = load_check_report(db, by=BY, dataset="d")
    return {line.check: line for line in report.lines}


@pytest.mark.slow
def test_the_stages_store_problems_and_count_what_remains(importer):
    records = [make_guessable_question(number) for number in range(1, 41)]
    records.append(
        make_guessable_question(41, explanation="Discussed with Dr. Müller on 3/14/2019 in the morning.")
    )
    records.append(make_record(42, exam=make_exam(42), format="open", options=..., answer="Mass"))
    importer(to_json_lines(*records))
    report = examine(importer, threshold=0.5)
    assert (report.questions, report.patients, report.data_use) == (42, 42, "local")
    stages = {stage.check: (stage.with_problem, stage.remaining) for stage in report.stages}
    assert stages[Check.PATIENT_DATA] == (1, 41)
    assert stages[Check.DATA_USE] == (0, 41)
    assert stages[Check.TEXT_ONLY][0] > 30
    assert report.text_only[0].low > 0
    lines = load_lines(importer)
    assert lines[Check.TEXT_ONLY].not_checked[Need.ONE_ANSWER] == 1
    assert lines[Check.PATIENT_DATA].state.is_on
    assert (lines[Check.DATA_USE].passed, lines[Check.DATA_USE].not_checked) == (0, {Need.ORIGIN: 42})
    with read_only_session(importer.engine) as db:
        (example,) = list_examples(db, by=BY, dataset="d", check=Check.PATIENT_DATA)
        results = {result.check: result for result in list_results(db, by=BY, question_row_id=42)}
    assert (example.question_id, example.problem.field) == ("q-41", "explanation")
    assert results[Check.TEXT_ONLY].missing_need is Need.ONE_ANSWER
    assert results[Check.DATA_USE].missing_need is Need.ORIGIN


@pytest.mark.slow
def test_a_higher_threshold_replaces_the_problems(importer):
    importer(to_json_lines(*(make_guessable_question(number) for number in range(1, 41))))
    examine(importer, threshold=0.3)
    before = load_lines(importer)[Check.TEXT_ONLY].with_problem
    examine(importer, threshold=1.0)
    assert (before > 0, load_lines(importer)[Check.TEXT_ONLY].with_problem) == (True, 0)


def test_each_check_of_a_run_is_in_the_audit_trail(importer):
    importer(to_json_lines(make_guessable_question(1)))
    examine(importer)
    with read_only_session(importer.engine) as db:
        rows = list(db.scalars(select(AuditRow.new).where(AuditRow.what == "check questions")))
    assert sum("patient data" in row for row in rows) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_a_small_dataset_is_reported_without_the_text_only_stage(importer, count):
    importer(to_json_lines(*(make_guessable_question(number) for number in range(1, count + 1))))
    report = examine(importer)
    assert (report.questions, report.text_only) == (count, ())
    assert "needs at least 20 questions" in report.text_only_note
    assert [(stage.check, stage.remaining) for stage in report.stages] == [
        (Check.PATIENT_DATA, count), (Check.DATA_USE, count),
    ]  # fmt: skip
    assert load_lines(importer)[Check.TEXT_ONLY].passed == 0


def test_an_unknown_dataset_an_invalid_threshold_and_a_reader_are_refused(importer):
    with pytest.raises(NotFound, match="'d'"):
        examine(importer)
    with pytest.raises(InvalidValue, match="threshold"):
        examine(importer, threshold=0)
    reader = Person(id=7, name="r", display_name="R", roles=frozenset({Role.READER}))
    with pytest.raises(NotAllowed):
        examine_compliance(by=reader, dataset="d", clock=lambda: NOW)


@pytest.mark.slow
def test_the_command_prints_the_stages(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    file = tmp_path / "q.jsonl"
    file.write_bytes(to_json_lines(*(make_guessable_question(number) for number in range(1, 31))))
    assert cli.main(["import", "questions", str(file), "--dataset", "d", "--without-images"]) == 0
    capsys.readouterr()
    assert cli.main(["compliance", "d"]) == 0
    output = capsys.readouterr().out
    assert "d: 30 questions of 30 patients; may be sent to: local" in output
    assert "the longest              100.0%, chance 25.0%" in output
