"""Answers that no rule could extract: a judge reads them, and what it read counts once it has finished."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from cli import main
from domain.evaluations import AnsweredBy, Condition
from domain.language_models import TEST_MODEL_NOTE, DataUse, Endpoint
from evaluation import service as evaluations
from evaluation.scoreboard import list_judged_by_test_model, list_signatures, summarise_models
from language_models import service as models
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.evaluation_worlds import BY, make_evaluation_world, make_settings
from tests.storage.model_server import running_model_server
from tests.storage.test_model_scores import find_evaluated_split, now, read_audit

pytestmark = pytest.mark.full

CONDITIONS = (Condition.AS_GIVEN, Condition.SHUFFLED)
UNCLEAR = "Hard to say."


def judge(body):
    """Write the letter before which a reply "I would go for the text …" puts the text; else none."""
    text = body["messages"][-1]["content"]
    reply = re.search(r"Reply: (.*)", text)[1]
    return next((letter for letter, option in re.findall(r"([A-C])\. (.*)", text) if option in reply), "none")


@pytest.fixture
def server():
    with running_model_server() as running:
        running.answer = judge
        yield running


def prepare(engine, tmp_path, server, *, choose_reply):
    """Evaluate "net" in two conditions and add the judge; return the questions.

    ``choose_reply`` returns the reply to a question in both conditions.
    """
    make_evaluation_world(engine, tmp_path / "workspace")
    endpoint = Endpoint(
        name="judge", url=server.url, model="judge-model", data_use=DataUse.LOCAL, timeout_seconds=60
    )
    with unit_of_work() as db:
        models.save_endpoint(db, by=BY, endpoint=endpoint, now=now())
        evaluations.plan_without_endpoint(
            db, by=BY, settings=make_settings(name="net", conditions=CONDITIONS), model="Net",
            answered_by=AnsweredBy.FILE, now=now(),
        )  # fmt: skip
        questions = evaluations.load_answers(db, by=BY, name="net", now=now()).questions
    lines = [{"question_id": item.question.id, "raw": choose_reply(item.question)} for item in questions]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for condition in CONDITIONS:
        with unit_of_work() as db:
            evaluations.import_answers(db, by=BY, name="net", condition=condition, path=path, now=now())
    return questions


def state_in_words(question):
    """A reply that states the key in words that no rule reads; that to question Q1 is unclear."""
    return UNCLEAR if question.id == "Q1" else f"I would go for {question.options[question.answer[0]]} here."


def summarise():
    evaluated_split = find_evaluated_split()
    evaluations.compute_scores(by=BY, release_id=evaluated_split.release_id, split=evaluated_split.split)
    scored = evaluations.load_split_scores(by=BY, evaluated_split=find_evaluated_split())
    [summary] = summarise_models(scored.questions, scored.models, scored.questions.numbers >= 0)
    return scored, summary


def open_results():
    with unit_of_work() as db:
        return evaluations.open_results(db, by=BY, name="net", now=now())[1]


def test_a_judge_reads_what_no_rule_could_and_it_counts_apart(workspace_engine, tmp_path, server, capsys):
    questions = prepare(workspace_engine, tmp_path, server, choose_reply=state_in_words)
    n = len(questions)
    _, before = summarise()
    assert (before.answers.failed, before.answers.by_judge, before.accuracy.estimate) == (n, 0, 0)
    assert main(["evaluate", "extract", "net"]) == 1
    assert "--endpoint: is needed to start the judge" in capsys.readouterr().err
    assert main(["evaluate", "extract", "net", "--endpoint", "judge"]) == 0
    out = capsys.readouterr().out
    for condition in CONDITIONS:
        assert f"{condition.value}: no rule extracted {n} answers, the judge {n - 1} of them" in out
    assert len(server.bodies) == 2 * n
    sent = "\n".join(body["messages"][-1]["content"] for body in server.bodies)
    explanations = [item.question.explanation for item in questions if item.question.explanation]
    assert explanations
    assert not any(text in sent for text in explanations)
    scored, after = summarise()
    assert (after.answers.failed, after.answers.by_rule, after.answers.by_judge) == (1, 0, n - 1)
    assert after.accuracy.estimate == pytest.approx((n - 1) / n)
    assert "\nA-score|net|judge:judge-model|" in "\n".join(list_signatures(scored.models))
    results = open_results()
    # In the shuffled condition the judge sees the options as shown, and its letter is converted.
    assert [(item.correct, item.failed) for item in results.accuracies] == [(n - 1, 1), (n - 1, 1)]
    assert results.extraction.startswith("judge:judge-model|prompt:extract-answer@1|")
    with read_only_session() as db:
        _, exported = evaluations.load_exported_answers(db, by=BY, name="net", condition=Condition.AS_GIVEN)
    assert all(item.prediction.failed for item in exported)  # stored answers stay as they are
    assert len(read_audit("plan extraction by judge")) == 1
    # Repeating the command sends no request.
    assert main(["evaluate", "extract", "net"]) == 0
    assert len(server.bodies) == 2 * n


def test_readings_count_only_when_all_replies_are_read(workspace_engine, tmp_path, server, capsys):
    prepare(workspace_engine, tmp_path, server, choose_reply=state_in_words)
    assert main(["evaluate", "extract", "net", "--endpoint", "judge", "--max-calls", "5"]) == 1
    assert "the judge 0 of them" in capsys.readouterr().out
    assert open_results().extraction == ""
    _, summary = summarise()
    assert summary.answers.by_judge == 0


def test_nothing_is_asked_if_rules_extracted_every_answer(workspace_engine, tmp_path, server, capsys):
    prepare(workspace_engine, tmp_path, server, choose_reply=lambda _: "B")
    assert main(["evaluate", "extract", "net", "--endpoint", "judge"]) == 1
    assert server.bodies == []
    assert "there is nothing to read" in capsys.readouterr().err


def test_readings_by_the_model_of_the_tests_are_labelled(workspace_engine, tmp_path, server):
    prepare(workspace_engine, tmp_path, server, choose_reply=state_in_words)
    assert main(["evaluate", "extract", "net", "--endpoint", "judge"]) == 0
    scored, _ = summarise()
    assert list_judged_by_test_model(scored.models) == []
    labelled = [replace(model, extraction=f"judge|{TEST_MODEL_NOTE}") for model in scored.models]
    assert list_judged_by_test_model(labelled) == ["net"]
