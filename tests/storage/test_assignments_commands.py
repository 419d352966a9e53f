"""The commands assign, settings and progress: exit codes, and output as text and as JSON."""

from __future__ import annotations

import json

import pytest

import cli
from domain.verdicts import ErrorKind
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import make_world


@pytest.fixture
def world(workspace_engine):
    """A dataset with a batch called "first", in the workspace of OVERREAD_HOME."""
    return make_world(workspace_engine)


def test_assign_prints_the_number_for_each_reviewer(world, capsys):
    assert cli.main(["assign", "first", "--to", "ruth", "remo"]) == 0
    assert capsys.readouterr().out == "remo got 6 questions of first.\nruth got 6 questions of first.\n"


def test_a_dry_run_assigns_nothing(world, capsys):
    assert cli.main(["assign", "first", "--to", "ruth", "--dry-run"]) == 0
    assert cli.main(["assign", "first", "--to", "remo"]) == 0
    assert "remo got 12 questions" in capsys.readouterr().out


def test_open_questions_are_reassigned_and_withdrawn(world, capsys):
    cli.main(["assign", "first", "--to", "ruth"])
    assert cli.main(["assign", "first", "--to", "remo", "--reassign", "ruth"]) == 0
    assert cli.main(["assign", "first", "--withdraw", "remo"]) == 0
    assert "12 open questions of remo unassigned" in capsys.readouterr().out


def test_second_opinions_are_requested_for_a_share_and_then_for_reported_errors(world, capsys):
    cli.main(["assign", "first", "--to", "ruth"])
    arguments = ["assign", "first", "--to", "remo", "--second-share", "0.25", "--seed", "7"]
    assert cli.main([*arguments, "--dry-run"]) == 0
    assert "remo would get 3 questions" in capsys.readouterr().out
    assert cli.main(arguments) == 0
    assert "remo got 3 questions" in capsys.readouterr().out
    assert cli.main(["assign", "first", "--to", "remo", "--second-where-found"]) == 0
    assert "remo got 0 questions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["assign", "second", "--to", "ruth"], "no batch 'second'"),
        (["assign", "first", "--to", "rea"], "rea is not a reviewer"),
        (["progress", "second"], "no batch 'second'"),
        (["settings", "first", "--anchors", "nowhere.json"], "cannot be read"),
    ],
)
def test_impossible_commands_fail_with_the_reason(world, capsys, arguments, reason):
    assert cli.main(arguments) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["assign", "first"], ["assign", "first", "--to", "ruth", "--withdraw", "remo"]]
)
def test_wrong_usage_exits_with_2(world, arguments):
    with pytest.raises(SystemExit) as exit_info:
        cli.main(arguments)
    assert exit_info.value.code == 2


def test_progress_prints_the_report(world, capsys):
    cli.main(["assign", "first", "--to", "ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=3, kind=ErrorKind.COMPARISON))
    assert cli.main(["progress", "first"]) == 0
    output = capsys.readouterr().out
    assert "Of 2 reviewed:\n1 refers to a prior exam (50.0 %, 9.5–90.5)\n" in output
    assert "not enough verdicts yet" in output


def test_progress_json_has_null_for_undefined_numbers(world, capsys):
    assert cli.main(["progress", "first", "--json"]) == 0
    progress = json.loads(capsys.readouterr().out)
    assert progress["errors"][0]["estimate"] is None
    assert progress["tiers_machine_by_expert"]["linear"]["estimate"] is None
    assert (progress["whole"]["unassigned"], progress["whole"]["asked"]) == (12, 0)


def test_settings_are_printed_and_changed(world, capsys, tmp_path):
    guideline = tmp_path / "guideline.md"
    guideline.write_text("Look twice.", encoding="utf-8")
    assert cli.main(["settings", "first", "--mode", "answer first", "--guideline", str(guideline)]) == 0
    settings = json.loads(capsys.readouterr().out)
    assert (settings["mode"], settings["guideline"], settings["revision"]) == (
        "answer first",
        "Look twice.",
        2,
    )


def test_anchors_are_exported_and_imported_as_json(world, capsys, tmp_path):
    cli.main(["settings", "first"])
    anchors = json.loads(capsys.readouterr().out)["anchors"]
    anchors["image_alignment"][0] = "another image"
    file = tmp_path / "anchors.json"
    file.write_text(json.dumps(anchors), encoding="utf-8")
    assert cli.main(["settings", "first", "--anchors", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["anchors"]["image_alignment"][0] == "another image"


def test_command_closes_and_reopens_a_batch(world, capsys):
    assert cli.main(["settings", "first", "--close"]) == 0
    assert cli.main(["assign", "first", "--to", "ruth"]) == 1
    assert cli.main(["settings", "first", "--reopen"]) == 0
    assert cli.main(["assign", "first", "--to", "ruth"]) == 0
