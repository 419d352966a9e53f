"""The tables of a study's report, laid out as in papers: accuracy by task and category, kappa, boxes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from domain.protocols import Protocol
from domain.questions import option_letter
from measures.results import PairAgreement
from reader_study.report.files import render_file
from reader_study.report.paper_tables import build_kappa_tables
from tests.storage.study_reports import of, predict, report, scored
from tests.storage.study_worlds import StudyWorld, make_design, make_study_world, read_all


@pytest.fixture
def made(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(sqlite_engine, design=make_design(8), protocol=Protocol(model="m", bootstrap=0))


def line_of(lines, rater):
    (found,) = [line for line in lines if line["Rater"] == rater]
    return found


def test_accuracies_are_laid_out_as_the_paper_prints_them(made, tmp_path):
    read_all(made, "rea", place=0)
    cases = scored(made)
    said = {case.question.id: {"answer": option_letter(case.question.answer[0])} for case in cases}
    said[cases[0].question.id] = {"raw": "I cannot tell."}
    predict(made, tmp_path, said)
    found = report(made)
    first, *lines = found.tables.printed_by_task
    line = line_of(lines, "m")
    overall = of(found.tables.overall, rater="m")
    assert (first["Rater"], first["Overall (micro)"]) == ("Questions", "8")
    assert line["Overall (micro)"] == "87.50"  # 7 of 8, to the paper's two decimals
    assert line["Overall (macro)"] == f"{100 * overall.macro:.2f}"
    assert line["Failed extractions"] == "12.50"
    assert line_of(lines, "rea")["Failed extractions"] == ""
    for each in found.tables.accuracy:
        if each.rater == "m" and each.group == "presence":
            assert line["Presence Assessment"] == f"{100 * each.estimate:.2f}"
    shares = [each.estimate for each in found.tables.by_category if each.rater == "m"]
    *_, mean, whole = found.tables.printed_by_category
    assert mean["m"] == f"{100 * sum(shares) / len(shares):.2f}"
    assert (whole["Questions"], whole["m"]) == ("8", "87.50")
    assert "printed_by_task" in render_file(found, "report.json")
    assert render_file(found, "tables/printed_by_task.csv").startswith(
        "Rater,Overall (micro),Overall (macro),"
    )


def test_boxes_count_where_the_key_has_one_and_no_box_drawn_is_no_figure(made, tmp_path):
    cases = scored(made)
    with_box = [case for case in cases if case.question.boxes]
    said: dict[str, dict[str, Any]] = {case.question.id: {"answer": "A"} for case in cases}
    predict(made, tmp_path, said, model="n")
    for at, case in enumerate(with_box):
        box = case.question.boxes[0]
        drawn = {"radiograph": box.radiograph, "label": "", "box": list(box.box.as_tuple())}
        said[case.question.id] = {"answer": "A", "boxes": [drawn] if at == 0 else []}
    predict(made, tmp_path, said)
    found = report(made)
    assert {each.rater for each in found.tables.boxes} == {"m"}
    line = of(found.tables.boxes, rater="m", format="all")
    first = len(with_box[0].question.boxes)
    assert (line.n, line.with_boxes) == (len(with_box), 1)
    assert line.estimate == pytest.approx(1 / first / len(with_box))


def test_kappa_stands_as_a_square_with_one_on_its_diagonal(made, tmp_path):
    cases = scored(made)
    for model, letters in (("m", "AB"), ("n", "BA")):
        said = {case.question.id: {"answer": letters[at % 3 == 0]} for at, case in enumerate(cases)}
        predict(made, tmp_path, said, model=model)
    read_all(made, "rea", place=0)
    found = report(made)
    square = [each for each in found.tables.printed_kappa if each["Task"] == "all"]
    assert [each["Rater"] for each in square] == ["rea", "m", "n"]
    assert [each[each["Rater"]] for each in square] == ["1.00"] * 3
    kappa = of(found.tables.agreement, a="m", b="n", task="all").kappa
    assert line_of(square, "m")["n"] == line_of(square, "n")["m"] == f"{kappa:.2f}"
    assert "the key" not in square[0]


def test_a_kappa_that_is_not_defined_is_an_empty_cell():
    found = [PairAgreement(a="a", b="b", task="geometric", n=0, note="not defined")]
    assert build_kappa_tables(found, known=["b"]) == (
        {"Task": "Geometric Information", "Rater": "b", "b": "1.00", "a": ""},
        {"Task": "Geometric Information", "Rater": "a", "b": "", "a": "1.00"},
    )
