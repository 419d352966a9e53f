"""The notes that a coordinator sees before a draw is made."""

from typing import Any

from domain.batches import SamplingPlan
from domain.vocabulary import Difficulty
from sampling.allocation import allocate
from sampling.notes import write_draw_notes

EASY, MEDIUM, HARD = Difficulty


def write_notes(plan=None, *, already_drawn=0, **sizes):
    plan = plan or SamplingPlan(seed=7)
    tiers = {**{tier.value: tier for tier in Difficulty}, "none": None}
    counts: dict[Any, int] = {(tiers[name], ()): size for name, size in sizes.items()}
    return write_draw_notes(
        allocate(counts, plan=plan, already_drawn=already_drawn), plan=plan, already_drawn=already_drawn
    )


def test_a_draw_as_planned_has_no_note():
    assert write_notes(easy=400, medium=300, hard=300) == ()


def test_a_short_tier_is_reported_with_the_tiers_that_replace_it():
    # of 100: shares 33, 33, 34; easy has 10, so medium and hard give 45 each
    assert write_notes(easy=10, medium=500, hard=490) == (
        "Difficulty easy has only 10 questions; its share is 33, so all are drawn.",
        (
            "The shortfall is taken evenly from the other difficulties: 12 more from difficulty medium, "
            "11 more from difficulty hard."
        ),
    )


def test_too_few_questions_without_a_tier_have_a_note():
    # of 102: 25 easy, 26 medium, 26 hard and 25 without a difficulty, of which only 20 exist
    assert write_notes(easy=334, medium=333, hard=333, none=20)[0] == (
        "Only 20 questions have no difficulty; their share is 25, so all are drawn."
    )


def test_questions_without_a_tier_have_a_note():
    assert write_notes(easy=400, medium=300, none=300) == (
        "300 questions without a difficulty form a stratum: 33 drawn.",
    )


def test_the_notes_on_a_single_question_without_a_tier_are_singular():
    plan = SamplingPlan(seed=7, shares={None: 0.0})
    assert write_notes(plan, easy=500, hard=499, none=1) == (
        "1 question has no difficulty. Its share is 0, so none can be drawn.",
        "1 question without a difficulty forms a stratum: 0 drawn.",
    )
    assert write_notes(easy=500, hard=499, none=1)[0] == (
        "Only 1 question has no difficulty; its share is 33, so it is drawn."
    )


def test_a_number_above_the_available_questions_has_a_note():
    plan = SamplingPlan(seed=7, per_1000=None, n=200)
    assert write_notes(plan, already_drawn=20, easy=50, medium=50)[0] == (
        "180 questions requested, but only 100 are available."
    )


def test_a_tier_with_a_share_of_zero_has_a_note():
    plan = SamplingPlan(seed=7, shares={EASY: 0.0})
    assert "Difficulty easy has 900 questions. Its share is 0, so none can be drawn." in write_notes(
        plan, easy=900, medium=40, hard=60
    )


def test_strata_too_small_for_a_question_are_counted():
    plan = SamplingPlan(seed=7, strata=("task",))
    strata = allocate({(HARD, ("location",)): 990, (HARD, ("geometric",)): 4}, plan=plan)
    assert write_draw_notes(strata, plan=plan) == (
        "1 stratum (4 questions) is so small that its share rounds to 0; no question is drawn from it.",
    )
