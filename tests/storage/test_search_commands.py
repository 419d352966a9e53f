"""Output and exit codes of find, history, agreement, patient-data, backup and restore."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest

import cli
from storage.engine import current_engine, get_engine
from tests.golden.release_world import make_judged_world

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged_home(sqlite_template, tmp_path_factory):
    """The folder of a workspace with the judged world of twelve questions."""
    home = tmp_path_factory.mktemp("judged")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OVERREAD_HOME", str(home))
        environment.delenv("OVERREAD_DATABASE_URL", raising=False)
        engine = current_engine()
        make_judged_world(engine)
        engine.dispose()
        get_engine.cache_clear()
    return home


@pytest.fixture
def workspace(judged_home, tmp_path, monkeypatch):
    """A copy of the judged workspace, set as the workspace of the commands."""
    home = tmp_path / "workspace"
    shutil.copytree(judged_home, home)
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    yield home
    current_engine().dispose()
    get_engine.cache_clear()


def run_command(capsys, *arguments, code=0):
    capsys.readouterr()
    assert cli.main(list(arguments)) == code
    return capsys.readouterr().out


def find_questions(capsys, *arguments):
    return [
        row["question_id"]
        for row in csv.DictReader(io.StringIO(run_command(capsys, "find", "demo", *arguments)))
    ]


def test_find_prints_and_counts_matches(workspace, capsys):
    all_ids = find_questions(capsys)
    assert len(all_ids) == 12
    assert find_questions(capsys, "--most", "5") == all_ids[:5]
    assert run_command(capsys, "find", "demo", "--count") == "12\n"
    assert find_questions(capsys, "nosuchword") == []
    for option in ("--status", "--standing"):  # the second is the option's previous name
        rejected_ids = find_questions(capsys, option, "rejected by somebody")
        assert rejected_ids == ["Q4", "Q5"]  # not Q8: verdict changed
    easy_ids = find_questions(capsys, "--difficulty", "easy")
    assert 0 < len(easy_ids) < 12
    assert run_command(capsys, "find", "demo", "--count", "--difficulty", "easy") == f"{len(easy_ids)}\n"


def test_find_with_a_limit_of_zero_is_refused(workspace, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["find", "demo", "--most", "0"])
    assert "--most must be 1 or more" in capsys.readouterr().err


def test_history_prints_the_events_of_a_question_in_order(workspace, capsys):
    history = run_command(capsys, "history", "demo", find_questions(capsys)[1])
    events_in_order = ["key: ", "imported from", "drawn into batch first", "assigned to Ruth", "revised in"]
    assert [history.index(part) for part in events_in_order] == sorted(
        history.index(part) for part in events_in_order
    )
    assert "The nodule is plain to see." in history


def test_history_of_an_unknown_question_fails_and_names_the_question(workspace, capsys):
    assert cli.main(["history", "demo", "Q999"]) == 1
    assert "Q999" in capsys.readouterr().err


def test_agreement_prints_the_same_values_as_text_and_json(workspace, capsys):
    report = json.loads(run_command(capsys, "agreement", "first", "--json"))
    assert (report["batch"], report["shared"]) == ("first", 3)
    text = run_command(capsys, "agreement", "first")
    [decision] = [aspect for aspect in report["between"][0]["aspects"] if aspect["name"] == "decision"]
    assert list(decision) == ["name", "group", "weighted", "percent", "kappa", "third", "third_name"]
    percent = decision["percent"]
    assert (percent["n"], round(percent["estimate"], 3)) == (3, 0.667)
    assert "66.7 %" in text
    assert f"{100 * percent['low']:.1f} % to {100 * percent['high']:.1f} %" in text


def test_patient_data_command_searches_and_saves_decisions(workspace, capsys):
    assert "questions contain a passage that may identify a patient" in run_command(
        capsys, "patient-data", "texts", "demo"
    )
    first_line, *_ = run_command(capsys, "patient-data", "next", "demo").splitlines()
    sha256 = first_line.split("\t")[0]
    assert "Recorded for 1 image: no patient text." in run_command(
        capsys, "patient-data", "decide", "clean", sha256
    )
    assert sha256 not in run_command(capsys, "patient-data", "next", "demo")
    assert cli.main(["patient-data", "decide", "clean", "nonsense"]) == 1
    assert "64 hex digits" in capsys.readouterr().err


def test_backup_is_checked_restored_and_audited(workspace, tmp_path, capsys, monkeypatch):
    file = tmp_path / "overread.backup"
    before = run_command(capsys, "find", "demo")
    assert "rows of" in run_command(capsys, "backup", "--without-images", str(file))
    assert "overread.backup can be restored: " in run_command(capsys, "restore", "--check", str(file))
    assert cli.main(["backup", "--without-images", str(file)]) == 1  # the file exists already
    assert cli.main(["restore", str(file)]) == 1  # the workspace is not empty
    capsys.readouterr()

    current_engine().dispose()
    get_engine.cache_clear()
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "another"))
    output = run_command(capsys, "restore", str(file), code=1)  # 1: images have rows but no files
    assert "have the rows and the hashes of the backup" in output
    assert run_command(capsys, "find", "demo") == before
    assert "is consistent" in run_command(capsys, "audit", "verify")


def test_altered_backup_fails_the_check(workspace, tmp_path, capsys):
    file = tmp_path / "overread.backup"
    run_command(capsys, "backup", "--without-images", str(file))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert cli.main(["restore", "--check", str(file)]) == 1
    assert str(file) in capsys.readouterr().err
