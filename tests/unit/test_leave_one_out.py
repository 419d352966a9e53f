"""Readers who helped to set the reference are scored by a reference made without them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from cli import main
from domain.protocols import HelperRule
from measures.all_measures import compute_measures
from measures.mrmc import compare_with_model
from tests.unit.measure_helpers import NO_BOOTSTRAP, find_only, make_ratings, measure_answers

SETTINGS = replace(NO_BOOTSTRAP, leave_one_out=True)
HELPERS = ("h1", "h2", "h3", "h4")


def simulate_panel(seed=3, cases=60):
    """The reference is the majority of four readers (ties: A); a reader and a model are independent."""
    rng = np.random.default_rng(seed)
    shares = {"h1": 0.9, "h2": 0.6, "h3": 0.7, "h4": 0.8, "r1": 0.7, "m1": 0.75}
    answers = {
        rater: "".join(
            rng.choice(["A", "B", "C"], p=[share, 0.7 - 0.7 * share, 0.3 - 0.3 * share], size=cases)
        )
        for rater, share in shares.items()
    }
    answers["h2"] = "? " + answers["h2"][2:]  # one "cannot determine", one missing answer
    by_case = zip(*(answers[rater] for rater in HELPERS), strict=True)
    reference = "".join(Counter(votes).most_common(1)[0][0].replace("?", "A") for votes in by_case)
    return {"ref": reference, **answers}


def mark_helpers(answers):
    return {rater: ("1" if rater in HELPERS else "0") * len(text) for rater, text in answers.items()}


def score_in_a_loop(answers, reader):
    """Correctness of all raters by the reference made without ``reader``, with a loop over the questions."""
    scores: dict[str, list[float]] = {rater: [] for rater in answers}
    for index in range(len(answers["ref"])):
        votes = Counter(
            answers[helper][index]
            for helper in HELPERS
            if helper != reader and answers[helper][index] not in "? "
        )
        majority = [answer for answer, count in votes.items() if count > Fraction(votes.total(), 2)]
        for rater, text in answers.items():
            is_known = majority and text[index] != " "
            scores[rater].append(float(text[index] == majority[0]) if is_known else np.nan)
    return {rater: np.array(values) for rater, values in scores.items()}


def test_accuracies_and_differences_equal_a_plain_loop():
    answers = simulate_panel()
    measures = measure_answers(answers, SETTINGS, set_reference=mark_helpers(answers))
    assert {row.rater for row in measures.leave_one_out} == set(HELPERS)
    lower_count = 0
    for reader in HELPERS:
        scores = score_in_a_loop(answers, reader)
        row = find_only(measures.leave_one_out, rater=reader, group="all")
        assert (row.correct, row.n) == (np.nansum(scores[reader]), np.sum(~np.isnan(scores[reader])))
        pair = find_only(measures.leave_one_out_paired, a=reader, b="m1", task="all")
        common = ~np.isnan(scores[reader]) & ~np.isnan(scores["m1"])
        assert pair.n == common.sum()
        assert pair.difference == pytest.approx((scores[reader] - scores["m1"])[common].mean())
        lower_count += row.estimate < find_only(measures.accuracy, rater=reader, group="all").estimate
    assert lower_count == len(HELPERS)  # each had voted on the reference


def test_the_comparison_with_the_model_equals_a_plain_loop():
    answers = simulate_panel()
    measures = measure_answers(answers, SETTINGS, set_reference=mark_helpers(answers))
    readers = (*HELPERS, "r1")
    scored = {reader: score_in_a_loop(answers, reader) for reader in HELPERS}
    by_key = {
        rater: np.array([float(answer == key) for answer, key in zip(text, answers["ref"], strict=True)])
        for rater, text in answers.items()
    }
    scored["r1"] = by_key  # an independent reader is compared by the reference itself
    expected = compare_with_model(
        np.stack([scored[reader][reader] for reader in readers], axis=1),
        np.stack([scored[reader]["m1"] for reader in readers], axis=1),
    )
    row = find_only(measures.mrmc, task="all", random_readers=True, leave_one_out=True)
    assert (row.readers, row.cases, row.helpers) == (5, 60, HelperRule.LEAVE_ONE_OUT)
    assert (row.difference, row.se, row.p) == pytest.approx((expected.difference, expected.se, expected.p))
    assert [row.helpers for row in measures.mrmc if row.random_readers and row.task == "all"] == list(
        HelperRule
    )


def test_without_the_option_there_are_no_leave_one_out_results():
    answers = simulate_panel()
    measures = measure_answers(answers, set_reference=mark_helpers(answers))
    assert measures.leave_one_out == measures.leave_one_out_paired == ()
    assert not any(row.leave_one_out for row in measures.mrmc)


def test_a_single_helper_has_no_reference_made_by_others():
    answers = {"ref": "AABB", "h1": "AABA", "r1": "ABBB", "m1": "AAAA"}
    measures = measure_answers(answers, SETTINGS, set_reference=mark_helpers(answers))
    [row] = measures.leave_one_out
    assert (row.n, row.note) == (0, "not defined: no other reader helped to set the reference")
    comparison = find_only(measures.mrmc, random_readers=False, leave_one_out=True, task="all")
    assert comparison.readers == 1


def test_a_reader_with_two_arms_has_one_vote():
    # h2 answered A in one arm and B in the other: half a vote for each. With h3's B, B has 1.5 of 2 votes.
    answers = {"ref": "A", "h1": "B", "h3": "B", "m1": "A"}
    table = make_ratings(answers, set_reference={"ref": "0", "h1": "1", "h3": "1", "m1": "0"})
    arms = make_ratings({"h2": "AB"}, set_reference="11").assign(question_id="q1", arm=["x", "y"])
    measures = compute_measures(pd.concat([table.assign(arm=""), arms], ignore_index=True), settings=SETTINGS)
    assert find_only(measures.leave_one_out, rater="h1", group="all").correct == 1
    correct_by_arm = [row.correct for row in measures.leave_one_out if row.rater.startswith("h2")]
    assert correct_by_arm == [0, 1]  # h1 and h3 say B


def test_the_command_computes_the_leave_one_out_results(tmp_path):
    answers = simulate_panel()
    ratings, out = tmp_path / "ratings.csv", tmp_path / "measures.json"
    make_ratings(answers, set_reference=mark_helpers(answers)).to_csv(ratings, index=False)
    assert main(["measure", str(ratings), "--bootstrap", "0", "--leave-one-out", "--out", str(out)]) == 0
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["settings"]["leave_one_out"] is True
    row = next(row for row in written["leave_one_out"] if row["rater"] == "h1")
    assert row["correct"] == np.nansum(score_in_a_loop(answers, "h1")["h1"])
    assert row["note"].startswith("reference of 3 other readers; ")
