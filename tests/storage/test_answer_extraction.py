"""Answers that no rule could extract: a judge extracts them, and they count once all replies are read."""

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


def answer_as_judge(body):
    """Return the letter of the option whose text the judged reply contains, or "none"."""
    text = body["messages"][-1]["content"]
    reply = re.search(r"Reply: (.*)", text)[1]
    return next((letter for letter, option in re.findall(r"([A-C])\. (.*)", text) if option in reply), "none")


@pytest.fixture
def server():
    with running_model_server() as running:
        running.answer = answer_as_judge
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
    lines = [
        {"question_id": evaluated.question.id, "raw": choose_reply(evaluated.question)}
        for evaluated in questions
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for condition in CONDITIONS:
        with unit_of_work() as db:
            evaluations.import_answers(db, by=BY, name="net", condition=condition, path=path, now=now())
    return questions


def state_in_words(question):
    """Return a reply that states the key in words that no rule extracts; for Q1, an unclear reply."""
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


def test_a_judge_extracts_answers_that_no_rule_could_and_they_are_counted_separately(
    workspace_engine, tmp_path, server, capsys
):
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
    sent_text = "\n".join(body["messages"][-1]["content"] for body in server.bodies)
    explanations = [
        evaluated.question.explanation for evaluated in questions if evaluated.question.explanation
    ]
    assert explanations
    assert not any(text in sent_text for text in explanations)
    scored, after = summarise()
    assert (after.answers.failed, after.answers.by_rule, after.answers.by_judge) == (1, 0, n - 1)
    assert after.accuracy.estimate == pytest.approx((n - 1) / n)
    assert "\nA-score|net|judge:judge-model|" in "\n".join(list_signatures(scored.models))
    results = open_results()
    # In the shuffled condition the judge sees the options as shown, and its letter is converted.
    assert [(accuracy.correct, accuracy.failed) for accuracy in results.accuracies] == [
        (n - 1, 1),
        (n - 1, 1),
    ]
    assert results.extraction.startswith("judge:judge-model|prompt:extract-answer@1|")
    with read_only_session() as db:
        _, exported_answers = evaluations.load_exported_answers(
            db, by=BY, name="net", condition=Condition.AS_GIVEN
        )
    assert all(answer.prediction.failed for answer in exported_answers)  # stored answers stay as they are
    assert len(read_audit("plan extraction by judge")) == 1
    # Repeating the command sends no request.
    assert main(["evaluate", "extract", "net"]) == 0
    assert len(server.bodies) == 2 * n


def test_extracted_answers_count_only_when_the_judge_has_read_all_replies(
    workspace_engine, tmp_path, server, capsys
):
    prepare(workspace_engine, tmp_path, server, choose_reply=state_in_words)
    assert main(["evaluate", "extract", "net", "--endpoint", "judge", "--max-calls", "5"]) == 1
    assert "the judge 0 of them" in capsys.readouterr().out
    assert open_results().extraction == ""
    _, summary = summarise()
    assert summary.answers.by_judge == 0


def test_the_judge_gets_no_request_if_rules_extracted_every_answer(
    workspace_engine, tmp_path, server, capsys
):
    prepare(workspace_engine, tmp_path, server, choose_reply=lambda _: "B")
    assert main(["evaluate", "extract", "net", "--endpoint", "judge"]) == 1
    assert server.bodies == []
    assert "there is nothing to read" in capsys.readouterr().err


def test_models_whose_answers_the_test_model_extracted_are_listed(workspace_engine, tmp_path, server):
    prepare(workspace_engine, tmp_path, server, choose_reply=state_in_words)
    assert main(["evaluate", "extract", "net", "--endpoint", "judge"]) == 0
    scored, _ = summarise()
    assert list_judged_by_test_model(scored.models) == []
    labelled_models = [replace(model, extraction=f"judge|{TEST_MODEL_NOTE}") for model in scored.models]
    assert list_judged_by_test_model(labelled_models) == ["net"]
