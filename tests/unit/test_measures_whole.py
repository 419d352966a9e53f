"""Edge cases of a table of ratings, each tested once."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from domain.errors import InvalidValue
from measures.all_measures import compute_measures
from measures.records.settings import Settings
from tests.unit.measuring import PLAIN, measured, only, ratings

KEYS = {
    "accuracy": "rater kind task n correct estimate low high",
    "agreement": "a b task n observed kappa se low high interval ac1 ac1_low ac1_high "
    "brennan_prediger jaccard both_wrong note",
    "group": "task raters n fleiss conger light alpha ac1 cochran_q q_df q_p",
    "paired": "a b task n both a_only b_only neither difference low high p_exact p_mid p_holm",
    "mrmc": "model readers cases difference se df low high p random_readers",
    "settings": "seed bootstrap confidence family version",
}
SMALL = {"ref": "ABCDABCD", "r1": "ABCDABCC", "r2": "ABCDABDD", "m1": "ABCDAACD"}


def simulated(seed=1, questions=60):
    """A reference, three readers and two models on four options, three tasks."""
    random = np.random.default_rng(seed)
    truth = random.integers(4, size=questions)
    rows = []
    for rater, skill in {"ref": 1.0, "r1": 0.7, "r2": 0.8, "r3": 0.6, "m1": 0.8, "m2": 0.5}.items():
        kind = {"r": "reader", "m": "model"}[rater[0]] if rater != "ref" else "reference"
        for at in range(questions):
            answer = truth[at] if random.random() < skill else random.integers(4)
            rows.append(
                {"question_id": f"q{at}", "rater": rater, "answer": "ABCD"[answer], "kind": kind}
                | {"task": ["presence", "location", "negation"][at % 3], "n_options": "4"}
            )
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------- the shape


@pytest.mark.parametrize("name", KEYS)
def test_every_array_has_the_keys_of_the_format(name):
    found = json.loads(compute_measures(simulated(), settings=Settings(bootstrap=200)).to_json())[name]
    records = [found] if isinstance(found, dict) else found
    assert records
    for record in records:
        assert set(KEYS[name].split()) <= set(record)


def test_every_number_is_finite_or_null_with_a_note():
    found = measured({"ref": "AAAA", "r1": "AAAA", "r2": "AB  ", "m1": "    "}).to_records()
    assert json.loads(measured({"ref": "AAAA", "r1": "AAAA"}).to_json())  # no NaN gets that far
    for name in ("accuracy", "agreement", "paired", "mrmc"):
        for record in found[name]:
            undefined = [
                key for key, value in record.items() if value is None and key not in ("p_holm", "df")
            ]
            assert not undefined or record["note"] or undefined == ["both_wrong"], (name, record)


def test_the_same_ratings_in_another_order_give_the_same_bytes():
    table = simulated()
    shuffled = table.sample(frac=1.0, random_state=3)
    settings = Settings(bootstrap=200)
    assert (
        compute_measures(table, settings=settings).to_json()
        == compute_measures(shuffled, settings=settings).to_json()
    )


def test_kappas_are_scikit_learns_on_the_same_rows():
    table = simulated()
    wide = table.pivot(index="question_id", columns="rater", values="answer")
    task_of = table.drop_duplicates("question_id").set_index("question_id")["task"]
    for record in compute_measures(table, settings=PLAIN).agreement:
        rows = wide if record.task == "all" else wide[task_of[wide.index] == record.task]
        assert record.kappa == pytest.approx(cohen_kappa_score(rows[record.a], rows[record.b]), abs=1e-9)
        assert record.observed == pytest.approx((rows[record.a] == rows[record.b]).mean())
        assert record.n == len(rows)


def test_the_groups_are_all_raters_the_readers_and_the_models():
    found = compute_measures(simulated(), settings=PLAIN).group
    counts = {record.kind: record.raters for record in found if record.task == "all"}
    assert counts == {"all": 5, "reader": 3, "model": 2}


def test_the_reference_is_a_rater_of_pairs_but_has_no_accuracy():
    found = measured(SMALL)
    assert "ref" not in {record.rater for record in found.accuracy}
    assert only(found.agreement, a="r1", b="ref", task="all").observed == 7 / 8


# --------------------------------------------------------------------------------------------- accuracies


def test_an_accuracy_has_wilsons_interval():
    # 166 of 198: 78.1 to 88.3 %
    found = measured({"ref": "A" * 198, "m1": "A" * 166 + "B" * 32}).accuracy[0]
    assert (found.n, found.correct) == (198, 166)
    assert (found.low, found.high) == pytest.approx((0.7808, 0.8831), abs=5e-5)


def test_what_was_not_reached_is_not_wrong():
    found = measured({"ref": "ABAB", "r1": "AB  "})
    assert (found.accuracy[0].n, found.accuracy[0].estimate) == (2, 1.0)
    assert found.coverage[0].not_reached == 2


def test_cannot_determine_is_wrong_in_the_primary_view():
    found = measured({"ref": "ABABA", "r1": "ABAB?"}).accuracy[0]
    assert (found.n, found.correct) == (5, 4)


def test_cannot_determine_is_left_out_in_the_second_view_with_the_coverage():
    found = measured({"ref": "ABABA", "r1": "ABAB?"}).coverage[0]
    assert (found.n, found.undetermined, found.n_determined) == (5, 1, 4)
    assert (found.coverage, found.estimate) == (0.8, 1.0)


def test_cannot_determine_is_a_category_of_its_own_for_kappa():
    found = measured({"r1": "AB?AB?", "r2": "AB?ABA"}).agreement[0]
    assert found.kappa == pytest.approx(cohen_kappa_score(list("AB?AB?"), list("AB?ABA")))


def test_a_reference_that_cannot_determine_leaves_the_question_without_a_truth():
    assert measured({"ref": "AB?", "r1": "AB?"}).accuracy[0].n == 2


def test_micro_and_macro_are_both_given_by_name():
    # task x: 3 of 4; task y: 1 of 1. micro 4/5, macro (.75 + 1) / 2
    found = measured({"ref": "AAAAA", "r1": "AAABA"}, task="xxxxy").overall[0]
    assert (found.micro, found.n) == (0.8, 5)
    assert (found.macro, found.tasks) == (0.875, 2)


def test_questions_of_one_exam_widen_the_interval():
    answers = {"ref": "A" * 40, "r1": "AAAABBBB" * 5}
    alone = measured(answers).accuracy[0]
    together = measured(answers, exam="".join(letter * 4 for letter in "abcdefghij")).accuracy[0]
    assert together.low < alone.low
    assert "clustered by exam" in together.note


def test_a_reader_who_helped_to_set_the_reference_is_marked_in_every_accuracy():
    found = measured({"ref": "AB", "r1": "AB"}, set_reference={"ref": "  ", "r1": "11"}, category="xx")
    for records in (found.accuracy, found.overall, found.coverage, found.by_category):
        assert "helped to set the reference" in records[0].note


def test_an_answer_that_the_file_calls_right_is_right():
    found = measured({"ref": "AAA", "r1": "ACB"}, correct={"ref": "   ", "r1": " 1 "}).accuracy[0]
    assert (found.n, found.correct) == (3, 2)


# ------------------------------------------------------------------------------------------------- pairs


def test_without_a_discordant_question_p_is_1():
    found = measured({"ref": "AAAA", "r1": "AAAB", "r2": "AAAB"}).paired[0]
    assert (found.p_exact, found.p_mid, found.difference) == (1.0, 1.0, 0.0)


def test_holm_adjusts_inside_the_declared_family_only():
    settings = replace(PLAIN, family="r1:m1,r2:m1")
    found = measured(SMALL, settings).paired
    inside = {(record.a, record.b) for record in found if record.p_holm is not None}
    assert inside == {("m1", "r1"), ("m1", "r2")}


def test_readers_with_models_is_a_family():
    found = measured(SMALL, replace(PLAIN, family="readers-models")).paired
    assert [record.p_holm is not None for record in found] == [True, True, False]


def test_a_family_that_names_nobody_is_refused():
    with pytest.raises(InvalidValue, match=r"family: 'r1:nobody'.*there are m1, r1, r2, ref"):
        measured(SMALL, replace(PLAIN, family="r1:nobody"))


def test_different_questions_give_an_unpaired_interval_that_says_so():
    found = measured({"ref": "A" * 20, "r1": "A" * 8 + "BB" + " " * 10, "r2": " " * 10 + "A" * 6 + "BBBB"})
    assert found.paired[0].n == 0
    assert found.paired[0].note == (
        "not defined: no question was answered by both; different questions: see unpaired"
    )
    record = found.unpaired[0]
    assert (record.n_a, record.n_b, record.n_both) == (10, 10, 0)
    assert record.difference == pytest.approx(0.2)
    assert record.how.startswith("unpaired: different questions")


def test_a_partial_overlap_goes_through_the_u_statistic():
    found = measured({"ref": "A" * 20, "r1": "A" * 10 + "B" * 5 + " " * 5, "r2": " " * 5 + "A" * 15})
    assert found.paired[0].n == 10
    assert "the 10 common questions only; 10 were answered by one" in found.paired[0].note
    assert found.unpaired[0].how == "partial overlap: U-statistic"


def test_the_model_is_compared_with_random_and_with_fixed_readers():
    found = compute_measures(simulated(), settings=PLAIN).mrmc
    assert [(record.model, record.random_readers) for record in found] == list(
        product(("m1", "m2"), (True, False))
    )
    assert {record.readers for record in found} == {3}


def test_no_reader_no_comparison_of_readers():
    assert measured({"ref": "AB", "m1": "AB"}).mrmc == ()


# ------------------------------------------------------------------------------------- repeats, training,
# arms


def test_training_cases_leave_every_n():
    table = ratings({"ref": "AAAA", "r1": "AABB"}).assign(arm="")
    table.loc[(table["rater"] == "r1") & (table["answer"] == "B"), "arm"] = "training"
    assert compute_measures(table, settings=PLAIN).accuracy[0].n == 2


def test_repeats_count_against_the_same_reader_and_nowhere_else():
    table = ratings({"ref": "ABAB", "r1": "ABAB"})
    again = ratings({"r1": "ABB"}).assign(arm="repeat")
    found = compute_measures(pd.concat([table.assign(arm=""), again]), settings=PLAIN)
    assert found.accuracy[0].n == 4
    assert (found.repeats[0].rater, found.repeats[0].n) == ("r1", 3)
    assert found.repeats[0].observed == pytest.approx(2 / 3)


def test_a_reader_of_two_arms_is_measured_by_arm():
    table = ratings({"r1": "AB"}).assign(arm="alone")
    aided = ratings({"r1": "AA"}).assign(arm="aided")
    found = compute_measures(pd.concat([ratings({"ref": "AA"}), table, aided]), settings=PLAIN).accuracy
    assert [(record.rater, record.correct) for record in found] == [
        ("r1 (aided)", 2),
        ("r1 (alone)", 1),
    ]
