"""Dataset estimates from a reviewed sample: rates, bounds, planned sample sizes, and the limit on errors."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from domain.verdicts import Decision, ErrorKind
from measures.strata import StratumCount, stratified_rate
from review.estimates import Outcome, Sample, estimate_rates, explain_limit_exceeded
from review.progress import format_interval, format_percent
from review.sample_size import plan_sample_size

GOLDEN = Path(__file__).parents[1] / "golden" / "statistics"
PUBLISHED_ERROR_COUNTS = {
    ErrorKind.SEVERAL_CORRECT: 13,
    ErrorKind.COMPARISON: 8,
    ErrorKind.NOT_CLINICALLY_VALID: 6,
    ErrorKind.NOT_IN_REPORT: 4,
}


def make_outcome(number, cell="all", *, errors=(), exam=None, decision=Decision.ACCEPT, **fields):
    return Outcome(
        question_row_id=number,
        cluster=number if exam is None else exam,
        cell=cell,
        decision=decision,
        errors=frozenset(errors),
        key_error=fields.pop("key_error", ErrorKind.SEVERAL_CORRECT in errors),
        **fields,
    )


def make_sample(counts, *, population=None, skipped=None, kind=ErrorKind.SEVERAL_CORRECT):
    """``counts``: name -> (size, judged, hits)."""
    number, outcomes = 0, []
    for cell, (_, judged, hits) in counts.items():
        for index in range(judged):
            number += 1
            outcomes.append(make_outcome(number, cell, errors=[kind] if index < hits else []))
    sizes = {cell: size for cell, (size, _, _) in counts.items()}
    return Sample(
        names={cell: cell for cell in counts},
        sizes=sizes,
        outcomes=outcomes,
        skipped=skipped or {},
        dataset_size=population or sum(sizes.values()),
    )


def find_error_rate(estimates, kind):
    return next(candidate for candidate in estimates.errors if candidate.name == kind.value)


def test_the_four_published_error_rates_are_reproduced():
    numbers = iter(range(1, 121))
    outcomes = [
        make_outcome(next(numbers), errors=[kind])
        for kind, count in PUBLISHED_ERROR_COUNTS.items()
        for _ in range(count)
    ]
    outcomes += [make_outcome(number) for number in numbers]
    estimates = estimate_rates(
        Sample(names={"all": "all"}, sizes={"all": 1200}, outcomes=outcomes, skipped={}, dataset_size=1200)
    )
    percentages = [
        format_percent(find_error_rate(estimates, kind).rate.estimate) for kind in PUBLISHED_ERROR_COUNTS
    ]
    assert percentages == ["10.8 %", "6.7 %", "5.0 %", "3.3 %"]
    for kind, count in PUBLISHED_ERROR_COUNTS.items():
        error_rate = find_error_rate(estimates, kind)
        assert (error_rate.count, error_rate.rate.reviewed) == (count, 120)
        assert error_rate.rate.low < count / 120 < error_rate.rate.high
        assert format_interval(error_rate.rate.low, error_rate.rate.high) != "not defined"


def test_an_estimate_equals_stratified_rate_on_the_same_counts():
    counts = {"easy": (700, 30, 2), "medium": (200, 30, 4), "hard": (80, 30, 9), "none": (20, 20, 8)}
    estimated = find_error_rate(estimate_rates(make_sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    expected = stratified_rate(
        [
            StratumCount(name=name, size=size, reviewed=judged, hits=hits)
            for name, (size, judged, hits) in counts.items()
        ]
    )
    assert estimated == expected


def test_the_stratified_review_example_is_reproduced():
    example = json.loads((GOLDEN / "stratified_quality_review.json").read_text())
    counts = {tier["tier"]: (tier["N"], tier["n"], tier["x"]) for tier in example["data"]["counts"]}
    rate = find_error_rate(estimate_rates(make_sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    assert rate.estimate == pytest.approx(example["expected"]["weighted_error_rate"], abs=1e-6)
    assert rate.se == pytest.approx(example["expected"]["fpc"]["se"], abs=1e-6)


def test_lohrs_county_example_is_reproduced():
    example = json.loads((GOLDEN / "stratified_lohr_agstrat.json").read_text())
    data, expected = example["data"], example["expected"]
    counts = {
        name: (size, len(data["acres"][name]), sum(acres < 200_000 for acres in data["acres"][name]))
        for name, size in data["sizes"].items()
    }
    rate = find_error_rate(estimate_rates(make_sample(counts)), ErrorKind.SEVERAL_CORRECT).rate
    assert rate.estimate == pytest.approx(expected["prop_lt200k"], abs=1e-6)
    assert rate.se == pytest.approx(expected["se_prop_lt200k"], abs=1e-6)


def test_clustering_by_exam_widens_the_interval():
    def estimate_with_exams(per_exam):
        outcomes = [
            make_outcome(
                number, errors=[ErrorKind.WRONG_KEY] if number <= 20 else [], exam=number // per_exam
            )
            for number in range(1, 121)
        ]
        sample_of_exams = Sample(
            names={"all": "all"}, sizes={"all": 2000}, outcomes=outcomes, skipped={}, dataset_size=2000
        )
        return find_error_rate(estimate_rates(sample_of_exams), ErrorKind.WRONG_KEY)

    assert estimate_with_exams(5).half_width > 1.3 * estimate_with_exams(1).half_width


def test_an_unjudged_cell_is_not_estimated():
    estimates = estimate_rates(make_sample({"easy": (900, 50, 5), "hard": (100, 0, 0)}))
    error_rate = find_error_rate(estimates, ErrorKind.SEVERAL_CORRECT)
    assert error_rate.rate.estimate == pytest.approx(0.1)
    assert (error_rate.covered, error_rate.dataset_size) == (900, 1000)
    assert error_rate.worst_limit == pytest.approx((error_rate.rate.high * 900 + 100) / 1000)
    assert any("hard (100)" in note for note in estimates.notes)


def draw_by_two_plans(random, tiers, wrong):
    """Judge two draws: 5 % of tier 0 and 30 % of tier 1 of the first 600 questions; 30 % and 5 % of all."""
    judged = np.zeros(len(tiers), dtype=bool)
    for end, shares in ((600, (0.05, 0.3)), (len(tiers), (0.3, 0.05))):
        for tier, share in enumerate(shares):
            frame = np.flatnonzero((tiers == tier) & (np.arange(len(tiers)) < end))
            judged[random.choice(frame, round(share * len(frame)), replace=False)] = True
    # the questions of a cell had the same joint chance of being drawn
    cells = [f"{tier} {index < 600}" for index, tier in enumerate(tiers)]
    return Sample(
        names={cell: cell for cell in set(cells)},
        sizes=Counter(cells),
        outcomes=[
            make_outcome(index, cells[index], errors=[ErrorKind.WRONG_KEY] if wrong[index] else [])
            for index in np.flatnonzero(judged).tolist()
        ],
        skipped={},
        dataset_size=len(tiers),
    )


@pytest.mark.slow
def test_overlapping_draws_with_different_plans_combine_without_bias():
    random = np.random.default_rng(1)
    tiers = np.arange(1000) % 4 // 3  # tier 1 has a quarter of the questions
    wrong = random.random(1000) < np.where(tiers == 1, 0.3, 0.04) + 0.1 * (np.arange(1000) >= 600)
    rates = [
        find_error_rate(estimate_rates(draw_by_two_plans(random, tiers, wrong)), ErrorKind.WRONG_KEY).rate
        for _ in range(400)
    ]
    assert np.mean([rate.estimate for rate in rates]) == pytest.approx(wrong.mean(), abs=0.003)
    assert np.mean([rate.low <= wrong.mean() <= rate.high for rate in rates]) >= 0.93
    unweighted = np.mean([rate.unweighted for rate in rates])
    assert abs(unweighted - wrong.mean()) > 0.005


def test_an_estimate_of_many_rounds_is_inside_its_interval():
    # 12 rounds of 3 tiers: with Jeffreys' prior in each cell, the lower limit was as high as the estimate
    cells = {f"{round_} {tier}": (333, 33, 1) for round_ in range(12) for tier in "abc"}
    rate = find_error_rate(estimate_rates(make_sample(cells)), ErrorKind.SEVERAL_CORRECT).rate
    assert [format_percent(value) for value in (rate.low, rate.estimate, rate.high)] == [
        "2.2 %",
        "3.0 %",
        "4.1 %",
    ]


def test_skipped_questions_give_bounds_and_a_note():
    estimates = estimate_rates(make_sample({"all": (1000, 90, 9)}, skipped={"all": 10}))
    assert find_error_rate(estimates, ErrorKind.SEVERAL_CORRECT).rate.bounds == pytest.approx((0.09, 0.19))
    assert any("not judged: 10 (10.0 %" in note for note in estimates.notes)


def test_key_only_judgements_count_for_key_errors_only():
    outcomes = [make_outcome(number, errors=[ErrorKind.WORDING]) for number in range(1, 11)]
    outcomes += [make_outcome(number, key_only=True, key_error=True) for number in range(11, 31)]
    estimates = estimate_rates(
        Sample(names={"all": "all"}, sizes={"all": 300}, outcomes=outcomes, skipped={}, dataset_size=300)
    )
    assert find_error_rate(estimates, ErrorKind.WORDING).rate.reviewed == 10
    assert (estimates.key_errors.count, estimates.key_errors.rate.reviewed) == (20, 30)


def test_the_planned_sample_size_reaches_the_target_width():
    counts = {"easy": (7000, 400, 4), "medium": (2000, 300, 15), "hard": (3000, 60, 15)}
    current_sample = make_sample(counts)
    estimates = estimate_rates(current_sample)
    size_plan = plan_sample_size(
        find_error_rate(estimates, ErrorKind.SEVERAL_CORRECT), current_sample, target_half_width=0.02
    )
    assert size_plan.additional[0][0] == "hard"
    assert "to ± 2 points" in size_plan.description
    assert f"review further questions: {size_plan.additional[0][1]:,} hard" in size_plan.description
    additional = dict(size_plan.additional)
    enlarged_counts = {
        name: (size, n + additional.get(name, 0), hits + round(additional.get(name, 0) * hits / n))
        for name, (size, n, hits) in counts.items()
    }
    assert find_error_rate(
        estimate_rates(make_sample(enlarged_counts)), ErrorKind.SEVERAL_CORRECT
    ).half_width == pytest.approx(0.02, abs=0.002)


def test_no_more_questions_are_planned_if_the_width_suffices():
    current_sample = make_sample({"all": (10_000, 5000, 50)})
    assert plan_sample_size(estimate_rates(current_sample).key_errors, current_sample).additional == ()


def test_the_limit_is_kept_if_the_worst_case_is_below_it():
    key_errors = estimate_rates(make_sample({"all": (1000, 500, 5)})).key_errors
    assert explain_limit_exceeded(key_errors, limit=0.05) is None


def test_exceeding_the_limit_is_explained_with_the_rate():
    explanation = explain_limit_exceeded(
        estimate_rates(make_sample({"all": (1000, 100, 8)})).key_errors, limit=0.05
    )
    assert "Key errors: 8.0 % of the dataset" in explanation
    assert "below 5 %" in explanation


def test_the_limit_counts_as_exceeded_without_judgements():
    assert "cannot be estimated yet" in explain_limit_exceeded(
        estimate_rates(make_sample({"all": (100, 0, 0)})).key_errors, limit=0.5
    )


def test_a_plan_by_risk_has_at_most_the_questions_that_are_left():
    outcomes = [make_outcome(number, errors=(ErrorKind.WRONG_KEY,) * (number < 3)) for number in range(20)]
    sample = Sample(
        names={"all": "all"}, sizes={"all": 100}, outcomes=outcomes, skipped={}, dataset_size=100,
        probabilities={outcome.question_row_id: 0.2 for outcome in outcomes},
    )  # fmt: skip
    plan = plan_sample_size(estimate_rates(sample).key_errors, sample)
    assert plan.additional == (("drawn in the same way", 80),)
