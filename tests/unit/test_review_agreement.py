"""Agreement between reviewers on constructed verdicts, against scikit-learn and written-out arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.questions import Question
from domain.ratings import RATING_IDS, Ratings
from domain.verdicts import Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import AnswerFormat
from measures.means import mean_by_cluster
from records.columns import DECISIONS
from review.agreement import Aspect, GroupAgreement, compute_agreement, format_pair_names
from review.drift import choose_block_size, compute_drift
from review.shared_questions import SharedQuestion
from tests.unit.makers.batch_data import make_latest_verdicts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OPTIONS = ("Effusion", "Nodule", "Oedema", "None of these")


def make_question(number: int) -> Question:
    return Question(
        id=f"q{number}", exam_id=f"e{number}", format=AnswerFormat.SINGLE, stem="What is seen?",
        options=OPTIONS, answer=(1,),
    )  # fmt: skip


def make_verdict(number: int, person: int, decision: str = "accept", **opinion: Any) -> Verdict:
    if decision == "reject":
        opinion.setdefault("errors", frozenset({ErrorKind.WORDING}))
    if decision == "revise":
        opinion.setdefault("correction", Correction(answer=(2,)))
    return Verdict(
        batch_id=1, question_row_id=number, person_id=person, revision=1, decision=Decision(decision),
        opinion=Opinion(**opinion), seconds=40.0, seconds_looking=30.0, seconds_away=0.0,
        given_at=NOW + timedelta(minutes=number),
    )  # fmt: skip


def make_shared_question(number: int, *verdicts: Verdict, exam: int | None = None) -> SharedQuestion:
    return SharedQuestion(
        question=make_question(number), exam_row_id=number if exam is None else exam, verdicts=verdicts
    )


def find_aspect(agreement: GroupAgreement, name: str) -> Aspect:
    return next(candidate for candidate in agreement.aspects if candidate.name == name)


FIRST_DECISIONS = ["accept"] * 20 + ["revise"] * 8 + ["reject"] * 12
SECOND_DECISIONS = (
    ["accept"] * 16 + ["revise"] * 3 + ["reject"] * 2 + ["revise"] * 6 + ["accept"] * 3 + ["reject"] * 10
)


@pytest.fixture(scope="module")
def agreement() -> GroupAgreement:
    """Forty questions that two reviewers decide as in the two lists above."""
    (agreement_of_pair,) = compute_agreement(
        [
            make_shared_question(
                number, make_verdict(number, 1, first_decision), make_verdict(number, 2, second_decision)
            )
            for number, (first_decision, second_decision) in enumerate(
                zip(FIRST_DECISIONS, SECOND_DECISIONS, strict=True)
            )
        ]
    )
    return agreement_of_pair


def test_kappa_of_decisions_equals_scikit_learn(agreement):
    kappa = find_aspect(agreement, "decision").kappa
    assert kappa.estimate == pytest.approx(cohen_kappa_score(FIRST_DECISIONS, SECOND_DECISIONS), abs=1e-12)
    assert kappa.n == 40
    assert kappa.low < kappa.estimate < kappa.high
    assert kappa.kind == "posterior"


def test_percent_agreement_is_the_share_of_equal_decisions(agreement):
    percent = find_aspect(agreement, "decision").percent
    assert (
        percent.estimate == sum(a == b for a, b in zip(FIRST_DECISIONS, SECOND_DECISIONS, strict=True)) / 40
    )


def test_ac1_of_decisions_equals_gwets_formula(agreement):
    observed = np.mean([a == b for a, b in zip(FIRST_DECISIONS, SECOND_DECISIONS, strict=True)])
    shares = np.array(
        [(FIRST_DECISIONS.count(decision) + SECOND_DECISIONS.count(decision)) / 80 for decision in Decision]
    )
    chance = np.sum(shares * (1 - shares)) / 2
    expected = (observed - chance) / (1 - chance)
    assert find_aspect(agreement, "decision").alternative.estimate == pytest.approx(expected, abs=1e-12)


def test_kappa_of_an_error_kind_equals_scikit_learn(agreement):
    named_by_first = [decision == "reject" for decision in FIRST_DECISIONS]
    named_by_second = [decision == "reject" for decision in SECOND_DECISIONS]
    expected = cohen_kappa_score(named_by_first, named_by_second)
    assert find_aspect(agreement, "wording").kappa.estimate == pytest.approx(expected, abs=1e-12)


def test_an_error_kind_nobody_reported_has_no_kappa(agreement):
    kappa = find_aspect(agreement, "wrong key").kappa
    assert (kappa.estimate, kappa.note) == (None, "not defined: one category")
    assert kappa.has_few_questions


def test_rejected_questions_do_not_count_in_the_agreement_of_keys(agreement):
    pairs_without_rejection = [
        (a, b) for a, b in zip(FIRST_DECISIONS, SECOND_DECISIONS, strict=True) if "reject" not in {a, b}
    ]
    key_agreement = find_aspect(agreement, "key after correction")
    assert key_agreement.percent.n == len(pairs_without_rejection)
    share = sum(a == b for a, b in pairs_without_rejection) / len(pairs_without_rejection)
    assert key_agreement.percent.estimate == share
    assert key_agreement.alternative.estimate == pytest.approx((share - 1 / 4) / (1 - 1 / 4))
    assert "options differ" in key_agreement.kappa.note


def test_a_key_is_the_same_if_only_its_letter_changed():
    reordered = Correction(options=("Nodule", "Effusion", "Oedema", "None of these"), answer=(0,))
    (agreement,) = compute_agreement(
        [make_shared_question(1, make_verdict(1, 1), make_verdict(1, 2, "revise", correction=reordered))]
    )
    assert find_aspect(agreement, "key after correction").percent.estimate == 1


def test_quadratic_kappa_of_ratings_equals_scikit_learn():
    first_ratings = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 5, 5, 4]
    second_ratings = [1, 3, 3, 5, 5, 4, 4, 2, 2, 3, 5, 1, 4]
    (agreement,) = compute_agreement(
        [
            make_shared_question(
                number,
                *(
                    make_verdict(number, person, ratings=Ratings(clinical_quality=value))
                    for person, value in ((1, first_rating), (2, second_rating))
                ),
            )
            for number, (first_rating, second_rating) in enumerate(
                zip(first_ratings, second_ratings, strict=True)
            )
        ]
    )
    quality = find_aspect(agreement, "clinical quality")
    expected = cohen_kappa_score(first_ratings, second_ratings, labels=[1, 2, 3, 4, 5], weights="quadratic")
    assert quality.kappa.estimate == pytest.approx(expected, abs=1e-12)
    assert quality.alternative_name == "AC2"


def test_a_field_left_open_by_one_reviewer_is_excluded():
    questions = [
        make_shared_question(1, make_verdict(1, 1, domain_specific=True), make_verdict(1, 2)),
        make_shared_question(
            2, make_verdict(2, 1, domain_specific=True), make_verdict(2, 2, domain_specific=True)
        ),
    ]
    (agreement,) = compute_agreement(questions)
    assert find_aspect(agreement, "domain specific").percent.n == 1
    assert (
        find_aspect(agreement, "image centric").percent.note
        == "not defined: no question was answered by both"
    )


def test_boxes_are_matched_one_to_one_with_missing_boxes_as_0():
    def make_box(x: float) -> LabelledBox:
        return LabelledBox(
            radiograph="pa", label="Nodule", box=Box(x_min=x, y_min=0, x_max=x + 100, y_max=100)
        )

    two_boxes, one_box = Correction(boxes=(make_box(0), make_box(500))), Correction(boxes=(make_box(550),))
    (agreement,) = compute_agreement(
        [
            make_shared_question(
                1,
                make_verdict(1, 1, "revise", correction=two_boxes),
                make_verdict(1, 2, "revise", correction=one_box),
            )
        ]
    )
    assert agreement.box_overlap.score == pytest.approx(50 / 150 / 2)
    assert agreement.box_overlap.per_truth == pytest.approx(50 / 150 / 2)
    assert agreement.box_overlap.per_match == pytest.approx(50 / 150)


def test_three_reviewers_are_listed_before_their_pairs():
    agreements = compute_agreement(
        [
            make_shared_question(number, *(make_verdict(number, person) for person in (1, 2, 3)))
            for number in range(4)
        ]
        + [make_shared_question(9, make_verdict(9, 1), make_verdict(9, 2, "reject"))]
    )
    people = {1: "Rosa", 2: "Ravi", 3: "Anna"}
    assert format_pair_names(agreements, people) == (
        "all 3 together", "Rosa and Ravi", "Rosa and Anna", "Ravi and Anna",
    )  # fmt: skip
    assert [agreement.questions for agreement in agreements] == [5, 5, 4, 4]
    assert find_aspect(agreements[0], "decision").percent.estimate == pytest.approx(4 / 5)
    assert find_aspect(agreements[0], "key after correction").percent.estimate == 1


def test_without_shared_questions_there_is_no_agreement():
    assert compute_agreement([]) == ()


def test_block_size_is_25_or_gives_at_most_40_blocks():
    assert [choose_block_size(question_count) for question_count in (0, 1, 1_000, 1_001, 60_000)] == [
        25,
        25,
        25,
        50,
        1_500,
    ]


def test_drift_is_computed_in_chronological_blocks():
    numbers = np.arange(30)
    verdicts = make_latest_verdicts(
        30,
        decisions=np.where(numbers >= 10, DECISIONS.index(Decision.ACCEPT), DECISIONS.index(Decision.REJECT)),
        ratings=np.column_stack([1 + numbers % 5, *[numbers * 0] * (len(RATING_IDS) - 1)]).astype(np.int8),
        first_given_at=np.datetime64("2026-01-02") - numbers.astype("timedelta64[m]"),
        first_seconds=numbers.astype(float),
    )
    first_block, second_block = compute_drift(verdicts)
    assert (first_block.first, first_block.last, second_block.first, second_block.last) == (1, 25, 26, 30)
    assert (first_block.accepted.count, second_block.accepted.count) == (20, 0)
    assert first_block.seconds.estimate == np.mean(range(5, 30))
    assert first_block.ratings["clinical_quality"].estimate == 3
    assert first_block.ratings["image_alignment"].n == 0


def test_a_mean_has_the_student_t_interval():
    mean = mean_by_cluster([1.0, 2.0, 4.0, 7.0], [1, 2, 3, 4])
    half_width = 3.182446305284263 * np.std([1, 2, 4, 7], ddof=1) / 2  # t of 3 degrees of freedom at .975
    assert (mean.low, mean.high) == pytest.approx((3.5 - half_width, 3.5 + half_width))


def test_clustering_by_exam_widens_the_interval_of_a_mean():
    unclustered = mean_by_cluster([1, 1, 1, 5, 5, 5, 3, 3], range(8))
    clustered = mean_by_cluster([1, 1, 1, 5, 5, 5, 3, 3], [1, 1, 1, 2, 2, 2, 3, 3])
    assert clustered.high > unclustered.high
