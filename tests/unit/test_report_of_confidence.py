"""Study reports use stated confidences and probabilities: AUC of yes/no questions, calibration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.study_report import Size, simulate_study
from domain.vocabulary import AnswerFormat
from measures.all_measures import compute_measures
from measures.records.settings import Settings
from reader_study.report.answer_tables import compute_confidence_levels
from reader_study.report.figures import draw_figure, list_figure_names
from reader_study.report.html import render_html
from reader_study.report.ratings import build_ratings
from reader_study.report.report_builder import build_report


def test_questions_with_lettered_options_are_excluded_from_yes_no_measures():
    # Six yes/no questions, and six with letters, which must not count as negative answers
    rows = [(f"c{i}", "key", "reference", "yes" if i < 3 else "no") for i in range(6)]
    rows += [(f"c{i}", "rea", "reader", "yes" if i in (0, 1, 3) else "no") for i in range(6)]
    rows += [
        (f"l{i}", rater, kind, "A")
        for i in range(6)
        for rater, kind in (("key", "reference"), ("rea", "reader"))
    ]
    table = pd.DataFrame(rows, columns=["question_id", "rater", "kind", "answer"])
    results = compute_measures(table, settings=Settings(bootstrap=0, positive="yes")).diagnostic
    shares = {row.measure: (row.count, row.n) for row in results if row.task == "all"}
    assert shares == {"sensitivity": (2, 3), "specificity": (2, 3), "ppv": (2, 3), "npv": (2, 3)}


def test_accuracy_by_confidence_counts_answers_of_each_level():
    answers = [
        ("rea", "5", "yes"),
        ("rea", "5", "yes"),
        ("rea", "5", "no"),
        ("rea", "1", "no"),
        ("rob", "", "yes"),
    ]
    table = pd.DataFrame(
        [
            {"rater": rater, "confidence": level, "correct": correct, "answer": "A", "arm": "", "patient": "",
             "exam": f"e{index}"}
            for index, (rater, level, correct) in enumerate(answers)
        ]
    )  # fmt: skip
    levels = compute_confidence_levels(table, 0.95)
    assert [(row.rater, row.confidence, row.correct, row.n) for row in levels] == [
        ("rea", 1, 0, 1), ("rea", 5, 2, 3),
    ]  # fmt: skip
    assert compute_confidence_levels(table.drop(columns="confidence"), 0.95) == ()


def test_the_auc_of_confidences_equals_scikit_learn():
    scores = [11, 9, 6, 4, 7, 1, 2, 6]
    truth = [1, 1, 1, 0, 0, 0, 0, 1]
    rows = [(f"q{i}", "key", "reference", "yes" if t else "no", "") for i, t in enumerate(truth)]
    rows += [(f"q{i}", "rea", "reader", "yes" if s > 6 else "no", str(s)) for i, s in enumerate(scores)]
    table = pd.DataFrame(rows, columns=["question_id", "rater", "kind", "answer", "score"])
    results = compute_measures(table, settings=Settings(bootstrap=0, positive="yes")).diagnostic
    [auc] = [row for row in results if row.measure == "auc" and row.task == "all"]
    assert auc.estimate == pytest.approx(roc_auc_score(truth, scores))


def simulate_readers(readers=4, cases=30, seed=4):
    """Scores of readers, shape (cases, readers), and whether the answer is yes."""
    random = np.random.default_rng(seed)
    truth = np.arange(cases) % 2
    scores = np.clip(np.round(5 + 2 * truth[:, None] + 2 * random.standard_normal((cases, readers))), 1, 11)
    return scores, truth


def measure_readers(scores, truth):
    rows = [(f"q{i:02}", "key", "reference", "yes" if t else "no", "") for i, t in enumerate(truth)]
    rows += [
        (f"q{i:02}", f"r{reader}", "reader", "yes" if score > 6 else "no", str(score))
        for reader, column in enumerate(scores.T)
        for i, score in enumerate(column)
    ]
    table = pd.DataFrame(rows, columns=["question_id", "rater", "kind", "answer", "score"])
    return compute_measures(table, settings=Settings(bootstrap=0, positive="yes", jackknife=True))


@pytest.mark.slow
def test_the_mean_auc_of_readers_equals_a_jackknife_in_a_loop():
    # Obuchowski and Rockette: (variance between readers + r x mean covariance of two) / r, for r readers.
    scores, truth = simulate_readers()
    cases, readers = scores.shape
    aucs = np.array([roc_auc_score(truth, column) for column in scores.T])
    leave_one_out_aucs = np.array(
        [
            [roc_auc_score(np.delete(truth, case), np.delete(column, case)) for column in scores.T]
            for case in range(cases)
        ]
    )
    covariance = np.cov(leave_one_out_aucs.T) * (cases - 1) ** 2 / cases
    mean_covariance = (covariance.sum() - np.trace(covariance)) / (readers * (readers - 1))
    expected_se = np.sqrt((aucs.var(ddof=1) + readers * max(0.0, mean_covariance)) / readers)
    [mean] = [
        row
        for row in measure_readers(scores, truth).reader_means
        if (row.measure, row.task, row.random_readers) == ("auc", "all", True)
    ]
    assert (mean.readers, mean.cases) == (readers, cases)
    assert (mean.estimate, mean.se) == pytest.approx((aucs.mean(), expected_se))
    assert 0 <= mean.low < mean.estimate < mean.high <= 1


def test_reader_means_equal_the_means_over_all_answers():
    scores, truth = simulate_readers()
    says_yes = scores > 6
    means = {
        row.measure: row.estimate
        for row in measure_readers(scores, truth).reader_means
        if row.task == "all" and row.random_readers
    }
    assert means["accuracy"] == pytest.approx((says_yes == truth[:, None]).mean())
    assert means["sensitivity"] == pytest.approx(says_yes[truth == 1].mean())
    assert means["specificity"] == pytest.approx(1 - says_yes[truth == 0].mean())


def make_study_with_probabilities():
    """Three readers without confidences, and two models with 40 yes/no questions.

    The first model states probabilities, which rise from 0.6 to 0.99. Its first reply has no answer.
    """
    data = simulate_study(Size(readers=3, models=2, cases=40, target=1, before=None))
    cases = tuple(
        replace(
            case,
            question=replace(
                case.question,
                format=AnswerFormat.CLOSED,
                options=(),
                answer=as_yes_or_no(case.question.answer),
            ),
        )
        for case in data.cases
    )
    readings = tuple(replace(reading, answer=as_yes_or_no(reading.answer)) for reading in data.readings)
    first, second = (
        replace(
            model,
            predictions={
                number: replace(prediction, answer=as_yes_or_no(prediction.answer))
                for number, prediction in model.predictions.items()
            },
        )
        for model in data.models
    )
    stated = {
        number: replace(
            prediction, probability=0.6 + 0.01 * index, answer=prediction.answer if index else None
        )
        for index, (number, prediction) in enumerate(first.predictions.items())
    }
    [version] = data.versions
    protocol = replace(version.protocol, bootstrap=0)
    return replace(
        data, cases=cases, readings=readings, models=(replace(first, predictions=stated), second),
        versions=(replace(version, protocol=protocol, sha256=protocol.sha256()),),
    )  # fmt: skip


def as_yes_or_no(answer):
    return "yes" if answer[0] < 2 else "no"


def test_a_model_that_states_probabilities_has_a_calibration_and_an_auc():
    data = make_study_with_probabilities()
    table = build_ratings(data)
    stated = table[table["probability"] != ""]
    assert set(stated["rater"]) == {"model 01"}
    assert len(stated) == 39  # the reply without an answer has no probability
    report = build_report(data)
    overall = [row for row in report.tables.calibration if row.task == "all"]
    assert [(row.rater, row.n) for row in overall] == [("model 01", 39)]
    [auc] = [row for row in report.tables.diagnostic if row.measure == "auc" and row.task == "all"]
    truth = table[table["kind"] == "reference"].set_index("question_id")["answer"] == "yes"
    probability_of_yes = (
        stated["probability"]
        .astype(float)
        .where(stated["answer"] == "yes", 1 - stated["probability"].astype(float))
    )
    assert (auc.rater, auc.n) == ("model 01", 39)
    assert auc.estimate == pytest.approx(roc_auc_score(truth.loc[stated["question_id"]], probability_of_yes))
    assert "auc" not in {row.measure for row in report.tables.mrmc}
    assert "auc" not in {row.measure for row in report.tables.reader_means}
    figure = draw_figure(report, "calibration")
    assert list(figure.rows) == [row for row in report.tables.calibration_bins if row.task == "all"]
    assert sum(row.n for row in report.tables.calibration_bins if row.task == "all") == 39
    assert "ECE" in figure.svg


def test_a_study_without_probabilities_states_the_reason():
    data = make_study_with_probabilities()
    report = build_report(replace(data, models=data.models[1:]))
    assert report.tables.calibration == ()
    assert "calibration" not in list_figure_names(report)
    assert "No model stated the probability that its answer is correct." in render_html(report)
