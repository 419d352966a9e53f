"""The tables of a study's report, laid out as in papers: accuracy by task and category, kappa, boxes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from domain.protocols import Protocol
from domain.questions import option_letter
from measures.results import PairAgreement
from reader_study.report.files import render_text_file
from reader_study.report.paper_tables import build_kappa_tables
from tests.storage.study_reports import find_result, import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import StudyWorld, make_design, make_study_world, read_all

pytestmark = pytest.mark.slow


@pytest.fixture
def study_world(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(
        sqlite_engine,
        design=make_design(8),
        protocol=Protocol(model="m", bootstrap=0, minimum_cases=8),
    )


def find_line(lines, rater):
    (match,) = [line for line in lines if line["Rater"] == rater]
    return match


def test_accuracy_tables_have_the_layout_of_the_paper(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    cases = list_scored_cases(study_world)
    predictions = {case.question.id: {"answer": option_letter(case.question.answer[0])} for case in cases}
    predictions[cases[0].question.id] = {"raw": "I cannot tell."}
    import_model_answers(study_world, tmp_path, predictions)
    study_report = load_report(study_world)
    first, *lines = study_report.tables.printed_by_task
    line = find_line(lines, "m")
    overall = find_result(study_report.tables.overall, rater="m")
    assert (first["Rater"], first["Overall (micro)"]) == ("Questions", "8")
    assert line["Overall (micro)"] == "87.50"  # 7 of 8, to the paper's two decimals
    assert line["Overall (macro)"] == f"{100 * overall.macro:.2f}"
    assert line["Failed extractions"] == "12.50"
    assert find_line(lines, "rea")["Failed extractions"] == ""
    for row in study_report.tables.accuracy:
        if row.rater == "m" and row.group == "presence":
            assert line["Presence Assessment"] == f"{100 * row.estimate:.2f}"
    shares = [row.estimate for row in study_report.tables.by_category if row.rater == "m"]
    *_, mean, total = study_report.tables.printed_by_category
    assert mean["m"] == f"{100 * sum(shares) / len(shares):.2f}"
    assert (total["Questions"], total["m"]) == ("8", "87.50")
    assert "printed_by_task" in render_text_file(study_report, "report.json")
    assert render_text_file(study_report, "tables/printed_by_task.csv").startswith(
        "Rater,Overall (micro),Overall (macro),"
    )


def test_boxes_count_only_where_the_key_has_boxes(study_world, tmp_path):
    cases = list_scored_cases(study_world)
    with_box = [case for case in cases if case.question.boxes]
    predictions: dict[str, dict[str, Any]] = {case.question.id: {"answer": "A"} for case in cases}
    import_model_answers(study_world, tmp_path, predictions, model="n")
    for index, case in enumerate(with_box):
        box = case.question.boxes[0]
        drawn_box = {"radiograph": box.radiograph, "label": "", "box": list(box.box.as_tuple())}
        predictions[case.question.id] = {"answer": "A", "boxes": [drawn_box] if index == 0 else []}
    import_model_answers(study_world, tmp_path, predictions)
    study_report = load_report(study_world)
    assert {row.rater for row in study_report.tables.boxes} == {"m"}
    line = find_result(study_report.tables.boxes, rater="m", format="all")
    box_count = len(with_box[0].question.boxes)
    assert (line.n, line.with_boxes) == (len(with_box), 1)
    assert line.estimate == pytest.approx(1 / box_count / len(with_box))


def test_kappa_table_is_square_with_ones_on_the_diagonal(study_world, tmp_path):
    cases = list_scored_cases(study_world)
    for model, letters in (("m", "AB"), ("n", "BA")):
        predictions = {
            case.question.id: {"answer": letters[index % 3 == 0]} for index, case in enumerate(cases)
        }
        import_model_answers(study_world, tmp_path, predictions, model=model)
    read_all(study_world, "rea", option=0)
    study_report = load_report(study_world)
    square = [row for row in study_report.tables.printed_kappa if row["Task"] == "all"]
    assert [row["Rater"] for row in square] == ["rea", "m", "n"]
    assert [row[row["Rater"]] for row in square] == ["1.00"] * 3
    kappa = find_result(study_report.tables.agreement, a="m", b="n", task="all").kappa
    assert find_line(square, "m")["n"] == find_line(square, "n")["m"] == f"{kappa:.2f}"
    assert "the key" not in square[0]


def test_undefined_kappa_is_an_empty_cell():
    agreement = [PairAgreement(a="a", b="b", task="geometric", n=0, note="not defined")]
    assert build_kappa_tables(agreement, known=["b"]) == (
        {"Task": "Geometric Information", "Rater": "b", "b": "1.00", "a": ""},
        {"Task": "Geometric Information", "Rater": "a", "b": "", "a": "1.00"},
    )
