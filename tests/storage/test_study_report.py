"""The report of a study: the right n and figures, identical in every format."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sqlalchemy import Engine

from domain.errors import NotFound, Refused
from domain.protocols import Protocol
from domain.questions import option_letter
from domain.studies import ReaderProfile
from measures.proportions import wilson
from reader_study import service as studies
from reader_study.report.figures import draw_figures
from reader_study.report.files import render_file, render_files
from reader_study.report.html import render_html
from reader_study.report.rows import build_accuracy_rows
from reader_study.report.study_report import StudyReport
from storage.reader_study.report_cache import store_report
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.study_reports import of, predict, report, scored
from tests.storage.study_worlds import StudyWorld, answer, make_design, make_study_world, read_all
from tests.storage.worlds import NOW

pytestmark = pytest.mark.slow


@pytest.fixture
def made(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(
        sqlite_engine,
        design=make_design(8, training=1, repeats=2, repeat_gap=1),
        protocol=Protocol(model="m", bootstrap=0),
    )


def test_a_study_without_answers_has_no_report(made):
    with pytest.raises(Refused, match="nothing to report"):
        report(made)


def test_repeats_and_training_cases_are_in_no_n_but_their_own(made):
    read_all(made, "rea", place=0)
    found = report(made)
    assert of(found.tables.accuracy, rater="rea", group="all").n == 8
    assert of(found.tables.repeats, rater="rea").n == 2
    assert (found.facts.repeat_answers, found.facts.training_answers) == (2, 1)
    assert sum(each.n for each in found.tables.learning) == 8
    assert of(found.tables.times, rater="rea").n == 8


def test_accuracy_and_kappa_are_scikit_learns_on_the_same_rows(made, tmp_path):
    read_all(made, "rea", place=0)
    cases = scored(made)
    said = {case.question.id: {"answer": "AB"[at % 2]} for at, case in enumerate(cases)}
    predict(made, tmp_path, said)
    predict(made, tmp_path, {key: {"answer": "BA"[at % 3 == 0]} for at, key in enumerate(said)}, model="n")
    found = report(made)
    key = [option_letter(case.question.answer[0]) for case in cases]
    first = [said[case.question.id]["answer"] for case in cases]
    second = ["BA"[at % 3 == 0] for at in range(len(cases))]
    assert of(found.tables.accuracy, rater="m", group="all").estimate == accuracy_score(key, first)
    pair = of(found.tables.agreement, a="m", b="n", task="all")
    assert pair.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert pair.few


def test_a_failed_prediction_is_wrong_and_reported_apart(made, tmp_path):
    cases = scored(made)
    said = {case.question.id: {"answer": option_letter(case.question.answer[0])} for case in cases}
    said[cases[0].question.id] = {"raw": "I cannot tell."}
    predict(made, tmp_path, said)
    found = report(made)
    line = of(found.tables.accuracy, rater="m", group="all")
    assert (line.correct, line.n) == (7, 8)
    assert (line.low, line.high) == (wilson(7, 8).low, wilson(7, 8).high) or "clustered" in line.note
    assert of(found.tables.failed, model="m").failed == 1
    assert any("1 of 8" in sentence for sentence in found.words)


def test_what_is_excluded_is_in_no_figure_and_listed_with_why(made, tmp_path):
    read_all(made, "rea")
    with unit_of_work(made.engine) as db:
        studies.exclude_readings(
            db, by=made.cora, study="first", case=scored(made)[0].blind_case.number, why="cut", now=NOW
        )
    found = report(made)
    assert of(found.tables.accuracy, rater="rea", group="all").n == 7
    assert found.facts.cases_analysed == 7
    assert found.tables.exclusions[0].why == "cut"


def test_a_faulty_question_without_an_answer_is_neither_right_nor_wrong(made):
    while True:  # after the training case
        if answer(made, "rea", answer=None, faulty="two are right").key.case_id in {
            case.blind_case.id for case in scored(made)
        }:
            break
    found = report(made) if read_all(made, "rea") else None
    assert of(found.tables.accuracy, rater="rea", group="all").n == 7
    assert "two are right" in {each.why for each in found.tables.faulty}


def test_the_same_answers_give_the_same_bytes_in_every_file(made, tmp_path):
    read_all(made, "rea")
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    assert render_files(report(made)) == render_files(report(made))


def test_html_csv_and_json_have_the_same_numbers_to_the_last_digit(made, tmp_path):
    read_all(made, "rea", place=0)
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    files = render_files(report(made))
    plain = json.loads(files["report.json"])["tables"]["accuracy"]
    rows = list(csv.DictReader(io.StringIO(files["tables/accuracy.csv"])))
    values = set(re.findall(r'value="([^"]*)"', files["report.html"]))
    for one, other in zip(plain, rows, strict=True):
        for name in ("estimate", "low", "high"):
            assert repr(one[name]) == other[name]
            assert repr(one[name]) in values


def test_the_html_fetches_nothing_and_shows_texts_as_texts(made):
    read_all(made, "rea")
    with unit_of_work(made.engine) as db:
        studies.exclude_readings(db, by=made.cora, study="first", case=2, why="<script>x</script>", now=NOW)
    page = render_html(report(made))
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="|url\(|@import', page) == []


def test_the_html_calls_a_rater_by_its_name_and_writes_whole_numbers_without_a_point(made, tmp_path):
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)}, model="Model (two)")
    read_all(made, "rea", place=0)
    with unit_of_work(made.engine) as db:
        studies.set_profile(
            db, by=made.cora, study="first", reader="rea", profile=ReaderProfile(years=12.0), now=NOW
        )
    page = render_html(report(made))
    assert "<summary>confusion: Model (two)</summary>" in page
    assert '<data value="12.0">12</data>' in page


def test_what_is_not_defined_says_why_on_its_line(made, tmp_path):
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    found = report(made)
    unknown = {"estimate": None, "low": None, "high": None, "correct": 0, "n": 0, "note": "no answer"}
    lines = tuple(replace(each, **unknown) for each in found.tables.accuracy)
    shown = build_accuracy_rows(replace(found, tables=replace(found.tables, accuracy=lines)))
    assert shown[0].words == "not defined: no answer, 0/0"


def test_a_report_names_protocol_hash_simulated_raters_and_the_selected_maximum(made):
    read_all(made, "rea", place=0)
    read_all(made, "rob", place=1)
    found = report(made)
    assert found.facts.protocol_sha256 in render_html(found)
    assert any("selected maximum" in sentence for sentence in found.words)
    assert any(sentence.startswith("On 8 cases, rea was right on") for sentence in found.words)


def test_a_report_is_computed_once_for_the_same_answers_and_anew_for_others(made, tmp_path):
    workspace = Workspace(home=tmp_path, database_url="")
    read_all(made, "rea", place=0)

    def ask() -> tuple[StudyReport, list[float]]:
        told: list[float] = []
        with read_only_session(made.engine) as db:
            found = studies.load_or_compute_report(
                db, by=made.cora, study="first", workspace=workspace, progress=told.append
            )
        return found, told

    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    first, told = ask()
    assert told[-1] == 1
    assert told == sorted(told)
    assert ask() == (first, [])
    predict(made, tmp_path, {case.question.id: {"answer": "B"} for case in scored(made)}, model="n")
    assert ask()[1][-1] == 1


def test_a_kept_report_with_other_columns_is_computed_again(made, tmp_path):
    workspace = Workspace(home=tmp_path, database_url="")
    read_all(made, "rea", place=0)
    with read_only_session(made.engine) as db:
        state = studies.load_report_state(db, by=made.cora, study="first")
    text = report(made).to_json()
    for other in (
        text.replace('"median_seconds"', '"median_s"'),
        text.replace('"times"', '"durations"'),
        "{}",
    ):
        store_report(workspace, digest=state.digest, text=other)
        assert studies.load_stored_report(by=made.cora, workspace=workspace, digest=state.digest) is None
        with read_only_session(made.engine) as db:
            assert (
                studies.load_or_compute_report(db, by=made.cora, study="first", workspace=workspace).to_json()
                == text
            )


def test_the_kept_report_against_another_model_is_the_one_computed_against_it(made, tmp_path):
    for model in "mn":
        predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)}, model=model)
    found = report(made)
    assert found.facts.model == "m"
    assert found.compare_with("n") == report(made, "n")
    assert StudyReport.from_json(found.to_json()) == found
    assert StudyReport.from_json(found.to_json()).to_json() == found.to_json()
    with pytest.raises(Refused, match="no model"):
        found.compare_with("x")


def test_every_figure_has_its_rows_and_each_file_is_the_one_of_the_whole_folder(made, tmp_path):
    read_all(made, "rea")
    predict(
        made, tmp_path, {case.question.id: {"answer": "AB"[at % 2]} for at, case in enumerate(scored(made))}
    )
    found = report(made)
    names = {figure.name for figure in draw_figures(found)}
    assert {"accuracy-all", "differences-all", "kappa-all", "repeats", "times", "learning", "places"} <= names
    assert {"confusion-rea", "confusion-m"} <= names
    for figure in draw_figures(found):
        assert figure.rows
        assert figure.svg.startswith("<svg")
    files = render_files(found)
    assert {path: render_file(found, path) for path in files} == files
    with pytest.raises(NotFound):
        render_file(found, "figures/../report.json")


def test_figures_of_readers_alone_keep_their_comparison_with_the_model(made, tmp_path):
    read_all(made, "rea", place=0)
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    readers, models = (report(made).filter_by_kind([kind]).tables for kind in ("reader", "model"))
    assert [{each.rater for each in tables.accuracy} for tables in (readers, models)] == [{"rea"}, {"m"}]
    assert {frozenset((each.a, each.b)) for each in readers.paired} == {frozenset(("rea", "m"))}
    assert models.paired == ()
    assert readers.agreement == models.agreement == ()
    assert readers.failed == report(made).tables.failed


def test_holm_counts_the_family_of_the_protocol_and_the_report_says_its_size(sqlite_engine, tmp_path):
    made = make_study_world(
        sqlite_engine,
        design=make_design(8),
        protocol=Protocol(model="m", bootstrap=0, family=("rea : m",)),
    )
    read_all(made, "rea", place=0)
    read_all(made, "rob", place=1)
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    found = report(made)
    inside = {(each.a, each.b) for each in found.tables.paired if each.p_holm is not None}
    assert inside == {("m", "rea")}
    one = of(found.tables.paired, a="m", b="rea", task="all")
    assert one.p_holm == one.p_exact  # the only comparison of its family
    assert "1 pair within a task: rea : m" in render_html(found)
    assert found.facts.settings.family == ("rea : m",)
