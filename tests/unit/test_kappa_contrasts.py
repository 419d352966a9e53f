"""Agreement between readers minus agreement with a model, with a joint bootstrap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from measures.all_measures import compute_measures
from measures.rating_encoding import encode_ratings
from measures.ratings import check_ratings
from measures.records.kappa_contrasts import compute_kappa_contrasts
from measures.records.settings import Settings


def make_table(answers, *, models=("m",), arms=None):
    """One row per answer; ``answers``: rater -> text with one answer per question, " " for none."""
    return pd.DataFrame(
        [
            {
                "question_id": f"q{question}",
                "rater": rater,
                "answer": answer.strip(),
                "kind": "model" if rater in models else "reader",
                "arm": (arms or {}).get(rater, ""),
            }
            for rater, text in answers.items()
            for question, answer in enumerate(text)
        ]
    )


def simulate(seed, agreement, model_agreement, questions=150):
    """Three readers and a model who give the true answer with a probability and guess otherwise."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, size=questions)

    def answer(share):
        guesses = random.integers(0, 4, size=questions)
        return "".join("ABCD"[code] for code in np.where(random.random(questions) < share, truth, guesses))

    return {
        "r1": answer(agreement),
        "r2": answer(agreement),
        "r3": answer(agreement),
        "m": answer(model_agreement),
    }


def test_the_difference_equals_that_of_the_mean_kappas_of_scikit_learn():
    answers = simulate(1, 0.8, 0.5)
    (contrast,) = compute_measures(make_table(answers)).kappa_contrasts
    kappas = {
        pair: cohen_kappa_score(list(answers[pair[0]]), list(answers[pair[1]]))
        for pair in combinations(answers, 2)
    }
    between = np.mean([value for pair, value in kappas.items() if "m" not in pair])
    with_model = np.mean([value for pair, value in kappas.items() if "m" in pair])
    assert (contrast.between_readers, contrast.with_model) == pytest.approx((between, with_model))
    assert contrast.difference == pytest.approx(between - with_model)
    assert 0 < contrast.low < contrast.difference < contrast.high
    assert (contrast.n, contrast.readers, contrast.model) == (150, 3, "m")


@pytest.mark.slow
def test_the_interval_covers_the_true_difference_and_is_narrow():
    # kappa of two raters is the product of their shares: .7 x .7 between readers, .7 x .5 with the model
    truth, hits, widths = 0.7 * 0.7 - 0.7 * 0.5, [], []
    for seed in range(30):
        table = make_table(simulate(seed, 0.7, 0.5))
        matrix = encode_ratings(check_ratings(table))
        (contrast,) = [
            row for row in compute_kappa_contrasts(matrix, Settings(bootstrap=200)) if row.task == "all"
        ]
        hits.append(contrast.low <= truth <= contrast.high)
        widths.append(contrast.high - contrast.low)
    assert np.mean(hits) >= 0.86
    assert np.mean(widths) < 0.3


def test_for_a_model_as_good_as_the_readers_the_interval_includes_0():
    answers = simulate(2, 0.7, 0.7)
    (contrast,) = compute_measures(make_table(answers)).kappa_contrasts
    assert contrast.low < 0 < contrast.high


def test_each_arm_has_its_own_comparison():
    answers = simulate(3, 0.8, 0.5)
    table = pd.concat(
        [
            make_table(answers, arms={"r1": "x", "r2": "x", "r3": "x"}),
            make_table({name: answers[name] for name in ("r1", "r2")}, arms={"r1": "y", "r2": "y"}),
        ]
    )
    contrasts = compute_measures(table).kappa_contrasts
    assert [(contrast.arm, contrast.readers) for contrast in contrasts] == [("x", 3), ("y", 2)]


def test_one_reader_has_no_comparison():
    answers = {name: text for name, text in simulate(4, 0.8, 0.5).items() if name in ("r1", "m")}
    assert compute_measures(make_table(answers)).kappa_contrasts == ()


def test_without_common_questions_the_difference_is_not_defined():
    table = make_table({"r1": "AB  ", "r2": "AB  ", "m": "  AB"})
    (contrast,) = compute_measures(table).kappa_contrasts
    assert (contrast.n, contrast.difference) == (0, None)
    assert contrast.note.startswith("not defined")


def test_without_a_bootstrap_there_is_no_interval():
    (contrast,) = compute_measures(
        make_table(simulate(5, 0.8, 0.5)), settings=Settings(bootstrap=0)
    ).kappa_contrasts
    assert contrast.difference is not None
    assert (contrast.low, contrast.note) == (None, "no interval: bootstrap 0")
