"""Drawing batches from a database: a draw is reproducible, and drawn questions stay drawn."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, select, text

from accounts.service import command_line_person
from domain.batches import BatchSettings, BatchState, FormScope, Mode, SamplingPlan
from domain.checks import Check, Problem
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused
from domain.people import Person, Role
from domain.vocabulary import Difficulty
from review.service.sample_data import build_sample, load_sample_data
from sampling.service import DrawResult, draw_batch, list_batch_questions, list_batches, preview_draw
from storage.quality.problems import replace_problems
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import QuestionRow
from storage.sampling.batches import load_batch, plan_from_dict, plan_to_dict, save_settings, save_state
from storage.sampling.draws import list_draws
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sampling_frames import NOW, insert_questions, make_questions

PLAN = SamplingPlan(seed=7)
BY = command_line_person()


def draw(engine: Engine, *, plan: SamplingPlan = PLAN, name: str = "b", **options: Any) -> DrawResult:
    with unit_of_work(engine) as db:
        return draw_batch(db, by=BY, dataset="demo", plan=plan, batch_name=name, now=NOW, **options)


def list_drawn(engine: Engine, name: str = "b") -> list[tuple[str, str, float]]:
    with read_only_session(engine) as db:
        return [
            (question.key, question.stratum, question.inclusion_probability)
            for question in list_batch_questions(db, by=BY, batch=name)
        ]


def list_keys(engine: Engine, name: str = "b") -> list[str]:
    return [key for key, _, _ in list_drawn(engine, name)]


def test_draw_of_10000_questions_takes_1000_evenly_over_tiers(engine):
    insert_questions(engine, make_questions(10_000))
    assert draw(engine).added == 1000
    assert Counter(stratum for _, stratum, _ in list_drawn(engine)) == {
        "easy": 333,
        "medium": 333,
        "hard": 334,
    }


def test_same_seed_draws_the_same_questions_in_the_same_order(engine):
    insert_questions(engine, make_questions(1000))
    draw(engine, name="b")
    draw(engine, name="again")
    draw(engine, name="other", plan=SamplingPlan(seed=8))
    assert list_keys(engine, "b") == list_keys(engine, "again")
    assert set(list_keys(engine, "b")) != set(list_keys(engine, "other"))


def test_shuffled_rows_give_the_same_questions(sqlite_engine, postgres_engine):
    questions = make_questions(2000)
    insert_questions(sqlite_engine, questions)
    questions.sort(key=lambda question: question[0][::-1])
    insert_questions(postgres_engine, questions)
    plan = SamplingPlan(seed=7, strata=("task", "category"))
    for engine in (sqlite_engine, postgres_engine):
        draw(engine, plan=plan)
    assert sorted(list_drawn(sqlite_engine)) == sorted(list_drawn(postgres_engine))


def test_draw_is_identical_on_every_machine(sqlite_engine):
    insert_questions(sqlite_engine, make_questions(100))
    draw(sqlite_engine)
    # the 3, 3 and 4 lowest hashes of the three tiers, computed independently in plain Python
    assert sorted(list_keys(sqlite_engine)) == [
        "q26",
        "q3",
        "q31",
        "q32",
        "q39",
        "q58",
        "q62",
        "q72",
        "q91",
        "q98",
    ]


@pytest.mark.slow
def test_1000_new_questions_add_100_to_the_batch_and_keep_the_earlier_ones(engine):
    insert_questions(engine, make_questions(10_000))
    draw(engine)
    before = list_drawn(engine)
    insert_questions(engine, make_questions(1000, first=10_000))
    second_draw = draw(engine)
    assert second_draw.added == 100
    assert list_drawn(engine)[:1000] == before
    assert all(int(key[1:]) >= 10_000 for key in list_keys(engine)[1000:])


def test_second_draw_without_new_questions_changes_nothing(engine):
    insert_questions(engine, make_questions(1000))
    draw(engine)
    before = list_drawn(engine)
    second_draw = draw(engine)
    assert (second_draw.added, list_drawn(engine)) == (0, before)
    assert "No questions have been imported" in second_draw.notes[0]


def test_questions_too_few_to_draw_are_carried_over_to_the_next_frame(engine):
    insert_questions(engine, make_questions(1000))
    draw(engine)
    insert_questions(engine, make_questions(4, first=1000))
    assert draw(engine).added == 0
    insert_questions(engine, make_questions(6, first=1004))
    assert draw(engine).added == 1  # of the 10 that were imported after the first draw
    with read_only_session(engine) as db:
        frames = [(stored_draw.number, stored_draw.frame_size) for stored_draw in list_draws(db, batch_id=1)]
    assert frames == [(1, 1000), (2, 10)]


def test_fixed_number_is_the_total_over_all_draws(engine):
    plan = SamplingPlan(seed=7, per_1000=None, n=200)
    insert_questions(engine, make_questions(150))
    first_draw = draw(engine, plan=plan)
    assert first_draw.added == 150
    assert "200 questions requested, but only 150" in first_draw.notes[0]
    insert_questions(engine, make_questions(1000, first=150))
    assert draw(engine, plan=plan).added == 50
    assert draw(engine, plan=plan).added == 0


def test_every_question_keeps_its_inclusion_probability(engine):
    insert_questions(engine, make_questions(900) + [(f"x{i}", "easy", None, None) for i in range(100)])
    draw(engine)
    probabilities = {(stratum, round(p, 6)) for _, stratum, p in list_drawn(engine)}
    assert probabilities == {("easy", 33 / 400), ("medium", 0.11), ("hard", round(34 / 300, 6))}


def test_questions_of_an_exam_are_adjacent(engine):
    insert_questions(engine, make_questions(300), per_exam=6)
    draw(engine, plan=SamplingPlan(seed=7, per_1000=500))
    with read_only_session(engine) as db:
        exams = list(
            db.execute(
                select(QuestionRow.exam_id)
                .join(BatchQuestionRow, BatchQuestionRow.question_id == QuestionRow.id)
                .order_by(BatchQuestionRow.position)
            ).scalars()
        )
    runs = [exam for position, exam in enumerate(exams) if position == 0 or exams[position - 1] != exam]
    assert len(runs) == len(set(exams))
    assert runs != sorted(runs)


def test_preview_equals_the_later_draw(engine):
    insert_questions(engine, [*make_questions(1000), *make_questions(20, first=1000, tiers=(None,))])
    with read_only_session(engine) as db:
        preview = preview_draw(db, by=BY, dataset="demo", plan=PLAN)
    result = draw(engine)
    assert (preview.strata, preview.notes, preview.n) == (result.strata, result.notes, result.added)
    assert "20 questions have no difficulty" in preview.notes[0]


def test_dataset_without_tiers_is_drawn_as_one_stratum(engine):
    insert_questions(engine, make_questions(500, tiers=(None,)))
    result = draw(engine)
    assert [(stratum.name, stratum.size, stratum.drawn) for stratum in result.strata] == [
        ("no tier", 500, 50)
    ]
    assert result.notes == ("No question has a difficulty, so the sample is not divided by difficulty.",)


def test_plan_of_a_batch_cannot_change(engine):
    insert_questions(engine, make_questions(1000))
    draw(engine)
    with pytest.raises(Refused, match=r"different plan \(100 per 1,000, seed 7\)"):
        draw(engine, plan=SamplingPlan(seed=8))


def test_draw_into_a_batch_of_another_dataset_is_refused(engine):
    insert_questions(engine, make_questions(1000))
    insert_questions(engine, make_questions(10), dataset="other")
    with unit_of_work(engine) as db:
        draw_batch(
            db, by=BY, dataset="other", plan=SamplingPlan(seed=7, per_1000=500), batch_name="b", now=NOW
        )
    with pytest.raises(Refused, match="does not belong to the dataset 'demo'"):
        draw(engine)


def test_questions_of_other_datasets_are_not_drawn(engine):
    insert_questions(engine, make_questions(1000), dataset="other")
    insert_questions(engine, make_questions(1000, first=5000))
    draw(engine)
    assert all(int(key[1:]) >= 5000 for key in list_keys(engine))


def test_draw_into_a_closed_batch_is_refused(engine):
    insert_questions(engine, make_questions(1000))
    batch = draw(engine).batch
    with unit_of_work(engine) as db:
        save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=None, now=NOW)
    with pytest.raises(Refused, match="is closed"):
        draw(engine)


def test_empty_first_draw_creates_no_batch(engine):
    insert_questions(engine, make_questions(4))
    with pytest.raises(Refused, match="none of the 4 questions"):
        draw(engine)
    with read_only_session(engine) as db:
        assert list_batches(db, by=BY) == []


def test_unknown_dataset_is_refused_listing_the_existing_ones(engine):
    insert_questions(engine, make_questions(4))
    with (
        unit_of_work(engine) as db,
        pytest.raises(NotFound, match=r"no dataset 'rex'\. Existing datasets: demo"),
    ):
        draw_batch(db, by=BY, dataset="rex", plan=PLAN, batch_name="b", now=NOW)


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 81])
def test_batch_needs_a_printable_name(sqlite_engine, name):
    insert_questions(sqlite_engine, make_questions(100))
    with pytest.raises(InvalidValue, match="printable"):
        draw(sqlite_engine, name=name)


def test_only_coordinators_may_draw(sqlite_engine):
    insert_questions(sqlite_engine, make_questions(100))
    reviewer = Person(id=1, name="ruth", display_name="Ruth", roles=frozenset({Role.REVIEWER, Role.ADMIN}))
    with unit_of_work(sqlite_engine) as db:
        with pytest.raises(NotAllowed):
            draw_batch(db, by=reviewer, dataset="demo", plan=PLAN, batch_name="b", now=NOW)
        with pytest.raises(NotAllowed):
            preview_draw(db, by=reviewer, dataset="demo", plan=PLAN)
        with pytest.raises(NotAllowed):
            list_batch_questions(db, by=reviewer, batch="b")


def test_settings_given_at_the_draw_are_saved_and_can_change(engine):
    insert_questions(engine, make_questions(100))
    settings = BatchSettings(mode=Mode.ANSWER_FIRST, parts=FormScope.IMAGE_ALIGNMENT, show_report=True)
    batch = draw(engine, settings=settings).batch
    assert (batch.settings, batch.revision) == (settings, 1)
    with unit_of_work(engine) as db:
        save_settings(
            db, batch_id=batch.id, settings=BatchSettings(guideline="Look *twice*."), by=None, now=NOW
        )
    with read_only_session(engine) as db:
        changed = load_batch(db, name="b")
    assert (changed.settings.guideline, changed.revision) == ("Look *twice*.", 2)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        SamplingPlan(seed=-3, per_1000=None, n=200, strata=("task", "category")),
        SamplingPlan(seed=7, shares={Difficulty.HARD: 2.5, None: 0.0}),
    ],
)
def test_plan_survives_serialisation(plan):
    assert plan_to_dict(plan_from_dict(plan_to_dict(plan))) == plan_to_dict(plan)


# ------------------------------------------------------------------------------- questions of no other batch
EXCLUSIVE = SamplingPlan(seed=7, per_1000=None, n=40, exclude_drawn=True)


def test_exclusive_draws_share_no_question_and_use_up_the_dataset(engine):
    insert_questions(engine, make_questions(100))
    draw(engine, plan=SamplingPlan(seed=7, per_1000=None, n=40), name="first")
    for name in ("second", "third"):
        draw(engine, plan=EXCLUSIVE, name=name)
    keys = [list_keys(engine, name) for name in ("first", "second", "third")]
    assert [len(batch_keys) for batch_keys in keys] == [40, 40, 20]
    assert len({key for batch_keys in keys for key in batch_keys}) == 100
    with pytest.raises(Refused, match="Every question of 'demo' is already in a batch"):
        draw(engine, plan=EXCLUSIVE, name="fourth")


def test_exclusive_draw_has_the_probabilities_of_its_own_frame(engine):
    """30 questions without tiers, 10 of them drawn: 5 of the other 20 are drawn with the probability 1/4."""
    insert_questions(engine, make_questions(30, tiers=(None,)))
    draw(engine, plan=SamplingPlan(seed=1, per_1000=None, n=10), name="first")
    result = draw(engine, plan=SamplingPlan(seed=2, per_1000=None, n=5, exclude_drawn=True), name="second")
    assert [(stratum.size, stratum.drawn) for stratum in result.strata] == [(20, 5)]
    assert {probability for _, _, probability in list_drawn(engine, "second")} == {0.25}


def test_exclusive_batch_keeps_its_questions_when_it_grows(engine):
    insert_questions(engine, make_questions(30, tiers=(None,)))
    plan = SamplingPlan(seed=2, per_1000=500, exclude_drawn=True)
    draw(engine, plan=plan, name="exclusive")
    first_keys = list_keys(engine, "exclusive")
    insert_questions(engine, make_questions(20, first=30, tiers=(None,)))
    draw(engine, plan=SamplingPlan(seed=3, per_1000=None, n=25), name="other")
    other_keys = set(list_keys(engine, "other"))
    assert draw(engine, plan=plan, name="exclusive").added > 0
    grown_keys = list_keys(engine, "exclusive")
    assert grown_keys[: len(first_keys)] == first_keys
    assert not other_keys & set(grown_keys[len(first_keys) :])


def test_exclusive_draw_ignores_batches_of_other_datasets(engine):
    insert_questions(engine, make_questions(10))
    insert_questions(engine, make_questions(10), dataset="other")
    with unit_of_work(engine) as db:
        draw_batch(
            db, by=BY, dataset="other", plan=SamplingPlan(seed=7, per_1000=1000), batch_name="o", now=NOW
        )
    assert draw(engine, plan=SamplingPlan(seed=7, per_1000=1000, exclude_drawn=True)).added == 10


def test_exclusiveness_is_stored_in_the_plan(engine):
    insert_questions(engine, make_questions(30))
    draw(engine, plan=EXCLUSIVE)
    with read_only_session(engine) as db:
        assert load_batch(db, name="b").plan.exclude_drawn
    with pytest.raises(Refused, match="not in another batch"):
        draw(engine, plan=SamplingPlan(seed=7, per_1000=None, n=40))


def test_defaults_are_omitted_from_stored_plans():
    assert "not_drawn" not in plan_to_dict(PLAN)
    assert plan_from_dict(plan_to_dict(EXCLUSIVE)).exclude_drawn


def test_two_exclusive_draws_at_the_same_time_share_no_question(postgres_engine):
    """The second transaction waits for the first, which has not committed yet."""
    insert_questions(postgres_engine, make_questions(100))
    with ThreadPoolExecutor(2) as pool, unit_of_work(postgres_engine) as db:
        draw_batch(db, by=BY, dataset="demo", plan=EXCLUSIVE, batch_name="first", now=NOW)
        second_draw = pool.submit(draw, postgres_engine, plan=EXCLUSIVE, name="second")
        wait_for_lock(postgres_engine)
    second_draw.result()
    assert not set(list_keys(postgres_engine, "first")) & set(list_keys(postgres_engine, "second"))


def wait_for_lock(engine):
    """Return once a connection of the database waits for a lock."""
    count_waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    for _ in range(3_000):
        with engine.connect() as connection:
            if connection.execute(count_waiting).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("no transaction waits")


# --------------------------------------------------------------------------------- questions without problems
WITHOUT_FORMAT_PROBLEMS = SamplingPlan(seed=7, per_1000=None, n=10, checks=(Check.FORMAT,))


def add_problems(engine: Engine, count: int, check: Check = Check.FORMAT) -> set[str]:
    """Let a check report the first questions of the dataset; return their ids."""
    with unit_of_work(engine) as db:
        first_questions = db.execute(select(QuestionRow.id, QuestionRow.key).order_by(QuestionRow.id)).all()[
            :count
        ]
        problem = Problem(check=check, field="stem", reason="is faulty")
        replace_problems(
            db, dataset_id=1, check=check,
            problems=[(number, problem) for number, _ in first_questions],
        )  # fmt: skip
    return {key for _, key in first_questions}


def test_questions_with_problems_of_the_chosen_checks_are_left_out(engine):
    """Of 30 questions 10 have the problem: 10 of the other 20 are drawn with the probability 1/2."""
    insert_questions(engine, make_questions(30, tiers=(None,)))
    faulty_ids = add_problems(engine, 10)
    add_problems(engine, 25, Check.TYPES)  # another check, which the plan does not name
    result = draw(engine, plan=WITHOUT_FORMAT_PROBLEMS)
    assert [(stratum.size, stratum.drawn) for stratum in result.strata] == [(20, 10)]
    assert not faulty_ids & set(list_keys(engine))
    assert (
        "10 questions of the dataset cannot be drawn because of problems found by these checks"
        in " ".join(result.notes)
    )


def test_the_choice_of_checks_is_part_of_the_plan(engine):
    insert_questions(engine, make_questions(30))
    draw(engine, plan=WITHOUT_FORMAT_PROBLEMS)
    with read_only_session(engine) as db:
        assert load_batch(db, name="b").plan.checks == (Check.FORMAT,)
    with pytest.raises(Refused, match="without problems of format"):
        draw(engine, plan=SamplingPlan(seed=7, per_1000=None, n=10))
    assert "checks" not in plan_to_dict(PLAN)


def test_a_dataset_in_which_every_question_has_a_problem_has_nothing_to_draw(engine):
    insert_questions(engine, make_questions(5))
    add_problems(engine, 5)
    with pytest.raises(Refused, match="has a problem found by one of the selected checks"):
        draw(engine, plan=WITHOUT_FORMAT_PROBLEMS)


def test_estimates_use_batches_that_leave_out_the_same_questions(engine):
    """The frame of both overlapping draws is the 20 questions without a problem."""
    insert_questions(engine, make_questions(30, tiers=(None,)))
    add_problems(engine, 10)
    draw(engine, plan=WITHOUT_FORMAT_PROBLEMS, name="first")
    draw(engine, plan=SamplingPlan(seed=8, per_1000=None, n=10, checks=(Check.FORMAT,)), name="second")
    draw(engine, plan=SamplingPlan(seed=9, per_1000=None, n=10), name="third")
    add_problems(engine, 30)  # later results change neither frame nor sample
    with read_only_session(engine) as db:
        data = load_sample_data(db, dataset="demo", names=None)
        sample = build_sample(db, data)
    assert [batch.name for batch in data.batches] == ["first", "second"]
    assert [name for name, _ in data.excluded] == ["third"]
    assert sum(sample.sizes.values()) == 20
