"""Private questions are released without the fields that reveal their answers; releases are compared."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pydicom.uid import JPEGLSLossless

from domain.errors import Refused
from imaging.guarded_reader import GuardedReader
from release.compare import compare_releases
from release.service import SplitPlan, verify_release
from release.service.images import hash_pixels
from storage.images.files import get_image_store
from tests.golden.forms_world import FormsWorld, make_forms_world
from tests.golden.release_world import judged_world, write
from tests.unit.makers.dicom_files import dicom, ramp

pytestmark = pytest.mark.full

SPLIT = SplitPlan(private_share=0.5, seed=3)


@pytest.fixture
def forms_world(sqlite_engine, tmp_path) -> FormsWorld:
    return make_forms_world(sqlite_engine, tmp_path)


@pytest.fixture
def folder(forms_world, tmp_path) -> Path:
    forms_world.write(tmp_path / "v1", split=SPLIT)
    return tmp_path / "v1"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_exam_is_on_one_side_and_each_question_once(folder):
    public, private = lines(folder / "gold.jsonl"), lines(folder / "private" / "questions.jsonl")
    assert {each["exam"]["id"] for each in public} & {each["exam"]["id"] for each in private} == set()
    assert len(public) + len(private) == 7
    assert public
    assert private


def test_nothing_in_the_folder_tells_a_private_answer(folder, forms_world):
    private = {each["id"] for each in lines(folder / "private" / "questions.jsonl")}
    telling = {"answer", "also_right", "explanation", "boxes", "category", "content_type"}
    assert all(not telling & each.keys() for each in lines(folder / "private" / "questions.jsonl"))
    others = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "private"]
    for key in private:
        stem = forms_world.gold[key].stem.encode()
        assert [path.name for path in others if stem in path.read_bytes()] == []


def test_the_keys_lie_beside_it_and_are_whole(folder, forms_world):
    keys = lines(folder.with_name("v1-keys") / "keys.jsonl")
    private = lines(folder / "private" / "questions.jsonl")
    assert [each["id"] for each in keys] == [each["id"] for each in private]
    assert {each["id"]: each.get("explanation", "") for each in keys} == {
        each["id"]: forms_world.gold[each["id"]].explanation for each in private
    }
    assert all("answer" in each for each in keys)


def test_the_folder_verifies_and_a_told_key_is_found(folder):
    assert verify_release(folder).faults == ()
    path = folder / "private" / "questions.jsonl"
    record = lines(path)[0]
    path.write_text(json.dumps({**record, "answer": [0]}) + "\n", encoding="utf-8")
    assert verify_release(folder).faults != ()


def test_made_again_it_is_the_same_and_its_keys_too(folder, forms_world):
    assert forms_world.write(folder, split=SPLIT).already_existed


def test_a_side_without_a_question_is_refused(forms_world, tmp_path):
    with pytest.raises(Refused, match="Choose another share or seed"):
        forms_world.write(tmp_path / "v2", name="v2", split=SplitPlan(private_share=0.001, seed=3))
    assert not (tmp_path / "v2").exists()
    assert not (tmp_path / "v2-keys").exists()


def test_the_same_pixels_in_another_file_have_the_same_hash(forms_world):
    """A near-leak: the recompressed image has another SHA-256, and its exams must still count as one."""
    store = get_image_store(forms_world.workspace)
    files = {
        "raw": dicom(ramp(60, 50)),
        "compressed": dicom(ramp(60, 50), syntax=JPEGLSLossless, PatientID="another"),
        "other": dicom(ramp(60, 51)),
    }
    names = {}
    for name, content in files.items():
        names[name] = hashlib.sha256(content).hexdigest()
        store.write(names[name], content)
    with GuardedReader() as reader:
        found = hash_pixels(forms_world.workspace, names.values(), reader=reader)
    assert found[names["raw"]] == found[names["compressed"]]
    assert found[names["raw"]] != found[names["other"]]


def test_a_release_against_itself_has_no_difference(sqlite_engine, tmp_path):
    world = judged_world(sqlite_engine)
    write(world, tmp_path / "v1")
    write(world, tmp_path / "v2", name="v2")
    found = compare_releases(tmp_path / "v1", tmp_path / "v2")
    assert found.sentence == "v2 against v1: nothing changed; 5 are the same"


def test_changed_keys_and_questions_that_came_or_went_are_counted(sqlite_engine, tmp_path):
    world = judged_world(sqlite_engine)
    write(world, tmp_path / "v1")
    write(world, tmp_path / "v2", name="v2")
    path = tmp_path / "v2" / "gold.jsonl"
    records = lines(path)
    records[1]["answer"], records[2]["stem"], records[3]["id"] = [2], "Another?", "Q99"
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    found = compare_releases(tmp_path / "v1", tmp_path / "v2")
    assert found.sentence == (
        "v2 against v1: 1 key changed, 1 stem changed, 1 question came, 1 question went; 2 are the same"
    )


def test_releases_of_two_datasets_are_not_compared(folder, tmp_path):
    path = tmp_path / "v1" / "manifest.json"
    other = tmp_path / "other"
    other.mkdir()
    manifest = json.loads(path.read_text())
    (other / "manifest.json").write_text(json.dumps({**manifest, "dataset": "another"}))
    with pytest.raises(Refused, match="nothing to compare"):
        compare_releases(folder, other)
