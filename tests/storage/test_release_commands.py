"""The commands sample, batch and release, and the import of a release."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from sqlalchemy import select

import cli
from records.questions import question_from_plain
from storage.intake.questions import load_questions
from storage.rows.datasets import QuestionRow
from storage.sampling.frames import load_dataset_row_id
from storage.unit_of_work import read_only_session
from tests.golden.release_world import GOLDEN, make_judged_world
from tests.storage.sampling_frames import insert_questions, make_questions

pytestmark = pytest.mark.slow


@pytest.fixture
def workspace(workspace_engine):
    return workspace_engine


def list_batch(capsys, *arguments):
    capsys.readouterr()
    assert cli.main(["batch", "list", *arguments]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_same_seed_draws_the_same_batch(workspace, capsys):
    insert_questions(workspace, make_questions(10_000))
    for name in ("a", "b"):
        assert cli.main(["sample", "demo", "--per-1000", "100", "--seed", "7", "--batch", name]) == 0
    assert "Batch b: 1,000 questions added." in capsys.readouterr().out
    assert list_batch(capsys, "a") == list_batch(capsys, "b")


def test_batch_list_has_stratum_probability_and_state(workspace, capsys):
    insert_questions(workspace, make_questions(1000))
    cli.main(["sample", "demo", "--n", "200", "--seed", "7", "--batch", "alignment", "--strata", "task"])
    rows = list_batch(capsys, "alignment")
    assert len(rows) == 200
    assert list(rows[0]) == ["question_id", "stratum", "inclusion_probability", "state"]
    assert {row["stratum"].split(" / ")[0] for row in rows} == {"easy", "medium", "hard"}
    assert {row["state"] for row in rows} == {"unassigned"}


def test_all_batches_are_listed_with_their_plans(workspace, capsys):
    insert_questions(workspace, make_questions(1000))
    cli.main(
        ["sample", "demo", "--seed", "7", "--batch", "b", "--mode", "answer first", "--shares", "hard=2"]
    )
    [row] = list_batch(capsys)
    assert (row["batch"], row["questions"], row["mode"]) == ("b", "100", "answer first")
    assert row["plan"] == "100 per 1,000, seed 7, hard with share 2"


def test_dry_run_previews_the_draw_and_draws_nothing(workspace, capsys):
    insert_questions(workspace, make_questions(1000))
    assert cli.main(["sample", "demo", "--seed", "7", "--batch", "b", "--dry-run"]) == 0
    assert "Would draw 100 of 1,000 questions" in capsys.readouterr().out
    assert list_batch(capsys) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["sample", "other", "--seed", "7", "--batch", "b"], "no dataset 'other'"),
        (
            ["sample", "demo", "--seed", "7", "--batch", "b", "--shares", "hard=much"],
            "must have the form hard=2",
        ),
        (["sample", "demo", "--seed", "7", "--batch", "b", "--shares", "expert=2"], "is not a tier"),
        (["sample", "demo", "--seed", "7", "--batch", "b", "--per-1000", "0"], "must be 1 to 1,000"),
        (["sample", "demo", "--seed", "7", "--batch", "b", "--strata", "age"], "may contain task, category"),
        (["batch", "list", "nothing"], "no batch 'nothing'"),
        (["release", "create", "demo", "--name", "v1", "--out", "x"], "has no batches"),
        (["release", "verify", "nowhere"], "Choose the folder of a release"),
    ],
)
def test_impossible_commands_fail_with_the_reason(workspace, capsys, arguments, reason):
    insert_questions(workspace, make_questions(10))
    assert cli.main(arguments) == 1
    assert reason in capsys.readouterr().err


def test_release_is_created_listed_and_verified(workspace, capsys, tmp_path):
    make_judged_world(workspace)
    create_command = ["release", "create", "demo", "--name", "v1", "--out", str(tmp_path / "v1")]
    assert cli.main(create_command) == 0
    assert "released   5 (accepted 1, revised 4)" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_bytes())
    assert manifest.pop("audit").keys() == {"number", "hash"}
    assert manifest == json.loads((GOLDEN / "manifest.json").read_bytes())
    assert cli.main(create_command) == 0
    assert "already existed with identical files" in capsys.readouterr().out
    assert cli.main(["release", "verify", str(tmp_path / "v1")]) == 0
    assert cli.main(["release", "list"]) == 0
    assert "1\tdemo\tv1\t5 questions" in capsys.readouterr().out


def test_verify_fails_and_names_the_altered_file(capsys, tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "v1")
    (tmp_path / "v1" / "gold.csv").write_text("")
    assert cli.main(["release", "verify", str(tmp_path / "v1")]) == 1
    assert "gold.csv: 0 bytes; the manifest states" in capsys.readouterr().err


def test_release_dry_run_writes_nothing(workspace, capsys, tmp_path):
    make_judged_world(workspace)
    assert cli.main(["release", "create", "demo", "--name", "v1", "--dry-run"]) == 0
    assert "not judged 4" in capsys.readouterr().out
    assert list(tmp_path.glob("**/gold.jsonl")) == []


def test_release_without_a_folder_is_wrong_usage(workspace):
    make_judged_world(workspace)
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["release", "create", "demo", "--name", "v1"])
    assert exit_info.value.code == 2


def test_imported_release_has_equal_questions(workspace, tmp_path):
    make_judged_world(workspace)
    cli.main(["release", "create", "demo", "--name", "v1", "--out", str(tmp_path / "v1")])
    gold = tmp_path / "v1" / "gold.jsonl"
    assert cli.main(["import", "questions", str(gold), "--dataset", "gold", "--without-images"]) == 0
    records = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    released = {record["id"]: question_from_plain(record) for record in records}
    with read_only_session() as db:
        dataset_row_id = load_dataset_row_id(db, name="gold")
        ids = (
            db.execute(select(QuestionRow.id).where(QuestionRow.dataset_id == dataset_row_id)).scalars().all()
        )
        imported = {question.id: question for _, question in load_questions(db, question_ids=ids)}
    assert imported == released
