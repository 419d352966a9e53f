"""The AR-score: values that GEMeX prints, both orders of the texts, and replies without a score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.answer_reason import (
    CANDIDATE_FIRST,
    JUDGE_PROMPT,
    REFERENCE_FIRST,
    JudgedPair,
    build_judge_requests,
    calibrate_judge,
    compute_answer_reason,
    compute_relative_score,
    parse_scores,
)
from evaluation.scores_text import list_judge_lines
from language_models.prompts import parse_prompt
from measures.means import mean_by_cluster
from tests.unit.test_model_scores import make_question


@pytest.mark.parametrize(
    ("candidate", "reference", "printed"),
    [(3, 8, "37.50"), (4, 9, "44.44"), (8, 9, "88.89"), (2, 10, "20.00")],
)
def test_the_relative_score_equals_the_values_printed_by_gemex(candidate, reference, printed):
    score = compute_relative_score(JudgedPair(reference=reference, candidate=candidate))
    assert f"{score:.2f}" == printed


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        ("9 4\nThe second misses it.", (9, 4)),
        ("\n 9, 4 \n", (9, 4)),
        ("8.5 7", (8.5, 7)),
        ("9/10 4/10", (9, 4)),
        ("Scores: 9 4", (9, 4)),
        ("Assistant 1: 9", None),
        ("9", None),
        ("11 4", None),
        ("9 4 3", None),
        ("", None),
    ],
)
def test_scores_are_read_from_the_first_line(reply, scores):
    expected = scores and JudgedPair(reference=scores[0], candidate=scores[1])
    assert parse_scores(reply, REFERENCE_FIRST) == expected
    swapped = scores and JudgedPair(reference=scores[1], candidate=scores[0])
    assert parse_scores(reply, CANDIDATE_FIRST) == swapped


def test_both_orders_are_averaged_and_replies_without_scores_are_counted_separately():
    replies = [
        (f"1 {REFERENCE_FIRST}", "8 3"), (f"1 {CANDIDATE_FIRST}", "6 8"),  # 37.5 and 75
        (f"2 {REFERENCE_FIRST}", "10 2"), (f"2 {CANDIDATE_FIRST}", "4 10"),  # 20 and 40
        (f"3 {REFERENCE_FIRST}", "9 8"), (f"3 {CANDIDATE_FIRST}", "Both are good."),
        (f"4 {REFERENCE_FIRST}", "0 8"), (f"4 {CANDIDATE_FIRST}", None),
        (f"5 {REFERENCE_FIRST}", "9 8"),
    ]  # fmt: skip
    result = compute_answer_reason(replies, clusters={number: number for number in range(1, 6)})
    assert result.values == {1: (37.5 + 75) / 2, 2: 30}
    assert (result.judged, result.failed, result.unparseable, result.zero_references) == (4, 1, 1, 1)
    assert (result.order_bias.n, result.order_bias.estimate) == (2, (37.5 + 20) / 2)
    mean = mean_by_cluster(list(result.values.values()), [1, 2])
    lines = list_judge_lines(result, mean, None)
    assert lines[0].startswith("AR-score: 43.12")
    assert "1 requests without a reply, 1 replies without two scores, 1 with a reference" in lines[1]


def test_a_judge_sees_both_texts_in_both_orders_and_not_which_is_the_key():
    prompt = parse_prompt(JUDGE_PROMPT.read_text(encoding="utf-8"))
    requests = build_judge_requests(
        make_question(4), prompt, report="Small effusion.", reference="KEY TEXT", candidate="MODEL TEXT"
    )
    texts = [request.body["messages"][-1]["content"] for request in requests]
    assert [request.custom_id for request in requests] == [f"4 {REFERENCE_FIRST}", f"4 {CANDIDATE_FIRST}"]
    assert "Assistant 1: KEY TEXT" in texts[0]
    assert "Assistant 2: KEY TEXT" in texts[1]
    for text in texts:
        assert "Small effusion." in text
        assert "reference" not in text
    assert texts[0].replace("KEY", "x").replace("MODEL", "KEY").replace("x", "MODEL") != texts[0]


def test_calibration_is_correlation_and_limits_of_agreement():
    rng = np.random.default_rng(2)
    experts = {number: float(value) for number, value in enumerate(rng.uniform(20, 100, 40))}
    judge = {number: value + rng.normal(5, 8) for number, value in experts.items()} | {99: 50.0}
    result = calibrate_judge(judge, experts)
    first, second = np.array([judge[number] for number in experts]), np.array(list(experts.values()))
    assert result.n == 40
    assert result.spearman == pytest.approx(stats.spearmanr(first, second)[0])
    assert result.pearson == pytest.approx(np.corrcoef(first, second)[0, 1])
    spread = 1.96 * np.std(first - second, ddof=1)
    assert (result.low, result.high) == pytest.approx(
        (np.mean(first - second) - spread, np.mean(first - second) + spread)
    )
    assert calibrate_judge({1: 2.0}, {1: 2.0}).spearman is None
    constant = calibrate_judge({1: 5.0, 2: 5.0, 3: 5.0}, {1: 1.0, 2: 2.0, 3: 3.0})
    assert (constant.pearson, constant.mean_difference) == (None, 3.0)
