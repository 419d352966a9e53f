"""Study reports use the stated confidence: AUC of yes/no questions, and accuracy by confidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from measures.all_measures import compute_measures
from measures.records.settings import Settings
from reader_study.report.answer_tables import compute_confidence_levels


def test_letters_of_other_questions_are_no_negatives():
    # Six yes/no questions, and six with letters that would be negatives
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


def test_the_mean_auc_of_readers_equals_a_jackknife_in_a_loop():
    # Obuchowski and Rockette: variance of the readers plus r times the mean covariance of two of them, by r.
    scores, truth = simulate_readers()
    cases, readers = scores.shape
    aucs = np.array([roc_auc_score(truth, column) for column in scores.T])
    left_out = np.array(
        [
            [roc_auc_score(np.delete(truth, case), np.delete(column, case)) for column in scores.T]
            for case in range(cases)
        ]
    )
    covariance = np.cov(left_out.T) * (cases - 1) ** 2 / cases
    shared = (covariance.sum() - np.trace(covariance)) / (readers * (readers - 1))
    expected_se = np.sqrt((aucs.var(ddof=1) + readers * max(0.0, shared)) / readers)
    [mean] = [
        row
        for row in measure_readers(scores, truth).reader_means
        if (row.measure, row.task, row.random_readers) == ("auc", "all", True)
    ]
    assert (mean.readers, mean.cases) == (readers, cases)
    assert (mean.estimate, mean.se) == pytest.approx((aucs.mean(), expected_se))
    assert 0 <= mean.low < mean.estimate < mean.high <= 1


def test_means_of_readers_are_those_of_their_answers():
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
