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
from reader_study.report.files import render_text_file, render_text_files
from reader_study.report.html import render_html
from reader_study.report.rows import build_accuracy_rows
from reader_study.report.study_report import StudyReport
from storage.intake.bulk import add_exam_facts
from storage.reader_study.report_cache import save_report
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.statements import count_statements
from tests.storage.study_reports import find_result, import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import StudyWorld, answer_case, make_design, make_study_world, read_all
from tests.storage.worlds import NOW

pytestmark = pytest.mark.slow


@pytest.fixture
def study_world(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(
        sqlite_engine,
        design=make_design(8, training=1, repeats=2, repeat_gap=1),
        protocol=Protocol(model="m", bootstrap=0, minimum_cases=8),
    )


def test_study_without_answers_has_no_report(study_world):
    with pytest.raises(Refused, match="nothing to report"):
        load_report(study_world)


def test_repeats_and_training_cases_are_counted_separately(study_world):
    read_all(study_world, "rea", option=0)
    study_report = load_report(study_world)
    assert find_result(study_report.tables.accuracy, rater="rea", group="all").n == 8
    assert find_result(study_report.tables.repeats, rater="rea").n == 2
    assert (study_report.facts.repeat_answers, study_report.facts.training_answers) == (2, 1)
    assert sum(block.n for block in study_report.tables.learning) == 8
    assert find_result(study_report.tables.times, rater="rea").n == 8


def test_accuracy_and_kappa_equal_those_of_scikit_learn(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    cases = list_scored_cases(study_world)
    predictions = {case.question.id: {"answer": "AB"[index % 2]} for index, case in enumerate(cases)}
    import_model_answers(study_world, tmp_path, predictions)
    import_model_answers(
        study_world,
        tmp_path,
        {key: {"answer": "BA"[index % 3 == 0]} for index, key in enumerate(predictions)},
        model="n",
    )
    study_report = load_report(study_world)
    key = [option_letter(case.question.answer[0]) for case in cases]
    first = [predictions[case.question.id]["answer"] for case in cases]
    second = ["BA"[index % 3 == 0] for index in range(len(cases))]
    assert find_result(study_report.tables.accuracy, rater="m", group="all").estimate == accuracy_score(
        key, first
    )
    pair = find_result(study_report.tables.agreement, a="m", b="n", task="all")
    assert pair.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert not pair.few


def test_failed_prediction_counts_as_wrong_and_is_reported(study_world, tmp_path):
    cases = list_scored_cases(study_world)
    predictions = {case.question.id: {"answer": option_letter(case.question.answer[0])} for case in cases}
    predictions[cases[0].question.id] = {"raw": "I cannot tell."}
    import_model_answers(study_world, tmp_path, predictions)
    study_report = load_report(study_world)
    line = find_result(study_report.tables.accuracy, rater="m", group="all")
    assert (line.correct, line.n) == (7, 8)
    assert (line.low, line.high) == (wilson(7, 8).low, wilson(7, 8).high) or "clustered" in line.note
    failed = find_result(study_report.tables.failed, model="m")
    assert (failed.failed, failed.rules) == (1, "given 7, failed 1")
    assert any("1 of 8" in sentence for sentence in study_report.words)


def test_excluded_case_is_in_no_result_and_listed_with_reason(study_world, tmp_path):
    read_all(study_world, "rea")
    with unit_of_work(study_world.engine) as db:
        studies.exclude_readings(
            db,
            by=study_world.cora,
            study="first",
            case=list_scored_cases(study_world)[0].blind_case.number,
            reason="cut",
            now=NOW,
        )
    study_report = load_report(study_world)
    assert find_result(study_report.tables.accuracy, rater="rea", group="all").n == 7
    assert study_report.facts.cases_analysed == 7
    assert study_report.tables.exclusions[0].why == "cut"


def test_faulty_question_without_an_answer_is_not_scored(study_world):
    while True:  # every case is reported as faulty, up to the first scored one
        if answer_case(study_world, "rea", answer=None, faulty="two are right").key.case_id in {
            case.blind_case.id for case in list_scored_cases(study_world)
        }:
            break
    study_report = load_report(study_world) if read_all(study_world, "rea") else None
    assert find_result(study_report.tables.accuracy, rater="rea", group="all").n == 7
    assert "two are right" in {faulty_question.why for faulty_question in study_report.tables.faulty}


def test_same_answers_give_identical_files(study_world, tmp_path):
    read_all(study_world, "rea")
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    assert render_text_files(load_report(study_world)) == render_text_files(load_report(study_world))


def test_html_csv_and_json_have_identical_numbers(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    files = render_text_files(load_report(study_world))
    json_rows = json.loads(files["report.json"])["tables"]["accuracy"]
    rows = list(csv.DictReader(io.StringIO(files["tables/accuracy.csv"])))
    values = set(re.findall(r'value="([^"]*)"', files["report.html"]))
    for json_row, csv_row in zip(json_rows, rows, strict=True):
        for name in ("estimate", "low", "high"):
            assert repr(json_row[name]) == csv_row[name]
            assert repr(json_row[name]) in values


def test_html_loads_no_other_files_and_escapes_texts(study_world):
    read_all(study_world, "rea")
    with unit_of_work(study_world.engine) as db:
        studies.exclude_readings(
            db, by=study_world.cora, study="first", case=2, reason="<script>x</script>", now=NOW
        )
    page = render_html(load_report(study_world))
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="|url\(|@import', page) == []


def test_html_has_rater_names_and_whole_numbers_without_decimals(study_world, tmp_path):
    import_model_answers(
        study_world,
        tmp_path,
        {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)},
        model="Model (two)",
    )
    read_all(study_world, "rea", option=0)
    with unit_of_work(study_world.engine) as db:
        studies.set_profile(
            db, by=study_world.cora, study="first", reader="rea", profile=ReaderProfile(years=12.0), now=NOW
        )
    page = render_html(load_report(study_world))
    assert "<summary>confusion: Model (two)</summary>" in page
    assert '<data value="12.0">12</data>' in page


def test_undefined_result_states_the_reason(study_world, tmp_path):
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    study_report = load_report(study_world)
    unknown = {"estimate": None, "low": None, "high": None, "correct": 0, "n": 0, "note": "no answer"}
    lines = tuple(replace(row, **unknown) for row in study_report.tables.accuracy)
    accuracy_rows = build_accuracy_rows(
        replace(study_report, tables=replace(study_report.tables, accuracy=lines))
    )
    assert accuracy_rows[0].words == "not defined: no answer, 0/0"


def test_report_states_protocol_hash_and_selected_maximum(study_world):
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    study_report = load_report(study_world)
    assert study_report.facts.protocol_sha256 in render_html(study_report)
    assert any("A maximum selected after the fact" in sentence for sentence in study_report.words)
    assert any(
        sentence.startswith("rea answered") and "of 8 cases correctly" in sentence
        for sentence in study_report.words
    )


def test_report_is_recomputed_only_after_new_answers(study_world, tmp_path):
    workspace = Workspace(home=tmp_path, database_url="")
    read_all(study_world, "rea", option=0)

    def load_with_progress() -> tuple[StudyReport, list[float]]:
        progress_values: list[float] = []
        with read_only_session(study_world.engine) as db:
            study_report = studies.load_or_compute_report(
                db, by=study_world.cora, study="first", workspace=workspace, progress=progress_values.append
            )
        return study_report, progress_values

    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    first, progress_values = load_with_progress()
    assert progress_values[-1] == 1
    assert progress_values == sorted(progress_values)
    assert load_with_progress() == (first, [])
    import_model_answers(
        study_world,
        tmp_path,
        {case.question.id: {"answer": "B"} for case in list_scored_cases(study_world)},
        model="n",
    )
    assert load_with_progress()[1][-1] == 1


def test_stored_report_with_other_columns_is_recomputed(study_world, tmp_path):
    workspace = Workspace(home=tmp_path, database_url="")
    read_all(study_world, "rea", option=0)
    with read_only_session(study_world.engine) as db:
        digest = studies.load_report_digest(db, by=study_world.cora, study="first")
    text = load_report(study_world).to_json()
    for altered_text in (
        text.replace('"median_seconds"', '"median_s"'),
        text.replace('"times"', '"durations"'),
        "{}",
    ):
        save_report(workspace, digest=digest, text=altered_text)
        assert studies.load_stored_report(by=study_world.cora, workspace=workspace, digest=digest) is None
        with read_only_session(study_world.engine) as db:
            assert (
                studies.load_or_compute_report(
                    db, by=study_world.cora, study="first", workspace=workspace
                ).to_json()
                == text
            )


def test_every_change_of_the_data_changes_the_digest(study_world, tmp_path):
    cora = study_world.cora
    answers = {case.question.id: {"answer": "B"} for case in list_scored_cases(study_world)}

    def load_digest():
        with read_only_session(study_world.engine) as db:
            return studies.load_report_digest(db, by=cora, study="first")

    def change(service, **arguments):
        with unit_of_work(study_world.engine) as db:
            service(db, by=cora, study="first", now=NOW, **arguments)

    digests = [load_digest()]
    for make_change in (
        lambda: change(studies.remove_reader, reader="rob"),
        lambda: change(studies.assign_readers, to=["rob"]),
        lambda: read_all(study_world, "rea"),
        lambda: import_model_answers(study_world, tmp_path, dict(list(answers.items())[:5])),
        lambda: import_model_answers(study_world, tmp_path, answers, model="n"),
        lambda: change(studies.set_profile, reader="rea", profile=ReaderProfile(years=3), of_reference=True),
        lambda: change(studies.exclude_readings, case=2, reason="A wrist."),
        lambda: change(
            studies.change_protocol, protocol=Protocol(model="n", minimum_cases=3), reason="A pilot study."
        ),
        lambda: change(studies.close_study),
    ):
        make_change()
        digests.append(load_digest())
    assert len(set(digests)) == len(digests)


def test_a_patient_from_a_later_import_changes_the_digest(study_world):
    digests = []
    exam_id = list_scored_cases(study_world)[0].blind_case.exam_row_id
    for patient in (None, "p-1"):
        facts = {"new_patient": patient, "new_indication": None, "new_age": None, "new_sex": None}
        with unit_of_work(study_world.engine) as db:
            add_exam_facts(db, facts=[{"number": exam_id, "new_report": None, **facts}])
        with read_only_session(study_world.engine) as db:
            digests.append(studies.load_report_digest(db, by=study_world.cora, study="first"))
    assert digests[0] != digests[1]


def test_actions_that_change_no_data_keep_the_digest(study_world):
    def load_digest():
        with read_only_session(study_world.engine) as db:
            return studies.load_report_digest(db, by=study_world.cora, study="first")

    before = load_digest()
    with unit_of_work(study_world.engine) as db:
        studies.record_guideline_read(db, person=study_world.people["rea"], study_id=1, now=NOW)
    assert load_digest() == before


def test_the_digest_and_a_stored_report_are_read_without_cases_and_answers(study_world, tmp_path):
    workspace = Workspace(home=tmp_path, database_url="")
    read_all(study_world, "rea")
    with read_only_session(study_world.engine) as db:
        studies.load_or_compute_report(db, by=study_world.cora, study="first", workspace=workspace)
    with count_statements() as counts, read_only_session(study_world.engine) as db:
        digest = studies.load_report_digest(db, by=study_world.cora, study="first")
    forbidden_columns = ("study_case.stem", "study_case_key", "reading.answer", "prediction.answer")
    assert not [text for text in counts.statements if any(column in text for column in forbidden_columns)]
    first, second = (
        studies.load_stored_report(by=study_world.cora, workspace=workspace, digest=digest) for _ in range(2)
    )
    assert first.tables is second.tables  # parsed once


def test_stored_report_against_another_model_equals_a_computed_report(study_world, tmp_path):
    for model in "mn":
        import_model_answers(
            study_world,
            tmp_path,
            {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)},
            model=model,
        )
    study_report = load_report(study_world)
    assert study_report.facts.model == "m"
    assert study_report.compare_with("n") == load_report(study_world, "n")
    assert StudyReport.from_json(study_report.to_json()) == study_report
    assert StudyReport.from_json(study_report.to_json()).to_json() == study_report.to_json()
    with pytest.raises(Refused, match="no model"):
        study_report.compare_with("x")


def test_every_figure_has_rows_and_every_file_renders_alone(study_world, tmp_path):
    read_all(study_world, "rea")
    import_model_answers(
        study_world,
        tmp_path,
        {
            case.question.id: {"answer": "AB"[index % 2]}
            for index, case in enumerate(list_scored_cases(study_world))
        },
    )
    study_report = load_report(study_world)
    names = {figure.name for figure in draw_figures(study_report)}
    assert {"accuracy-all", "differences-all", "kappa-all", "repeats", "times", "learning", "places"} <= names
    assert {"confusion-rea", "confusion-m"} <= names
    for figure in draw_figures(study_report):
        assert figure.rows
        assert figure.svg.startswith("<svg")
    files = render_text_files(study_report)
    assert {path: render_text_file(study_report, path) for path in files} == files
    with pytest.raises(NotFound):
        render_text_file(study_report, "figures/../report.json")


def test_reader_tables_keep_the_comparison_with_the_model(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    readers, models = (load_report(study_world).filter_by_kind([kind]).tables for kind in ("reader", "model"))
    assert [{row.rater for row in tables.accuracy} for tables in (readers, models)] == [{"rea"}, {"m"}]
    assert {frozenset((pair.a, pair.b)) for pair in readers.paired} == {frozenset(("rea", "m"))}
    assert models.paired == ()
    assert readers.agreement == models.agreement == ()
    assert readers.failed == load_report(study_world).tables.failed


def test_holm_correction_uses_the_family_of_the_protocol(sqlite_engine, tmp_path):
    study_world = make_study_world(
        sqlite_engine,
        design=make_design(8),
        protocol=Protocol(model="m", bootstrap=0, family=("rea : m",), minimum_cases=8),
    )
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    study_report = load_report(study_world)
    corrected_pairs = {(pair.a, pair.b) for pair in study_report.tables.paired if pair.p_adjusted is not None}
    assert corrected_pairs == {("m", "rea")}
    comparison = find_result(study_report.tables.paired, a="m", b="rea", task="all")
    assert comparison.p_adjusted == comparison.p_exact  # the only comparison of its family
    assert "1 pair: rea : m" in render_html(study_report)
    assert study_report.facts.settings.family == ("rea : m",)


def test_html_leaves_out_columns_without_a_value_and_collapses_single_tasks(study_world):
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    report = load_report(study_world)
    page = render_html(report)
    assert report.tables.reader_means  # their arms are empty, because the study has none
    section = page.partition("<h2>Means of the readers</h2>")[2].partition("<h2>")[0]
    assert ">arm</th>" not in section
    assert '<th class="text">method</th>' in section
    tasks = {row.task for row in report.tables.reader_means}
    assert ("rows by task</summary>" in section) == (len(report.tables.reader_means) > 12 and len(tasks) > 1)
    assert "Readings were made on " in page


def test_accuracy_by_difficulty_begins_with_easy(study_world):
    read_all(study_world, "rea", option=0)
    names = list(dict.fromkeys(str(row.group) for row in load_report(study_world).tables.by_difficulty))
    assert names == [tier for tier in ("easy", "medium", "hard") if tier in names]
