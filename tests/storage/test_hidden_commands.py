"""`hide` and `attention` in the terminal: exit codes, refusals, lists, and valid JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import cli
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give
from tests.storage.worlds import assign_all, make_batch, make_world

pytestmark = pytest.mark.slow

HIDE = ["hide", "asked", "--repeats", "0.2", "--distance", "5", "--planted", "2", "--seed", "3"]


@pytest.fixture
def world(workspace_engine):
    """Forty questions in a workspace that the environment names; the thirty of "asked" are ruth's."""
    made = make_world(workspace_engine, questions=40)
    with unit_of_work(workspace_engine) as db:
        batch = make_batch(db, dataset_id=made.dataset_id, name="asked", questions=made.questions[:30])
        assign_all(db, batch=batch, questions=made.questions[:30], person=made.people["ruth"])
    return replace(made, batch=batch)


def hidden(world):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id)


def shown(capsys):
    capsys.readouterr()
    assert cli.main(["attention", "asked", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_dry_run_says_what_would_be_hidden_and_hides_nothing(world, capsys):
    assert cli.main([*HIDE, "--dry-run"]) == 0
    assert "ruth would get 6 repeats and 2 planted questions." in capsys.readouterr().out
    assert hidden(world) == ()


def test_what_is_hidden_is_listed_and_removed_with_a_reason(world, capsys):
    assert cli.main([*HIDE, "--faults", "key swapped"]) == 0
    said = capsys.readouterr().out
    assert "ruth got 6 repeats and 2 planted questions." in said
    assert "2 with key swapped" in said
    number = hidden(world)[0].number
    assert cli.main(["hide", "asked", "--remove", str(number), "--reason", "The key was wrong."]) == 0
    assert "1 hidden questions of asked were removed" in capsys.readouterr().out
    assert cli.main(["hide", "asked", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert "removed: The key was wrong." in next(each for each in lines if each.startswith(f"{number}: "))


def test_said_again_it_hides_nothing_more(world, capsys):
    cli.main(HIDE)
    capsys.readouterr()
    assert cli.main(HIDE) == 1
    assert "This plan hides no further questions." in capsys.readouterr().err
    assert len(hidden(world)) == 8


def test_where_nothing_is_hidden_the_list_says_so(world, capsys):
    assert cli.main(["hide", "asked", "--list"]) == 0
    assert "Nothing is hidden in asked." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        (["hide", "asked", "--remove", "1"], "--remove and --reason go together"),
        (["hide", "asked", "--faults", "no such fault"], "invalid choice"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(world, capsys, plain, said):
    with pytest.raises(SystemExit) as ended:
        cli.main(plain)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        (["hide", "nowhere"], "nowhere"),
        (["hide", "nowhere", "--list"], "nowhere"),
        (["attention", "nowhere"], "nowhere"),
        (["hide", "asked", "--repeats", "0"], "repeats"),
        (["hide", "asked", "--remove", "99", "--reason", "none"], "99"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(world, capsys, plain, said):
    assert cli.main(plain) == 1
    assert said in capsys.readouterr().err


def test_attention_counts_what_is_hidden_and_judged_without_making_figures_up(world, capsys):
    cli.main(HIDE)
    before = shown(capsys)
    assert (before["hidden"], before["judged"]) == (8, 0)
    [ruth] = before["reviewers"]
    assert (ruth["reviewer"], ruth["repeats_hidden"], ruth["planted_hidden"]) == ("Ruth", 6, 2)
    repeat = next(each for each in hidden(world) if each.fault is None)
    give(world, accept(world, question=repeat.source_number))
    give(world, accept(world, question=repeat.number))
    [ruth] = shown(capsys)["reviewers"]
    assert ruth["repeats_judged_twice"] == 1


def test_attention_as_text_has_n_and_interval_or_says_not_defined(world, capsys):
    cli.main(HIDE)
    for each in [each for each in hidden(world) if each.fault is None]:
        give(world, accept(world, question=each.source_number))
        give(world, accept(world, question=each.number))
    capsys.readouterr()
    assert cli.main(["attention", "asked"]) == 0
    said = capsys.readouterr().out
    assert "Batch asked: 6 of 8 hidden questions are judged, 0 were removed" in said
    assert "repeats judged twice: 6 of 6" in said
    assert "not defined (n = 0)" in said
