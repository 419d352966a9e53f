"""Each script of docs/examples on small files of the same format, created here, up to its figures."""

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
from tests.unit.measuring import only

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def run(name: str, *arguments: Path) -> int:
    """The script's ``main`` with these arguments."""
    spec = util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(*arguments)


def measured(path: Path, **settings: Any):
    return compute_measures(read_ratings(path), settings=Settings(bootstrap=0, **settings))


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_chexpert_joins_columns_by_name_and_marks_who_set_the_reference(tmp_path):
    write(tmp_path / "groundtruth.csv", ["Study,Edema,Cardiomegaly", "s1,1,0", "s2,0,1", "s3,1,1"])
    # the same answers with columns swapped, and floats
    turned = ["Study,Cardiomegaly,Edema", "s1,0.0,1.0", "s2,1.0,0.0", "s3,0.0,1.0"]
    write(tmp_path / "radiologists" / "groundtruth" / "bc1_gt.csv", turned)
    write(tmp_path / "radiologists" / "benchmark_radiologists" / "bc4.csv", turned)
    write(
        tmp_path / "example_models" / "decisions" / "some" / "net.csv", ["Study,Edema,Cardiomegaly", "s1,0,0"]
    )
    assert run("chexpert_readers", tmp_path, tmp_path / "ratings.csv") == 0
    found = measured(tmp_path / "ratings.csv")
    helped, alone = (only(found.accuracy, rater=name, group="all") for name in ("bc1", "bc4"))
    assert (helped.correct, helped.n, alone.correct, alone.n) == (5, 6, 5, 6)
    assert "helped to set the reference" in helped.note
    assert "helped" not in alone.note
    assert only(found.accuracy, rater="net", group="all").n == 2


def test_brixia_has_the_quadratic_kappa_of_six_pooled_zones(tmp_path):
    heads = [f"{reader}-{zone}" for reader in "SJ" for zone in "ABCDEF"]
    senior, junior = [[0, 1, 2, 3, 1, 0], [3, 2, 1, 1, 0, 0]], [[0, 1, 2, 2, 1, 1], [2, 2, 1, 0, 0, 0]]
    lines = [
        f"im{at},{','.join(map(str, [*one, *two]))}"
        for at, (one, two) in enumerate(zip(senior, junior, strict=True))
    ]
    write(tmp_path / "a.csv", [f"filename,{','.join(heads)}", *lines])
    assert run("brixia_readers", tmp_path / "a.csv", tmp_path / "ratings.csv") == 0
    found = measured(tmp_path / "ratings.csv", weights=Weights.QUADRATIC)
    pair = only(found.agreement, task="all")
    flat = [[each for row in rows for each in row] for rows in (senior, junior)]
    assert pair.n == 12
    assert pair.kappa == pytest.approx(cohen_kappa_score(*flat, weights="quadratic"), abs=1e-12)


@pytest.mark.parametrize("stated", [2 / 3, 0.5])
def test_worldmedqav_gives_the_stated_accuracy_or_says_that_it_is_another(tmp_path, capsys, stated):
    said, key = ["A", "B", None], ["A", "B", "C"]
    predictions = {
        str(at): {"gold_answer": gold, "predicted_answer": one}
        for at, (one, gold) in enumerate(zip(said, key, strict=True))
    }
    write(
        tmp_path / "in" / "net_evaluation.json",
        [json.dumps({"accuracy": stated, "predictions": predictions})],
    )
    assert run("worldmedqav_predictions", tmp_path / "in", tmp_path / "ratings.csv") == (stated == 0.5)
    assert f"net: 0.666667 of 3, stated {stated:.6f}" in capsys.readouterr().out
    found = only(measured(tmp_path / "ratings.csv").accuracy, rater="net", group="all")
    assert found.estimate == accuracy_score(key, [each or "none" for each in said])


def test_fmmedvqa_joins_by_text_with_ties_in_order_and_lists_the_rest(tmp_path, capsys):
    questions = [("1", "Is it  large?"), ("2", "is it large?"), ("3", "Where?")]
    rows = [
        ("a", "is it large?", "yes"),
        ("b", "Is it large?", "no"),
        ("c", "is it large?", "no"),
        ("d", "Who?", "x"),
    ]
    write(
        tmp_path / "q.json", [json.dumps([{"qid": number, "question": text} for number, text in questions])]
    )
    write(
        tmp_path / "p.json",
        [
            json.dumps(
                [{"question_id": name, "question": text, "answer_pred": said} for name, text, said in rows]
            )
        ],
    )
    out, rest = tmp_path / "predictions.jsonl", tmp_path / "unjoined.csv"
    assert run("fmmedvqa_predictions", tmp_path / "p.json", tmp_path / "q.json", out, rest) == 0
    assert "2 of 4 rows joined" in capsys.readouterr().out
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"question_id": "1", "raw": "yes"},
        {"question_id": "2", "raw": "no"},
    ]
    assert [row["row"] for row in csv.DictReader(rest.open())] == ["c", "d"]
