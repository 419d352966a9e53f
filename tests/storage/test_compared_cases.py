"""The cases on which readers and models differ most, and single cases with everybody's answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import NotAllowed, NotFound, Refused
from domain.marks import MarkerRole
from domain.people import Role
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_reports import import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import make_study_world, read_all
from tests.storage.worlds import NOW


@pytest.fixture
def study_world(sqlite_engine, tmp_path):
    """Two readers choose the second option of 6 cases; a model gives the key of each case but the last."""
    world = make_study_world(sqlite_engine, cases=6)
    for reader in ("rea", "rob"):
        read_all(world, reader)
    *cases, last_case = list_scored_cases(world)
    [key] = last_case.question.answer
    answers = {case.question.id: {"answer": "ABCDE"[case.question.answer[0]]} for case in cases}
    answers[last_case.question.id] = {"answer": "ABCDE"[(key + 1) % len(last_case.question.options)]}
    import_model_answers(world, tmp_path, answers)
    return world


def close(world):
    with unit_of_work(world.engine) as db:
        studies.close_study(db, by=world.cora, study="first", now=NOW)


def load_case(world, number=1, by=None):
    with read_only_session(world.engine) as db:
        return studies.load_compared_case(db, by=by or world.cora, study="first", number=number)


@pytest.mark.slow
def test_cases_are_ranked_by_the_difference_between_readers_and_models(study_world):
    ranked_cases = load_report(study_world).tables.case_differences
    close(study_world)
    for row in ranked_cases:
        answers = load_case(study_world, row.case).answers
        reader_results = [answer.is_correct for answer in answers if answer.kind == "reader"]
        model_results = [answer.is_correct for answer in answers if answer.kind == "model"]
        assert (row.readers, row.readers_correct) == (2, sum(reader_results))
        assert (row.models, row.models_correct) == (1, sum(model_results))
        assert row.difference == sum(reader_results) / 2 - sum(model_results)
        assert row.answers == len({answer.text for answer in answers})
    assert ranked_cases
    sizes = [abs(row.difference) for row in ranked_cases]
    assert sizes == sorted(sizes, reverse=True)
    ranked_numbers = {row.case for row in ranked_cases}
    for case in list_scored_cases(study_world):
        results = {answer.is_correct for answer in load_case(study_world, case.blind_case.number).answers}
        assert (case.blind_case.number in ranked_numbers) is (len(results) == 2)


@pytest.mark.slow
def test_a_case_is_shown_with_all_answers_once_the_study_is_closed(study_world):
    with pytest.raises(Refused, match="first is open: keys and answers"):
        load_case(study_world)
    close(study_world)
    case = load_case(study_world)
    assert [(answer.rater, answer.kind, answer.confidence) for answer in case.answers] == [
        ("rea", "reader", 4), ("rob", "reader", 4), ("m", "model", None),
    ]  # fmt: skip
    assert case.case.question.answer is not None
    assert case.exam.radiographs
    with pytest.raises(NotFound, match="no scored case 99"):
        load_case(study_world, 99)
    with unit_of_work(study_world.engine) as db:
        studies.reopen_study(db, by=study_world.cora, study="first", now=NOW)
    with pytest.raises(Refused, match="first is open"):
        load_case(study_world)


def test_readers_and_blind_markers_see_no_case(sqlite_engine):
    world = make_study_world(sqlite_engine, cases=6, open_questions=6, readers=("rea",))
    with unit_of_work(world.engine) as db:
        studies.assign_marker(db, by=world.cora, study="first", role=MarkerRole.FIRST, to="ruth", now=NOW)
    close(world)
    marker = replace(world.people["ruth"], roles=frozenset({Role.REVIEWER, Role.COORDINATOR}))
    with pytest.raises(Refused, match="You mark open answers of first"):
        load_case(world, by=marker)
    with pytest.raises(NotAllowed):
        load_case(world, by=world.people["rea"])
