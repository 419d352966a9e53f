"""Checking a dataset again: computed while others write, stored in one short transaction."""

import json

import pytest

from accounts.service import command_line_person
from domain.problems import Check
from quality.service import find_problems, list_examples, load_check_report, record_problems
from storage.intake.datasets import load_dataset
from storage.quality.problems import remove_problems
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

BY = command_line_person()


def find_dataset_problems(importer, **options):
    with read_only_session(importer.engine) as db:
        return find_problems(db, by=BY, dataset="d", **options)


def save_problems(importer, problems):
    with unit_of_work(importer.engine) as db:
        record_problems(db, by=BY, detected=problems, now=NOW)
    return load_saved_report(importer)


def load_saved_report(importer):
    with read_only_session(importer.engine) as db:
        return load_check_report(db, by=BY, dataset="d")


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


def test_check_finds_the_same_problems_as_the_import(dataset_importer):
    before = load_saved_report(dataset_importer)
    assert {check: before.count_of(check) for check in Check} == {
        Check.SCHEMA: 1,
        Check.TYPES: 0,
        Check.FORMAT: 1,
        Check.COMPLETENESS: 1,
    }
    assert save_problems(dataset_importer, find_dataset_problems(dataset_importer)) == before


def test_stricter_check_is_saved_with_its_setting(dataset_importer):
    assert (
        save_problems(
            dataset_importer, find_dataset_problems(dataset_importer, minimum_explanation=200)
        ).count_of(Check.FORMAT)
        == 3
    )
    with read_only_session(dataset_importer.engine) as db:
        assert load_dataset(db, name="d").minimum_explanation == 200
        examples = list_examples(db, by=BY, dataset="d", check=Check.SCHEMA)
    assert [(example.question_id, example.problem.field) for example in examples] == [("q-1", "options")]


def test_finding_problems_changes_nothing(dataset_importer):
    before = load_saved_report(dataset_importer)
    find_dataset_problems(dataset_importer, minimum_explanation=200)
    assert load_saved_report(dataset_importer) == before


def test_others_can_save_while_problems_are_being_found(dataset_importer):
    progress_calls = []

    def save_during_check(done, of):
        with unit_of_work(dataset_importer.engine, lock_timeout_ms=0) as db:
            remove_problems(db, dataset_id=1, up_to=0)
        progress_calls.append((done, of))

    find_dataset_problems(dataset_importer, progress=save_during_check)
    assert progress_calls == [(3, 3)]


def test_problems_found_by_a_concurrent_import_are_kept(dataset_importer):
    problems = find_dataset_problems(dataset_importer)
    dataset_importer(to_json_lines(make_record(4, category=None)), name="later.jsonl")
    assert save_problems(dataset_importer, problems).count_of(Check.COMPLETENESS) == 2


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


def test_fields_that_a_format_does_not_have_are_not_missing(importer_of_formats):
    """VQA-RAD has no explanations, tiers or categories, and GEMeX has no tiers or categories."""
    report = load_saved_report(importer_of_formats)
    assert report.questions == 6
    assert [(count.check, count.field, count.questions) for count in report.counts] == [
        (Check.TYPES, "stem", 1),  # "12 / 7?" contains no letters
        (Check.COMPLETENESS, "explanation", 1),  # the second of GEMeX
        (Check.COMPLETENESS, "explanation, difficulty, category", 1),  # the second of the native file
    ]


def test_check_again_uses_the_format_of_each_file(importer_of_formats):
    before = load_saved_report(importer_of_formats)
    assert save_problems(importer_of_formats, find_dataset_problems(importer_of_formats)) == before


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
