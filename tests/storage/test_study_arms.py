"""The report of a study with two arms, and of readers who set the answer key."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, update

from domain.protocols import HelperRule, MissingAnswers, Protocol
from domain.studies import Arm, Crossing, ReaderProfile
from reader_study import service as studies
from reader_study.report.figures import draw_figure, make_figure_name
from reader_study.report.html import render_html
from reader_study.report.methods import write_methods
from reader_study.report.rows import build_difference_rows
from storage.rows.datasets import ExamRow
from storage.unit_of_work import unit_of_work
from tests.storage.study_reports import find_result, import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import StudyWorld, make_design, make_study_world, read_all
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full
ARMS = (Arm(name="aided"), Arm(name="plain", clinical_info_shown=False))


def make_report(engine: Engine, tmp_path, *, helping=(), predicted=8, **protocol):
    """A report of the study world with two arms, in which rea and rob read all cases."""
    study_world = make_world_with_arms(engine, **protocol)
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    for name in helping:
        with unit_of_work(engine) as db:
            studies.set_profile(
                db,
                by=study_world.cora,
                study="first",
                reader=name,
                profile=ReaderProfile(),
                of_reference=True,
                now=NOW,
            )
    import_predictions(study_world, tmp_path, predicted)
    return load_report(study_world)


def make_world_with_arms(engine: Engine, **protocol) -> StudyWorld:
    return make_study_world(
        engine,
        design=make_design(8, crossing=Crossing.CROSSOVER, arms=ARMS),
        protocol=Protocol(model="m", bootstrap=0, minimum_cases=1, **protocol),
    )


def import_predictions(study_world: StudyWorld, tmp_path, count: int) -> None:
    cases = list_scored_cases(study_world)[:count]
    import_model_answers(
        study_world,
        tmp_path,
        {case.question.id: {"answer": "AB"[index % 2]} for index, case in enumerate(cases)},
    )


def test_two_readers_in_two_arms_count_as_two_readers(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path)
    primary = find_result(report.tables.mrmc, task="all", arm="", random_readers=True)
    assert (primary.readers, primary.cases) == (2, 8)
    contrast = find_result(report.tables.arms, task="all", factor="arm", method="Obuchowski-Rockette")
    assert (contrast.a, contrast.b, contrast.readers) == ("aided", "plain", 2)
    assert contrast.difference == contrast.mean_a - contrast.mean_b
    assert {row.factor for row in report.tables.arms} == {"arm", "period", "sequence"}
    assert any(
        sentence.startswith("Arms: mean accuracy in aided minus plain over 2 readers")
        for sentence in report.words
    )
    assert "Differences between arms" in render_html(report)
    assert type(report).from_json(report.to_json()) == report
    assert not report.filter_by_kind(["model"]).tables.arms
    assert report.filter_by_kind(["reader"]).tables.arms == report.tables.arms


def test_readers_who_set_the_key_are_in_the_secondary_comparison(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path, helping=["rob"])
    rows = [row for row in report.tables.mrmc if (row.task, row.arm) == ("all", "")]
    assert [(row.includes_helpers, row.random_readers, row.readers) for row in rows] == [
        (False, True, 1), (False, False, 1), (True, True, 2), (True, False, 2),
    ]  # fmt: skip
    primary, *secondary = [sentence for sentence in report.words if "comparison" in sentence.split(":")[0]]
    assert primary == (
        "Primary comparison (generalises to similar readers): not defined; no interval: only one reader."
    )
    assert [sentence.split()[0] for sentence in secondary] == ["Secondary"] * 3
    assert any("2 readers, including those who contributed to the answer key," in text for text in secondary)


def test_the_protocol_can_include_readers_who_set_the_key(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path, helping=["rob"], helpers=HelperRule.INCLUDED)
    primary = next(sentence for sentence in report.words if sentence.startswith("Primary comparison"))
    assert "2 readers, including those who contributed to the answer key," in primary


def test_the_protocol_can_compare_helpers_by_the_majority_of_the_other_helpers(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path, helping=["rea", "rob"], helpers=HelperRule.LEAVE_ONE_OUT)
    primary = next(sentence for sentence in report.words if sentence.startswith("Primary comparison"))
    text = "2 readers (contributors to the answer key are scored by the majority of the others)"
    assert text in primary
    rows = [row for row in report.tables.mrmc if (row.task, row.arm, row.random_readers) == ("all", "", True)]
    assert [row.helpers for row in rows] == list(HelperRule)
    leave_one_out_rows = [row for row in report.tables.leave_one_out if row.group == "all"]
    assert {row.rater for row in leave_one_out_rows} == {
        f"{reader} ({arm})" for reader in ("rea", "rob") for arm in ("aided", "plain")
    }
    for row in leave_one_out_rows:
        text = f"{row.rater} by the majority of the others who contributed to the answer key: {row.correct} "
        assert any(sentence.startswith(text) for sentence in report.words), text
    assert "scored by a reference made without this reader" in " ".join(write_methods(report))
    labels = {row.label for row in build_difference_rows(report)}
    assert {label for label in labels if "‡" in label} == {f"{row.rater} ‡" for row in leave_one_out_rows}
    assert (
        "‡: by the majority of the others" in draw_figure(report, make_figure_name("differences", "all")).svg
    )
    assert "by the others&#x27; majority" in render_html(report)
    assert type(report).from_json(report.to_json()) == report


def test_questions_without_a_prediction_are_left_out_with_a_warning_by_default(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path, predicted=6)
    primary = find_result(report.tables.mrmc, task="all", arm="", random_readers=False)
    assert primary.cases == 6
    assert primary.note.startswith("warning: the model answered 6 of the 8 questions")
    assert any("Warning: the model answered 6 of the 8 questions" in sentence for sentence in report.words)


def test_missing_predictions_can_count_as_wrong(sqlite_engine, tmp_path):
    report = make_report(sqlite_engine, tmp_path, predicted=6, missing_answers=MissingAnswers.WRONG)
    primary = find_result(report.tables.mrmc, task="all", arm="", random_readers=False)
    assert (primary.cases, primary.note) == (
        8,
        "2 questions without an answer of the model count as incorrect",
    )
    assert find_result(report.tables.accuracy, rater="m", group="all").n == 8


def test_intervals_are_clustered_by_patient(sqlite_engine, tmp_path):
    study_world = make_world_with_arms(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        db.execute(update(ExamRow).values(patient="P1"))
        db.execute(update(ExamRow).where(ExamRow.id > 4).values(patient="P2"))
    read_all(study_world, "rea")
    import_predictions(study_world, tmp_path, 8)
    accuracy = find_result(load_report(study_world).tables.accuracy, rater="m", group="all")
    assert accuracy.note == "clustered by patient"
