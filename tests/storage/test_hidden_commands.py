"""`hide` and `attention` in the terminal: exit codes, refusals, lists, and valid JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import cli
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import assign_all, make_batch, make_world

pytestmark = pytest.mark.slow

HIDE_COMMAND = ["hide", "asked", "--repeats", "0.2", "--distance", "5", "--planted", "2", "--seed", "3"]


@pytest.fixture
def world(workspace_engine):
    """Forty questions in a workspace that the environment names; ruth has thirty, in the batch "asked"."""
    full_world = make_world(workspace_engine, questions=40)
    with unit_of_work(workspace_engine) as db:
        batch = make_batch(
            db, dataset_id=full_world.dataset_id, name="asked", questions=full_world.questions[:30]
        )
        assign_all(db, batch=batch, questions=full_world.questions[:30], person=full_world.people["ruth"])
    return replace(full_world, batch=batch)


def list_hidden(world):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id)


def load_attention(capsys):
    capsys.readouterr()
    assert cli.main(["attention", "asked", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_dry_run_previews_and_hides_nothing(world, capsys):
    assert cli.main([*HIDE_COMMAND, "--dry-run"]) == 0
    assert "ruth would get 6 repeats and 2 planted questions." in capsys.readouterr().out
    assert list_hidden(world) == ()


def test_hidden_questions_are_listed_and_removed_with_a_reason(world, capsys):
    assert cli.main([*HIDE_COMMAND, "--faults", "key swapped"]) == 0
    output = capsys.readouterr().out
    assert "ruth got 6 repeats and 2 planted questions." in output
    assert "2 with key swapped" in output
    number = list_hidden(world)[0].question_row_id
    assert cli.main(["hide", "asked", "--remove", str(number), "--reason", "The key was wrong."]) == 0
    assert "1 hidden question of asked removed" in capsys.readouterr().out
    assert cli.main(["hide", "asked", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert "removed: The key was wrong." in next(line for line in lines if line.startswith(f"{number}: "))


def test_repeated_command_hides_nothing_more(world, capsys):
    cli.main(HIDE_COMMAND)
    capsys.readouterr()
    assert cli.main(HIDE_COMMAND) == 1
    assert "This plan hides no further questions." in capsys.readouterr().err
    assert len(list_hidden(world)) == 8


def test_list_states_when_nothing_is_hidden(world, capsys):
    assert cli.main(["hide", "asked", "--list"]) == 0
    assert "No hidden questions in asked." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["hide", "asked", "--remove", "1"], "--remove and --reason must be used together"),
        (["hide", "asked", "--faults", "no such fault"], "invalid choice"),
    ],
)
def test_wrong_usage_exits_with_2_and_the_reason(world, capsys, arguments, reason):
    with pytest.raises(SystemExit) as exit_info:
        cli.main(arguments)
    assert exit_info.value.code == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["hide", "nowhere"], "nowhere"),
        (["hide", "nowhere", "--list"], "nowhere"),
        (["attention", "nowhere"], "nowhere"),
        (["hide", "asked", "--repeats", "0"], "repeats"),
        (["hide", "asked", "--remove", "99", "--reason", "none"], "99"),
    ],
)
def test_impossible_commands_fail_with_the_reason(world, capsys, arguments, reason):
    assert cli.main(arguments) == 1
    assert reason in capsys.readouterr().err


def test_attention_counts_hidden_and_judged_questions(world, capsys):
    cli.main(HIDE_COMMAND)
    before = load_attention(capsys)
    assert (before["hidden"], before["judged"]) == (8, 0)
    [ruth] = before["reviewers"]
    assert (ruth["reviewer"], ruth["repeats_hidden"], ruth["planted_hidden"]) == ("Ruth", 6, 2)
    repeat = next(question for question in list_hidden(world) if question.fault is None)
    save_verdict(world, make_acceptance(world, question=repeat.source_question_row_id))
    save_verdict(world, make_acceptance(world, question=repeat.question_row_id))
    [ruth] = load_attention(capsys)["reviewers"]
    assert ruth["repeats_judged_twice"] == 1


def test_attention_text_has_counts_and_states_which_figures_are_not_defined(world, capsys):
    cli.main(HIDE_COMMAND)
    for repeat in [hidden for hidden in list_hidden(world) if hidden.fault is None]:
        save_verdict(world, make_acceptance(world, question=repeat.source_question_row_id))
        save_verdict(world, make_acceptance(world, question=repeat.question_row_id))
    capsys.readouterr()
    assert cli.main(["attention", "asked"]) == 0
    output = capsys.readouterr().out
    assert "Batch asked: 6 of 8 hidden questions judged, 0 removed" in output
    assert "repeats judged twice: 6 of 6" in output
    assert "not defined (n = 0)" in output
