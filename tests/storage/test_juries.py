"""Juries on a real database and over HTTP: who may judge what, and how votes become results."""

from __future__ import annotations

import pytest

from domain.checks import Check, Need
from domain.errors import InvalidValue, Refused
from domain.language_models import DataUse
from language_models.service import save_prompt
from quality.juries.criteria import read_shipped_prompt
from quality.service import (
    iterate_problems_csv,
    list_juries,
    load_check_report,
    load_jury_results,
    run_checks,
)
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines
from tests.storage.jury_replies import answer
from tests.storage.jury_worlds import (
    BY,
    DEPTH,
    add_questions,
    execute,
    line_of,
    plan,
    read,
    result_of,
    run_jury,
    work,
)
from tests.storage.model_server import running_model_server
from tests.storage.test_model_runs import add_endpoint

pytestmark = pytest.mark.slow


@pytest.fixture
def server():
    with running_model_server(answer=answer) as running:
        yield running


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def test_votes_become_results_of_the_check(importer, server):
    add_questions(
        importer,
        server,
        "Is it there?",
        "more_than_recall denied by qwen gpt. Is it there?",
        "more_than_recall denied by qwen. Is it there?",
    )
    progress = run_jury(importer)
    assert (progress.is_finished, progress.requests, len(server.bodies)) == (True, 6, 6)
    assert result_of(importer, 1).passed
    problem = result_of(importer, 2).problem
    assert (problem.field, problem.reason) == ("more than recall", "2 of 2 judges answered no")
    assert result_of(importer, 3).missing_need is Need.MAJORITY
    line = line_of(importer)
    assert (line.state.is_on, line.passed, line.with_problem, line.not_run) == (True, 1, 1, 0)
    assert line.not_checked == {Need.MAJORITY: 1}
    assert not line.is_outdated
    assert [row.strip() for row in read(importer, iterate_problems_csv, dataset="d", check=DEPTH)][1:] == [
        "q-2,e-1,cognitive depth,warning,more than recall,2 of 2 judges answered no"
    ]


def test_a_question_waits_if_a_jury_has_not_judged_it_by_one_of_two_checks(importer, server):
    add_questions(importer, server, "Is it there?", "Where is it?", "What is it?")
    run_jury(importer, checks=(DEPTH, Check.DOMAIN_SPECIFICITY))
    assert read(importer, load_check_report, dataset="d").waiting == 3  # the other checks have not run
    run_checks(
        by=BY,
        dataset="d",
        clock=lambda: NOW,
        read_session=lambda: read_only_session(importer.engine),
        transaction=lambda: unit_of_work(importer.engine),
    )
    assert read(importer, load_check_report, dataset="d").waiting == 0
    for number, check in ((1, DEPTH), (2, Check.DOMAIN_SPECIFICITY)):
        execute(
            importer,
            f"DELETE FROM jury_vote WHERE question_id = {number} AND judge_id IN "
            f"(SELECT id FROM jury_judge WHERE check_name = '{check.value}')",
        )
    report = read(importer, load_check_report, dataset="d")
    assert (line_of(importer).not_run, report.waiting, report.is_complete) == (1, 2, False)


def test_a_question_is_not_sent_if_too_few_families_may_judge_it(importer, server):
    importer(to_json_lines(make_record(1, source={"generator": "gpt-4o"})))
    add_questions(importer, server, "Is it there?", first=2)
    jury = plan(importer)
    assert (jury.questions, jury.unknown_authors) == (2, 1)
    work(importer, jury)
    assert len(server.bodies) == 2
    assert result_of(importer, 1).missing_need is Need.OTHER_FAMILIES
    assert line_of(importer).not_checked == {Need.OTHER_FAMILIES: 1}


def test_a_planned_jury_does_not_make_excluded_questions_pass(importer, server):
    importer(to_json_lines(make_record(1, stem="Is it there?")))
    add_questions(importer, server, "Is it there, too?", first=2)
    run_jury(importer)
    importer(to_json_lines(make_record(3, source={"generator": "gpt-4o"}), make_record(4)), name="more.jsonl")
    plan(importer)
    line = line_of(importer)
    assert (line.passed, line.not_checked, line.not_run) == (2, {Need.OTHER_FAMILIES: 1}, 1)


def test_results_come_from_the_newest_jury_with_usable_votes(importer, server):
    add_questions(importer, server, "Is it there?", families=("qwen", "gpt", "gemma"))
    first = run_jury(importer).jury
    criteria = read_shipped_prompt(DEPTH)
    with unit_of_work(importer.engine) as db:
        save_prompt(db, by=BY, content=criteria + "\n# Changed.\n", note="changed", now=NOW)
    second = plan(importer, prompts=("jury-cognitive-depth@2",))
    work(importer, second, should_stop=lambda: True)
    assert line_of(importer).state.settings == {"prompt": "jury-cognitive-depth@1"}
    work(importer, second)
    assert line_of(importer).state.settings == {"prompt": "jury-cognitive-depth@2"}
    work(importer, first)
    assert line_of(importer).state.settings == {"prompt": "jury-cognitive-depth@2"}


def test_a_jury_that_another_process_has_taken_over_stores_nothing(importer, server):
    add_questions(importer, server, "Is it there?")
    work(importer, plan(importer), is_replaced=lambda: True)
    assert line_of(importer).not_run == 1


def test_the_stated_author_must_be_of_a_known_family(importer, server):
    add_questions(importer, server, "Is it there?", families=("qwen", "gpt", "gemma"))
    with pytest.raises(InvalidValue, match="'Radiologist' is not a known model family"):
        plan(importer, written_by="Radiologist")
    assert plan(importer, endpoints=("qwen", "gemma"), written_by="GPT-4o").written_by == "gpt"


def test_results_name_the_reason_why_models_judge_their_own_family(importer, server):
    add_questions(importer, server, "Is it there?", source={"generator": "gpt-4o"})
    run_jury(importer, override_reason="pilot of the path")
    [results] = read(importer, load_jury_results, dataset="d")
    assert results.override_reasons == ("pilot of the path",)


def test_a_jury_needs_two_families(importer, server):
    add_questions(importer, server, "Is it there?")
    for endpoints in ((), ("qwen",), ("qwen", "qwen")):
        with pytest.raises(InvalidValue, match="at least 2 families"):
            plan(importer, endpoints=endpoints)


def test_a_dataset_that_permits_local_models_only_is_not_sent_elsewhere(importer, server):
    add_questions(importer, server, "Is it there?")
    add_endpoint(
        importer.engine, "https://example.com/v1", name="gemma", model="gemma-3", data_use=DataUse.REMOTE
    )
    with pytest.raises(Refused, match="permits local endpoints only"):
        plan(importer, endpoints=("qwen", "gemma"))
    assert read(importer, list_juries, dataset="d") == []
