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
from tests.unit.measuring import PLAIN, measured, only


def test_one_constant_rater_has_kappa_0_and_no_interval():
    found = measured({"r1": "AAAAAAAAAB", "r2": "AAAAAAAAAA"}).agreement[0]
    assert (found.kappa, found.se, found.low, found.high) == (0.0, None, None, None)
    assert "single category" in found.note
    assert found.observed == 0.9
    assert found.ac1 == pytest.approx(0.889502762430939)


def test_two_constant_raters_have_no_kappa_but_one_category():
    found = measured({"r1": "AAAA", "r2": "AAAA"}).agreement[0]
    assert found.kappa is None
    assert found.note.startswith("not defined: one category")
    assert (found.observed, found.ac1) == (1.0, 1.0)


def test_agreement_without_a_flaw_has_an_interval_all_the_same():
    found = measured({"r1": "ABABABABAB", "r2": "ABABABABAB"}, Settings(bootstrap=500)).agreement[0]
    assert (found.kappa, found.high, found.interval) == (1.0, 1.0, "posterior")
    assert 0.2 < found.low < 0.9


def test_the_large_sample_interval_stands_where_every_category_is_common():
    random = np.random.default_rng(2)
    first = random.integers(2, size=800)
    second = np.where(random.random(800) < 0.8, first, 1 - first)
    answers = {"r1": "".join("AB"[each] for each in first), "r2": "".join("AB"[each] for each in second)}
    assert measured(answers, Settings(bootstrap=500)).agreement[0].interval == "large-sample"


def test_without_resamples_every_interval_is_the_large_sample_one():
    found = measured({"r1": "ABABABABAB", "r2": "ABABABABAA"}).agreement[0]
    assert found.interval == "large-sample"


def test_two_missing_answers_leave_the_pair_and_are_not_agreement():
    found = measured({"r1": "AB  ", "r2": "ABA "}).agreement[0]
    assert (found.n, found.observed) == (2, 1.0)


def test_a_pair_without_a_common_question_is_not_defined():
    found = measured({"r1": "AB  ", "r2": "  AB"})
    assert found.agreement[0].kappa is None
    assert found.agreement[0].note == "not defined: no question was answered by both"


@pytest.mark.parametrize("ticks", ["A|C", "C|A", " C | A ", "A|C|A"])
def test_the_order_of_ticks_never_matters(ticks):
    assert canonical_answer(ticks) == "A|C"
    table = pd.DataFrame(
        [("q1", "ref", "A|C"), ("q1", "r1", ticks), ("q2", "ref", "B"), ("q2", "r1", "B")],
        columns=["question_id", "rater", "answer"],
    ).assign(kind=["reference", "reader"] * 2)
    assert compute_measures(table, settings=PLAIN).accuracy[0].correct == 2


def test_several_ticks_agree_as_sets_exactly_and_by_their_overlap():
    table = pd.DataFrame(
        [("q1", "r1", "A|B"), ("q1", "r2", "B|C"), ("q2", "r1", "A"), ("q2", "r2", "A")],
        columns=["question_id", "rater", "answer"],
    ).assign(n_options="4")
    found = compute_measures(table, settings=PLAIN).agreement[0]
    assert found.observed == 0.5
    assert found.jaccard == pytest.approx((1 / 3 + 1) / 2)
    # chance of the same answer: 1 of 15 sets for q1, 1 of 4 options for q2
    chance = (1 / 15 + 1 / 4) / 2
    assert found.brennan_prediger == pytest.approx((0.5 - chance) / (1 - chance))


def test_brennan_prediger_takes_each_questions_own_number_of_options():
    # two options and four: chance (1/2 + 1/4) / 2 = .375; agreement .5
    found = measured({"r1": "AB", "r2": "AC"}, n_options="24").agreement[0]
    assert found.brennan_prediger == pytest.approx((0.5 - 0.375) / (1 - 0.375))


def test_how_often_two_agree_when_both_are_wrong():
    found = only(measured({"ref": "AAAA", "r1": "ABBB", "r2": "ABBC"}).agreement, a="r1", b="r2")
    assert (found.both_wrong_n, found.both_wrong) == (3, 2 / 3)


def test_second_opinions_sought_by_the_first_answer_show_no_agreement():
    # r2 was asked only where r1 reported an error
    found = measured({"r1": "Y" * 12 + "Z" * 3 + "N" * 20, "r2": "Y" * 11 + "Z" * 4 + " " * 20}).agreement[0]
    assert (found.n, found.observed, found.kappa) == (15, None, None)
    assert "second opinion" in found.note


def test_a_random_part_read_twice_shows_agreement():
    found = measured({"r1": "YN" * 18, "r2": "YN" * 8 + " " * 20}).agreement[0]
    assert found.kappa == 1.0


@pytest.mark.parametrize("weights", [Weights.LINEAR, Weights.QUADRATIC])
def test_ordered_answers_take_weights(weights):
    first, second = "0123012301", "0122013311"
    found = measured({"r1": first, "r2": second}, replace(PLAIN, weights=weights)).agreement[0]
    assert found.kappa == pytest.approx(cohen_kappa_score(list(first), list(second), weights=weights.value))
    assert "AC2" in found.note


def test_numbers_are_ordered_as_numbers():
    table = pd.DataFrame(
        [(f"q{at}", rater, answer) for at, pair in enumerate(product(["2", "10", "9"], repeat=2))
         for rater, answer in zip(("r1", "r2"), pair, strict=True)],
        columns=["question_id", "rater", "answer"],
    )  # fmt: skip
    found = compute_measures(table, settings=replace(PLAIN, weights=Weights.LINEAR)).agreement[0]
    assert found.kappa == pytest.approx(0.0, abs=1e-12)


def test_answers_without_an_order_take_no_weights():
    table = pd.DataFrame(
        [("q1", "r1", "mild"), ("q1", "r2", "severe")], columns=["question_id", "rater", "answer"]
    )
    with pytest.raises(Refused, match="answer: weights need answers with an order"):
        compute_measures(table, settings=replace(PLAIN, weights=Weights.LINEAR))
