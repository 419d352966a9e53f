"""The files of a release are identical, byte for byte, from either database."""

from __future__ import annotations

import csv
import json

import msgspec
import pytest
from sqlalchemy import update

from release.service import ReviewerNaming, verify_release
from storage.intake.questions import load_questions
from storage.rows.batches import BatchRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.release_world import GOLDEN, make_judged_world, write_test_release

pytestmark = pytest.mark.slow

GOLDEN_NAMES = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file())


@pytest.fixture
def folder(engine, tmp_path):
    write_test_release(make_judged_world(engine), tmp_path / "v1")
    return tmp_path / "v1"


def read_records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_release_equals_the_golden_files(folder):
    written_names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert sorted(written_names) == GOLDEN_NAMES
    for name in GOLDEN_NAMES:
        assert (folder / name).read_bytes() == (GOLDEN / name).read_bytes(), name


def test_the_golden_release_is_valid():
    report = verify_release(GOLDEN)
    assert (report.faults, report.questions, report.corrections) == ((), 5, 11)


def test_gold_questions_differ_only_by_their_corrections(engine, tmp_path):
    world = make_judged_world(engine)
    write_test_release(world, tmp_path / "v1")
    with read_only_session(engine) as db:
        imported = {question.id: question for _, question in load_questions(db, question_ids=world.questions)}
    gold = {record["id"]: record for record in read_records(tmp_path / "v1" / "gold.jsonl")}
    corrected = {
        (record["question_id"], record["field"])
        for record in read_records(tmp_path / "v1" / "corrections.jsonl")
    }
    for key, record in gold.items():
        for field in ("stem", "explanation", "task", "category", "difficulty"):
            is_unchanged = (getattr(imported[key], field) or None) == (record.get(field) or None)
            assert is_unchanged != ((key, field) in corrected)


def test_a_formula_like_cell_is_escaped(folder):
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["question_id"]: row for row in csv.DictReader(file)}
    assert rows["Q2"]["stem"].startswith("'=Which")
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows.values() for cell in row.values()
    )


def test_options_and_key_are_shown_as_letters(folder):
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["question_id"] == "Q8")
    assert (row["options"], row["answer"]) == ("A. Nodule\nB. Effusion\nC. Pneumothorax", "C")


@pytest.mark.parametrize(
    ("naming", "who"),
    [
        (ReviewerNaming.ACCOUNT, "remo"),
        (ReviewerNaming.DISPLAY, "Remo"),
        (ReviewerNaming.PSEUDONYM, "reviewer-2"),
    ],
)
def test_reviewers_are_named_as_requested(sqlite_engine, tmp_path, naming, who):
    write_test_release(make_judged_world(sqlite_engine), tmp_path / "v1", reviewer_naming=naming)
    assert who in {record["who"] for record in read_records(tmp_path / "v1" / "corrections.jsonl")}


def test_reports_are_included_only_on_request(sqlite_engine, tmp_path):
    world = make_judged_world(sqlite_engine)
    write_test_release(world, tmp_path / "v1")
    write_test_release(world, tmp_path / "v2", name="v2", with_reports=True)
    assert b"SECRET-report" not in b"".join(
        path.read_bytes() for path in (tmp_path / "v1").rglob("*") if path.is_file()
    )
    assert all("SECRET-report" in record["report"] for record in read_records(tmp_path / "v2" / "gold.jsonl"))


def test_one_key_accept_is_stated_in_manifest_and_data_card(sqlite_engine, tmp_path):
    world = make_judged_world(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        db.execute(update(BatchRow).values(one_key_accept=True))
    write_test_release(world, tmp_path / "v1")
    batches = json.loads((tmp_path / "v1" / "manifest.json").read_bytes())["batches"]
    assert [batch["one_key_accept"] for batch in batches] == [True] * len(batches)
    card = (tmp_path / "v1" / "datacard.md").read_text(encoding="utf-8")
    assert card.count("with one-key accept: fields without input got the top rating") == len(batches)


def test_gold_jsonl_is_a_valid_native_file(sqlite_engine, tmp_path):
    from intake.formats.native import NativeReader

    write_test_release(make_judged_world(sqlite_engine), tmp_path / "v1", with_reports=True)
    records = [
        NativeReader("gold").read(number, line)
        for number, line in enumerate((tmp_path / "v1" / "gold.jsonl").read_bytes().splitlines())
    ]
    reencoded = [json.loads(msgspec.json.encode(record)) for record in records]
    assert reencoded == read_records(tmp_path / "v1" / "gold.jsonl")
