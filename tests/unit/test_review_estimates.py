"""Dataset estimates from a reviewed sample: the measures' figures, bounds, plans and the rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from domain.verdicts import Decision, ErrorKind
from measures.strata import StratumCount, stratified_rate
from review.estimates import SEED, Outcome, Sample, estimate_rates, explain_limit_exceeded
from review.progress import format_interval, format_percent
from review.sample_size import plan_sample_size

GOLDEN = Path(__file__).parents[1] / "golden" / "statistics"
KINDS = {
    ErrorKind.SEVERAL_CORRECT: 13,
    ErrorKind.COMPARISON: 8,
    ErrorKind.NOT_CLINICALLY_VALID: 6,
    ErrorKind.NOT_IN_REPORT: 4,
}


def outcome(number, cell="all", *, errors=(), exam=None, decision=Decision.ACCEPT, **more):
    return Outcome(
        question_number=number,
        exam_number=number if exam is None else exam,
        cell=cell,
        decision=decision,
        errors=frozenset(errors),
        key_error=more.pop("key_error", ErrorKind.SEVERAL_CORRECT in errors),
        **more,
    )


def sample(counts, *, whole=None, skipped=None, kind=ErrorKind.SEVERAL_CORRECT):
    """``counts``: name -> (size, judged, hits)."""
    number, outcomes = 0, []
    for cell, (_, judged, hits) in counts.items():
        for place in range(judged):
            number += 1
            outcomes.append(outcome(number, cell, errors=[kind] if place < hits else []))
    sizes = {cell: size for cell, (size, _, _) in counts.items()}
    return Sample(
        names={cell: cell for cell in counts},
        sizes=sizes,
        outcomes=outcomes,
        skipped=skipped or {},
        dataset_size=whole or sum(sizes.values()),
    )


def of(found, kind):
    return next(each for each in found.errors if each.name == kind.value)


def test_the_four_errors_of_120_print_as_the_paper_has_them_with_intervals():
    numbers = iter(range(1, 121))
    outcomes = [outcome(next(numbers), errors=[kind]) for kind, count in KINDS.items() for _ in range(count)]
    outcomes += [outcome(number) for number in numbers]
    found = estimate_rates(
        Sample(names={"all": "all"}, sizes={"all": 1200}, outcomes=outcomes, skipped={}, dataset_size=1200)
    )
    shown = [format_percent(of(found, kind).rate.estimate) for kind in KINDS]
    assert shown == ["10.8 %", "6.7 %", "5.0 %", "3.3 %"]
    for kind, count in KINDS.items():
        each = of(found, kind)
        assert (each.count, each.rate.reviewed) == (count, 120)
        assert each.rate.low < count / 120 < each.rate.high
        assert format_interval(each.rate.low, each.rate.high) != "not defined"


def test_an_estimate_is_that_of_the_measures_on_the_same_counts():
    counts = {"easy": (700, 30, 2), "medium": (200, 30, 4), "hard": (80, 30, 9), "none": (20, 20, 8)}
    ours = of(estimate_rates(sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    theirs = stratified_rate(
        [
            StratumCount(name=name, size=size, reviewed=judged, hits=hits)
            for name, (size, judged, hits) in counts.items()
        ],
        seed=SEED,
    )
    assert ours == theirs


def test_the_reference_of_a_stratified_review_comes_out_through_it():
    example = json.loads((GOLDEN / "stratified_quality_review.json").read_text())
    counts = {each["tier"]: (each["N"], each["n"], each["x"]) for each in example["data"]["counts"]}
    found = of(estimate_rates(sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    assert found.estimate == pytest.approx(example["expected"]["weighted_error_rate"], abs=1e-6)
    assert found.se == pytest.approx(example["expected"]["fpc"]["se"], abs=1e-6)


def test_lohrs_counties_come_out_through_it():
    example = json.loads((GOLDEN / "stratified_lohr_agstrat.json").read_text())
    data, expected = example["data"], example["expected"]
    counts = {
        name: (size, len(data["acres"][name]), sum(each < 200_000 for each in data["acres"][name]))
        for name, size in data["sizes"].items()
    }
    found = of(estimate_rates(sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    assert found.estimate == pytest.approx(expected["prop_lt200k"], abs=1e-6)
    assert found.se == pytest.approx(expected["se_prop_lt200k"], abs=1e-6)


def test_questions_of_one_exam_widen_the_interval():
    def of_exams(per_exam):
        outcomes = [
            outcome(number, errors=[ErrorKind.WRONG_KEY] if number <= 20 else [], exam=number // per_exam)
            for number in range(1, 121)
        ]
        found = Sample(
            names={"all": "all"}, sizes={"all": 2000}, outcomes=outcomes, skipped={}, dataset_size=2000
        )
        return of(estimate_rates(found), ErrorKind.WRONG_KEY)

    assert of_exams(5).half_width > 1.3 * of_exams(1).half_width


def test_a_cell_of_which_nothing_was_judged_is_not_guessed():
    found = estimate_rates(sample({"easy": (900, 50, 5), "hard": (100, 0, 0)}))
    each = of(found, ErrorKind.SEVERAL_CORRECT)
    assert each.rate.estimate == pytest.approx(0.1)
    assert (each.covered, each.dataset_size) == (900, 1000)
    assert each.worst_limit == pytest.approx((each.rate.high * 900 + 100) / 1000)
    assert any("hard (100)" in note for note in found.notes)


def test_skipped_questions_are_bounds_and_named_with_their_share():
    found = estimate_rates(sample({"all": (1000, 90, 9)}, skipped={"all": 10}))
    assert of(found, ErrorKind.SEVERAL_CORRECT).rate.bounds == pytest.approx((0.09, 0.19))
    assert any("nobody: 10 (10.0 %" in note for note in found.notes)


def test_questions_judged_for_their_key_only_say_nothing_of_wording():
    outcomes = [outcome(number, errors=[ErrorKind.WORDING]) for number in range(1, 11)]
    outcomes += [outcome(number, key_only=True, key_error=True) for number in range(11, 31)]
    found = estimate_rates(
        Sample(names={"all": "all"}, sizes={"all": 300}, outcomes=outcomes, skipped={}, dataset_size=300)
    )
    assert of(found, ErrorKind.WORDING).rate.reviewed == 10
    assert (found.key_errors.count, found.key_errors.rate.reviewed) == (20, 30)


def test_a_plan_names_the_tier_that_narrows_the_interval_and_holds_what_it_says():
    counts = {"easy": (7000, 400, 4), "medium": (2000, 300, 15), "hard": (3000, 60, 15)}
    judged = sample(counts)
    found = estimate_rates(judged)
    said = plan_sample_size(of(found, ErrorKind.SEVERAL_CORRECT), judged, target_half_width=0.02)
    assert said.additional[0][0] == "hard"
    assert "more of hard" in said.description
    assert "under ± 2 points" in said.description
    more = dict(said.additional)
    then = {
        name: (size, n + more.get(name, 0), hits + round(more.get(name, 0) * hits / n))
        for name, (size, n, hits) in counts.items()
    }
    assert of(estimate_rates(sample(then)), ErrorKind.SEVERAL_CORRECT).half_width == pytest.approx(
        0.02, abs=0.002
    )


def test_a_plan_for_an_interval_that_is_narrow_enough_asks_for_nothing():
    judged = sample({"all": (10_000, 5000, 50)})
    assert plan_sample_size(estimate_rates(judged).key_errors, judged).additional == ()


def test_the_rule_holds_where_the_worst_case_lies_under_it():
    found = estimate_rates(sample({"all": (1000, 500, 5)})).key_errors
    assert explain_limit_exceeded(found, limit=0.05) is None


def test_the_rule_refuses_with_the_figure():
    why = explain_limit_exceeded(estimate_rates(sample({"all": (1000, 100, 8)})).key_errors, limit=0.05)
    assert "Key errors are 8.0 % of the whole" in why
    assert "under 5 %" in why


def test_the_rule_refuses_while_nothing_is_judged():
    assert "nothing can be said" in explain_limit_exceeded(
        estimate_rates(sample({"all": (100, 0, 0)})).key_errors, limit=0.5
    )
