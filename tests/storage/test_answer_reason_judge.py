"""The command ``evaluate judge``.

Requests are sent in both orders, scores are stored, and keys of a private split are not sent.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cli import main
from domain.language_models import DataUse, Endpoint
from evaluation import service as evaluations
from evaluation.scoreboard import summarise_models
from evaluation.service.answer_reason import describe_judge
from language_models import service as models
from release.splits import Split
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.evaluation_worlds import BY, make_evaluation_world
from tests.storage.model_server import running_model_server
from tests.storage.test_model_scores import find_evaluated_split, import_answers, list_questions, now, plan

pytestmark = pytest.mark.full


def answer_as_judge(body):
    """Give 9 points to an answer longer than a letter (the key with its explanation), 3 to any other."""
    text = body["messages"][-1]["content"]
    first, second = re.findall(r"Assistant \d: (.*)", text)
    points = ["9" if len(part) > 3 else "3" for part in (first, second)]
    return " ".join(points) + "\nThe longer text is better."


def add_judge(url, *, data_use=DataUse.LOCAL):
    endpoint = Endpoint(name="judge", url=url, model="judge-model", data_use=data_use, timeout_seconds=60)
    with unit_of_work() as db:
        models.save_endpoint(db, by=BY, endpoint=endpoint, now=now())


@pytest.fixture
def server():
    with running_model_server() as running:
        running.answer = answer_as_judge
        yield running


def test_a_judge_scores_in_both_orders_and_its_scores_are_in_the_tables(
    workspace_engine, tmp_path, server, capsys
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    plan("net")
    questions = list_questions("net")
    import_answers(
        tmp_path, "net", [{"question_id": question_id, "raw": key} for question_id, key in questions]
    )
    assert main(["evaluate", "judge", "net"]) == 1
    assert "--endpoint: is needed to start the judge" in capsys.readouterr().err
    add_judge(server.url)
    experts_file = tmp_path / "experts.csv"
    rows = [f"{question_id},{30 + position}" for position, (question_id, _) in enumerate(questions)]
    experts_file.write_text("\n".join(["question_id,score", *rows]) + "\n", encoding="utf-8")
    file_with_unknown_question = tmp_path / "unknown.csv"
    file_with_unknown_question.write_text("question_id,score\nnowhere,50\n", encoding="utf-8")
    assert (
        main(
            ["evaluate", "judge", "net", "--endpoint", "judge", "--experts", str(file_with_unknown_question)]
        )
        == 1
    )
    assert "'nowhere' is not a question of the evaluation" in capsys.readouterr().err
    assert server.bodies == []
    assert main(["evaluate", "judge", "net", "--endpoint", "judge", "--experts", str(experts_file)]) == 0
    output = capsys.readouterr().out
    assert "AR-score: 33.33" in output  # 3 of 9 in every question and both orders
    assert "order bias (model first minus key first): 0.00" in output
    assert "judge minus experts -2.17" in output  # experts have 30 to 41, mean 35.5
    assert len(server.bodies) == 24
    evaluated_split = find_evaluated_split()
    assert (
        evaluations.compute_scores(by=BY, release_id=evaluated_split.release_id, split=evaluated_split.split)
        == 1
    )
    scored = evaluations.load_split_scores(by=BY, evaluated_split=find_evaluated_split())
    [model] = scored.models
    [summary] = summarise_models(scored.questions, [model], scored.questions.numbers >= 0)
    assert summary.columns["AR-score"].estimate == pytest.approx(100 / 3)
    assert model.columns[0].version.startswith("judge:judge-model|prompt:answer-reason@1|orders:both|date:")
    assert find_evaluated_split().waiting == []
    with read_only_session() as db:
        run = evaluations.find_judge_run(db, by=BY, name="net")
    test_run = replace(run, endpoint=replace(run.endpoint, model="SmolLM2-135M", reported_model=None))
    assert describe_judge(test_run).endswith("|path tested, quality not measured")
    # Repeating the command sends no request.
    assert main(["evaluate", "judge", "net"]) == 0
    assert len(server.bodies) == 24


def test_keys_of_a_private_split_are_not_sent_to_a_remote_judge(workspace_engine, tmp_path, server, capsys):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", private=0.5)
    plan("secret", split=Split.PRIVATE)
    import_answers(
        tmp_path,
        "secret",
        [{"question_id": question_id, "raw": key} for question_id, key in list_questions("secret")],
    )
    add_judge(server.url.replace("http:", "https:"), data_use=DataUse.REMOTE)
    assert main(["evaluate", "judge", "secret", "--endpoint", "judge"]) == 1
    assert "Choose a local endpoint; judge is remote" in capsys.readouterr().err
    assert server.bodies == []
