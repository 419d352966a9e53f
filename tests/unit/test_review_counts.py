"""Counts of a batch: totals, shares of errors, tiers, and the note where a number is undefined."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.batches import AssignmentState, Batch, BatchSettings, BatchState, SamplingPlan
from domain.ratings import RATING_IDS
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task
from review.batch_counts import count_batch
from review.progress import format_interval, format_percent
from review.rating_statistics import format_mean
from tests.unit.makers.batch_data import make_batch_data

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
OPEN, DONE, SKIPPED = AssignmentState.OPEN, AssignmentState.DONE, AssignmentState.SKIPPED
BATCH = Batch(
    id=1,
    name="first",
    dataset_id=1,
    plan=SamplingPlan(seed=7),
    settings=BatchSettings(),
    state=BatchState.OPEN,
    revision=1,
    created_at=NOW,
)


@dataclass(frozen=True, kw_only=True)
class QuestionStub:
    question_row_id: int
    exam_row_id: int
    tier: Difficulty | None = Difficulty.EASY
    task: Task | None = Task.PRESENCE
    inclusion_probability: float = 0.1


@dataclass(frozen=True, kw_only=True)
class JudgementStub:
    question_row_id: int
    person_id: int = 1
    decision: Decision = Decision.ACCEPT
    errors: frozenset[ErrorKind] = frozenset()
    tier: Difficulty | None = None
    ratings: tuple[int | None, ...] = (None,) * len(RATING_IDS)
    flags: tuple[bool | None, ...] = (None,) * 4
    first_given_at: datetime = NOW - timedelta(minutes=5)
    first_seconds_looking: float = 30.0


def make_counts(questions, judgements=(), assigned=None):
    if assigned is None:
        judged = {judgement.question_row_id for judgement in judgements}
        assigned = [
            (question.question_row_id, 1, DONE if question.question_row_id in judged else OPEN)
            for question in questions
        ]
    batch_data = make_batch_data(questions, judgements, assigned, people={1: "ruth", 2: "remo"})
    return count_batch(BATCH, batch_data, now=NOW)


def make_questions(size, **changes):
    return [
        QuestionStub(question_row_id=number, exam_row_id=number, **changes) for number in range(1, size + 1)
    ]


def find_rate(rates, name):
    return next(candidate for candidate in rates if candidate.name == name)


# ------------------------------------------------------------------------------------------------- errors
def make_120_judgements():
    """ReXVQA's outcome of 120 reviewed questions: 13, 8, 6 and 4 with an error (paper, section 3.3.3)."""
    error_kinds = (
        [ErrorKind.SEVERAL_CORRECT] * 13
        + [ErrorKind.COMPARISON] * 8
        + [ErrorKind.NOT_CLINICALLY_VALID] * 6
        + [ErrorKind.NOT_IN_REPORT] * 4
    )
    return [
        JudgementStub(
            question_row_id=number,
            decision=Decision.REJECT if number <= len(error_kinds) else Decision.ACCEPT,
            errors=frozenset({error_kinds[number - 1]}) if number <= len(error_kinds) else frozenset(),
        )
        for number in range(1, 121)
    ]


def test_the_summary_of_120_judgements_reads_as_published():
    assert make_counts(make_questions(120), make_120_judgements()).summary_lines == (
        "Of 120 reviewed:",
        "13 more than one correct answer (10.8 %, 6.4–17.7)",
        "8 refers to a prior exam (6.7 %, 3.4–12.6)",
        "6 not clinically valid (5.0 %, 2.3–10.5)",
        "4 finding not in the report (3.3 %, 1.3–8.3)",
    )


def test_an_error_kind_not_reported_has_an_upper_bound():
    share = find_rate(
        make_counts(make_questions(120), make_120_judgements()).errors, ErrorKind.WRONG_KEY
    ).share
    assert (share.count, share.n, share.low) == (0, 120, 0.0)
    assert share.high == pytest.approx(0.031, abs=5e-4)


def test_without_verdicts_no_share_is_defined():
    counts = make_counts(make_questions(3))
    assert counts.summary_lines == ("No questions have been reviewed yet.",)
    share = counts.errors[0].share
    assert (share.estimate, share.note) == (None, "not defined: n is 0")
    assert (format_percent(share.estimate), format_interval(share.low, share.high)) == (
        "not defined",
        "not defined",
    )


def test_a_question_judged_by_two_people_counts_once():
    kind = frozenset({ErrorKind.WORDING})
    counts = make_counts(
        make_questions(2),
        [
            JudgementStub(question_row_id=1, person_id=1, errors=kind),
            JudgementStub(question_row_id=1, person_id=2),
            JudgementStub(question_row_id=2, person_id=1),
        ],
    )
    share = find_rate(counts.errors, ErrorKind.WORDING).share
    assert (share.count, share.n) == (1, 2)
    assert any("more than one reviewer" in note for note in counts.notes)


def test_differing_decisions_have_their_own_line():
    counts = make_counts(
        make_questions(1),
        [
            JudgementStub(question_row_id=1, person_id=1),
            JudgementStub(question_row_id=1, person_id=2, decision=Decision.REJECT),
        ],
    )
    assert find_rate(counts.decisions, "reviewers differ").share.count == 1
    assert find_rate(counts.decisions, "accept").share.count == 0


def test_skipped_questions_have_a_share_and_give_bounds():
    # 8 reviewed, 2 of them with the error, 2 skipped: 2/10 if none of the skipped had it, 4/10 if all had
    kind = frozenset({ErrorKind.WORDING})
    judgements = [
        JudgementStub(question_row_id=number, errors=kind if number <= 2 else frozenset())
        for number in range(1, 9)
    ]
    assigned = [(number, 1, DONE if number <= 8 else SKIPPED) for number in range(1, 11)]
    counts = make_counts(make_questions(10), judgements, assigned)
    assert (counts.skipped.count, counts.skipped.n, counts.skipped.estimate) == (2, 10, 0.2)
    assert find_rate(counts.errors, ErrorKind.WORDING).if_skipped == (0.2, 0.4)


def test_clustering_by_exam_widens_the_interval_with_a_note():
    kind = frozenset({ErrorKind.WORDING})
    judgements = [
        JudgementStub(question_row_id=n, errors=kind if n <= 4 else frozenset()) for n in range(1, 41)
    ]
    one_per_exam = make_counts(make_questions(40), judgements)
    four_per_exam = make_counts(
        [QuestionStub(question_row_id=n, exam_row_id=(n - 1) // 4) for n in range(1, 41)], judgements
    )
    unclustered, clustered = (
        find_rate(counts.errors, ErrorKind.WORDING).share for counts in (one_per_exam, four_per_exam)
    )
    assert clustered.low < unclustered.low < unclustered.high < clustered.high
    assert any("the same exam" in note for note in four_per_exam.notes)


def test_unequal_inclusion_probabilities_give_a_note():
    drawn_questions = [
        QuestionStub(question_row_id=1, exam_row_id=1, inclusion_probability=0.05),
        QuestionStub(question_row_id=2, exam_row_id=2, tier=Difficulty.HARD, inclusion_probability=0.6),
    ]
    note = make_counts(drawn_questions, [JudgementStub(question_row_id=1)]).notes[0]
    assert "5.0 to 60.0 %" in note
    assert "not shares of the dataset" in note


# -------------------------------------------------------------------------------------------------- lines
def test_lines_by_tier_and_task_sum_to_the_batch():
    batch_questions = [
        QuestionStub(question_row_id=1, exam_row_id=1, tier=Difficulty.EASY, task=Task.LOCATION),
        QuestionStub(question_row_id=2, exam_row_id=2, tier=Difficulty.HARD, task=None),
        QuestionStub(question_row_id=3, exam_row_id=3, tier=None, task=Task.LOCATION),
        QuestionStub(question_row_id=4, exam_row_id=4, tier=None, task=Task.LOCATION),
    ]
    assigned = [(1, 1, DONE), (2, 1, SKIPPED), (3, 2, OPEN)]
    counts = make_counts(batch_questions, [JudgementStub(question_row_id=1)], assigned)
    assert [(line.name, line.questions) for line in counts.lines_by_tier] == [
        ("easy", 1),
        ("hard", 1),
        ("no tier", 2),
    ]
    assert [(line.name, line.questions) for line in counts.lines_by_task] == [("location", 3), ("no task", 1)]
    total = counts.batch_line
    assert (total.questions, total.unassigned, total.requested) == (4, 1, 3)
    assert (total.done, total.skipped, total.left) == (1, 1, 1)
    assert (
        sum(line.left for line in counts.lines_by_tier)
        == sum(line.left for line in counts.lines_by_reviewer)
        == 1
    )


def test_a_reviewer_line_has_the_median_viewing_time():
    judgements = [
        JudgementStub(question_row_id=n, first_seconds_looking=s)
        for n, s in ((1, 10.0), (2, 20.0), (3, 90.0))
    ]
    (line,) = make_counts(make_questions(3), judgements).lines_by_reviewer
    assert (line.name, line.seconds_median, line.timed) == ("ruth", 20.0, 3)


def test_without_verdicts_a_line_has_no_median_and_no_pace():
    line = make_counts(make_questions(2)).batch_line
    assert (line.seconds_median, line.timed, line.finish.expected_at) == (None, 0, None)
    assert line.finish.note == "not enough verdicts yet"


def test_a_batch_finishes_with_its_slowest_reviewer():
    batch_questions = make_questions(20)
    assigned = [(number, 1, DONE) for number in range(1, 6)]
    assigned += [(number, 2, DONE if number <= 10 else OPEN) for number in range(6, 21)]
    judgements = [JudgementStub(question_row_id=number, person_id=1) for number in range(1, 6)]
    judgements += [
        JudgementStub(question_row_id=number, person_id=2, first_given_at=NOW - timedelta(days=number))
        for number in range(6, 11)
    ]
    counts = make_counts(batch_questions, judgements, assigned)
    finish_dates = {line.name: line.finish.expected_at for line in counts.lines_by_reviewer}
    assert counts.batch_line.finish.expected_at == finish_dates["remo"] == NOW + timedelta(days=25)


def test_an_empty_batch_has_empty_counts():
    counts = make_counts([])
    assert (counts.batch_line.questions, counts.reviewed, counts.lines_by_tier, counts.lines_by_reviewer) == (
        0,
        0,
        (),
        (),
    )
    assert counts.tier_table.linear.value is None


# -------------------------------------------------------------------------------------------------- tiers
def test_the_tier_table_counts_judgements_with_both_tiers():
    batch_questions = [
        QuestionStub(question_row_id=1, exam_row_id=1, tier=Difficulty.EASY),
        QuestionStub(question_row_id=2, exam_row_id=2, tier=Difficulty.HARD),
        QuestionStub(question_row_id=3, exam_row_id=3, tier=None),
        QuestionStub(question_row_id=4, exam_row_id=4, tier=Difficulty.EASY),
    ]
    judgements = [
        JudgementStub(question_row_id=1, tier=Difficulty.MEDIUM),
        JudgementStub(question_row_id=2, tier=Difficulty.HARD),
        JudgementStub(question_row_id=3, tier=Difficulty.EASY),
        JudgementStub(question_row_id=4, tier=None),
    ]
    table = make_counts(batch_questions, judgements).tier_table
    assert table.counts == ((0, 1, 0), (0, 0, 0), (0, 0, 1))
    assert (table.n, table.missing_tier) == (2, 2)


def test_kappa_of_a_single_tier_is_not_defined():
    judgements = [JudgementStub(question_row_id=n, tier=Difficulty.HARD) for n in range(1, 6)]
    table = make_counts(make_questions(5), judgements).tier_table
    assert (table.linear.value, table.linear.note) == (None, "not defined: one category")


def test_kappa_of_tiers_equals_the_published_value():
    # Cohen 1968: linear .4737, quadratic .4545, n 200
    cells = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    batch_questions: list[Any] = []
    judgements: list[Any] = []
    for row, machine_tier in enumerate(Difficulty):
        for column, expert_tier in enumerate(Difficulty):
            for _ in range(cells[row][column]):
                number = len(batch_questions) + 1
                batch_questions.append(
                    QuestionStub(question_row_id=number, exam_row_id=number, tier=machine_tier)
                )
                judgements.append(JudgementStub(question_row_id=number, tier=expert_tier))
    table = make_counts(batch_questions, judgements).tier_table
    assert (table.linear.value, table.quadratic.value) == pytest.approx((0.473684, 0.454545), abs=1e-6)
    assert table.note == "95 % intervals: posterior, clustered by exam."


# ---------------------------------------------------------------------------------------------- ratings
def test_not_judged_is_excluded_from_mean_ratings():
    ratings_by_question = [(5, 4, None, 1), (3, 4, None, 5), (None, 4, None, 5)]
    judgements = [
        JudgementStub(question_row_id=number, ratings=values)
        for number, values in enumerate(ratings_by_question, start=1)
    ]
    quality, clarity, factual, alignment = make_counts(make_questions(3), judgements).ratings
    assert (quality.name, quality.counts, quality.not_judged) == ("clinical quality", (0, 0, 1, 0, 1), 1)
    assert (quality.mean.estimate, quality.mean.n) == (4.0, 2)
    assert format_mean(clarity.mean) == "4.0, n 3; no interval: all values are equal"
    assert format_mean(factual.mean) == "not defined: no ratings"
    assert alignment.counts == (1, 0, 0, 0, 2)


def test_yes_no_fields_have_the_share_of_yes_among_answers():
    judgements = [
        JudgementStub(question_row_id=1, flags=(True, None, None, None)),
        JudgementStub(question_row_id=2, flags=(False, None, None, None)),
        JudgementStub(question_row_id=3),
    ]
    specific, depth, *_ = make_counts(make_questions(3), judgements).yes_no_fields
    assert (specific.yes.count, specific.yes.n, specific.not_judged) == (1, 2, 1)
    assert (depth.yes.estimate, depth.not_judged) == (None, 3)
