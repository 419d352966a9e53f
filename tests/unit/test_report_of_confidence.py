"""Study reports use the stated confidence: AUC of yes/no questions, and accuracy by confidence."""

from __future__ import annotations

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
