"""Runs of checks on a dataset: incremental, resumable, and stored in short transactions."""

import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import event, select, text

from accounts.service import command_line_person
from domain.checks import CHECKS, Check, Need, Problem
from domain.errors import NotAllowed
from domain.people import Person, Role
from quality.service import (
    finish_run,
    iterate_problems_csv,
    list_examples,
    list_results,
    load_check_report,
    record_results,
    reset_checks,
    run_checks,
    set_minimum_explanation,
    switch_check,
)
from quality.service import runs as check_runs
from storage.intake.datasets import load_dataset
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

BY = command_line_person()


def run(importer, **options):
    options = {
        "read_session": lambda: read_only_session(importer.engine),
        "transaction": lambda: unit_of_work(importer.engine),
        **options,
    }
    return run_checks(by=BY, dataset="d", clock=lambda: NOW, **options)


def change(importer, service, **arguments):
    with unit_of_work(importer.engine) as db:
        service(db, by=BY, dataset="d", now=NOW, **arguments)


def load_saved_report(importer):
    with read_only_session(importer.engine) as db:
        return load_check_report(db, by=BY, dataset="d")


def load_problems(importer):
    with read_only_session(importer.engine) as db:
        return list(iterate_problems_csv(db, by=BY, dataset="d", check=None))


def line_of(report, check):
    return next(line for line in report.lines if line.check is check)


@pytest.fixture
def dataset_importer(engine, tmp_path):
    importer = Importer(engine, tmp_path)
    importer(
        to_json_lines(
            make_record(1, options=["a", "b", "c"]),
            make_record(2, explanation="Short."),
            make_record(3, category=None),
        )
    )
    return importer


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(check_runs, "BLOCK_SIZE", 2)


def test_a_run_finds_the_same_problems_as_the_import(dataset_importer):
    before = load_problems(dataset_importer)
    assert before == [
        "question,exam,check,severity,field,reason\n",
        "q-1,e-1,schema,error,options,3 instead of 4\n",
        "q-2,e-1,format,error,explanation,has 6 characters; the minimum is 20\n",
        "q-3,e-1,completeness,error,category,is empty\n",
    ]
    assert run(dataset_importer).questions == 3
    assert load_problems(dataset_importer) == before


def test_a_second_run_has_nothing_to_do_and_later_runs_check_new_questions_only(dataset_importer):
    run(dataset_importer)
    assert run(dataset_importer).questions == 0
    dataset_importer(to_json_lines(make_record(4, category=None)), name="later.jsonl")
    assert run(dataset_importer).questions == 1
    assert load_saved_report(dataset_importer).count_of(Check.COMPLETENESS) == 2


def test_after_a_change_of_its_setting_a_check_runs_on_all_questions_again(dataset_importer):
    run(dataset_importer)
    change(dataset_importer, set_minimum_explanation, characters=200)
    assert not load_saved_report(dataset_importer).is_complete
    result = run(dataset_importer)
    assert result.questions == 3
    assert result.problems[Check.FORMAT] == 3
    report = load_saved_report(dataset_importer)
    assert report.is_complete
    assert report.with_problems == 3
    with read_only_session(dataset_importer.engine) as db:
        assert load_dataset(db, name="d").minimum_explanation == 200
        examples = list_examples(db, by=BY, dataset="d", check=Check.SCHEMA)
    assert [(example.question_id, example.problem.field) for example in examples] == [("q-1", "options")]


def test_a_new_version_of_a_check_checks_all_questions_again(dataset_importer, monkeypatch):
    run(dataset_importer)
    newer = {**CHECKS, Check.TYPES: type(CHECKS[Check.TYPES])(**{
        **{name: getattr(CHECKS[Check.TYPES], name) for name in CHECKS[Check.TYPES].__dataclass_fields__},
        "version": 99,
    })}  # fmt: skip
    monkeypatch.setattr(check_runs, "CHECKS", newer)
    assert run(dataset_importer).questions == 3
    assert run(dataset_importer).questions == 0


def test_no_block_scans_all_questions_or_problems_of_the_dataset(sqlite_engine, tmp_path):
    importer = Importer(sqlite_engine, tmp_path)
    importer(to_json_lines(make_record(1)))
    statements: list[tuple[str, tuple[object, ...]]] = []
    event.listen(
        sqlite_engine,
        "before_cursor_execute",
        lambda connection, cursor, statement, parameters, *_: statements.append((statement, parameters)),
    )
    run(importer)
    range_statements = [
        pair for pair in statements if "question_id <= " in pair[0] or "question.id > " in pair[0]
    ]
    # The questions are counted once per run.
    count_statements = [pair for pair in range_statements if pair[0].startswith("SELECT count")]
    plans = []
    with sqlite_engine.connect() as connection:
        for statement, parameters in range_statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.append(" ".join(row.detail for row in plan))
    assert len(plans) - len(count_statements) >= 3  # questions, image widths, earlier problems
    assert sum("dataset_id=?" in plan for plan in plans) == len(count_statements) == 1


def test_all_questions_can_be_checked_again(dataset_importer):
    run(dataset_importer)
    change(dataset_importer, reset_checks)
    assert run(dataset_importer).questions == 3


def test_a_failed_run_continues_after_the_last_stored_block(dataset_importer, small_blocks):
    """The second block fails; the first is stored with the position up to which questions are checked."""
    opened: list[None] = []

    @contextmanager
    def fail_second():
        opened.append(None)
        if len(opened) == 2:
            raise OSError("the disk is gone")
        with unit_of_work(dataset_importer.engine) as db:
            yield db

    with pytest.raises(OSError, match="disk"):
        run(dataset_importer, transaction=fail_second)
    assert run(dataset_importer).questions == 1
    assert len(load_problems(dataset_importer)) == 4


def test_blocks_checked_by_other_processes_give_the_same_results(dataset_importer, small_blocks):
    from concurrent.futures import ThreadPoolExecutor

    before = load_problems(dataset_importer)
    with ThreadPoolExecutor(2) as executor:
        assert run(dataset_importer, executor=executor).questions == 3
    assert load_problems(dataset_importer) == before


def test_progress_counts_questions(dataset_importer, small_blocks):
    calls = []
    run(dataset_importer, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(2, 3), (3, 3)]


def test_other_people_can_save_while_questions_are_checked(dataset_importer):
    def save(_done, _total):
        with unit_of_work(dataset_importer.engine, lock_timeout_ms=0) as db:
            switch_check(db, by=BY, dataset="d", check=Check.TYPES, is_on=False, now=NOW)

    run(dataset_importer, progress=save)
    assert not line_of(load_saved_report(dataset_importer), Check.TYPES).state.is_on


def test_a_check_that_is_switched_off_during_a_run_stays_off(dataset_importer, small_blocks):
    def switch_off(done, _total):
        if done == 2:
            change(dataset_importer, switch_check, check=Check.FORMAT, is_on=False)

    run(dataset_importer, progress=switch_off)
    assert not line_of(load_saved_report(dataset_importer), Check.FORMAT).state.is_on


def test_a_question_is_valid_if_no_check_that_is_on_reports_a_problem(dataset_importer):
    """V(Q) is the AND of the checks that are on: the three questions have one problem each."""
    run(dataset_importer)
    assert load_saved_report(dataset_importer).valid == 0
    change(dataset_importer, switch_check, check=Check.SCHEMA, is_on=False)
    assert load_saved_report(dataset_importer).valid == 1
    change(dataset_importer, switch_check, check=Check.SCHEMA, is_on=True)
    assert load_saved_report(dataset_importer).valid == 0


def test_the_counts_of_a_check_add_up_to_all_questions(dataset_importer):
    run(dataset_importer)
    for line in load_saved_report(dataset_importer).lines:
        assert line.passed + line.with_problem + sum(line.not_checked.values()) + line.not_run == 3


def test_results_of_a_question_state_each_check(dataset_importer):
    run(dataset_importer)
    with read_only_session(dataset_importer.engine) as db:
        number = db.execute(select(QuestionRow.id).where(QuestionRow.key == "q-2")).scalar_one()
        results = {result.check: result for result in list_results(db, by=BY, question_row_id=number)}
    assert results[Check.SCHEMA].passed
    assert results[Check.FORMAT].problem.field == "explanation"


def test_two_runs_at_the_same_time_store_the_same_as_one_run(dataset_importer, small_blocks):
    before = load_problems(dataset_importer)
    run(
        dataset_importer,
        progress=lambda done, _total: run(dataset_importer) if done == 2 else None,
    )
    assert load_problems(dataset_importer) == before
    assert run(dataset_importer).questions == 0


def test_a_run_without_permission_is_refused(dataset_importer):
    reader = Person(id=1, name="r", display_name="R", roles=frozenset({Role.READER}))
    with pytest.raises(NotAllowed):
        run_checks(by=reader, dataset="d", clock=lambda: NOW)


def test_a_run_is_in_the_audit_trail(dataset_importer):
    finished = run(dataset_importer)
    with unit_of_work(dataset_importer.engine) as db:
        finish_run(db, by=BY, run=finished, now=NOW + timedelta(minutes=1))
    with read_only_session(dataset_importer.engine) as db:
        entry = db.execute(
            text("SELECT new FROM audit_entry WHERE what = 'check questions' ORDER BY number DESC")
        ).scalar()
    problems = {check: count for check, count in json.loads(entry)["problems"].items() if count}
    assert problems == {"schema": 1, "format": 1, "completeness": 1}


def test_an_empty_dataset_has_nothing_to_check(engine, tmp_path):
    importer = Importer(engine, tmp_path)
    importer(to_json_lines(make_record(1)))
    with unit_of_work(engine) as db:
        db.execute(text("DELETE FROM question"))
    assert run(importer).questions == 0
    assert load_saved_report(importer).valid == 0


def test_recorded_results_are_refused_for_a_check_that_run_checks_runs(dataset_importer):
    with unit_of_work(dataset_importer.engine) as db, pytest.raises(ValueError, match="run_checks"):
        record_results(
            db, by=BY, dataset="d", check=Check.TYPES, settings={}, through=3,
            problems_found=[(1, Problem(check=Check.TYPES, field="stem", reason="x"))],
            missing={Need.OPTIONS: 1}, now=NOW,
        )  # fmt: skip


VQA_RAD = [
    {
        "qid": 1,
        "image_name": "a.jpg",
        "question": "Is there an effusion?",
        "answer": "Yes",
        "answer_type": "CLOSED",
    },
    {"qid": 2, "image_name": "a.jpg", "question": "12 / 7?", "answer": "12", "answer_type": "OPEN"},
]
GEMEX = {
    "question": "Which lung is affected?", "answer": "A",
    "choices": ["A: left", "B: right", "C: both", "D: none"],
    "reason": "The left lung has an airspace opacity.", "visual_regions": [], "visual_locations": [],
    "image_path": "p10/p1/s1/a.jpg", "q_id": 1, "row_id": 1,
}  # fmt: skip


@pytest.mark.slow
def test_fields_that_a_format_does_not_have_are_not_reported_as_missing(importer_of_formats):
    """VQA-RAD has no explanations, tiers or categories, and GEMeX has no tiers or categories."""
    report = load_saved_report(importer_of_formats)
    assert report.questions == 6
    assert [(count.check, count.field, count.questions) for count in report.counts] == [
        (Check.TYPES, "stem", 1),  # "12 / 7?" contains no letters
        (Check.COMPLETENESS, "explanation", 1),  # the second question of the GEMeX file
        # the second question of the native file
        (Check.COMPLETENESS, "explanation, difficulty, category", 1),
    ]


@pytest.mark.slow
def test_checking_again_uses_the_format_of_each_file(importer_of_formats):
    before = load_saved_report(importer_of_formats)
    run(importer_of_formats)
    assert load_saved_report(importer_of_formats).counts == before.counts


@pytest.fixture
def importer_of_formats(engine, tmp_path):
    """A dataset of three files in three formats, each with one good and one bad question."""
    importer = Importer(engine, tmp_path)
    importer(json.dumps(VQA_RAD).encode(), name="rad.json")
    importer(to_json_lines(GEMEX, {**GEMEX, "q_id": 2, "reason": ""}), name="single_choice.jsonl")
    importer(
        to_json_lines(make_record(1), make_record(2, explanation=..., category=..., difficulty=...)),
        name="native.jsonl",
    )
    return importer
