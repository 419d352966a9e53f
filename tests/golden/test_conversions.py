"""Each script of docs/examples runs on small generated files; the resulting measures are compared."""

from __future__ import annotations

import csv
import json
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score

from measures.agreement import Weights
from measures.all_measures import compute_measures
from measures.ratings_file import read_ratings
from measures.records.settings import Settings
from tests.unit.measure_helpers import find_only

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def run_example(name: str, *arguments: Path) -> int:
    """Run the script's ``main`` with these arguments and return its exit code."""
    spec = util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(*arguments)


def measure_file(path: Path, **settings: Any):
    return compute_measures(read_ratings(path), settings=Settings(bootstrap=0, **settings))


def write_lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_chexpert_joins_columns_by_name_and_marks_readers_who_set_the_reference(tmp_path):
    write_lines(tmp_path / "groundtruth.csv", ["Study,Edema,Cardiomegaly", "s1,1,0", "s2,0,1", "s3,1,1"])
    # the same answers with columns swapped, and floats
    reordered_lines = ["Study,Cardiomegaly,Edema", "s1,0.0,1.0", "s2,1.0,0.0", "s3,0.0,1.0"]
    write_lines(tmp_path / "radiologists" / "groundtruth" / "bc1_gt.csv", reordered_lines)
    write_lines(tmp_path / "radiologists" / "benchmark_radiologists" / "bc4.csv", reordered_lines)
    write_lines(
        tmp_path / "example_models" / "decisions" / "some" / "net.csv", ["Study,Edema,Cardiomegaly", "s1,0,0"]
    )
    assert run_example("chexpert_readers", tmp_path, tmp_path / "ratings.csv") == 0
    measures = measure_file(tmp_path / "ratings.csv")
    reference_setter, independent_reader = (
        find_only(measures.accuracy, rater=name, group="all") for name in ("bc1", "bc4")
    )
    assert (
        reference_setter.correct,
        reference_setter.n,
        independent_reader.correct,
        independent_reader.n,
    ) == (5, 6, 5, 6)
    assert "helped to set the reference" in reference_setter.note
    assert "helped" not in independent_reader.note
    assert find_only(measures.accuracy, rater="net", group="all").n == 2


def test_brixia_has_the_quadratic_kappa_of_six_pooled_zones(tmp_path):
    headers = [f"{reader}-{zone}" for reader in "SJ" for zone in "ABCDEF"]
    senior, junior = [[0, 1, 2, 3, 1, 0], [3, 2, 1, 1, 0, 0]], [[0, 1, 2, 2, 1, 1], [2, 2, 1, 0, 0, 0]]
    lines = [
        f"im{index},{','.join(map(str, [*first_ratings, *second_ratings]))}"
        for index, (first_ratings, second_ratings) in enumerate(zip(senior, junior, strict=True))
    ]
    write_lines(tmp_path / "a.csv", [f"filename,{','.join(headers)}", *lines])
    assert run_example("brixia_readers", tmp_path / "a.csv", tmp_path / "ratings.csv") == 0
    measures = measure_file(tmp_path / "ratings.csv", weights=Weights.QUADRATIC)
    agreement = find_only(measures.agreement, task="all")
    flattened = [[value for row in rows for value in row] for rows in (senior, junior)]
    assert agreement.n == 12
    assert agreement.kappa == pytest.approx(cohen_kappa_score(*flattened, weights="quadratic"), abs=1e-12)


@pytest.mark.parametrize("stated", [2 / 3, 0.5])
def test_worldmedqav_compares_the_stated_accuracy(tmp_path, capsys, stated):
    answers, keys = ["A", "B", None], ["A", "B", "C"]
    predictions = {
        str(index): {"gold_answer": gold, "predicted_answer": predicted}
        for index, (predicted, gold) in enumerate(zip(answers, keys, strict=True))
    }
    write_lines(
        tmp_path / "in" / "net_evaluation.json",
        [json.dumps({"accuracy": stated, "predictions": predictions})],
    )
    exit_code = run_example("worldmedqav_predictions", tmp_path / "in", tmp_path / "ratings.csv")
    assert exit_code == (1 if stated == 0.5 else 0)
    assert f"net: 0.666667 of 3, stated {stated:.6f}" in capsys.readouterr().out
    accuracy = find_only(measure_file(tmp_path / "ratings.csv").accuracy, rater="net", group="all")
    assert accuracy.estimate == accuracy_score(keys, [answer or "none" for answer in answers])


def test_fmmedvqa_joins_by_text_and_lists_unjoined_rows(tmp_path, capsys):
    questions = [("1", "Is it  large?"), ("2", "is it large?"), ("3", "Where?")]
    rows = [
        ("a", "is it large?", "yes"),
        ("b", "Is it large?", "no"),
        ("c", "is it large?", "no"),
        ("d", "Who?", "x"),
    ]
    write_lines(
        tmp_path / "q.json", [json.dumps([{"qid": number, "question": text} for number, text in questions])]
    )
    write_lines(
        tmp_path / "p.json",
        [
            json.dumps(
                [
                    {"question_id": name, "question": text, "answer_pred": predicted}
                    for name, text, predicted in rows
                ]
            )
        ],
    )
    out, unjoined = tmp_path / "predictions.jsonl", tmp_path / "unjoined.csv"
    assert run_example("fmmedvqa_predictions", tmp_path / "p.json", tmp_path / "q.json", out, unjoined) == 0
    assert "2 of 4 rows joined" in capsys.readouterr().out
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"question_id": "1", "raw": "yes"},
        {"question_id": "2", "raw": "no"},
    ]
    assert [row["row"] for row in csv.DictReader(unjoined.open())] == ["c", "d"]
