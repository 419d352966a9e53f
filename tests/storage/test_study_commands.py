"""`study` and `import readings` in the terminal: exit codes, refusals, and valid JSON."""

from __future__ import annotations

import json

import pytest

import cli
from domain.people import Role
from tests.storage.worlds import make_world

pytestmark = pytest.mark.slow

CREATE_COMMAND = ["study", "create", "pilot", "--dataset", "demo", "--n", "6", "--seed", "7"]


@pytest.fixture
def world(workspace_engine):
    """A dataset of 24 questions in the workspace of OVERREAD_HOME."""
    return make_world(workspace_engine, questions=24)


def load_study(capsys):
    capsys.readouterr()
    assert cli.main(["study", "show", "pilot"]) == 0
    return json.loads(capsys.readouterr().out)


def test_study_is_created_assigned_shown_and_closed(world, capsys):
    assert cli.main([*CREATE_COMMAND, "--training", "2", "--repeats", "2", "--repeat-gap", "2"]) == 0
    assert "6 cases and 2 training cases from dataset demo" in capsys.readouterr().out
    assert cli.main(["study", "assign", "pilot", "--to", "rea"]) == 0
    assert (
        cli.main(["study", "readers", "pilot", "--reader", "rea", "--level", "resident", "--years", "3"]) == 0
    )
    study = load_study(capsys)
    assert study["cases"] == {"scored": 6, "training": 2}
    [reader] = study["readers"]
    assert (reader["name"], reader["level"], reader["years"], reader["total"]) == ("rea", "resident", 3, 6)
    assert cli.main(["study", "close", "pilot"]) == 0
    assert load_study(capsys)["state"] == "closed"
    assert cli.main(["study", "reopen", "pilot"]) == 0
    assert cli.main(["study", "list"]) == 0
    assert "pilot: open, 6 cases from dataset demo, 1 reader, 0 answers" in capsys.readouterr().out


def test_protocol_is_changed_from_a_file(world, capsys, tmp_path):
    cli.main(CREATE_COMMAND)
    file = tmp_path / "protocol.json"
    file.write_text(json.dumps({"margin": 0.05, "hypothesis": "non-inferiority", "family": ["a", "b"]}))
    capsys.readouterr()
    assert cli.main(["study", "protocol", "pilot", "--set", str(file)]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["version"], second["version"]) == (1, 2)
    assert first["sha256"] != second["sha256"]
    assert second["protocol"]["family"] == ["a", "b"]


@pytest.mark.parametrize(
    ("protocol_fields", "reason"),
    [
        ({"margins": 1}, "not a field of a protocol"),
        ({"margin": "5"}, "must be a number"),
        ({"readers": "some"}, "must be one of random, fixed"),
        ({"hypothesis": "non-inferiority"}, "must be above 0"),
        ({"seed": True}, "must be an integer"),
    ],
)
def test_the_error_for_an_invalid_protocol_names_its_field(world, capsys, tmp_path, protocol_fields, reason):
    cli.main(CREATE_COMMAND)
    file = tmp_path / "protocol.json"
    file.write_text(json.dumps(protocol_fields))
    assert cli.main(["study", "protocol", "pilot", "--set", str(file)]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra_arguments", "reason"),
    [
        (["--crossing", "parts"], "readers_per_case"),
        (["--arms", "a", "b"], "can only be used with --crossing crossover"),
        (["--washout-days", "7"], "is only allowed with the design “two arms"),
        (["--release", "v1"], "no release 'v1'"),
    ],
)
def test_invalid_design_is_refused(world, capsys, extra_arguments, reason):
    assert cli.main([*CREATE_COMMAND, *extra_arguments]) == 1
    assert reason in capsys.readouterr().err


def test_a_crossover_has_two_arms(world, capsys):
    assert cli.main([*CREATE_COMMAND, "--crossing", "crossover", "--washout-days", "14"]) == 0
    assert "arms: with clinical information, image only; wash-out of 14 days" in load_study(capsys)["design"]


def test_an_invalid_line_of_readings_is_named_and_nothing_is_imported(world, capsys, tmp_path):
    cli.main(CREATE_COMMAND)
    file = tmp_path / "readings.csv"
    header = "study,reader,question_id,answer,seconds,read_at\n"
    file.write_text(header + "pilot,ext-1,nowhere,B,3,2026-03-02T09:00:00Z\n")
    assert cli.main(["import", "readings", str(file), "--study", "pilot"]) == 1
    error_output = capsys.readouterr().err
    assert "readings.csv: line 2: question_id: 'nowhere' is not a case" in error_output
    assert "Nothing was imported: 1 invalid line." in error_output


def test_an_exclusion_needs_a_reason(world):
    cli.main(CREATE_COMMAND)
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["study", "exclude", "pilot", "--case", "1"])
    assert exit_info.value.code == 2
    assert cli.main(["study", "exclude", "pilot", "--case", "1", "--why", "the key is wrong"]) == 0


def test_power_needs_no_workspace_and_prints_json(capsys, monkeypatch):
    monkeypatch.setenv("OVERREAD_HOME", "/nowhere/at/all")
    arguments = ["--reader-accuracy", ".7727", "--model-accuracy", ".8384", "--spread", ".02"]
    sizes = ["--readers", "3", "--cases", "200", "--runs", "0", "--kappa", ".4", "--json"]
    assert cli.main(["study", "power", *arguments, *sizes]) == 0
    result = json.loads(capsys.readouterr().out)
    assert round(result["power"][0]["shown"], 2) == 0.51
    assert 560 <= result["cases_needed"][0]["cases"] <= 575
    assert 0.2 < result["kappa"][0]["low"] < 0.4 < result["kappa"][0]["high"] < 0.6


def test_person_who_is_no_reader_cannot_be_assigned(world, capsys):
    cli.main(CREATE_COMMAND)
    assert cli.main(["study", "assign", "pilot", "--to", "ruth"]) == 1
    assert f"ruth does not have the role {Role.READER}" in capsys.readouterr().err


def test_power_of_two_arms_is_simulated(capsys):
    arguments = [
        "--reader-accuracy",
        ".85",
        "--second-arm-accuracy",
        ".75",
        "--readers",
        "4",
        "--runs",
        "100",
    ]
    assert cli.main(["study", "power", *arguments, "--cases", "150", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["expected"]["second_accuracy"], result["runs"]) == (0.75, 100)
    assert result["power"][0]["simulated"] > 0.6
    assert cli.main(["study", "power", *arguments, "--cases", "150", "--readers-per-case", "2"]) == 0
    assert "with 4 readers" in capsys.readouterr().out
    assert cli.main(["study", "power", *arguments, "--cases", "150", "--readers-per-case", "9"]) == 1
    assert "readers_per_case: must be at most 4, not 9" in capsys.readouterr().err
