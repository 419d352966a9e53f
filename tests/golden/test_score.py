"""Predictions are scored against a release; the private part is scored with its separate key file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli import main
from domain.questions import option_letter
from measures.proportions import wilson
from release.service import SplitPlan
from tests.golden.forms_world import make_forms_world

pytestmark = pytest.mark.full


@pytest.fixture
def folder(sqlite_engine, tmp_path) -> Path:
    make_forms_world(sqlite_engine, tmp_path).write(
        tmp_path / "v1", split=SplitPlan(private_share=0.5, seed=3)
    )
    return tmp_path / "v1"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def said(record: dict, answer: object) -> dict:
    if isinstance(answer, list):
        answer = "|".join(option_letter(index) for index in answer)
    return {"question_id": record["id"], "answer": answer}


def scores(folder: Path, told: list[dict], *more: str) -> list[dict]:
    path = folder.parent / "p.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in told), encoding="utf-8")
    out = folder.parent / "scores.json"
    assert main(["score", str(path), "--release", str(folder), "--out", str(out), *more]) == 0
    return json.loads(out.read_text(encoding="utf-8"))["scores"]


def overall(found: list[dict]) -> dict[str, dict]:
    return {each["side"]: each for each in found if each["by"] == "overall (micro)"}


def test_the_key_itself_is_wholly_right_on_both_sides(folder):
    keys = lines(folder / "gold.jsonl") + lines(folder.with_name("v1-keys") / "keys.jsonl")
    found = overall(scores(folder, [said(each, each["answer"]) for each in keys]))
    assert {each["estimate"] for each in found.values()} == {1.0}
    assert sum(each["n"] for each in found.values()) == len(keys)


def test_a_private_side_alone_has_its_n_with_what_is_missing_as_wrong(folder, capsys):
    keys = lines(folder.with_name("v1-keys") / "keys.jsonl")
    first, *others = keys
    found = scores(folder, [said(first, first["answer"])])
    private = overall(found)["private"]
    expected = wilson(1, len(keys))
    assert set(overall(found)) == {"private"}
    assert (private["correct"], private["n"], private["missing"]) == (1, len(keys), len(others))
    assert (private["low"], private["high"]) == (expected.low, expected.high)
    assert f"1/{len(keys)}" in capsys.readouterr().out


def test_a_failed_extraction_is_wrong_and_told_apart(folder):
    keys = [each for each in lines(folder / "gold.jsonl") if each["format"] != "open"]
    told = [{"question_id": each["id"], "raw": "I cannot say."} for each in keys]
    public = overall(scores(folder, told))["public"]
    assert (public["correct"], public["failed"]) == (0, len(keys))


def test_each_of_several_right_answers_is_right(folder):
    keys = lines(folder / "gold.jsonl") + lines(folder.with_name("v1-keys") / "keys.jsonl")
    several = [each for each in keys if each.get("also_right")]
    for each in several:
        for other in each["also_right"]:
            found = overall(scores(folder, [said(each, other)]))
            assert [side["correct"] for side in found.values()] == [1]


def test_keys_that_were_changed_or_are_not_there_are_refused(folder, capsys):
    path = folder.parent / "p.jsonl"
    path.write_text('{"question_id": "x", "answer": "A"}', encoding="utf-8")
    keys = folder.with_name("v1-keys") / "keys.jsonl"
    keys.write_bytes(keys.read_bytes() + b"\n")
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "SHA-256" in capsys.readouterr().err
    keys.rename(keys.with_name("elsewhere"))
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "--keys" in capsys.readouterr().err


def test_a_line_about_no_question_of_the_release_is_refused_with_its_number(folder, capsys):
    path = folder.parent / "p.jsonl"
    path.write_text('{"question_id": "x", "answer": "A"}', encoding="utf-8")
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "p.jsonl: line 1: question_id: 'x' is no question of the release" in capsys.readouterr().err


def test_boxes_of_predictions_are_held_against_the_keys_by_format(folder):
    keys = lines(folder / "gold.jsonl") + lines(folder.with_name("v1-keys") / "keys.jsonl")
    told = []
    for each in keys:
        boxes = [dict(box, label="whatever") for box in each.get("boxes", [])]
        # one of q3's two boxes is drawn, and none of q5's, which counts as 0
        some = {"q3": boxes[:1], "q5": []}.get(each["id"], boxes)
        told.append(said(each, each["answer"]) | {"boxes": some})
    found = [each for each in scores(folder, told) if each["by"] == "boxes (mean IoU)"]
    assert sum(each["n"] for each in found if each["name"] == "all") == 4
    assert sum(each["n"] * each["estimate"] for each in found if each["name"] == "all") == 1 + 0.5 + 0 + 1
    (closed,) = [each for each in found if each["name"] == "closed"]
    assert (closed["estimate"], closed["n"]) == (0.5, 1)
    assert "over the key's boxes 0.5000; over matched pairs 1.0000" in closed["note"]


def test_without_a_predicted_box_nothing_is_said_of_boxes(folder):
    keys = lines(folder / "gold.jsonl")
    found = scores(folder, [said(each, each["answer"]) for each in keys])
    assert {each["by"] for each in found} == {
        "overall (micro)", "overall (macro)", "task", "format", "category"
    }  # fmt: skip
