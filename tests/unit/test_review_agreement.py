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
from tests.unit.makers.batch_facts import latest_verdicts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OPTIONS = ("Effusion", "Nodule", "Oedema", "None of these")


def question(number: int) -> Question:
    return Question(
        id=f"q{number}", exam_id=f"e{number}", format=AnswerFormat.SINGLE, stem="What is seen?",
        options=OPTIONS, answer=(1,),
    )  # fmt: skip


def verdict(number: int, person: int, decision: str = "accept", **opinion: Any) -> Verdict:
    if decision == "reject":
        opinion.setdefault("errors", frozenset({ErrorKind.WORDING}))
    if decision == "revise":
        opinion.setdefault("correction", Correction(answer=(2,)))
    return Verdict(
        batch_id=1, question_id=number, person_id=person, revision=1, decision=Decision(decision),
        opinion=Opinion(**opinion), seconds=40.0, seconds_looking=30.0, seconds_away=0.0,
        given_at=NOW + timedelta(minutes=number),
    )  # fmt: skip


def shared(number: int, *verdicts: Verdict, exam: int | None = None) -> SharedQuestion:
    return SharedQuestion(
        question=question(number), exam_number=number if exam is None else exam, verdicts=verdicts
    )


def aspect(found: GroupAgreement, name: str) -> Aspect:
    return next(each for each in found.aspects if each.name == name)


FIRST = ["accept"] * 20 + ["revise"] * 8 + ["reject"] * 12
SECOND = ["accept"] * 16 + ["revise"] * 3 + ["reject"] * 2 + ["revise"] * 6 + ["accept"] * 3 + ["reject"] * 10


@pytest.fixture(scope="module")
def decided() -> GroupAgreement:
    """Forty questions that two reviewers decide as above."""
    (found,) = compute_agreement(
        [
            shared(at, verdict(at, 1, one), verdict(at, 2, other))
            for at, (one, other) in enumerate(zip(FIRST, SECOND, strict=True))
        ]
    )
    return found


def test_kappa_of_decisions_is_scikit_learns(decided):
    kappa = aspect(decided, "decision").kappa
    assert kappa.estimate == pytest.approx(cohen_kappa_score(FIRST, SECOND), abs=1e-12)
    assert kappa.n == 40
    assert kappa.low < kappa.estimate < kappa.high
    assert kappa.kind == "posterior"


def test_percent_agreement_of_decisions_is_counted(decided):
    percent = aspect(decided, "decision").percent
    assert percent.estimate == sum(a == b for a, b in zip(FIRST, SECOND, strict=True)) / 40


def test_ac1_of_decisions_is_gwets(decided):
    agreed = np.mean([a == b for a, b in zip(FIRST, SECOND, strict=True)])
    shares = np.array([(FIRST.count(each) + SECOND.count(each)) / 80 for each in Decision])
    chance = np.sum(shares * (1 - shares)) / 2
    expected = (agreed - chance) / (1 - chance)
    assert aspect(decided, "decision").third.estimate == pytest.approx(expected, abs=1e-12)


def test_an_error_kind_is_named_or_not(decided):
    ours = [each == "reject" for each in FIRST]
    theirs = [each == "reject" for each in SECOND]
    expected = cohen_kappa_score(ours, theirs)
    assert aspect(decided, "wording").kappa.estimate == pytest.approx(expected, abs=1e-12)


def test_an_error_kind_that_nobody_named_has_no_kappa(decided):
    kappa = aspect(decided, "wrong key").kappa
    assert (kappa.estimate, kappa.note) == (None, "not defined: one category")
    assert kappa.has_few_questions


def test_rejected_questions_leave_the_key(decided):
    kept = [(a, b) for a, b in zip(FIRST, SECOND, strict=True) if "reject" not in {a, b}]
    same = aspect(decided, "key: the same after correction")
    assert same.percent.n == len(kept)
    share = sum(a == b for a, b in kept) / len(kept)
    assert same.percent.estimate == share
    assert same.third.estimate == pytest.approx((share - 1 / 4) / (1 - 1 / 4))
    assert "options differ" in same.kappa.note


def test_a_key_is_the_same_where_only_its_letter_moved():
    turned = Correction(options=("Nodule", "Effusion", "Oedema", "None of these"), answer=(0,))
    (found,) = compute_agreement([shared(1, verdict(1, 1), verdict(1, 2, "revise", correction=turned))])
    assert aspect(found, "key: the same after correction").percent.estimate == 1


def test_ratings_are_weighted_as_scikit_learn_weighs_them():
    ours = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 5, 5, 4]
    theirs = [1, 3, 3, 5, 5, 4, 4, 2, 2, 3, 5, 1, 4]
    (found,) = compute_agreement(
        [
            shared(at, *(verdict(at, person, ratings=Ratings(clinical_quality=value))
                         for person, value in ((1, one), (2, other))))
            for at, (one, other) in enumerate(zip(ours, theirs, strict=True))
        ]
    )  # fmt: skip
    quality = aspect(found, "clinical quality")
    expected = cohen_kappa_score(ours, theirs, labels=[1, 2, 3, 4, 5], weights="quadratic")
    assert quality.kappa.estimate == pytest.approx(expected, abs=1e-12)
    assert quality.third_name == "AC2"


def test_what_one_of_them_left_open_leaves_the_pair():
    questions = [
        shared(1, verdict(1, 1, domain_specific=True), verdict(1, 2)),
        shared(2, verdict(2, 1, domain_specific=True), verdict(2, 2, domain_specific=True)),
    ]
    (found,) = compute_agreement(questions)
    assert aspect(found, "domain specific").percent.n == 1
    assert aspect(found, "image centric").percent.note == "not defined: no question was answered by both"


def test_boxes_are_matched_one_to_one_and_a_missing_one_costs():
    def box(x: float) -> LabelledBox:
        return LabelledBox(
            radiograph="pa", label="Nodule", box=Box(x_min=x, y_min=0, x_max=x + 100, y_max=100)
        )

    two, one = Correction(boxes=(box(0), box(500))), Correction(boxes=(box(550),))
    (found,) = compute_agreement(
        [shared(1, verdict(1, 1, "revise", correction=two), verdict(1, 2, "revise", correction=one))]
    )
    assert found.box_overlap.score == pytest.approx(50 / 150 / 2)
    assert found.box_overlap.per_truth == pytest.approx(50 / 150 / 2)
    assert found.box_overlap.per_match == pytest.approx(50 / 150)


def test_with_three_reviewers_all_of_them_stand_before_the_pairs():
    found = compute_agreement(
        [shared(at, *(verdict(at, person) for person in (1, 2, 3))) for at in range(4)]
        + [shared(9, verdict(9, 1), verdict(9, 2, "reject"))]
    )
    people = {1: "Rosa", 2: "Ravi", 3: "Anna"}
    assert format_pair_names(found, people) == (
        "all 3 together", "Rosa and Ravi", "Rosa and Anna", "Ravi and Anna",
    )  # fmt: skip
    assert [each.questions for each in found] == [5, 5, 4, 4]
    assert aspect(found[0], "decision").percent.estimate == pytest.approx(4 / 5)
    assert aspect(found[0], "key: the same after correction").percent.estimate == 1


def test_without_a_shared_question_there_is_nothing():
    assert compute_agreement([]) == ()


def test_blocks_are_of_25_and_grow_so_that_nobody_has_more_than_40():
    assert [choose_block_size(most) for most in (0, 1, 1_000, 1_001, 60_000)] == [25, 25, 25, 50, 1_500]


def test_drift_comes_in_blocks_in_the_order_of_time():
    numbers = np.arange(30)
    verdicts = latest_verdicts(
        30,
        decisions=np.where(numbers >= 10, DECISIONS.index(Decision.ACCEPT), DECISIONS.index(Decision.REJECT)),
        ratings=np.column_stack([1 + numbers % 5, *[numbers * 0] * (len(RATING_IDS) - 1)]).astype(np.int8),
        first_given_at=np.datetime64("2026-01-02") - numbers.astype("timedelta64[m]"),
        first_seconds=numbers.astype(float),
    )
    early, late = compute_drift(verdicts)
    assert (early.first, early.last, late.first, late.last) == (1, 25, 26, 30)
    assert (early.accepted.count, late.accepted.count) == (20, 0)
    assert early.seconds.estimate == np.mean(range(5, 30))
    assert early.ratings["clinical_quality"].estimate == 3
    assert early.ratings["image_alignment"].n == 0


def test_a_mean_has_students_interval():
    found = mean_by_cluster([1.0, 2.0, 4.0, 7.0], [1, 2, 3, 4])
    reach = 3.182446305284263 * np.std([1, 2, 4, 7], ddof=1) / 2  # t of 3 degrees of freedom at .975
    assert (found.low, found.high) == pytest.approx((3.5 - reach, 3.5 + reach))


def test_questions_of_one_exam_widen_a_means_interval():
    alone = mean_by_cluster([1, 1, 1, 5, 5, 5, 3, 3], range(8))
    together = mean_by_cluster([1, 1, 1, 5, 5, 5, 3, 3], [1, 1, 1, 2, 2, 2, 3, 3])
    assert together.high > alone.high
