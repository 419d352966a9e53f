"""Output and exit codes of find, history, agreement, patient-data, backup and restore."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest

import cli
from storage.engine import current_engine, get_engine
from tests.golden.release_world import judged_world

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(sqlite_template, tmp_path_factory):
    """The folder of a workspace with the judged world of twelve questions."""
    home = tmp_path_factory.mktemp("judged")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OVERREAD_HOME", str(home))
        environment.delenv("OVERREAD_DATABASE_URL", raising=False)
        engine = current_engine()
        judged_world(engine)
        engine.dispose()
        get_engine.cache_clear()
    return home


@pytest.fixture
def workspace(judged, tmp_path, monkeypatch):
    """A copy of that workspace, which the environment names."""
    home = tmp_path / "workspace"
    shutil.copytree(judged, home)
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    yield home
    current_engine().dispose()
    get_engine.cache_clear()


def printed(capsys, *arguments, code=0):
    capsys.readouterr()
    assert cli.main(list(arguments)) == code
    return capsys.readouterr().out


def found(capsys, *arguments):
    return [
        row["question_id"] for row in csv.DictReader(io.StringIO(printed(capsys, "find", "demo", *arguments)))
    ]


def test_find_prints_what_a_search_finds_and_counts_it(workspace, capsys):
    everything = found(capsys)
    assert len(everything) == 12
    assert found(capsys, "--most", "5") == everything[:5]
    assert printed(capsys, "find", "demo", "--count") == "12\n"
    assert found(capsys, "nosuchword") == []
    assert found(capsys, "--standing", "rejected by somebody") == ["Q4", "Q5"]  # not Q8: verdict changed
    easy = found(capsys, "--difficulty", "easy")
    assert 0 < len(easy) < 12
    assert printed(capsys, "find", "demo", "--count", "--difficulty", "easy") == f"{len(easy)}\n"


def test_find_of_no_line_is_refused(workspace, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["find", "demo", "--most", "0"])
    assert "--most must be 1 or more" in capsys.readouterr().err


def test_history_tells_what_happened_to_a_question_in_order(workspace, capsys):
    told = printed(capsys, "history", "demo", found(capsys)[1])
    order = ["key: ", "imported from", "drawn into batch first", "assigned to Ruth", "corrected it"]
    assert [told.index(part) for part in order] == sorted(told.index(part) for part in order)
    assert "The nodule is plain to see." in told


def test_history_of_a_question_that_is_not_there_names_it(workspace, capsys):
    assert cli.main(["history", "demo", "Q999"]) == 1
    assert "Q999" in capsys.readouterr().err


def test_agreement_is_the_same_as_text_and_as_json(workspace, capsys):
    plain = json.loads(printed(capsys, "agreement", "first", "--json"))
    assert (plain["batch"], plain["shared"]) == ("first", 3)
    text = printed(capsys, "agreement", "first")
    [decision] = [each for each in plain["between"][0]["aspects"] if each["name"] == "decision"]
    percent = decision["percent"]
    assert (percent["n"], round(percent["estimate"], 3)) == (3, 0.667)
    assert "66.7 %" in text
    assert f"{100 * percent['low']:.1f} % to {100 * percent['high']:.1f} %" in text


def test_patient_data_is_searched_for_and_keeps_what_a_person_saw(workspace, capsys):
    assert "questions have a passage that may tell who the patient is" in printed(
        capsys, "patient-data", "texts", "demo"
    )
    first, *_ = printed(capsys, "patient-data", "next", "demo").splitlines()
    sha256 = first.split("\t")[0]
    assert "Kept for 1 images" in printed(capsys, "patient-data", "decide", "clean", sha256)
    assert sha256 not in printed(capsys, "patient-data", "next", "demo")
    assert cli.main(["patient-data", "decide", "clean", "nonsense"]) == 1
    assert "64 hex digits" in capsys.readouterr().err


def test_a_backup_is_checked_restored_and_on_record(workspace, tmp_path, capsys, monkeypatch):
    file = tmp_path / "overread.backup"
    before = printed(capsys, "find", "demo")
    assert "rows of" in printed(capsys, "backup", "--without-images", str(file))
    assert "overread.backup restores: " in printed(capsys, "restore", "--check", str(file))
    assert cli.main(["backup", "--without-images", str(file)]) == 1  # the file exists already
    assert cli.main(["restore", str(file)]) == 1  # the workspace is not empty
    capsys.readouterr()

    current_engine().dispose()
    get_engine.cache_clear()
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "another"))
    restored = printed(capsys, "restore", str(file), code=1)  # 1: the world's images are rows without files
    assert "have the rows and the hashes of the backup" in restored
    assert printed(capsys, "find", "demo") == before
    assert "is whole" in printed(capsys, "audit", "verify")


def test_an_altered_backup_is_not_restored(workspace, tmp_path, capsys):
    file = tmp_path / "overread.backup"
    printed(capsys, "backup", "--without-images", str(file))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert cli.main(["restore", "--check", str(file)]) == 1
    assert str(file) in capsys.readouterr().err
