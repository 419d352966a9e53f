"""Edge cases of agreement between two raters of a table of ratings, each tested once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from domain.errors import Refused
from measures.agreement import Weights
from measures.all_measures import compute_measures
from measures.ratings import canonical_answer
from measures.records.settings import Settings
from tests.unit.measure_helpers import NO_BOOTSTRAP, find_only, measure_answers


def test_a_pair_with_one_constant_rater_has_kappa_0_without_an_interval():
    agreement = measure_answers({"r1": "AAAAAAAAAB", "r2": "AAAAAAAAAA"}).agreement[0]
    assert (agreement.kappa, agreement.se, agreement.low, agreement.high) == (0.0, None, None, None)
    assert "single category" in agreement.note
    assert agreement.observed == 0.9
    assert agreement.ac1 == pytest.approx(0.889502762430939)


def test_a_pair_of_constant_raters_has_no_kappa():
    agreement = measure_answers({"r1": "AAAA", "r2": "AAAA"}).agreement[0]
    assert agreement.kappa is None
    assert agreement.note.startswith("not defined: one category")
    assert (agreement.observed, agreement.ac1) == (1.0, 1.0)


def test_perfect_agreement_has_a_posterior_interval():
    agreement = measure_answers({"r1": "ABABABABAB", "r2": "ABABABABAB"}, Settings(bootstrap=500)).agreement[
        0
    ]
    assert (agreement.kappa, agreement.high, agreement.interval) == (1.0, 1.0, "posterior")
    assert 0.2 < agreement.low < 0.9


def test_frequent_categories_in_a_large_sample_have_the_large_sample_interval():
    rng = np.random.default_rng(2)
    first = rng.integers(2, size=800)
    second = np.where(rng.random(800) < 0.8, first, 1 - first)
    answers = {
        "r1": "".join("AB"[answer] for answer in first),
        "r2": "".join("AB"[answer] for answer in second),
    }
    assert measure_answers(answers, Settings(bootstrap=500)).agreement[0].interval == "large-sample"


def test_without_resamples_every_interval_is_large_sample():
    agreement = measure_answers({"r1": "ABABABABAB", "r2": "ABABABABAA"}).agreement[0]
    assert agreement.interval == "large-sample"


def test_missing_answers_are_excluded_from_agreement():
    agreement = measure_answers({"r1": "AB  ", "r2": "ABA "}).agreement[0]
    assert (agreement.n, agreement.observed) == (2, 1.0)


def test_a_pair_without_a_common_question_is_not_defined():
    measures = measure_answers({"r1": "AB  ", "r2": "  AB"})
    assert measures.agreement[0].kappa is None
    assert measures.agreement[0].note == "not defined: no question was answered by both"


@pytest.mark.parametrize("selected_options", ["A|C", "C|A", " C | A ", "A|C|A"])
def test_the_order_of_selected_options_does_not_matter(selected_options):
    assert canonical_answer(selected_options) == "A|C"
    table = pd.DataFrame(
        [("q1", "ref", "A|C"), ("q1", "r1", selected_options), ("q2", "ref", "B"), ("q2", "r1", "B")],
        columns=["question_id", "rater", "answer"],
    ).assign(kind=["reference", "reader"] * 2)
    assert compute_measures(table, settings=NO_BOOTSTRAP).accuracy[0].correct == 2


def test_multiple_answers_agree_as_sets_and_by_jaccard():
    table = pd.DataFrame(
        [("q1", "r1", "A|B"), ("q1", "r2", "B|C"), ("q2", "r1", "A"), ("q2", "r2", "A")],
        columns=["question_id", "rater", "answer"],
    ).assign(n_options="4")
    agreement = compute_measures(table, settings=NO_BOOTSTRAP).agreement[0]
    assert agreement.observed == 0.5
    assert agreement.jaccard == pytest.approx((1 / 3 + 1) / 2)
    # chance of the same answer: 1 of 15 sets for q1, 1 of 4 options for q2
    chance = (1 / 15 + 1 / 4) / 2
    assert agreement.brennan_prediger == pytest.approx((0.5 - chance) / (1 - chance))


def test_brennan_prediger_uses_each_questions_number_of_options():
    # two options and four: chance (1/2 + 1/4) / 2 = .375; agreement .5
    agreement = measure_answers({"r1": "AB", "r2": "AC"}, n_options="24").agreement[0]
    assert agreement.brennan_prediger == pytest.approx((0.5 - 0.375) / (1 - 0.375))


def test_both_wrong_is_the_agreement_on_wrong_answers():
    agreement = find_only(
        measure_answers({"ref": "AAAA", "r1": "ABBB", "r2": "ABBC"}).agreement, a="r1", b="r2"
    )
    assert (agreement.both_wrong_n, agreement.both_wrong) == (3, 2 / 3)


def test_a_random_sample_read_twice_gives_kappa():
    agreement = measure_answers({"r1": "YN" * 18, "r2": "YN" * 8 + " " * 20}).agreement[0]
    assert agreement.kappa == 1.0


@pytest.mark.parametrize("weights", [Weights.LINEAR, Weights.QUADRATIC])
def test_ordered_answers_use_weights(weights):
    first, second = "0123012301", "0122013311"
    agreement = measure_answers(
        {"r1": first, "r2": second}, replace(NO_BOOTSTRAP, weights=weights)
    ).agreement[0]
    assert agreement.kappa == pytest.approx(
        cohen_kappa_score(list(first), list(second), weights=weights.value)
    )
    assert "AC2" in agreement.note


def test_numbers_are_ordered_as_numbers():
    table = pd.DataFrame(
        [
            (f"q{index}", rater, answer)
            for index, answers_of_pair in enumerate(product(["2", "10", "9"], repeat=2))
            for rater, answer in zip(("r1", "r2"), answers_of_pair, strict=True)
        ],
        columns=["question_id", "rater", "answer"],
    )
    agreement = compute_measures(table, settings=replace(NO_BOOTSTRAP, weights=Weights.LINEAR)).agreement[0]
    assert agreement.kappa == pytest.approx(0.0, abs=1e-12)


def test_weights_for_unordered_answers_are_refused():
    table = pd.DataFrame(
        [("q1", "r1", "mild"), ("q1", "r2", "severe")], columns=["question_id", "rater", "answer"]
    )
    with pytest.raises(Refused, match="answer: weights need ordered answers"):
        compute_measures(table, settings=replace(NO_BOOTSTRAP, weights=Weights.LINEAR))
