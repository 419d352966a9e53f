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
from tests.unit.makers.batch_facts import facts_of

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
class Question:
    question_number: int
    exam_number: int
    tier: Difficulty | None = Difficulty.EASY
    task: Task | None = Task.PRESENCE
    inclusion_probability: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Said:
    question_number: int
    person_number: int = 1
    decision: Decision = Decision.ACCEPT
    errors: frozenset[ErrorKind] = frozenset()
    tier: Difficulty | None = None
    ratings: tuple[int | None, ...] = (None,) * len(RATING_IDS)
    flags: tuple[bool | None, ...] = (None,) * 4
    first_given_at: datetime = NOW - timedelta(minutes=5)
    first_seconds_looking: float = 30.0


def count(questions, judgements=(), assigned=None):
    if assigned is None:
        judged = {each.question_number for each in judgements}
        assigned = [
            (each.question_number, 1, DONE if each.question_number in judged else OPEN) for each in questions
        ]
    facts = facts_of(questions, judgements, assigned, people={1: "ruth", 2: "remo"})
    return count_batch(BATCH, facts, now=NOW)


def questions(count_, **changes):
    return [
        Question(question_number=number, exam_number=number, **changes) for number in range(1, count_ + 1)
    ]


def rate(rates, name):
    return next(each for each in rates if each.name == name)


# ------------------------------------------------------------------------------------------------- errors
def reviewed_120():
    """ReXVQA's outcome of 120 reviewed questions: 13, 8, 6 and 4 with an error (its section 3.3.3)."""
    kinds = (
        [ErrorKind.SEVERAL_CORRECT] * 13
        + [ErrorKind.COMPARISON] * 8
        + [ErrorKind.NOT_CLINICALLY_VALID] * 6
        + [ErrorKind.NOT_IN_REPORT] * 4
    )
    return [
        Said(
            question_number=number,
            decision=Decision.REJECT if number <= len(kinds) else Decision.ACCEPT,
            errors=frozenset({kinds[number - 1]}) if number <= len(kinds) else frozenset(),
        )
        for number in range(1, 121)
    ]


def test_the_sheet_of_120_reviewed_reads_as_the_paper_prints_it():
    assert count(questions(120), reviewed_120()).summary_lines == (
        "Of 120 reviewed:",
        "13 more than one right answer (10.8 %, 6.4–17.7)",
        "8 refers to a prior exam (6.7 %, 3.4–12.6)",
        "6 not clinically valid (5.0 %, 2.3–10.5)",
        "4 finding not in the report (3.3 %, 1.3–8.3)",
    )


def test_a_kind_that_was_not_found_still_has_an_upper_bound():
    share = rate(count(questions(120), reviewed_120()).errors, ErrorKind.WRONG_KEY).share
    assert (share.count, share.n, share.low) == (0, 120, 0.0)
    assert share.high == pytest.approx(0.031, abs=5e-4)


def test_before_any_verdict_no_share_is_defined():
    found = count(questions(3))
    assert found.sheet == ("Of 0 reviewed: shares are not defined yet.",)
    share = found.errors[0].share
    assert (share.estimate, share.note) == (None, "not defined: nothing was counted")
    assert (format_percent(share.estimate), format_interval(share.low, share.high)) == (
        "not defined",
        "not defined",
    )


def test_a_question_that_two_people_judged_counts_once():
    kind = frozenset({ErrorKind.WORDING})
    found = count(
        questions(2),
        [
            Said(question_number=1, person_number=1, errors=kind),
            Said(question_number=1, person_number=2),
            Said(question_number=2, person_number=1),
        ],
    )
    share = rate(found.errors, ErrorKind.WORDING).share
    assert (share.count, share.n) == (1, 2)
    assert any("more than one reviewer" in note for note in found.notes)


def test_decisions_that_differ_are_a_line_of_their_own():
    found = count(
        questions(1),
        [
            Said(question_number=1, person_number=1),
            Said(question_number=1, person_number=2, decision=Decision.REJECT),
        ],
    )
    assert rate(found.decisions, "reviewers differ").share.count == 1
    assert rate(found.decisions, "accept").share.count == 0


def test_skipped_questions_show_their_share_and_bound_the_others():
    # 8 reviewed, 2 of them with the error, 2 skipped: 2/10 if none of the skipped had it, 4/10 if all had
    kind = frozenset({ErrorKind.WORDING})
    said = [
        Said(question_number=number, errors=kind if number <= 2 else frozenset()) for number in range(1, 9)
    ]
    assigned = [(number, 1, DONE if number <= 8 else SKIPPED) for number in range(1, 11)]
    found = count(questions(10), said, assigned)
    assert (found.skipped.count, found.skipped.n, found.skipped.estimate) == (2, 10, 0.2)
    assert rate(found.errors, ErrorKind.WORDING).if_skipped == (0.2, 0.4)


def test_questions_of_one_exam_widen_the_interval_and_a_note_says_so():
    kind = frozenset({ErrorKind.WORDING})
    said = [Said(question_number=n, errors=kind if n <= 4 else frozenset()) for n in range(1, 41)]
    alone = count(questions(40), said)
    shared = count([Question(question_number=n, exam_number=(n - 1) // 4) for n in range(1, 41)], said)
    narrow, wide = (rate(each.errors, ErrorKind.WORDING).share for each in (alone, shared))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert any("the same exam" in note for note in shared.notes)


def test_different_rates_of_drawing_are_said_to_make_the_shares_no_estimates():
    drawn = [
        Question(question_number=1, exam_number=1, inclusion_probability=0.05),
        Question(question_number=2, exam_number=2, tier=Difficulty.HARD, inclusion_probability=0.6),
    ]
    note = count(drawn, [Said(question_number=1)]).notes[0]
    assert "5.0 to 60.0 %" in note
    assert "not shares of the dataset" in note


# -------------------------------------------------------------------------------------------------- lines
def test_lines_by_tier_and_task_add_up_to_the_batch():
    asked = [
        Question(question_number=1, exam_number=1, tier=Difficulty.EASY, task=Task.LOCATION),
        Question(question_number=2, exam_number=2, tier=Difficulty.HARD, task=None),
        Question(question_number=3, exam_number=3, tier=None, task=Task.LOCATION),
        Question(question_number=4, exam_number=4, tier=None, task=Task.LOCATION),
    ]
    assigned = [(1, 1, DONE), (2, 1, SKIPPED), (3, 2, OPEN)]
    found = count(asked, [Said(question_number=1)], assigned)
    assert [(line.name, line.questions) for line in found.tiers] == [("easy", 1), ("hard", 1), ("no tier", 2)]
    assert [(line.name, line.questions) for line in found.tasks] == [("location", 3), ("no task", 1)]
    whole = found.batch_line
    assert (whole.questions, whole.unassigned, whole.asked) == (4, 1, 3)
    assert (whole.done, whole.skipped, whole.left) == (1, 1, 1)
    assert sum(line.left for line in found.tiers) == sum(line.left for line in found.reviewers) == 1


def test_a_reviewers_line_has_the_median_of_the_time_looking():
    said = [Said(question_number=n, first_seconds_looking=s) for n, s in ((1, 10.0), (2, 20.0), (3, 90.0))]
    (line,) = count(questions(3), said).reviewers
    assert (line.name, line.seconds_median, line.timed) == ("ruth", 20.0, 3)


def test_before_any_verdict_a_line_has_no_median_and_no_pace():
    line = count(questions(2)).batch_line
    assert (line.seconds_median, line.timed, line.finish.expected_at) == (None, 0, None)
    assert line.finish.note == "not enough verdicts yet"


def test_a_batch_is_finished_no_earlier_than_its_slowest_reviewer():
    asked = questions(20)
    assigned = [(number, 1, DONE) for number in range(1, 6)]
    assigned += [(number, 2, DONE if number <= 10 else OPEN) for number in range(6, 21)]
    said = [Said(question_number=number, person_number=1) for number in range(1, 6)]
    said += [
        Said(question_number=number, person_number=2, first_given_at=NOW - timedelta(days=number))
        for number in range(6, 11)
    ]
    found = count(asked, said, assigned)
    ends = {line.name: line.finish.expected_at for line in found.reviewers}
    assert found.batch_line.finish.expected_at == ends["remo"] == NOW + timedelta(days=25)


def test_an_empty_batch_counts_to_nothing():
    found = count([])
    assert (found.batch_line.questions, found.reviewed, found.tiers, found.reviewers) == (0, 0, (), ())
    assert found.tier_table.linear.estimate is None


# -------------------------------------------------------------------------------------------------- tiers
def test_machine_tier_against_expert_tier_counts_judgements_that_have_both():
    asked = [
        Question(question_number=1, exam_number=1, tier=Difficulty.EASY),
        Question(question_number=2, exam_number=2, tier=Difficulty.HARD),
        Question(question_number=3, exam_number=3, tier=None),
        Question(question_number=4, exam_number=4, tier=Difficulty.EASY),
    ]
    said = [
        Said(question_number=1, tier=Difficulty.MEDIUM),
        Said(question_number=2, tier=Difficulty.HARD),
        Said(question_number=3, tier=Difficulty.EASY),
        Said(question_number=4, tier=None),
    ]
    table = count(asked, said).tier_table
    assert table.counts == ((0, 1, 0), (0, 0, 0), (0, 0, 1))
    assert (table.n, table.missing_tier) == (2, 2)


def test_a_single_tier_on_both_sides_leaves_kappa_not_defined():
    said = [Said(question_number=n, tier=Difficulty.HARD) for n in range(1, 6)]
    table = count(questions(5), said).tier_table
    assert (table.linear.estimate, table.linear.note) == (None, "not defined: one category")


def test_kappa_of_the_tiers_is_that_of_their_table():
    # Cohen 1968: linear .4737, quadratic .4545, n 200
    cells = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    asked: list[Any] = []
    said: list[Any] = []
    for row, machine in enumerate(Difficulty):
        for column, expert in enumerate(Difficulty):
            for _ in range(cells[row][column]):
                number = len(asked) + 1
                asked.append(Question(question_number=number, exam_number=number, tier=machine))
                said.append(Said(question_number=number, tier=expert))
    table = count(asked, said).tier_table
    assert (table.linear.estimate, table.quadratic.estimate) == pytest.approx((0.473684, 0.454545), abs=1e-6)
    assert table.note.endswith("Fleiss, Cohen and Everitt (1969).")


# ---------------------------------------------------------------------------------------------- ratings
def test_ratings_are_counted_by_value_and_not_judged_is_in_no_mean():
    given = [(5, 4, None, 1), (3, 4, None, 5), (None, 4, None, 5)]
    said = [Said(question_number=at, ratings=values) for at, values in enumerate(given, start=1)]
    quality, clarity, factual, alignment = count(questions(3), said).ratings
    assert (quality.name, quality.counts, quality.not_judged) == ("clinical quality", (0, 0, 1, 0, 1), 1)
    assert (quality.mean.estimate, quality.mean.n) == (4.0, 2)
    assert format_mean(clarity.mean) == "4.0, n 3; no interval: all are alike"
    assert format_mean(factual.mean) == "not defined: no ratings"
    assert alignment.counts == (1, 0, 0, 0, 2)


def test_yes_or_no_questions_have_the_share_of_yes_of_those_who_answered():
    said = [
        Said(question_number=1, flags=(True, None, None, None)),
        Said(question_number=2, flags=(False, None, None, None)),
        Said(question_number=3),
    ]
    specific, depth, *_ = count(questions(3), said).flags
    assert (specific.yes.count, specific.yes.n, specific.not_judged) == (1, 2, 1)
    assert (depth.yes.estimate, depth.not_judged) == (None, 3)
