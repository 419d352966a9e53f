"""The parts of a study report for a publication: flow, primary row, legend, methods, checklists, LaTeX."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks.study_report import Size, simulate_study
from domain.errors import NotFound
from domain.protocols import AgreementBasis, FailedReplyRule
from domain.readings import Prediction
from domain.studies import Exclusion
from reader_study.report.checklists import AUTHOR, FILLED, PARTLY, build_checklists
from reader_study.report.figures import draw_figure
from reader_study.report.files import render_pdf, render_pdfs, render_text_file, render_text_files
from reader_study.report.methods import render_methods
from reader_study.report.report_builder import build_report
from reader_study.report.rows import build_difference_rows, list_kappa_rows
from reader_study.report.study_report import StudyReport


@pytest.fixture(scope="module")
def data():
    """Three readers and two models with 40 cases; one reader lacks an answer, and one case is excluded."""
    complete = simulate_study(Size(readers=3, models=2, cases=40, target=1, before=None))
    [version] = complete.versions
    exclusion = Exclusion(
        study_id=1, case_id=complete.cases[5].blind_case.id, reader_id=None, reason="wrong side",
        excluded_by=None, excluded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    protocol = replace(version.protocol, bootstrap=100)
    return replace(
        complete,
        readings=complete.readings[1:],
        exclusions=(exclusion,),
        versions=(replace(version, protocol=protocol, sha256=protocol.sha256()),),
    )


@pytest.fixture(scope="module")
def report(data):
    return build_report(data)


def test_the_flow_counts_each_expected_answer_once(report):
    rows = {row.rater: row for row in report.tables.participation}
    first = rows["reader 001"]
    assert (first.assigned, first.missing, first.excluded, first.analysed) == (40, 1, 1, 38)
    model = rows["model 01"]
    assert (model.assigned, model.missing, model.excluded, model.analysed) == (40, 0, 1, 39)
    svg = draw_figure(report, "flow").svg
    for text in ("40 scored cases", "39 cases analysed", "120 answers expected", "116 answers analysed"):
        assert text in svg
    accuracy = {row.rater: row.n for row in report.tables.accuracy if row.group == "all"}
    assert accuracy["reader 001"] == first.analysed


def test_the_forest_plot_begins_with_the_declared_comparison(report):
    figure = draw_figure(report, "differences-all")
    declared = next(
        row for row in report.tables.mrmc if (row.model, row.task, row.arm) == ("model 01", "all", "")
    )
    assert declared.random_readers
    first, *others = build_difference_rows(report)
    assert first.label == "Mean of the readers"
    assert (first.estimate, first.low, first.high) == (declared.difference, declared.low, declared.high)
    assert {row.label for row in others} == {"reader 001", "reader 002", "reader 003", "model 02"}
    assert figure.svg.count('class="mean"') == 1


def answer_wrongly(case):
    return ((case.question.answer[0] + 1) % 4,)


def test_missing_answers_are_assumed_wrong_or_correct(data, report):
    rows = {row.scenario: row for row in report.tables.missing_answers if row.model == "model 01"}
    declared = next(row for row in report.tables.mrmc if (row.model, row.task) == ("model 01", "all"))
    assert rows["as analysed"].difference == pytest.approx(declared.difference)
    wrong, correct = (rows[f"missing answers of readers {word}"] for word in ("wrong", "correct"))
    assert (wrong.filled_readers, wrong.filled_model, correct.filled_readers) == (1, 0, 1)
    # one of the 39 answers of one of the 3 readers
    assert correct.difference - wrong.difference == pytest.approx(1 / 39 / 3)
    assert rows["tipping point"].note == "no share of correct answers changes the conclusion"


def test_a_withheld_comparison_has_no_scenarios(data):
    [version] = data.versions
    protocol = replace(version.protocol, minimum_cases=41)
    withheld = build_report(replace(data, versions=(replace(version, protocol=protocol),)))
    assert withheld.tables.missing_answers == ()


def test_the_tipping_point_is_the_share_that_changes_the_conclusion(data):
    answered = {case.blind_case.id for case in data.cases[:20]}
    # On the first twenty cases, the model is right and the readers are wrong in five. On the others, which
    # the readers did not answer, the model is wrong in ten.
    cases = {case.blind_case.id: case for case in data.cases}
    predictions = {
        case.blind_case.question_row_id: Prediction(
            model_id=1,
            question_row_id=case.blind_case.question_row_id,
            answer=answer_wrongly(case) if 20 < case.blind_case.id <= 30 else case.question.answer,
        )
        for case in data.cases
    }
    readings = tuple(
        replace(
            reading,
            answer=answer_wrongly(cases[reading.key.case_id])
            if reading.key.case_id % 4 == 1
            else cases[reading.key.case_id].question.answer,
        )
        for reading in data.readings
        if reading.key.case_id in answered
    )
    models = (replace(data.models[0], predictions=predictions),)
    [version] = data.versions
    versions = (replace(version, protocol=replace(version.protocol, minimum_cases=20)),)
    report = build_report(replace(data, readings=readings, models=models, exclusions=(), versions=versions))
    rows = {row.scenario: row for row in report.tables.missing_answers}
    assert rows["missing answers of readers wrong"].conclusion == "the model is more accurate"
    tipping = rows["tipping point"]
    assert tipping.conclusion != rows["as analysed"].conclusion
    assert 0 < tipping.share_correct < 1
    assert rows["missing answers of readers correct"].difference == pytest.approx(
        ((36 + 35 + 35) / 3 - 30) / 40  # the first reader did not answer one of the five cases
    )


def test_the_heat_map_has_a_legend_and_percent_agreement(report):
    figure = draw_figure(report, "kappa-all")
    row = list_kappa_rows(report)[0]
    assert f"{row.observed:.0%}, n {row.n}" in figure.svg
    assert ">0 or less<" in figure.svg
    assert "A model is treated like a reader" in figure.svg


@pytest.mark.slow
def test_the_methods_describe_conditions_of_readers_in_the_app_only(data, report):
    assert "The readings of 3 readers were made elsewhere" in render_methods(report)
    assert "options in random order" not in render_methods(report)
    in_app = build_report(replace(data, readers=tuple(replace(r, person_id=r.id) for r in data.readers)))
    methods = render_methods(in_app)
    assert "They answered independently" in methods
    assert "radiographs of its exam with indication, age, sex and view; no radiology report" in methods
    assert "Readings were made on 2026-01-01. The protocol was written on" in methods
    assert "elsewhere" not in methods
    assert "39 of 40 scored cases are analysed; 1 case is excluded" in methods


def test_the_report_prints_the_declared_categories_of_agreement(data, report):
    assert "of the answers (the letters of the options)" in render_methods(report)
    assert "a category of its own in agreement" in render_methods(report)
    [version] = data.versions
    protocol = replace(
        version.protocol, agreement_basis=AgreementBasis.CORRECTNESS, failed_replies=FailedReplyRule.MISSING,
        exclusions="Cases with a wrong side.",
    )  # fmt: skip
    declared = build_report(replace(data, versions=(replace(version, protocol=protocol),)))
    methods = render_methods(declared)
    assert "raters agree if both are correct" in methods
    assert "is missing in agreement" in methods
    assert "Rule for exclusions: Cases with a wrong side." in methods
    assert "Computed from the correctness" in draw_figure(declared, "kappa-all").svg


def test_checklists_are_complete_and_leave_open_what_only_authors_know(report):
    checklists = build_checklists(report)
    assert {name: len(items) for name, items in checklists.items()} == {
        "grras": 15,
        "claim": 44,
        "stard_ai": 42,
    }
    for item in (item for items in checklists.values() for item in items):
        assert bool(item.text) is (item.status != AUTHOR), item
    statuses = {item.item: item.status for item in checklists["claim"]}
    assert statuses["Funding"] == AUTHOR
    assert statuses["Handling of missing data"] == FILLED
    assert statuses["Demographic and clinical characteristics"] == AUTHOR  # no exam states sex or age


def test_checklists_state_exams_by_sex_and_age_once_per_exam(data):
    exams = sorted({case.blind_case.exam_row_id for case in data.cases})
    demographics = {exam: ("F", "034Y") if index % 2 else ("M", None) for index, exam in enumerate(exams)}
    report = build_report(replace(data, demographics=demographics))
    counts = {(row.characteristic, row.value): row.exams for row in report.tables.exams}
    [n] = {row.n for row in report.tables.exams}
    assert counts["sex", "female"] + counts["sex", "male"] == n
    assert counts["age", "18 to 39"] == counts["sex", "female"]
    assert counts["age", "not stated"] == counts["sex", "male"]
    [item] = [row for row in build_checklists(report)["claim"] if row.item.startswith("Demographic")]
    assert item.status == PARTLY
    assert f"female {counts['sex', 'female']}" in item.text


def test_every_table_is_written_as_csv_and_latex(report):
    files = render_text_files(report)
    tables = [path for path in files if path.startswith("tables/")]
    names = {path.removesuffix(".csv") for path in tables if path.endswith(".csv")}
    assert names == {path.removesuffix(".tex") for path in tables if path.endswith(".tex")}
    accuracy = files["tables/accuracy.tex"]
    columns = accuracy.splitlines()[3].removeprefix(r"\begin{tabular}{").removesuffix("}")
    rows = [line for line in accuracy.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(report.tables.accuracy) + 1
    assert {line.count(" & ") for line in rows} == {len(columns) - 1}


@pytest.mark.slow
def test_each_file_is_served_alone_and_the_report_is_restored(report):
    for path, content in render_text_files(report).items():
        assert render_text_file(report, path) == content
    assert StudyReport.from_json(report.to_json()) == report


@pytest.mark.slow
def test_every_figure_is_a_pdf_of_the_same_size_with_its_fonts(report):
    texts, pdfs = render_text_files(report), render_pdfs(report)
    figures = [path.removesuffix(".svg") for path in texts if path.endswith(".svg")]
    assert [f"{name}.pdf" for name in figures] == list(pdfs)
    for name in figures:
        width, height = re.findall(r'viewBox="0 0 (\d+) (\d+)"', texts[f"{name}.svg"])[0]
        pdf = pdfs[f"{name}.pdf"]
        assert f"/MediaBox [0 0 {width} {height}]".encode() in pdf, name
        assert b"/FontFile" in pdf, name
    assert render_pdf(report, "figures/flow.pdf").startswith(b"%PDF-")
    with pytest.raises(NotFound):
        render_pdf(report, "report.pdf")


def test_the_bars_are_as_high_as_the_accuracies(report):
    svg = draw_figure(report, "bars").svg
    bars = re.findall(r"<title>(.+): ([\d,]+) of ([\d,]+)</title>\n<rect [^>]*height=\"([\d.]+)\"", svg)
    assert len(bars) == len(report.tables.accuracy)
    for title, correct, n, height in bars:
        assert float(height) == pytest.approx(240 * int(correct) / int(n), abs=0.06), title
