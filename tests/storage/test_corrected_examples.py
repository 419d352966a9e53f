"""In-context examples from replies that experts corrected, for the next version of the prompt."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlalchemy import select

import cli
from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.verdicts import Decision, ErrorKind
from language_models import service as models
from language_models.prompts import parse_prompt, read_variables
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.model_server import running_model_server
from tests.storage.recipe_replies import answer
from tests.storage.test_model_runs import BY, add_endpoint
from tests.storage.worlds import assign_all, make_batch, make_world
from tests.unit.generation_sources import write_openi

PROMPT = "gemex-questions@1"
pytestmark = pytest.mark.full  # starts a model server


def assign_generated(world):
    """Draw all questions of the dataset "made" and assign them to ruth."""
    with unit_of_work(world.engine) as db:
        dataset_id = db.execute(select(DatasetRow.id).where(DatasetRow.name == "made")).scalar_one()
        query = select(QuestionRow.id).where(QuestionRow.dataset_id == dataset_id).order_by(QuestionRow.id)
        numbers = list(db.execute(query).scalars())
        batch = make_batch(db, dataset_id=dataset_id, name="made", questions=numbers, probability=1.0)
        assign_all(db, batch=batch, questions=numbers, person=world.people["ruth"])
    return replace(world, dataset="made", dataset_id=dataset_id, questions=tuple(numbers), batch=batch)


@pytest.fixture
def world(workspace_engine, tmp_path):
    """GEMeX's eleven questions on each of two reports, all drawn and assigned to ruth."""
    world = make_world(workspace_engine, questions=1)
    source = write_openi(tmp_path / "source", {}, {"uid": "2"})
    with running_model_server(answer=answer) as server:
        add_endpoint(workspace_engine, server.url)
        arguments = ["--out", str(tmp_path / "q.jsonl"), "--dataset", "made", "--without-images"]
        command = ["generate", "gemex", "openi-csv", str(source), "--endpoint", "local", *arguments]
        assert cli.main(command) == 0
    return assign_generated(world)


def judge_first_report(world):
    """Accept the open questions, correct the key of the first single choice question, reject a closed one."""
    first_report = world.questions[:11]  # 3 open, 2 closed, 3 single, 3 multiple
    for number in first_report[:3]:
        save_verdict(world, make_acceptance(world, question=number))
    save_verdict(world, make_rejection(world, question=first_report[3]))
    save_verdict(
        world,
        make_acceptance(
            world,
            question=first_report[5],
            decision=Decision.REVISE,
            errors=frozenset({ErrorKind.WRONG_KEY}),
            correction=Correction(answer=(3,), explanation="The heart is not enlarged at all."),
        ),
    )


def add_corrected(capsys):
    assert cli.main(["prompt", "add-corrected", PROMPT, "made"]) == 0
    return capsys.readouterr().out


def list_examples(world):
    with read_only_session(world.engine) as db:
        return models.list_examples(db, by=BY, prompt="gemex-questions")


def test_an_example_has_the_accepted_questions_with_their_corrections(world, capsys):
    judge_first_report(world)
    assert "Added 1 example from gemex-questions@1, 0 stored before." in add_corrected(capsys)
    (example,) = list_examples(world)
    reply = json.loads(example.reply)
    kept_entries = {
        name: [entry for entry in by_number.values() if entry] for name, by_number in reply.items()
    }
    assert {name: len(entries) for name, entries in kept_entries.items()} == {
        "open": 3,
        "closed": 0,
        "single": 1,
        "multiple": 0,
    }
    assert list(reply["closed"]) == ["1", "2"]  # null for a question that nobody accepted
    (single,) = kept_entries["single"]
    assert (single["answer"], single["reason"]) == ("D", "The heart is not enlarged at all.")
    assert example.variables["phrases"].startswith("1. Small left pleural effusion.")
    assert "Added 0 examples from gemex-questions@1, 1 stored before." in add_corrected(capsys)
    assert cli.main(["prompt", "export-examples", PROMPT, "--note", "With corrections"]) == 0
    with read_only_session(world.engine) as db:
        version = models.load_prompt(db, by=BY, label="gemex-questions@2")
    (stored_example,) = parse_prompt(version.content).examples
    assert (json.loads(stored_example.reply), stored_example.dataset) == (reply, "made")


def test_replies_that_nobody_corrected_give_no_example(world, capsys):
    for number in world.questions[:11]:
        save_verdict(world, make_acceptance(world, question=number))
    assert "Added 0 examples" in add_corrected(capsys)
    assert list_examples(world) == []


def test_a_message_of_another_prompt_has_no_variables():
    with pytest.raises(InvalidValue, match="was not made from the text"):
        read_variables("Report: ${report}", "Phrases: none")
    assert read_variables("A $$ ${x} (${y}) ${x}", "A $ one (two) one") == {"x": "one", "y": "two"}
