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
from tests.unit.measure_helpers import NO_BOOTSTRAP, find_only, make_ratings, measure_answers

EXPECTED_KEYS = {
    "accuracy": "rater kind task n correct estimate low high",
    "agreement": "a b task n observed kappa se low high interval ac1 ac1_low ac1_high "
    "brennan_prediger jaccard both_wrong note",
    "group": "task raters n fleiss conger light alpha ac1 cochran_q q_df q_p",
    "paired": "a b task n both a_only b_only neither difference low high p_exact p_mid p_adjusted",
    "mrmc": "model readers cases difference se df low high p random_readers",
    "settings": "seed bootstrap confidence family version",
}
SMALL_ANSWERS = {"ref": "ABCDABCD", "r1": "ABCDABCC", "r2": "ABCDABDD", "m1": "ABCDAACD"}


def simulate_ratings(seed=1, questions=60):
    """A reference, three readers and two models on four options, three tasks."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=questions)
    rows = []
    for rater, skill in {"ref": 1.0, "r1": 0.7, "r2": 0.8, "r3": 0.6, "m1": 0.8, "m2": 0.5}.items():
        kind = {"r": "reader", "m": "model"}[rater[0]] if rater != "ref" else "reference"
        for index in range(questions):
            answer = truth[index] if rng.random() < skill else rng.integers(4)
            rows.append(
                {"question_id": f"q{index}", "rater": rater, "answer": "ABCD"[answer], "kind": kind}
                | {"task": ["presence", "location", "negation"][index % 3], "n_options": "4"}
            )
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------- the shape


@pytest.mark.parametrize("name", EXPECTED_KEYS)
@pytest.mark.slow
def test_every_table_has_the_keys_of_the_format(name):
    table = json.loads(compute_measures(simulate_ratings(), settings=Settings(bootstrap=200)).to_json())[name]
    records = [table] if isinstance(table, dict) else table
    assert records
    for record in records:
        assert set(EXPECTED_KEYS[name].split()) <= set(record)


def test_every_number_is_finite_or_has_a_note():
    tables = measure_answers({"ref": "AAAA", "r1": "AAAA", "r2": "AB  ", "m1": "    "}).to_records()
    assert json.loads(measure_answers({"ref": "AAAA", "r1": "AAAA"}).to_json())  # to_json refuses NaN
    for name in ("accuracy", "agreement", "paired", "mrmc"):
        for record in tables[name]:
            undefined = [
                key for key, value in record.items() if value is None and key not in ("p_adjusted", "df")
            ]
            assert not undefined or record["note"] or undefined == ["both_wrong"], (name, record)


def test_the_same_ratings_in_another_order_give_the_same_bytes():
    table = simulate_ratings()
    shuffled = table.sample(frac=1.0, random_state=3)
    settings = Settings(bootstrap=200)
    assert (
        compute_measures(table, settings=settings).to_json()
        == compute_measures(shuffled, settings=settings).to_json()
    )


def test_kappas_equal_scikit_learn_on_the_same_rows():
    table = simulate_ratings()
    answers_by_rater = table.pivot(index="question_id", columns="rater", values="answer")
    tasks_by_question = table.drop_duplicates("question_id").set_index("question_id")["task"]
    for record in compute_measures(table, settings=NO_BOOTSTRAP).agreement:
        rows = (
            answers_by_rater
            if record.task == "all"
            else answers_by_rater[tasks_by_question[answers_by_rater.index] == record.task]
        )
        assert record.kappa == pytest.approx(cohen_kappa_score(rows[record.a], rows[record.b]), abs=1e-9)
        assert record.observed == pytest.approx((rows[record.a] == rows[record.b]).mean())
        assert record.n == len(rows)


def test_groups_are_all_raters_readers_and_models():
    groups = compute_measures(simulate_ratings(), settings=NO_BOOTSTRAP).group
    counts = {record.kind: record.raters for record in groups if record.task == "all"}
    assert counts == {"all": 5, "reader": 3, "model": 2}


def test_the_reference_has_agreement_but_no_accuracy():
    measures = measure_answers(SMALL_ANSWERS)
    assert "ref" not in {record.rater for record in measures.accuracy}
    assert find_only(measures.agreement, a="r1", b="ref", task="all").observed == 7 / 8


# --------------------------------------------------------------------------------------------- accuracies


def test_accuracy_has_the_wilson_interval():
    # 166 of 198: 78.1 to 88.3 %
    accuracy = measure_answers({"ref": "A" * 198, "m1": "A" * 166 + "B" * 32}).accuracy[0]
    assert (accuracy.n, accuracy.correct) == (198, 166)
    assert (accuracy.low, accuracy.high) == pytest.approx((0.7808, 0.8831), abs=5e-5)


def test_an_unreached_question_is_not_wrong():
    measures = measure_answers({"ref": "ABAB", "r1": "AB  "})
    assert (measures.accuracy[0].n, measures.accuracy[0].estimate) == (2, 1.0)
    assert measures.coverage[0].not_reached == 2


def test_cannot_determine_is_wrong_in_the_primary_view():
    accuracy = measure_answers({"ref": "ABABA", "r1": "ABAB?"}).accuracy[0]
    assert (accuracy.n, accuracy.correct) == (5, 4)


def test_cannot_determine_is_excluded_from_the_second_view():
    coverage = measure_answers({"ref": "ABABA", "r1": "ABAB?"}).coverage[0]
    assert (coverage.n, coverage.undetermined, coverage.n_determined) == (5, 1, 4)
    assert (coverage.coverage, coverage.estimate) == (0.8, 1.0)


def test_cannot_determine_is_its_own_category_for_kappa():
    agreement = measure_answers({"r1": "AB?AB?", "r2": "AB?ABA"}).agreement[0]
    assert agreement.kappa == pytest.approx(cohen_kappa_score(list("AB?AB?"), list("AB?ABA")))


def test_a_question_is_not_scored_if_the_reference_is_cannot_determine():
    assert measure_answers({"ref": "AB?", "r1": "AB?"}).accuracy[0].n == 2


def test_micro_and_macro_averages_are_both_computed():
    # task x: 3 of 4; task y: 1 of 1. micro 4/5, macro (.75 + 1) / 2
    overall = measure_answers({"ref": "AAAAA", "r1": "AAABA"}, task="xxxxy").overall[0]
    assert (overall.micro, overall.n) == (0.8, 5)
    assert (overall.macro, overall.tasks) == (0.875, 2)


def test_clustering_by_exam_widens_the_interval():
    answers = {"ref": "A" * 40, "r1": "AAAABBBB" * 5}
    unclustered = measure_answers(answers).accuracy[0]
    clustered = measure_answers(answers, exam="".join(letter * 4 for letter in "abcdefghij")).accuracy[0]
    assert clustered.low < unclustered.low
    assert "clustered by exam" in clustered.note


def test_a_reader_who_set_the_reference_has_a_note():
    measures = measure_answers(
        {"ref": "AB", "r1": "AB"}, set_reference={"ref": "  ", "r1": "11"}, category="xx"
    )
    for records in (measures.accuracy, measures.overall, measures.coverage, measures.by_category):
        assert "helped to set the reference" in records[0].note


def test_an_answer_marked_correct_in_the_file_is_correct():
    accuracy = measure_answers({"ref": "AAA", "r1": "ACB"}, correct={"ref": "   ", "r1": " 1 "}).accuracy[0]
    assert (accuracy.n, accuracy.correct) == (3, 2)


# ------------------------------------------------------------------------------------------------- pairs


def test_p_is_1_without_a_discordant_question():
    paired = measure_answers({"ref": "AAAA", "r1": "AAAB", "r2": "AAAB"}).paired[0]
    assert (paired.p_exact, paired.p_mid, paired.difference) == (1.0, 1.0, 0.0)


def test_holm_adjusts_only_the_declared_family():
    settings = replace(NO_BOOTSTRAP, family="r1:m1,r2:m1")
    paired = measure_answers(SMALL_ANSWERS, settings).paired
    adjusted_pairs = {(record.a, record.b) for record in paired if record.p_adjusted is not None}
    assert adjusted_pairs == {("m1", "r1"), ("m1", "r2")}


def test_the_family_readers_models_has_every_pair_of_a_reader_and_a_model():
    paired = measure_answers(SMALL_ANSWERS, replace(NO_BOOTSTRAP, family="readers-models")).paired
    assert [record.p_adjusted is not None for record in paired] == [True, True, False]


def test_a_family_with_an_unknown_rater_is_refused():
    with pytest.raises(InvalidValue, match=r"family: 'r1:nobody'.*The raters are m1, r1, r2$"):
        measure_answers(SMALL_ANSWERS, replace(NO_BOOTSTRAP, family="r1:nobody"))


def test_different_questions_give_an_unpaired_interval():
    measures = measure_answers(
        {"ref": "A" * 20, "r1": "A" * 8 + "BB" + " " * 10, "r2": " " * 10 + "A" * 6 + "BBBB"}
    )
    assert measures.paired[0].n == 0
    assert measures.paired[0].note == (
        "not defined: no question was answered by both; different questions: see unpaired"
    )
    record = measures.unpaired[0]
    assert (record.n_a, record.n_b, record.n_both) == (10, 10, 0)
    assert record.difference == pytest.approx(0.2)
    assert record.how.startswith("unpaired: different questions")


def test_a_partial_overlap_uses_the_u_statistic():
    measures = measure_answers(
        {"ref": "A" * 20, "r1": "A" * 10 + "B" * 5 + " " * 5, "r2": " " * 5 + "A" * 15}
    )
    assert measures.paired[0].n == 10
    assert "only the 10 common questions; 10 were answered by one" in measures.paired[0].note
    assert measures.unpaired[0].how == "partial overlap: U-statistic"


def test_the_model_is_compared_with_random_and_with_fixed_readers_in_every_task():
    comparisons = compute_measures(simulate_ratings(), settings=NO_BOOTSTRAP).mrmc
    assert [(record.task, record.model, record.random_readers) for record in comparisons] == list(
        product(("all", "location", "negation", "presence"), ("m1", "m2"), (True, False))
    )
    assert {record.readers for record in comparisons} == {3}


def test_without_readers_there_is_no_mrmc_comparison():
    assert measure_answers({"ref": "AB", "m1": "AB"}).mrmc == ()


# -------------------------------------------------------------------------------- repeats, training, arms


def test_training_cases_are_excluded_from_every_n():
    table = make_ratings({"ref": "AAAA", "r1": "AABB"}).assign(arm="")
    table.loc[(table["rater"] == "r1") & (table["answer"] == "B"), "arm"] = "training"
    assert compute_measures(table, settings=NO_BOOTSTRAP).accuracy[0].n == 2


def test_repeats_count_only_for_intra_reader_agreement():
    table = make_ratings({"ref": "ABAB", "r1": "ABAB"})
    repeats = make_ratings({"r1": "ABB"}).assign(arm="repeat")
    measures = compute_measures(pd.concat([table.assign(arm=""), repeats]), settings=NO_BOOTSTRAP)
    assert measures.accuracy[0].n == 4
    assert (measures.repeats[0].rater, measures.repeats[0].n) == ("r1", 3)
    assert measures.repeats[0].observed == pytest.approx(2 / 3)


def test_a_reader_with_two_arms_is_measured_by_arm():
    table = make_ratings({"r1": "AB"}).assign(arm="alone")
    aided = make_ratings({"r1": "AA"}).assign(arm="aided")
    accuracies = compute_measures(
        pd.concat([make_ratings({"ref": "AA"}), table, aided]), settings=NO_BOOTSTRAP
    ).accuracy
    assert [(record.rater, record.correct) for record in accuracies] == [
        ("r1 (aided)", 2),
        ("r1 (alone)", 1),
    ]
