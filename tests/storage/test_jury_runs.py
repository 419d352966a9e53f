"""Runs of juries over HTTP: incremental and resumable; votes are kept, and overridden rules are recorded."""

from __future__ import annotations

import shlex
from collections import Counter

import pytest
from sqlalchemy import select

from cli import main
from domain.checks import Check, Need
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused
from domain.juries import SAME_FAMILY, CriterionAnswer
from domain.language_models import Budget
from domain.people import Person, Role
from domain.vocabulary import Difficulty
from language_models import http_driver
from language_models import service as models
from quality.service import (
    JurySettings,
    cancel_jury,
    jury_results,
    list_juries,
    load_check_outcomes,
    load_jury_progress,
    load_jury_results,
    load_question_votes,
    open_jury,
    pause_jury,
)
from storage.rows.audit import AuditRow
from storage.rows.juries import JuryVoteRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines
from tests.storage.jury_replies import answer
from tests.storage.jury_worlds import (
    BY,
    DEPTH,
    add_questions,
    line_of,
    plan,
    read,
    result_of,
    run_jury,
    work,
)
from tests.storage.local_model import LOCAL_MODEL, running_local_model
from tests.storage.model_server import running_model_server
from tests.storage.test_model_runs import add_endpoint

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(http_driver, "FIRST_PAUSE", 0.01)


@pytest.fixture
def server():
    with running_model_server(answer=answer) as running:
        yield running


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def test_the_answers_to_each_criterion_are_counted_by_family(importer, server):
    add_questions(importer, server, "more_than_recall denied by qwen. Is it there?", "Is it there?")
    run_jury(importer)
    [results] = read(importer, load_jury_results, dataset="d")
    counts = {(count.item.id, count.family): count.answers for count in results.counts}
    assert counts["more_than_recall", "qwen"] == {
        CriterionAnswer.YES: 1,
        CriterionAnswer.NO: 1,
        CriterionAnswer.INSUFFICIENT: 0,
    }
    assert counts["more_than_recall", "gpt"][CriterionAnswer.YES] == 2
    assert (results.prompt, results.judged, results.is_test) == ("jury-cognitive-depth@1", 2, False)


def test_the_votes_on_a_question_have_their_reasons(importer, server):
    add_questions(importer, server, "more_than_recall denied by qwen. Is it there?")
    run_jury(importer)
    qwen, gpt = read(importer, load_question_votes, question_row_id=1)
    assert (qwen.judge.family, gpt.judge.family) == ("qwen", "gpt")
    assert qwen.vote.answers == (CriterionAnswer.YES, CriterionAnswer.NO, CriterionAnswer.YES)
    assert qwen.reasons[1] == "qwen on more_than_recall"


def test_all_checks_of_a_jury_run_one_after_another(importer, server):
    add_questions(importer, server, "Is it there?")
    progress = run_jury(importer, checks=JurySettings(dataset="d", endpoints=()).checks)
    assert [judge_run.judge.check for judge_run in progress.judges[::2]] == [
        Check.DOMAIN_SPECIFICITY,
        DEPTH,
        Check.CLINICAL_ALIGNMENT,
        Check.DIFFICULTY,
    ]
    assert len(server.bodies) == 8
    assert result_of(importer, 1, Check.DIFFICULTY).passed  # stated and judged as easy


def test_the_judged_difficulty_is_compared_with_the_stated_difficulty(importer, server):
    add_questions(importer, server, "qwen says hard. gpt says hard. Is it there?", "Is it there?")
    run_jury(importer, checks=(Check.DIFFICULTY,))
    problem = result_of(importer, 1, Check.DIFFICULTY).problem
    assert problem.reason == "stated as easy, judged as hard by 2 of 2 judges"
    assert result_of(importer, 2, Check.DIFFICULTY).passed


def test_only_new_questions_are_sent_and_earlier_results_stay(importer, server):
    add_questions(importer, server, "more_than_recall denied by qwen gpt. Is it there?")
    run_jury(importer)
    importer(to_json_lines(make_record(2)))
    assert line_of(importer).not_run == 1
    progress = run_jury(importer)
    assert (progress.requests, len(server.bodies)) == (2, 4)
    line = line_of(importer)
    assert (line.passed, line.with_problem, line.not_run) == (1, 1, 0)


def test_a_jury_is_refused_if_no_question_is_left_to_judge(importer, server):
    add_questions(importer, server, "Is it there?")
    run_jury(importer)
    with pytest.raises(Refused, match="have judged all of them by these criteria"):
        plan(importer)


def test_questions_of_a_random_pilot_are_not_sent_again(importer, server):
    add_questions(importer, server, *[f"Is finding {number} there?" for number in range(9)])
    assert run_jury(importer, questions=3).requests == 6
    assert line_of(importer).not_run == 6
    assert run_jury(importer).requests == 12
    assert Counter(body["model"] for body in server.bodies) == {"qwen": 9, "gpt": 9}
    assert line_of(importer).not_run == 0


def test_another_judge_joins_without_asking_the_others_again(importer, server):
    add_questions(
        importer, server, "more_than_recall denied by qwen. Is it there?", families=("qwen", "gpt", "gemma")
    )
    run_jury(importer)
    assert result_of(importer, 1).missing_need is Need.MAJORITY
    run_jury(importer, endpoints=("qwen", "gpt", "gemma"))
    assert Counter(body["model"] for body in server.bodies) == {"qwen": 1, "gpt": 1, "gemma": 1}
    assert result_of(importer, 1).passed  # 2 of 3 say yes


def test_new_criteria_make_all_questions_unjudged(importer, server):
    add_questions(importer, server, "more_than_recall denied by qwen gpt. Is it there?", "Is it there?")
    run_jury(importer)
    with unit_of_work(importer.engine) as db:
        shipped = models.load_prompt(db, by=BY, label="jury-cognitive-depth")
        changed = shipped.content.replace("memorised definition", "learned definition")
        models.save_prompt(db, by=BY, content=changed, note="other words", now=NOW)
    assert run_jury(importer, prompts=("jury-cognitive-depth@2",), questions=1).requests == 2
    [results] = read(importer, load_jury_results, dataset="d")
    assert (results.prompt, results.judged) == ("jury-cognitive-depth@2", 1)
    assert line_of(importer).not_run == 1


@pytest.mark.parametrize("origin", ["generator", "provenance"])
def test_the_family_that_wrote_a_question_does_not_judge_it(importer, server, origin):
    source = {"generator": "gpt-4o"}
    provenance = {"record": "r", "calls": [{"stage": "s", "model": "gpt-4o-2024-05-13"}]}
    written = {"source": source} if origin == "generator" else {"provenance": provenance}
    importer(to_json_lines(make_record(1, stem="A?", **written), make_record(2, stem="B?")))
    add_questions(importer, server, "Is it there?", first=3, families=("qwen", "gpt", "gemma"))
    run_jury(importer, endpoints=("qwen", "gpt", "gemma"))
    assert Counter(body["model"] for body in server.bodies) == {"qwen": 3, "gpt": 2, "gemma": 3}
    [vote] = [
        detail.vote
        for detail in read(importer, load_question_votes, question_row_id=1)
        if detail.judge.family == "gpt"
    ]
    assert (vote.answers, vote.failure) == ((), SAME_FAMILY)
    assert result_of(importer, 1).passed  # qwen and gemma decide


def test_models_may_judge_their_own_family_if_a_reason_is_recorded(importer, server):
    add_questions(importer, server, "Is it there?", source={"generator": "gpt-4o"})
    with pytest.raises(Refused, match="state a reason why they may judge their own"):
        plan(importer)
    jury = plan(importer, override_reason="trial of the pipeline")
    assert work(importer, jury).requests == 2
    assert result_of(importer, 1).passed
    with read_only_session(importer.engine) as db:
        reasons = list(db.scalars(select(AuditRow.why).where(AuditRow.what == "plan jury")))
    assert reasons == ["trial of the pipeline"]


def test_the_stated_author_counts_for_questions_without_an_author(importer, server):
    add_questions(importer, server, "Is it there?", families=("qwen", "gpt", "gemma"))
    run_jury(importer, endpoints=("qwen", "gpt", "gemma"), written_by="GPT")
    assert Counter(body["model"] for body in server.bodies) == {"qwen": 1, "gemma": 1}


def test_a_declared_family_is_used_for_judges_and_authors(importer, server):
    add_questions(importer, server, "Is it there?", source={"generator": "house-2"})
    add_endpoint(importer.engine, server.url, name="house", model="house-2", family="qwen")
    with pytest.raises(InvalidValue, match="qwen and house are both of the family qwen"):
        plan(importer, endpoints=("qwen", "house"))
    with pytest.raises(Refused, match="written by a model of a judge's family"):
        plan(importer)


def test_a_second_jury_is_refused_until_the_first_is_finished_or_cancelled(importer, server):
    add_questions(importer, server, "Is it there?")
    jury = plan(importer)
    with pytest.raises(Refused, match=f"Jury {jury.id} of dataset d is not finished"):
        plan(importer)
    with unit_of_work(importer.engine) as db:
        cancel_jury(db, by=BY, jury_id=jury.id, now=NOW)
    assert run_jury(importer).is_finished
    assert [listed.id for listed in read(importer, list_juries, dataset="d")] == [jury.id + 1, jury.id]


def test_a_question_with_unusable_replies_stays_unchecked_with_the_reason(importer, server):
    add_questions(importer, server, "behave: refusal", "behave: length", "behave: broken 2")
    progress = run_jury(importer)
    assert (progress.is_finished, progress.failed) == (True, 4)
    assert result_of(importer, 1).missing_need is result_of(importer, 2).missing_need is Need.REPLIES
    assert result_of(importer, 3).passed  # the call was repeated
    [results] = read(importer, load_jury_results, dataset="d")
    assert results.failures == {
        (family, reason): 1 for family in ("gpt", "qwen") for reason in ("refusal", "reply cut off")
    }


def test_failed_requests_are_called_again_on_demand(importer, server):
    add_questions(importer, server, "behave: refusal 2")
    jury = plan(importer)
    assert work(importer, jury).failed == 2
    with unit_of_work(importer.engine) as db:
        open_jury(db, by=BY, jury_id=jury.id, retry_failed=True, now=NOW)
    assert work(importer, jury).failed == 0
    assert result_of(importer, 1).passed


def test_a_paused_jury_keeps_its_votes_and_continues(importer, server):
    add_questions(importer, server, "Is it there?", "Is it there, too?")
    jury = plan(importer, budget=Budget(max_calls=1))
    progress = work(importer, jury)
    assert (progress.is_finished, progress.ended) == (False, 1)
    assert result_of(importer, 1).missing_need is Need.REPLIES
    with unit_of_work(importer.engine) as db:
        pause_jury(db, by=BY, jury_id=jury.id, now=NOW)
        open_jury(db, by=BY, jury_id=jury.id, now=NOW)
        for run_progress in load_jury_progress(db, by=BY, jury_id=jury.id, now=NOW).runs:
            models.resume_run(db, by=BY, name=run_progress.run.name, budget=Budget(max_calls=9), now=NOW)
    assert work(importer, jury).is_finished
    assert line_of(importer).passed == 2
    assert len(server.bodies) == 4


def test_the_next_run_stores_the_results_after_a_crash_between_votes_and_results(
    importer, server, monkeypatch
):
    add_questions(importer, server, "Is it there?")
    jury = plan(importer)

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("quality.service.jury_job.update_results", crash)
        with pytest.raises(RuntimeError, match="killed"):
            work(importer, jury)
    assert line_of(importer).not_run == 1
    work(importer, jury)
    assert (line_of(importer).passed, len(server.bodies)) == (1, 2)


def test_a_jury_of_judged_questions_is_refused_if_no_question_has_a_verdict(importer, server):
    add_questions(importer, server, "Is it there?", "Is it there, too?")
    with pytest.raises(Refused, match="No question is left"):
        plan(importer, judged_only=True)


def test_outcomes_for_the_measurement_exclude_undecided_questions(importer, server):
    add_questions(
        importer, server, "more_than_recall denied by qwen gpt. A?", "more_than_recall denied by qwen. B?"
    )
    run_jury(importer)
    outcomes = read(importer, load_check_outcomes, dataset="d", question_row_ids=[1, 2])[DEPTH]
    assert (outcomes.checked, outcomes.reported) == ({1}, {1})


def test_a_jury_with_the_test_model_is_labelled_as_a_test(importer, server):
    add_questions(importer, server, "Is it there?")
    add_endpoint(importer.engine, server.url, name="small", model="SmolLM2-135M-Instruct")
    jury = plan(importer, endpoints=("qwen", "small"))
    assert jury.is_test


def test_the_stated_difficulties_of_many_questions_are_read_in_parts(importer, server, monkeypatch):
    monkeypatch.setattr(jury_results, "_AT_ONCE", 2)
    add_questions(importer, server, *["qwen says hard. gpt says hard. A?"] * 5)
    run_jury(importer, checks=(Check.DIFFICULTY,))
    assert line_of(importer, Check.DIFFICULTY).with_problem == 5
    assert Difficulty.HARD.value in result_of(importer, 5, Check.DIFFICULTY).problem.reason


def test_a_reader_may_neither_plan_nor_see_a_jury(importer, server):
    add_questions(importer, server, "Is it there?")
    reader = Person(id=99, name="rita", display_name="Rita", roles=frozenset({Role.READER}))
    with pytest.raises(NotAllowed):
        plan(importer, by=reader)
    with read_only_session(importer.engine) as db, pytest.raises(NotAllowed):
        load_question_votes(db, by=reader, question_row_id=1)


def test_the_message_names_an_unknown_jury_or_setting(importer, server):
    add_questions(importer, server, "Is it there?")
    with pytest.raises(NotFound, match="no jury 7"):
        read(importer, load_jury_progress, jury_id=7, now=NOW)
    with pytest.raises(InvalidValue, match="choose at least one of domain specificity"):
        plan(importer, checks=(Check.SCHEMA,))
    with pytest.raises(InvalidValue, match="questions: must be at least 1"):
        plan(importer, questions=0)
    with pytest.raises(InvalidValue, match="mcq@1 is not the prompt of a check by a jury"):
        plan(importer, prompts=("mcq@1",))


def test_votes_are_stored_once_if_the_job_runs_twice(importer, server):
    add_questions(importer, server, "Is it there?")
    jury = plan(importer)
    work(importer, jury)
    work(importer, jury)
    with read_only_session(importer.engine) as db:
        assert len(list(db.scalars(select(JuryVoteRow.question_id)))) == 2


def test_a_real_model_and_another_family_judge_on_the_command_line(workspace_engine, tmp_path, capsys):
    """The code path is tested; the answers of the small model mean nothing."""
    importer = Importer(workspace_engine, tmp_path)
    with running_model_server(answer=answer) as server, running_local_model(tmp_path, context=4096) as url:
        add_questions(importer, server, "Is there an effusion?", "Is the heart enlarged?", families=("gpt",))
        add_endpoint(
            workspace_engine, url, name="small", model=LOCAL_MODEL, max_parallel=1, timeout_seconds=300
        )
        plan_command = ["jury", "plan", "d", "--endpoint", "gpt", "--endpoint", "small"]
        assert main([*plan_command, "--checks", "difficulty", "--pilot"]) == 0
        assert "Continue with `cli.py jury run 1`" in capsys.readouterr().out
        assert main(["jury", "run", "1"]) == 0
    printed = capsys.readouterr().out
    assert "4 of 4 requests ended" in printed
    assert printed.count("path tested, quality not measured") == 2  # the progress and the results
    [results] = read(importer, load_jury_results, dataset="d")
    answered = sum(sum(count.answers.values()) for count in results.counts if count.family == "smollm")
    failed = sum(number for (family, _), number in results.failures.items() if family == "smollm")
    assert (answered + failed, results.judged) == (2, 2)
    assert line_of(importer, Check.DIFFICULTY).not_run == 0


def test_the_commands_show_pause_and_cancel_a_jury(workspace_engine, server, tmp_path, capsys):
    importer = Importer(workspace_engine, tmp_path)
    add_questions(importer, server, "more_than_recall denied by qwen gpt. Is it there?")
    plan_command = shlex.split("jury plan d --endpoint qwen --endpoint gpt --checks cognitive-depth")
    assert main(plan_command) == 0
    assert main(plan_command) == 1
    assert "Jury 1 of dataset d is not finished" in capsys.readouterr().err
    assert main(["jury", "pause", "1"]) == 0
    assert main(["jury", "cancel", "1"]) == 0
    assert main(plan_command) == 0
    assert main(["jury", "run", "2"]) == 0
    assert main(["jury", "show", "2"]) == 0
    assert main(["jury", "list", "d"]) == 0
    printed = capsys.readouterr().out
    assert "cognitive depth\tqwen\tqwen\t1 of 1\t$0.00\trun jury 2 cognitive depth qwen" in printed
    assert "Questions without a known author: 1 (any family may judge them)." in printed
    assert main(["jury", "votes", "d", "q-0"]) == 1
    assert main(["jury", "votes", "d", "q-1"]) == 0
    assert "    more than recall: no. qwen on more_than_recall" in capsys.readouterr().out
    assert main(["check", "d"]) == 0
    assert "cognitive depth: 1 of 1" in capsys.readouterr().out
