"""Every change in a release's folder is detected and named."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from release.service import verify_release
from tests.golden.release_world import GOLDEN


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "v1")
    return tmp_path / "v1"


def update_manifest(folder):
    """Update the manifest to match the files, as a person would who wants to hide a change."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for entry in manifest["files"]:
        content = (folder / entry["path"]).read_bytes()
        entry["bytes"], entry["sha256"] = len(content), hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(manifest))


def replace_text(path, old_text, new_text):
    text = path.read_text(encoding="utf-8")
    assert old_text in text
    path.write_text(text.replace(old_text, new_text, 1), encoding="utf-8")


def list_faults(folder):
    return " | ".join(verify_release(folder).faults)


def test_an_untouched_release_has_no_fault(folder):
    report = verify_release(folder)
    assert (report.ok, report.files, report.questions) == (True, 14, 5)


@pytest.mark.parametrize(
    "name",
    sorted(
        path.relative_to(GOLDEN).as_posix()
        for path in GOLDEN.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    ),
)
def test_one_changed_byte_is_found(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    assert f"{name}: changed; SHA-256" in list_faults(folder)


def test_an_added_byte_is_found(folder):
    with (folder / "gold.csv").open("ab") as file:
        file.write(b"\n")
    assert "gold.csv: 1,9" in list_faults(folder)


def test_a_missing_file_is_found(folder):
    (folder / "gold.csv").unlink()
    assert list_faults(folder) == "gold.csv: missing"


def test_an_extra_file_is_found(folder):
    (folder / "images").mkdir()
    (folder / "images" / "x.dcm").write_bytes(b"x")
    assert list_faults(folder) == "images/x.dcm: not in the manifest"


def test_a_symbolic_link_instead_of_a_file_is_found(folder, tmp_path):
    (folder / "gold.csv").rename(tmp_path / "elsewhere.csv")
    (folder / "gold.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert "gold.csv: missing" in list_faults(folder)


def test_an_invalid_question_is_found(folder):
    replace_text(folder / "gold.jsonl", '"answer":[0]', '"answer":[7]')
    update_manifest(folder)
    assert "gold.jsonl, line 2: is not a valid question: answer: [7] is not an option" in list_faults(folder)


def test_an_unapplied_correction_is_found(folder):
    replace_text(folder / "gold.jsonl", '"answer":[0]', '"answer":[1]')
    update_manifest(folder)
    assert list_faults(folder) == "gold.jsonl: question 'Q2': answer differs from corrections.jsonl"


def test_boxes_that_contradict_a_correction_are_found(folder):
    path = folder / "gold.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records[3]["boxes"] = [{"radiograph": "pa", "label": "x", "box": [1, 1, 2, 2]}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    update_manifest(folder)
    assert list_faults(folder) == "gold.jsonl: question 'Q7': boxes differs from corrections.jsonl"


def test_a_dropped_question_is_found(folder):
    path = folder / "gold.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    update_manifest(folder)
    assert "question 'Q8' is corrected, but is not in gold.jsonl" in list_faults(folder)
    assert "counts.released is 5, but the files contain 4" in list_faults(folder)


def test_a_duplicate_question_is_found(folder):
    path = folder / "gold.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    update_manifest(folder)
    assert "line 6: question 'Q1' appears twice" in list_faults(folder)


def test_a_rejected_question_in_the_gold_set_is_found(folder):
    replace_text(folder / "left_out.jsonl", '"question_id":"Q4"', '"question_id":"Q1"')
    update_manifest(folder)
    assert list_faults(folder) == "left_out.jsonl, line 1: question 'Q1' is in gold.jsonl too"


@pytest.mark.parametrize("line", [b"[]", b"{", b'{"id":', b"null", b"[" * 100_000, b'"text"'])
def test_a_line_that_is_no_record_is_found(folder, line):
    with (folder / "gold.jsonl").open("ab") as file:
        file.write(line + b"\n")
    update_manifest(folder)
    assert "gold.jsonl, line 6: is not" in list_faults(folder)


@pytest.mark.parametrize(
    "path", ["../v1/gold.jsonl", "/etc/passwd", "a/../gold.csv", "", "a\\..\\b", "./gold.csv"]
)
def test_a_manifest_path_outside_the_folder_is_not_followed(folder, path):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][0]["path"] = path
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "which is outside the folder" in list_faults(folder)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"files": [1]}', '{"files": [], "format": "other/1"}']
)
def test_an_invalid_manifest_is_reported(folder, text):
    (folder / "manifest.json").write_text(text)
    assert "manifest.json" in list_faults(folder)


def test_a_folder_without_a_manifest_is_no_release(tmp_path):
    assert "Choose the folder of a release." in list_faults(tmp_path)
