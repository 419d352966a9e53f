"""AFROC and weighted AFROC against plain loops and scikit-learn, and through ``cli.py measure``."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cli import main
from measures.free_response import FigureOfMerit, HitRule, MarkedCase, free_response_figures, score_marks


def make_cases(random, n=30):
    """Cases of one rater: two thirds with one to three lesions; scores 1 to 4, ties and missing marks."""

    def draw():
        return float(random.integers(1, 5)) if random.random() < 0.7 else -math.inf

    return [
        MarkedCase(
            lesions=tuple(draw() for _ in range(random.integers(1, 4))) if case % 3 else (), false_mark=draw()
        )
        for case in range(n)
    ]


def compute_by_loops(cases, figure):
    """The definition: every normal case with every lesion, ties 1/2."""
    total = weight = 0.0
    for normal, diseased in itertools.product(cases, cases):
        if normal.lesions or not diseased.lesions:
            continue
        for score in diseased.lesions:
            share = 1 / len(diseased.lesions) if figure is FigureOfMerit.WAFROC else 1.0
            total += share * ((score > normal.false_mark) + 0.5 * (score == normal.false_mark))
            weight += share
    return total / weight


@pytest.mark.parametrize("figure", list(FigureOfMerit))
def test_the_figure_of_merit_and_its_jackknife_equal_plain_loops(figure):
    random = np.random.default_rng(1)
    raters = [make_cases(random) for _ in range(3)]
    patients = np.arange(30) // 2
    figures = free_response_figures(raters, figure=figure, clusters=patients)
    assert figures.values == pytest.approx([compute_by_loops(cases, figure) for cases in raters])
    expected = [
        [
            compute_by_loops(
                [case for case, patient in zip(cases, patients, strict=True) if patient != left_out], figure
            )
            for cases in raters
        ]
        for left_out in range(15)
    ]
    assert figures.leave_one_out == pytest.approx(np.array(expected))
    assert figures.covariance_of(np.eye(3)) == pytest.approx(14**2 / 15 * np.cov(np.array(expected).T))


def test_one_lesion_per_case_gives_the_area_under_the_roc_curve():
    random = np.random.default_rng(2)
    scores, truth = random.normal(size=40), np.arange(40) % 2
    cases = [
        MarkedCase(lesions=(score,), false_mark=-math.inf)
        if positive
        else MarkedCase(lesions=(), false_mark=score)
        for score, positive in zip(scores, truth, strict=True)
    ]
    for figure in FigureOfMerit:
        value = free_response_figures([cases], figure=figure).values[0]
        assert value == pytest.approx(roc_auc_score(truth, scores))


def test_a_mark_hits_by_overlap_or_by_its_centre():
    lesion = [(0, 0, 10, 10)]
    marks = [(4, 4, 6, 6), (30, 30, 40, 40)]
    by_overlap = score_marks(lesion, marks, [3.0, 2.0], hit=HitRule.IOU)
    by_centre = score_marks(lesion, marks, [3.0, 2.0], hit=HitRule.CENTRE)
    assert (by_overlap.lesions, by_overlap.false_mark) == ((-math.inf,), 3.0)
    assert (by_centre.lesions, by_centre.false_mark) == ((3.0,), 2.0)


def test_of_two_marks_on_a_lesion_the_higher_score_counts_and_neither_mark_is_false():
    marked = score_marks(
        [(0, 0, 10, 10), (50, 50, 60, 60)], [(0, 0, 10, 9), (0, 1, 10, 10)], [2.0, 4.0], hit=HitRule.IOU
    )
    assert marked == MarkedCase(lesions=(4.0, -math.inf), false_mark=-math.inf)


# ------------------------------------------------------------------------------------------- the command
LESION = "20,20,60,60"
HEADER = "case,rater,kind,arm,x_min,y_min,x_max,y_max,score,patient"


def write_boxes(path, cases=24, seed=3):
    """A reference, two readers in two arms, and a model; every second case has a lesion."""
    random = np.random.default_rng(seed)
    lines = [HEADER]
    for case in range(cases):
        lines.append(f"c{case:02},truth,reference,,{LESION if case % 2 else ',,,'},,p{case // 2}")
        for rater, kind, arm in (
            ("r1", "reader", "aided"), ("r2", "reader", "aided"), ("r1", "reader", "plain"),
            ("r2", "reader", "plain"), ("m", "model", ""),
        ):  # fmt: skip
            boxes = []
            if case % 2 and random.random() < 0.8:
                boxes.append(f"{LESION},{random.integers(3, 9)}")
            if random.random() < 0.4:
                boxes.append(f"100,100,140,150,{random.integers(1, 7)}")
            lines += [f"c{case:02},{rater},{kind},{arm},{box}," for box in boxes or [",,,,"]]
    path.write_text("\n".join(lines), encoding="utf-8")


def measure(path, *options):
    out = path.with_suffix(".json")
    assert main(["measure", str(path), "--out", str(out), "--bootstrap", "100", *options]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def test_the_command_measures_a_file_of_boxes(tmp_path):
    write_boxes(tmp_path / "boxes.csv")
    tables = measure(tmp_path / "boxes.csv")
    names = ["m", "r1 (aided)", "r1 (plain)", "r2 (aided)", "r2 (plain)"]
    assert [row["a"] for row in tables["agreement"] if row["b"] == "truth"] == names
    afroc = [row for row in tables["free_response"] if row["measure"] == "afroc"]
    assert [row["rater"] for row in afroc] == names
    assert {(row["cases"], row["cases_with_lesion"], row["lesions"]) for row in afroc} == {(24, 12, 12)}
    assert all(row["low"] < row["estimate"] < row["high"] for row in afroc)
    # one lesion per case: both figures are equal
    wafroc = [row | {"measure": "afroc"} for row in tables["free_response"] if row["measure"] == "wafroc"]
    assert wafroc == afroc
    estimates = {row["rater"]: row["estimate"] for row in afroc}
    aided = next(row for row in tables["mrmc"] if row["arm"] == "aided" and row["random_readers"])
    mean = (estimates["r1 (aided)"] + estimates["r2 (aided)"]) / 2
    assert (aided["readers"], aided["cases"]) == (2, 24)
    assert aided["difference"] == pytest.approx(mean - estimates["m"])
    arms = [row for row in tables["arms"] if row["measure"] == "afroc"]
    assert [row["method"] for row in arms] == [
        "Obuchowski-Rockette (jackknife)", "fixed readers (jackknife)", "fixed cases",
    ]  # fmt: skip
    assert arms[0]["difference"] == pytest.approx(arms[0]["mean_a"] - arms[0]["mean_b"])
    assert tables["settings"]["hit"] == "iou"


def test_a_file_without_scores_or_reference_has_agreement_only(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text(
        "case,rater,x_min,y_min,x_max,y_max\n1,a,0,0,10,10\n1,b,0,0,10,5\n2,a,,,,\n2,b,,,,\n3,a,0,0,4,4\n",
        encoding="utf-8",
    )
    tables = measure(path)
    [pair] = tables["agreement"]
    assert (pair["cases"], pair["n"], pair["mean_iou"]) == (2, 1, 0.5)
    assert (tables["free_response"], tables["mrmc"], tables["arms"]) == ([], [], [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,a,0,0,ten,10", "line 2: x_max 'ten': must be a number"),
        ("1,a,0,0,,10", "line 2: x_max '': is empty"),
        ("1,a,5,0,5,10", "line 2: x_max, y_max 5, 10: must be above"),
        (",a,0,0,5,5", "line 2: case '': is empty"),
    ],
)
def test_an_invalid_box_is_refused_with_line_and_field(tmp_path, capsys, line, message):
    path = tmp_path / "boxes.csv"
    path.write_text(f"case,rater,x_min,y_min,x_max,y_max\n{line}\n", encoding="utf-8")
    assert main(["measure", str(path), "--out", str(tmp_path / "out.json")]) != 0
    assert f"{path}, {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("1,a,reader,yes,0,0,5,5,1", "2,a,reader,no,0,0,5,5,1"),
         "line 3: set_reference 'no': a has 'yes' in line 2. State the same value"),
        (("1,a,reader,,0,0,5,5,1", "2,a,model,,0,0,5,5,1"),
         "line 3: kind 'model': a has 'reader' in line 2. State the same value"),
        (("1,a,reader,,,,,,7",), "line 2: score '7': the line has no box. Add x_min"),
    ],
)  # fmt: skip
def test_lines_that_contradict_each_other_are_refused(tmp_path, capsys, lines, message):
    path = write_lines(tmp_path, lines)
    assert main(["measure", str(path), "--out", str(tmp_path / "out.json")]) != 0
    assert f"{path}, {message}" in capsys.readouterr().err


def test_a_kind_stated_on_a_later_line_applies_to_all_lines_of_the_rater(tmp_path):
    truth = [f"{case},truth,reference,,{LESION if case % 2 else ',,,'}," for case in range(4)]
    lines = [f"{case},a,{'model' if case else ''},,{LESION},{case}" for case in range(4)]
    tables = measure(write_lines(tmp_path, [*truth, *lines]))
    assert {row["kind"] for row in tables["free_response"]} == {"model"}


@pytest.mark.parametrize(
    ("reference", "note"),
    [
        ((f"5,truth,reference,,{LESION},",), "not defined: no case was read by both"),
        ((f"1,truth,reference,,{LESION},",),
         "not defined: no case with a lesion, or no case without a lesion"),
        ((f"1,truth,reference,,{LESION},", "2,truth,reference,,,,,,", "3,truth,reference,,,,,,"),
         "no interval: only one case with a lesion, or only one without"),
    ],
)  # fmt: skip
def test_a_figure_without_interval_states_the_reason(tmp_path, reference, note):
    lines = [f"{case},a,reader,,{LESION},{5 - case}" for case in range(1, 4)]
    tables = measure(write_lines(tmp_path, [*reference, *lines]))
    assert {row["note"] for row in tables["free_response"]} == {note}


def write_lines(tmp_path, lines):
    path = tmp_path / "boxes.csv"
    header = "case,rater,kind,set_reference,x_min,y_min,x_max,y_max,score"
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    return path
