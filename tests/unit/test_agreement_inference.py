"""Inference on agreement: several answer formats, small samples, and selected second opinions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from domain.errors import InvalidValue
from domain.protocols import AgreementBasis
from measures.agreement import Weights, agreement_weights
from measures.all_measures import compute_measures
from measures.group_agreement import Coefficient, agreement_coefficient, ordinal_weights
from measures.kappa_intervals import POSTERIOR, ac1_interval, agreement_of_pairs, kappa_interval
from measures.records.settings import Settings


def make_ratings(answers_by_task):
    """One row per answer; ``answers_by_task``: task -> answers, shape (questions, raters)."""
    return pd.DataFrame(
        [
            (f"{task} {question}", "abcdefgh"[rater], answer, task)
            for task, answers in answers_by_task.items()
            for question, row in enumerate(answers)
            for rater, answer in enumerate(row)
        ],
        columns=["question_id", "rater", "answer", "task"],
    )


def guess(random, labels, raters=2, questions=1000):
    return random.choice(list(labels), size=(questions, raters))


def find(results, task):
    return next(result for result in results if result.task == task)


# ------------------------------------------------------------------------------------------- answer formats
def test_raters_who_guess_have_no_agreement_over_several_formats():
    # If the answers of both formats were pooled, kappa would be .228 [.202, .253].
    random = np.random.default_rng(1)
    ratings = make_ratings({"closed": guess(random, ["yes", "no"]), "single": guess(random, "ABCD")})
    measures = compute_measures(ratings)
    pooled = find(measures.agreement, "all")
    assert pooled.low < 0 < pooled.high
    assert abs(pooled.kappa) < 0.05
    assert "mean over 2 answer formats" in pooled.note
    group = find(measures.group, "all")
    for name in ("fleiss", "conger", "alpha", "ac1"):
        assert abs(getattr(group, name)) < 0.05, name
        assert getattr(group, f"{name}_low") < 0 < getattr(group, f"{name}_high"), name
    assert group.light == pytest.approx(pooled.kappa)


def test_kappa_over_formats_is_their_mean_weighted_by_questions():
    random = np.random.default_rng(2)
    closed, single = guess(random, ["yes", "no"], questions=100), guess(random, "ABCD", questions=300)
    closed[:80, 1], single[:90, 1] = closed[:80, 0], single[:90, 0]
    measures = compute_measures(make_ratings({"closed": closed, "single": single}))
    pooled, first, second = (find(measures.agreement, task) for task in ("all", "closed", "single"))
    assert pooled.kappa == pytest.approx((100 * first.kappa + 300 * second.kappa) / 400)
    # independent strata: the variance is the sum of the squared shares x variances
    assert pooled.se == pytest.approx(np.hypot(0.25 * first.se, 0.75 * second.se))


def test_one_format_in_several_tasks_is_pooled():
    random = np.random.default_rng(3)
    measures = compute_measures(
        make_ratings({"a": guess(random, "ABCD", questions=50), "b": guess(random, "ABCD", questions=50)})
    )
    assert "formats" not in find(measures.agreement, "all").note


def test_an_unreadable_reply_does_not_change_the_format():
    answers = np.array([["yes", "yes"], ["no", "unreadable"]] * 20)
    assert "formats" not in find(compute_measures(make_ratings({"a": answers})).agreement, "all").note


def test_letters_with_different_numbers_of_options_are_different_formats():
    random = np.random.default_rng(4)
    ratings = make_ratings(
        {"a": guess(random, "AB", questions=80), "b": guess(random, "ABCDE", questions=80)}
    )
    ratings["n_options"] = np.where(ratings["task"] == "a", "2", "5")
    assert "2 answer formats" in find(compute_measures(ratings).agreement, "all").note


# -------------------------------------------------------------------------------------------- small samples
def simulate_group(random, questions, raters, prevalence, kappa):
    """Answers of exchangeable raters: beta-binomial, so Fleiss' kappa is the intraclass correlation."""
    scale = (1 - kappa) / kappa
    share = random.beta(prevalence * scale, (1 - prevalence) * scale, size=questions)
    return (random.random((questions, raters)) < share[:, None]).astype(np.int64)


@pytest.mark.parametrize("coefficient", [Coefficient.FLEISS, Coefficient.CONGER, Coefficient.ALPHA])
def test_intervals_of_group_coefficients_cover_at_a_low_prevalence(coefficient):
    # Student's interval with Gwet's standard error covers .83 here.
    random = np.random.default_rng(5)
    posterior_hits: list[bool] = []
    large_sample_hits: list[bool] = []
    for _ in range(150):
        ratings = simulate_group(random, 50, 3, 0.1, 0.5)
        for draws, hits in ((400, posterior_hits), (0, large_sample_hits)):
            estimate = agreement_coefficient(ratings, coefficient, weights=np.eye(2), draws=draws)
            hits.append(estimate.low is not None and estimate.low <= 0.5 <= estimate.high)
    assert np.mean(posterior_hits) > 0.91
    assert np.mean(large_sample_hits) < 0.89


def test_the_posterior_of_a_group_of_two_raters_equals_that_of_the_pair():
    ratings = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 6, 4, 10], axis=0)
    group = agreement_coefficient(ratings, Coefficient.CONGER, weights=np.eye(2), draws=20_000)
    pair = kappa_interval(ratings[:, 0], ratings[:, 1], weights=np.eye(2), draws=20_000)
    assert group.value == pytest.approx(pair.value)
    assert (group.low, group.high) == pytest.approx((pair.low, pair.high), abs=0.015)
    assert group.method == pair.method == POSTERIOR


def test_alpha_with_linear_weights_has_an_interval():
    random = np.random.default_rng(6)
    ratings = np.sort(random.integers(0, 4, size=(80, 3)), axis=1)
    estimate = agreement_coefficient(
        ratings, Coefficient.ALPHA, weights=ordinal_weights(ratings, k=4), ordinal=True
    )
    assert estimate.low < estimate.value < estimate.high
    measures = compute_measures(
        make_ratings({"scale": ratings.astype(str)}), settings=Settings(weights=Weights.LINEAR)
    )
    group = find(measures.group, "scale")
    assert group.alpha_low < group.alpha < group.alpha_high
    assert "no interval" not in group.note


def test_missing_answers_and_weights_leave_the_estimate_inside_its_interval():
    random = np.random.default_rng(7)
    ratings = random.integers(0, 3, size=(40, 4))
    ratings[random.random(ratings.shape) < 0.2] = -1
    for coefficient in Coefficient:
        estimate = agreement_coefficient(
            ratings, coefficient, weights=agreement_weights(3, Weights.QUADRATIC),
            clusters=np.arange(40) // 2,
        )  # fmt: skip
        assert estimate.low < estimate.value < estimate.high, coefficient


# ------------------------------------------------------------------------------------------ second opinions
def test_a_random_half_that_is_read_twice_is_no_verification_bias():
    # Unique answers must not look like second opinions requested because of the first answer.
    first = [f"finding {question}" for question in range(40)]
    ratings = pd.DataFrame(
        [(f"q{index}", "a", answer) for index, answer in enumerate(first)]
        + [(f"q{index}", "b", answer) for index, answer in enumerate(first[:20])],
        columns=["question_id", "rater", "answer"],
    )
    agreement = compute_measures(ratings).agreement[0]
    assert (agreement.n, agreement.observed) == (20, 1.0)
    assert "not shown" not in agreement.note


def test_answers_requested_because_of_another_answer_are_left_out():
    random = np.random.default_rng(8)
    ratings = make_ratings({"a": guess(random, ["yes", "no"], questions=60)})
    ratings["selected"] = np.where(
        (ratings["rater"] == "b") & ratings["question_id"].isin([f"a {i}" for i in range(45)]), "yes", ""
    )
    agreement = compute_measures(ratings).agreement[0]
    assert agreement.n == 15
    assert "left out as requested because of another rater's answer: 45" in agreement.note
    ratings["selected"] = np.where(ratings["rater"] == "b", "yes", "")
    agreement = compute_measures(ratings).agreement[0]
    assert (agreement.n, agreement.kappa) == (0, None)
    assert agreement.note.startswith("not shown")


# ------------------------------------------------------------------------------------------ categories
def make_replies():
    """Answers to ten questions; the key is A, wrong answers differ, and m fails twice."""
    answers = {"key": "AAAAAAAAAA", "a": "AAAAAAABBB", "b": "AAAAAACCCC", "m": "AAAAABBB--"}
    return pd.DataFrame(
        [
            {
                "question_id": f"q{question}", "rater": rater, "answer": answer.replace("-", "failed"),
                "kind": {"key": "reference", "m": "model"}.get(rater, "reader"),
            }
            for rater, text in answers.items()
            for question, answer in enumerate(text)
        ]
    )  # fmt: skip


def find_pair(measures, a, b):
    return next(row for row in measures.agreement if (row.a, row.b, row.task) == (a, b, "all"))


def test_agreement_of_correctness_is_the_kappa_of_right_and_wrong():
    settings = Settings(agreement_basis=AgreementBasis.CORRECTNESS, bootstrap=100)
    measures = compute_measures(make_replies(), settings=settings)
    pair = find_pair(measures, "a", "b")
    # a: 7 right, b: 6 right, 6 both right, 3 both wrong; chance .7 x .6 + .3 x .4 = .54
    assert (pair.n, pair.observed) == (10, 0.9)
    assert pair.kappa == pytest.approx((0.9 - 0.54) / 0.46)
    assert pair.both_wrong is None
    assert "key" not in {row.b for row in measures.agreement}
    assert measures.settings.agreement_basis == "correctness"
    accuracy = compute_measures(make_replies(), settings=Settings(bootstrap=100)).accuracy
    assert measures.accuracy == accuracy


def test_a_failed_reply_is_a_category_or_missing_as_declared():
    category, missing = (
        compute_measures(make_replies(), settings=Settings(missing_in_agreement=answer, bootstrap=100))
        for answer in (None, "failed")
    )
    assert (find_pair(category, "a", "m").n, find_pair(missing, "a", "m").n) == (10, 8)
    # without the failed replies: 5 times both A, once both B, twice A against B
    assert find_pair(missing, "a", "m").observed == pytest.approx(6 / 8)
    accuracy = {row.rater: (row.correct, row.n) for row in missing.accuracy if row.group == "all"}
    assert accuracy["m"] == (5, 10)


def test_weights_are_refused_for_the_agreement_of_correctness():
    with pytest.raises(InvalidValue, match="no order"):
        Settings(agreement_basis=AgreementBasis.CORRECTNESS, weights=Weights.LINEAR)


# --------------------------------------------------------------------------------------- many pairs at once
@pytest.mark.parametrize("k", [3, 14])
def test_pairs_with_common_weights_have_the_limits_of_single_pairs(k):
    random = np.random.default_rng(9)
    truth = random.integers(0, k, size=(90, 1))
    answers = np.where(random.random((90, 4)) < 0.7, truth, random.integers(0, k, size=(90, 4)))
    answers[random.random(answers.shape) < 0.1] = -1
    pairs, strata = [(0, 1), (0, 2), (1, 3)], np.arange(90) % 2
    together = agreement_of_pairs(answers, pairs, weights=np.eye(k), strata=strata, draws=4000)
    for (a, b), estimates in zip(pairs, together, strict=True):
        common = (answers[:, [a, b]] >= 0).all(axis=1)
        for estimate, compute in zip(estimates, (kappa_interval, ac1_interval), strict=True):
            alone = compute(
                answers[common, a], answers[common, b], weights=np.eye(k), strata=strata[common],
                draws=4000, seed=1,
            )  # fmt: skip
            assert (estimate.n, estimate.method) == (alone.n, POSTERIOR)
            assert (estimate.value, estimate.se) == pytest.approx((alone.value, alone.se))
            assert (estimate.low, estimate.high) == pytest.approx((alone.low, alone.high), abs=0.02)


def test_the_posterior_without_clusters_is_a_dirichlet_distribution():
    # Cells 60, 5, 3, 12 with Jeffreys' prior: half a question in each cell.
    cells = np.random.default_rng(1).dirichlet([60.5, 5.5, 3.5, 12.5], size=200_000)
    first, second = cells[:, 0] + cells[:, 1], cells[:, 0] + cells[:, 2]
    chance = first * second + (1 - first) * (1 - second)
    expected = np.quantile((cells[:, 0] + cells[:, 3] - chance) / (1 - chance), [0.025, 0.975])
    estimate = kappa_interval(
        np.repeat([0, 0, 1, 1], [60, 5, 3, 12]), np.repeat([0, 1, 0, 1], [60, 5, 3, 12]),
        weights=np.eye(2), draws=40_000,
    )  # fmt: skip
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
def test_contrasts_of_a_model_are_the_same_with_and_without_another_model():
    random = np.random.default_rng(10)
    ratings = make_ratings({"closed": guess(random, ["yes", "no"], raters=5, questions=80)})
    ratings["kind"] = np.where(ratings["rater"].isin(["d", "e"]), "model", "reader")
    ratings = ratings[(ratings["rater"] != "e") | (ratings["question_id"] < "closed 5")]
    together = compute_measures(ratings).kappa_contrasts
    for model in ("d", "e"):
        other = {"d": "e", "e": "d"}[model]
        alone = compute_measures(ratings[ratings["rater"] != other]).kappa_contrasts
        assert alone == tuple(row for row in together if row.model == model)


def test_a_small_sample_is_named_in_the_note_of_a_group():
    ratings = np.tile([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0]], (8, 1))
    notes = [agreement_coefficient(ratings[:n], Coefficient.ALPHA, weights=np.eye(2)).note for n in (29, 30)]
    assert notes == ["fewer than 30 questions", ""]
