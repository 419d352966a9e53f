"""Splits of a release; private questions are released without their answers; releases are compared."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path

import pytest
from pydicom.uid import JPEGLSLossless

from domain.errors import Refused
from imaging.guarded_decoder import GuardedDecoder
from reader_study.release_keys import load_keys
from release.compare import compare_releases
from release.service import SplitPlan, verify_release
from release.service.images import hash_pixels
from storage.images.files import get_image_store
from tests.golden.formats_world import FormatsWorld, make_formats_world, make_released_world
from tests.golden.question_files import write_image
from tests.golden.release_readers import (
    expect_croissant,
    expect_datasets,
    read_coco,
    read_croissant,
    read_datasets,
)
from tests.golden.release_world import make_judged_world, write_test_release
from tests.unit.makers.dicom_files import dicom, ramp

pytestmark = pytest.mark.full

SPLIT = SplitPlan(private_share=0.5, seed=3)


@pytest.fixture
def formats_world(sqlite_engine, tmp_path) -> FormatsWorld:
    return make_formats_world(sqlite_engine, tmp_path)


@pytest.fixture
def folder(formats_world, tmp_path) -> Path:
    formats_world.write(tmp_path / "v1", split=SPLIT)
    return tmp_path / "v1"


def read_records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_exam_is_either_public_or_private(folder):
    public, private = (
        read_records(folder / "gold.jsonl"),
        read_records(folder / "private" / "questions.jsonl"),
    )
    assert {record["exam"]["id"] for record in public} & {record["exam"]["id"] for record in private} == set()
    assert len(public) + len(private) == 7
    assert public
    assert private


def test_private_questions_are_in_no_public_file(folder, formats_world):
    private_ids = {record["id"] for record in read_records(folder / "private" / "questions.jsonl")}
    revealing_fields = {"answer", "also_right", "explanation", "boxes", "category", "content_type"}
    assert all(
        not revealing_fields & record.keys()
        for record in read_records(folder / "private" / "questions.jsonl")
    )
    other_files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "private"]
    for key in private_ids:
        stem = formats_world.gold[key].stem.encode()
        assert [path.name for path in other_files if stem in path.read_bytes()] == []


def test_complete_keys_are_written_beside_the_release(folder, formats_world):
    keys = read_records(folder.with_name("v1-keys") / "keys.jsonl")
    private = read_records(folder / "private" / "questions.jsonl")
    assert [key_record["id"] for key_record in keys] == [record["id"] for record in private]
    assert {key_record["id"]: key_record.get("explanation", "") for key_record in keys} == {
        private_record["id"]: formats_world.gold[private_record["id"]].explanation
        for private_record in private
    }
    assert all("answer" in key_record for key_record in keys)


def test_an_answer_in_the_private_file_is_reported_as_a_fault(folder):
    assert verify_release(folder).faults == ()
    path = folder / "private" / "questions.jsonl"
    record = read_records(path)[0]
    path.write_text(json.dumps({**record, "answer": [0]}) + "\n", encoding="utf-8")
    assert verify_release(folder).faults != ()


def test_release_and_keys_are_written_reproducibly(folder, formats_world):
    # A second release in the same folder is accepted only if all bytes are equal.
    assert formats_world.write(folder, split=SPLIT).already_existed


def test_a_split_without_a_question_is_refused(formats_world, tmp_path):
    with pytest.raises(Refused, match="Choose another share or seed"):
        formats_world.write(tmp_path / "v2", name="v2", split=SplitPlan(private_share=0.001, seed=3))
    assert not (tmp_path / "v2").exists()
    assert not (tmp_path / "v2-keys").exists()


def test_each_split_is_readable_by_the_library_of_its_format(sqlite_engine, tmp_path):
    """Twelve exams of six patients; each split has whole patients, and every library reads its questions."""
    (tmp_path / "images").mkdir()
    records = []
    for number in range(12):
        write_image(tmp_path / "images" / f"{number}.png", 40 + number, 50, "L")
        exam = {
            "id": f"exam-{number}",
            "patient": f"patient-{number % 6}",
            "radiographs": [{"id": "pa", "file": f"{number}.png", "view": "PA"}],
        }
        box = {"radiograph": "pa", "label": "Nodule", "box": [1, 2, 30, 40]}
        records.append(
            {
                "id": f"q-{number}", "exam": exam, "format": "single", "stem": f"Which of {number}?",
                "options": ["A", "B"], "answer": [number % 2], "boxes": [box],
            }
        )  # fmt: skip
    world = make_released_world(sqlite_engine, tmp_path, records)
    plan = SplitPlan(private_share=0.2, valid_share=0.2, test_share=0.3, seed=5)
    folder = tmp_path / "v1"
    world.write(folder, split=plan)
    assert verify_release(folder).faults == ()
    rows = read_records(folder / "splits.jsonl")
    ids = defaultdict(set)
    for row in rows:
        ids[row["split"]].add(row["question_id"])
    assert set(ids) == {"train", "valid", "test", "private"}
    patients = {name: {int(key[2:]) % 6 for key in members} for name, members in ids.items()}
    assert sum(map(len, patients.values())) == 6
    for split in ("train", "valid", "test"):
        gold = {key: question for key, question in world.gold.items() if key in ids[split]}
        rows_by_id = read_datasets(folder / split, tmp_path / f"cache-{split}")
        expected_rows = expect_datasets(gold)
        assert rows_by_id.keys() == expected_rows.keys()
        for key, expected_row in expected_rows.items():
            assert {name: rows_by_id[key][name] for name in expected_row} == expected_row
        assert read_croissant(folder, record_set=split) == expect_croissant(gold)
        assert set(json.loads((folder / split / "rexvqa.json").read_text())) == ids[split]
        assert read_coco(folder / split).keys() == ids[split]
    assert {record["id"] for record in read_records(folder / "private" / "questions.jsonl")} == ids["private"]
    questions_with_keys = load_keys(folder)
    assert {key: question.side for key, question in questions_with_keys.items()} == {
        row["question_id"]: row["split"] for row in rows
    }


def test_an_exam_in_two_splits_and_a_missing_question_are_faults(formats_world, tmp_path):
    folder = tmp_path / "v1"
    formats_world.write(folder, split=SplitPlan(test_share=0.5, seed=3))
    path = folder / "splits.jsonl"
    first, second, *_, last = rows = read_records(path)
    rows[1] = {**second, "exam_id": first["exam_id"], "split": "valid"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:-1]), encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        if entry["path"] == "splits.jsonl":
            entry["bytes"] = path.stat().st_size
            entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    faults = verify_release(folder).faults
    assert f"splits.jsonl, line 2: exam {first['exam_id']!r} is in {first['split']} too" in faults
    assert f"splits.jsonl: question {last['question_id']!r} is missing" in faults


def test_the_same_pixels_in_another_file_have_the_same_hash(formats_world):
    """A recompressed copy has another SHA-256 but the same pixel hash."""
    store = get_image_store(formats_world.workspace)
    files = {
        "raw": dicom(ramp(60, 50)),
        "compressed": dicom(ramp(60, 50), syntax=JPEGLSLossless, PatientID="another"),
        "other": dicom(ramp(60, 51)),
    }
    digests = {}
    for name, content in files.items():
        digests[name] = hashlib.sha256(content).hexdigest()
        store.write(digests[name], content)
    with GuardedDecoder() as decoder:
        pixel_hashes = hash_pixels(formats_world.workspace, digests.values(), decoder=decoder)
    assert pixel_hashes[digests["raw"]] == pixel_hashes[digests["compressed"]]
    assert pixel_hashes[digests["raw"]] != pixel_hashes[digests["other"]]


def test_identical_releases_have_no_difference(sqlite_engine, tmp_path):
    world = make_judged_world(sqlite_engine)
    write_test_release(world, tmp_path / "v1")
    write_test_release(world, tmp_path / "v2", name="v2")
    comparison = compare_releases(tmp_path / "v1", tmp_path / "v2")
    assert comparison.sentence == "v2 compared with v1: nothing changed; 5 unchanged"


def test_changed_added_and_removed_questions_are_counted(sqlite_engine, tmp_path):
    world = make_judged_world(sqlite_engine)
    write_test_release(world, tmp_path / "v1")
    write_test_release(world, tmp_path / "v2", name="v2")
    path = tmp_path / "v2" / "gold.jsonl"
    records = read_records(path)
    records[1]["answer"], records[2]["stem"], records[3]["id"] = [2], "Another?", "Q99"
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    comparison = compare_releases(tmp_path / "v1", tmp_path / "v2")
    assert comparison.sentence == (
        "v2 compared with v1: 1 key changed, 1 stem changed, 1 question added, 1 question removed; "
        "2 unchanged"
    )


def test_releases_of_two_datasets_are_not_compared(folder, tmp_path):
    path = tmp_path / "v1" / "manifest.json"
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    manifest = json.loads(path.read_text())
    (other_folder / "manifest.json").write_text(json.dumps({**manifest, "dataset": "another"}))
    with pytest.raises(Refused, match="different datasets"):
        compare_releases(folder, other_folder)
