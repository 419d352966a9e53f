"""Predictions are scored against a release; the private part is scored with its separate key file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli import main
from domain.questions import option_letter
from measures.proportions import wilson
from release.service import SplitPlan
from tests.golden.formats_world import make_formats_world

pytestmark = pytest.mark.full


@pytest.fixture
def folder(sqlite_engine, tmp_path) -> Path:
    make_formats_world(sqlite_engine, tmp_path).write(
        tmp_path / "v1", split=SplitPlan(private_share=0.5, seed=3)
    )
    return tmp_path / "v1"


def read_records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def make_prediction(record: dict, answer: object) -> dict:
    if isinstance(answer, list):
        answer = "|".join(option_letter(index) for index in answer)
    return {"question_id": record["id"], "answer": answer}


def run_score(folder: Path, predictions: list[dict], *options: str) -> list[dict]:
    path = folder.parent / "p.jsonl"
    path.write_text("\n".join(json.dumps(prediction) for prediction in predictions), encoding="utf-8")
    out = folder.parent / "scores.json"
    assert main(["score", str(path), "--release", str(folder), "--out", str(out), *options]) == 0
    return json.loads(out.read_text(encoding="utf-8"))["scores"]


def select_micro_scores(score_rows: list[dict]) -> dict[str, dict]:
    return {row["side"]: row for row in score_rows if row["by"] == "overall (micro)"}


def test_predictions_equal_to_the_keys_score_1_in_the_public_and_the_private_part(folder):
    keys = read_records(folder / "gold.jsonl") + read_records(folder.with_name("v1-keys") / "keys.jsonl")
    micro_scores = select_micro_scores(
        run_score(folder, [make_prediction(record, record["answer"]) for record in keys])
    )
    assert {score["estimate"] for score in micro_scores.values()} == {1.0}
    assert sum(score["n"] for score in micro_scores.values()) == len(keys)


def test_missing_private_predictions_count_as_wrong(folder, capsys):
    keys = read_records(folder.with_name("v1-keys") / "keys.jsonl")
    first_key, *other_keys = keys
    score_rows = run_score(folder, [make_prediction(first_key, first_key["answer"])])
    private = select_micro_scores(score_rows)["private"]
    expected = wilson(1, len(keys))
    assert set(select_micro_scores(score_rows)) == {"private"}
    assert (private["correct"], private["n"], private["missing"]) == (1, len(keys), len(other_keys))
    assert (private["low"], private["high"]) == (expected.low, expected.high)
    assert f"1/{len(keys)}" in capsys.readouterr().out


def test_a_failed_extraction_is_wrong_and_counted_as_failed(folder):
    keys = [record for record in read_records(folder / "gold.jsonl") if record["format"] != "open"]
    predictions = [{"question_id": record["id"], "raw": "I cannot say."} for record in keys]
    public = select_micro_scores(run_score(folder, predictions))["public"]
    assert (public["correct"], public["failed"]) == (0, len(keys))


def test_each_of_several_right_answers_is_correct(folder):
    keys = read_records(folder / "gold.jsonl") + read_records(folder.with_name("v1-keys") / "keys.jsonl")
    several_answer_keys = [record for record in keys if record.get("also_right")]
    for record in several_answer_keys:
        for further_answer in record["also_right"]:
            micro_scores = select_micro_scores(run_score(folder, [make_prediction(record, further_answer)]))
            assert [side["correct"] for side in micro_scores.values()] == [1]


def test_changed_or_missing_keys_are_refused(folder, capsys):
    path = folder.parent / "p.jsonl"
    path.write_text('{"question_id": "x", "answer": "A"}', encoding="utf-8")
    keys = folder.with_name("v1-keys") / "keys.jsonl"
    keys.write_bytes(keys.read_bytes() + b"\n")
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "SHA-256" in capsys.readouterr().err
    keys.rename(keys.with_name("elsewhere"))
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "--keys" in capsys.readouterr().err


def test_a_prediction_for_an_unknown_question_is_refused(folder, capsys):
    path = folder.parent / "p.jsonl"
    path.write_text('{"question_id": "x", "answer": "A"}', encoding="utf-8")
    assert main(["score", str(path), "--release", str(folder)]) == 1
    assert "p.jsonl: line 1: question_id: 'x' is not a question of the release" in capsys.readouterr().err


def test_predicted_boxes_are_scored_by_format(folder):
    keys = read_records(folder / "gold.jsonl") + read_records(folder.with_name("v1-keys") / "keys.jsonl")
    predictions = []
    for record in keys:
        boxes = [dict(box, label="whatever") for box in record.get("boxes", [])]
        # one of q3's two boxes is predicted, and none of q5's, which counts as 0
        predicted_boxes = {"q3": boxes[:1], "q5": []}.get(record["id"], boxes)
        predictions.append(make_prediction(record, record["answer"]) | {"boxes": predicted_boxes})
    box_rows = [row for row in run_score(folder, predictions) if row["by"] == "boxes (mean IoU)"]
    assert sum(row["n"] for row in box_rows if row["name"] == "all") == 4
    assert sum(row["n"] * row["estimate"] for row in box_rows if row["name"] == "all") == 1 + 0.5 + 0 + 1
    (closed,) = [row for row in box_rows if row["name"] == "closed"]
    assert (closed["estimate"], closed["n"]) == (0.5, 1)
    assert "over the key's boxes 0.5000; over matched pairs 1.0000" in closed["note"]


def test_without_predicted_boxes_there_is_no_box_score(folder):
    keys = read_records(folder / "gold.jsonl")
    score_rows = run_score(folder, [make_prediction(record, record["answer"]) for record in keys])
    assert {row["by"] for row in score_rows} == {
        "overall (micro)", "overall (macro)", "task", "format", "category"
    }  # fmt: skip


def test_the_calibration_of_stated_probabilities_is_printed_and_written(folder, capsys):
    keys = [record for record in read_records(folder / "gold.jsonl") if record["format"] != "open"]
    first, *others = [make_prediction(record, record["answer"]) for record in keys]
    score_rows = run_score(folder, [first | {"probability": 0.75}, *others])
    rows = {row["name"]: row for row in score_rows if row["by"] in ("calibration", "reliability")}
    assert rows["ECE"]["estimate"] == 0.25
    assert rows["70 to 80 %"]["correct"] == 1
    printed = capsys.readouterr().out
    assert f"0.250                    n 1  {len(others)} without a probability" in printed
    assert "mean stated probability 0.7500" in printed
    assert "public, ECE: " in printed


def test_the_command_reports_that_no_answer_has_a_probability(folder, capsys):
    keys = read_records(folder / "gold.jsonl")
    run_score(folder, [make_prediction(record, record["answer"]) for record in keys])
    assert "Calibration: no answers with a probability." in capsys.readouterr().out
