"""Drawing batches from a database: a draw is reproducible, and drawn questions stay drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import Engine, select

from accounts.service import command_line_person
from domain.batches import BatchSettings, BatchState, FormScope, Mode, SamplingPlan
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused
from domain.people import Person, Role
from domain.vocabulary import Difficulty
from sampling.service import DrawResult, draw_batch, list_batch_questions, list_batches, preview_draw
from storage.rows import BatchQuestionRow, QuestionRow
from storage.sampling.batches import load_batch, plan_from_plain, plan_to_plain, save_settings, save_state
from storage.sampling.draws import list_draws
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.planted_frames import NOW, plant, planted

PLAN = SamplingPlan(seed=7)
BY = command_line_person()


def draw(engine: Engine, *, plan: SamplingPlan = PLAN, name: str = "b", **more: Any) -> DrawResult:
    with unit_of_work(engine) as db:
        return draw_batch(db, by=BY, dataset="demo", plan=plan, batch_name=name, now=NOW, **more)


def listed(engine: Engine, name: str = "b") -> list[tuple[str, str, float]]:
    with read_only_session(engine) as db:
        return [
            (each.key, each.stratum, each.inclusion_probability)
            for each in list_batch_questions(db, by=BY, batch=name)
        ]


def keys(engine: Engine, name: str = "b") -> list[str]:
    return [key for key, _, _ in listed(engine, name)]


def test_of_10000_questions_1000_are_drawn_over_tiers_that_differ_by_at_most_one(engine):
    plant(engine, planted(10_000))
    assert draw(engine).added == 1000
    assert Counter(stratum for _, stratum, _ in listed(engine)) == {"easy": 333, "medium": 333, "hard": 334}


def test_the_same_seed_draws_the_same_questions_in_the_same_order(engine):
    plant(engine, planted(1000))
    draw(engine, name="b")
    draw(engine, name="again")
    draw(engine, name="other", plan=SamplingPlan(seed=8))
    assert keys(engine, "b") == keys(engine, "again")
    assert set(keys(engine, "b")) != set(keys(engine, "other"))


def test_shuffled_rows_give_the_same_questions(sqlite_engine, postgres_engine):
    questions = planted(2000)
    plant(sqlite_engine, questions)
    questions.sort(key=lambda question: question[0][::-1])
    plant(postgres_engine, questions)
    plan = SamplingPlan(seed=7, strata=("task", "category"))
    for engine in (sqlite_engine, postgres_engine):
        draw(engine, plan=plan)
    assert sorted(listed(sqlite_engine)) == sorted(listed(postgres_engine))


def test_the_draw_is_the_one_that_every_machine_makes(sqlite_engine):
    plant(sqlite_engine, planted(100))
    draw(sqlite_engine)
    # the lowest 3, 3 and 4 of the tiers, computed with Python's integers alone
    assert sorted(keys(sqlite_engine)) == [
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


def test_1000_more_questions_add_100_and_change_none(engine):
    plant(engine, planted(10_000))
    draw(engine)
    before = listed(engine)
    plant(engine, planted(1000, first=10_000))
    again = draw(engine)
    assert again.added == 100
    assert listed(engine)[:1000] == before
    assert all(int(key[1:]) >= 10_000 for key in keys(engine)[1000:])


def test_drawing_again_with_nothing_new_leaves_the_batch_as_it_was(engine):
    plant(engine, planted(1000))
    draw(engine)
    before = listed(engine)
    again = draw(engine)
    assert (again.added, listed(engine)) == (0, before)
    assert "No questions have been imported" in again.notes[0]


def test_too_few_new_questions_stay_in_the_frame_of_the_next_draw(engine):
    plant(engine, planted(1000))
    draw(engine)
    plant(engine, planted(4, first=1000))
    assert draw(engine).added == 0
    plant(engine, planted(6, first=1004))
    assert draw(engine).added == 1  # of the 10 that were imported after the first draw
    with read_only_session(engine) as db:
        frames = [(each.number, each.frame_size) for each in list_draws(db, batch_id=1)]
    assert frames == [(1, 1000), (2, 10)]


def test_a_fixed_number_is_so_many_in_all(engine):
    plan = SamplingPlan(seed=7, per_1000=None, n=200)
    plant(engine, planted(150))
    first = draw(engine, plan=plan)
    assert first.added == 150
    assert "200 questions requested, but only 150" in first.notes[0]
    plant(engine, planted(1000, first=150))
    assert draw(engine, plan=plan).added == 50
    assert draw(engine, plan=plan).added == 0


def test_every_question_keeps_the_probability_with_which_it_was_drawn(engine):
    plant(engine, planted(900) + [(f"x{i}", "easy", None, None) for i in range(100)])
    draw(engine)
    found = {(stratum, round(p, 6)) for _, stratum, p in listed(engine)}
    assert found == {("easy", 33 / 400), ("medium", 0.11), ("hard", round(34 / 300, 6))}


def test_the_questions_of_an_exam_come_together(engine):
    plant(engine, planted(300), per_exam=6)
    draw(engine, plan=SamplingPlan(seed=7, per_1000=500))
    with read_only_session(engine) as db:
        exams = list(
            db.execute(
                select(QuestionRow.exam_id)
                .join(BatchQuestionRow, BatchQuestionRow.question_id == QuestionRow.id)
                .order_by(BatchQuestionRow.position)
            ).scalars()
        )
    runs = [exam for place, exam in enumerate(exams) if place == 0 or exams[place - 1] != exam]
    assert len(runs) == len(set(exams))
    assert runs != sorted(runs)


def test_the_preview_says_what_the_draw_then_takes(engine):
    plant(engine, [*planted(1000), *planted(20, first=1000, tiers=(None,))])
    with read_only_session(engine) as db:
        seen = preview_draw(db, by=BY, dataset="demo", plan=PLAN)
    drawn = draw(engine)
    assert (seen.strata, seen.notes, seen.n) == (drawn.strata, drawn.notes, drawn.added)
    assert "20 questions without a tier" in seen.notes[0]


def test_a_dataset_without_tiers_is_drawn_as_one(engine):
    plant(engine, planted(500, tiers=(None,)))
    drawn = draw(engine)
    assert [(each.name, each.size, each.drawn) for each in drawn.strata] == [("no tier", 500, 50)]
    assert drawn.notes == ("No question has a difficulty, so all questions form one tier.",)


def test_the_name_holds_the_plan(engine):
    plant(engine, planted(1000))
    draw(engine)
    with pytest.raises(Refused, match=r"different plan \(100 per 1,000, seed 7\)"):
        draw(engine, plan=SamplingPlan(seed=8))


def test_a_batch_of_another_dataset_is_not_added_to(engine):
    plant(engine, planted(1000))
    plant(engine, planted(10), dataset="other")
    with unit_of_work(engine) as db:
        draw_batch(
            db, by=BY, dataset="other", plan=SamplingPlan(seed=7, per_1000=500), batch_name="b", now=NOW
        )
    with pytest.raises(Refused, match="does not belong to the dataset 'demo'"):
        draw(engine)


def test_questions_of_other_datasets_are_not_drawn(engine):
    plant(engine, planted(1000), dataset="other")
    plant(engine, planted(1000, first=5000))
    draw(engine)
    assert all(int(key[1:]) >= 5000 for key in keys(engine))


def test_a_closed_batch_is_not_added_to(engine):
    plant(engine, planted(1000))
    batch = draw(engine).batch
    with unit_of_work(engine) as db:
        save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=None, now=NOW)
    with pytest.raises(Refused, match="is closed"):
        draw(engine)


def test_a_first_draw_that_takes_nothing_makes_no_batch(engine):
    plant(engine, planted(4))
    with pytest.raises(Refused, match="none of the 4 questions"):
        draw(engine)
    with read_only_session(engine) as db:
        assert list_batches(db, by=BY) == []


def test_an_unknown_dataset_is_named_with_those_there_are(engine):
    plant(engine, planted(4))
    with (
        unit_of_work(engine) as db,
        pytest.raises(NotFound, match=r"no dataset 'rex'\. Those there are: demo"),
    ):
        draw_batch(db, by=BY, dataset="rex", plan=PLAN, batch_name="b", now=NOW)


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 81])
def test_a_batch_needs_a_printable_name(sqlite_engine, name):
    plant(sqlite_engine, planted(100))
    with pytest.raises(InvalidValue, match="printable"):
        draw(sqlite_engine, name=name)


def test_only_a_coordinator_draws(sqlite_engine):
    plant(sqlite_engine, planted(100))
    reviewer = Person(id=1, name="ruth", display_name="Ruth", roles=frozenset({Role.REVIEWER, Role.ADMIN}))
    with unit_of_work(sqlite_engine) as db:
        with pytest.raises(NotAllowed):
            draw_batch(db, by=reviewer, dataset="demo", plan=PLAN, batch_name="b", now=NOW)
        with pytest.raises(NotAllowed):
            preview_draw(db, by=reviewer, dataset="demo", plan=PLAN)
        with pytest.raises(NotAllowed):
            list_batch_questions(db, by=reviewer, batch="b")


def test_settings_at_drawing_are_kept_and_changed_with_the_next_revision(engine):
    plant(engine, planted(100))
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
def test_a_plan_is_kept_as_it_is(plan):
    assert plan_to_plain(plan_from_plain(plan_to_plain(plan))) == plan_to_plain(plan)
