"""Checking a dataset again: computed while others write, stored in one short transaction."""

import pytest

from accounts.service import command_line_person
from domain.problems import Check
from quality.service import find_problems, list_examples, load_check_report, record_problems
from storage.intake.datasets import load_dataset
from storage.quality.problems import remove_problems
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, lines, record

BY = command_line_person()


def find(importer, **options):
    with read_only_session(importer.engine) as db:
        return find_problems(db, by=BY, dataset="d", **options)


def keep(importer, found):
    with unit_of_work(importer.engine) as db:
        record_problems(db, by=BY, detected=found, now=NOW)
    return reported(importer)


def reported(importer):
    with read_only_session(importer.engine) as db:
        return load_check_report(db, by=BY, dataset="d")


@pytest.fixture
def imported(engine, tmp_path):
    importer = Importer(engine, tmp_path)
    importer(
        lines(record(1, options=["a", "b", "c"]), record(2, explanation="Short."), record(3, category=None))
    )
    return importer


def test_a_check_finds_again_what_the_import_found(imported):
    before = reported(imported)
    assert {check: before.count_of(check) for check in Check} == {
        Check.SCHEMA: 1,
        Check.TYPES: 0,
        Check.FORMAT: 1,
        Check.COMPLETENESS: 1,
    }
    assert keep(imported, find(imported)) == before


def test_a_stricter_check_is_kept_with_its_setting(imported):
    assert keep(imported, find(imported, minimum_explanation=200)).count_of(Check.FORMAT) == 3
    with read_only_session(imported.engine) as db:
        assert load_dataset(db, name="d").minimum_explanation == 200
        found = list_examples(db, by=BY, dataset="d", check=Check.SCHEMA)
    assert [(each.question_id, each.problem.field) for each in found] == [("q-1", "options")]


def test_finding_problems_changes_nothing(imported):
    before = reported(imported)
    find(imported, minimum_explanation=200)
    assert reported(imported) == before


def test_others_can_save_while_problems_are_being_found(imported):
    told = []

    def somebody_saves(done, of):
        with unit_of_work(imported.engine, lock_timeout_ms=0) as db:
            remove_problems(db, dataset_id=1, up_to=0)
        told.append((done, of))

    find(imported, progress=somebody_saves)
    assert told == [(3, 3)]


def test_what_an_import_found_meanwhile_stays(imported):
    found = find(imported)
    imported(lines(record(4, category=None)), name="later.jsonl")
    assert keep(imported, found).count_of(Check.COMPLETENESS) == 2
