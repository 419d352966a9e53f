"""The files of a release are identical, byte for byte, from either database."""

from __future__ import annotations

import csv
import json

import msgspec
import pytest

from release.service import ReviewerNaming, verify_release
from storage.intake.questions import load_questions
from storage.unit_of_work import read_only_session
from tests.golden.release_world import GOLDEN, judged_world, write

pytestmark = pytest.mark.slow

NAMES = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file())


@pytest.fixture
def folder(engine, tmp_path):
    write(judged_world(engine), tmp_path / "v1")
    return tmp_path / "v1"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_release_has_these_files_and_these_bytes(folder):
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert sorted(found) == NAMES
    for name in NAMES:
        assert (folder / name).read_bytes() == (GOLDEN / name).read_bytes(), name


def test_the_kept_release_is_as_it_was_made():
    report = verify_release(GOLDEN)
    assert (report.faults, report.questions, report.corrections) == ((), 5, 11)


def test_every_correction_is_in_the_gold_question_and_nothing_else_is_changed(engine, tmp_path):
    world = judged_world(engine)
    write(world, tmp_path / "v1")
    with read_only_session(engine) as db:
        before = {question.id: question for _, question in load_questions(db, question_ids=world.questions)}
    gold = {record["id"]: record for record in lines(tmp_path / "v1" / "gold.jsonl")}
    corrected = {
        (each["question_id"], each["field"]) for each in lines(tmp_path / "v1" / "corrections.jsonl")
    }
    for key, record in gold.items():
        for field in ("stem", "explanation", "task", "category", "difficulty"):
            same = (getattr(before[key], field) or None) == (record.get(field) or None)
            assert same != ((key, field) in corrected)


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(folder):
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["question_id"]: row for row in csv.DictReader(file)}
    assert rows["Q2"]["stem"].startswith("'=Which")
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows.values() for cell in row.values()
    )


def test_options_read_as_a_person_reads_them(folder):
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["question_id"] == "Q8")
    assert (row["options"], row["answer"]) == ("A. Nodule\nB. Effusion\nC. Pneumothorax", "C")


@pytest.mark.parametrize(
    ("names", "who"),
    [
        (ReviewerNaming.ACCOUNT, "remo"),
        (ReviewerNaming.DISPLAY, "Remo"),
        (ReviewerNaming.PSEUDONYM, "reviewer-2"),
    ],
)
def test_reviewers_are_named_as_it_was_asked(sqlite_engine, tmp_path, names, who):
    write(judged_world(sqlite_engine), tmp_path / "v1", reviewer_naming=names)
    assert who in {each["who"] for each in lines(tmp_path / "v1" / "corrections.jsonl")}


def test_the_report_goes_out_only_when_it_was_asked_for(sqlite_engine, tmp_path):
    world = judged_world(sqlite_engine)
    write(world, tmp_path / "v1")
    write(world, tmp_path / "v2", name="v2", with_reports=True)
    assert b"SECRET-report" not in b"".join(
        path.read_bytes() for path in (tmp_path / "v1").rglob("*") if path.is_file()
    )
    assert all("SECRET-report" in record["report"] for record in lines(tmp_path / "v2" / "gold.jsonl"))


def test_gold_jsonl_is_read_by_the_import_of_native_files(sqlite_engine, tmp_path):
    from intake.formats.native import NativeReader

    write(judged_world(sqlite_engine), tmp_path / "v1", with_reports=True)
    records = [
        NativeReader("gold").read(number, line)
        for number, line in enumerate((tmp_path / "v1" / "gold.jsonl").read_bytes().splitlines())
    ]
    again = [json.loads(msgspec.json.encode(record)) for record in records]
    assert again == lines(tmp_path / "v1" / "gold.jsonl")
