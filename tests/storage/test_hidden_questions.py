"""Hidden repeats and planted questions: assigned to one reviewer, spaced apart, and in no other count."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from browsing.service import index_questions, load_search_index_state
from domain.batches import AssignmentState, BatchSettings, FormScope
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused
from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from domain.verdicts import ErrorKind
from release.service import preview_release
from review import service as review
from review.service.hidden_plans import plan_hidden
from storage.intake.datasets import list_datasets
from storage.review.hidden import list_hidden_questions
from storage.rows import AuditRow, BatchQuestionRow, QuestionRow
from storage.sampling.frames import list_dataset_names, load_dataset_sizes
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.release_world import write
from tests.storage.judgements import accept, give, reject, state
from tests.storage.worlds import NOW, World, assign_all, make_batch, make_world

PLAN = HiddenPlan(repeats=0.2, distance=5, planted=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3)
VEIL = 0x1234_5678_9ABC


@pytest.fixture
def world(engine) -> World:
    """Forty questions on twenty exams; the first thirty, which are the batch "asked", are ruth's."""
    made = make_world(engine, questions=40)
    with unit_of_work(engine) as db:
        batch = make_batch(db, dataset_id=made.dataset_id, name="asked", questions=made.questions[:30])
        assign_all(db, batch=batch, questions=made.questions[:30], person=made.people["ruth"])
    return replace(made, batch=batch)


def hide(world: World, plan: HiddenPlan = PLAN, name: str = "asked") -> review.HiddenSummary:
    with unit_of_work(world.engine) as db:
        return review.hide_questions(
            db, by=world.people["cora"], batch=name, plan=plan, mask_secret=VEIL, now=NOW
        )


def hidden(world: World, name: str = "ruth"):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id, person_id=world.people[name].id)


def walk(world: World, name: str = "ruth") -> list[int]:
    """Accept that person's questions one by one; return them in the order in which they came."""
    met: list[int] = []
    while True:
        with read_only_session(world.engine) as db:
            sheet = review.load_sheet(db, person=world.people[name], batch_id=world.batch.id, now=NOW)
        if sheet is None:
            return met
        met.append(sheet.question_number)
        give(world, accept(world, question=sheet.question_number, person=name), name)


def attention(world: World) -> review.BatchAttention:
    with read_only_session(world.engine) as db:
        return review.compute_batch_attention(db, by=world.people["cora"], batch="asked")


# ------------------------------------------------------------------------------------------------- hiding
def test_a_reviewer_gets_the_share_of_repeats_and_the_planted_ones(world):
    summary = hide(world)
    (ruth,) = summary.people
    assert (ruth.person.name, ruth.repeats, ruth.planted) == ("ruth", 6, 2)  # a fifth of thirty
    assert Counter(each.kind for each in hidden(world)) == {HiddenKind.REPEAT: 6, HiddenKind.PLANTED: 2}


def test_the_preview_says_what_is_hidden_then(world):
    with read_only_session(world.engine) as db:
        would = review.preview_hiding(db, by=world.people["cora"], batch="asked", plan=PLAN)
    done = hide(world)
    assert (would.total, would.faults) == (done.total, done.faults)


def test_a_repeat_comes_after_the_distance_and_never_next_to_its_exam(world):
    hide(world)
    of = {each.number: each.source_number for each in hidden(world) if each.kind is HiddenKind.REPEAT}
    met = walk(world)
    assert len(met) == 38
    exam = {**{number: (number - 1) // 2 for number in world.questions}}
    for number, source in of.items():
        at, first = met.index(number), met.index(source)
        assert at - first - 1 >= PLAN.distance
        assert exam[source] not in {exam.get(of.get(met[each], met[each])) for each in (at - 1, at + 1)}
    assert met[-1] in world.questions  # one more question after the end would reveal it as hidden


def test_the_same_seed_hides_the_same_and_another_does_not(world):
    with read_only_session(world.engine) as db:
        first, again, other = (
            plan_hidden(db, world.batch, replace(PLAN, seed=seed))[0] for seed in (3, 3, 4)
        )
    assert first == again != other


def test_what_is_planted_is_a_sound_question_that_the_reviewer_never_had(world):
    hide(world)
    planted = [each for each in hidden(world) if each.kind is HiddenKind.PLANTED]
    assert {each.source_number for each in planted} <= set(world.questions[30:])
    with read_only_session(world.engine) as db:
        for each in planted:
            made, source = (
                db.execute(select(QuestionRow).where(QuestionRow.id == number)).scalar_one()
                for number in (each.number, each.source_number)
            )
            assert (made.stem, made.options) == (source.stem, source.options)
            assert made.answer != source.answer
            assert made.exam_id == source.exam_id


def test_hiding_again_adds_only_what_is_lacking(world):
    hide(world)
    with pytest.raises(Refused, match="hides no further questions"):
        hide(world)
    assert hide(world, replace(PLAN, planted=3)).total == 1


def test_a_fault_that_the_batch_does_not_ask_for_is_refused(engine):
    made = make_world(engine, assigned_to=["ruth"], settings=BatchSettings(parts=FormScope.KEY))
    plan = replace(PLAN, faults=(PlantedFault.WRONG_SIDE,))
    with pytest.raises(InvalidValue, match="requests key, so these faults cannot be found: wrong side"):
        hide(made, plan, "first")


def test_a_reviewer_may_neither_hide_nor_look_nor_measure(world):
    ruth = world.people["ruth"]
    asked = {"by": ruth, "batch": "asked"}
    with unit_of_work(world.engine) as db:
        for refused in (
            lambda: review.hide_questions(db, **asked, plan=PLAN, mask_secret=VEIL, now=NOW),
            lambda: review.list_hidden_questions(db, **asked),
            lambda: review.compute_batch_attention(db, **asked),
            lambda: review.remove_hidden(db, **asked, numbers=[1], why="so", now=NOW),
        ):
            with pytest.raises(NotAllowed):
                refused()


# ----------------------------------------------------------------------------- excluded from all other counts
def test_nothing_hidden_is_in_any_count_of_the_batch(world):
    cora = world.people["cora"]

    def counted():
        with read_only_session(world.engine) as db:
            (overview,) = [
                each for each in review.list_batch_overviews(db, by=cora) if each.batch.id == world.batch.id
            ]
            return (
                replace(overview, done=0, left=0),
                overview.done + overview.left,
                review.load_batch_workload(db, by=cora, batch="asked").unassigned,
                [each.name for each in list_datasets(db)],
                list_dataset_names(db),
                load_dataset_sizes(db),
                db.execute(select(func.count()).select_from(BatchQuestionRow)).scalar_one(),
            )

    before = counted()
    hide(world)
    walk(world)
    assert counted() == before
    with read_only_session(world.engine) as db:
        said = review.load_progress(db, by=cora, batch="asked", now=NOW)
        agreement = review.compute_batch_agreement(db, by=cora, batch="asked")
    assert said.reviewed == 30
    assert sum(block.last - block.first + 1 for block in agreement.drift[world.people["ruth"].id]) == 30


def test_nothing_hidden_waits_for_the_search_index_or_comes_into_it(world):
    def indexed():
        with unit_of_work(world.engine) as db:
            assert not index_questions(db)
        with read_only_session(world.engine) as db:
            return load_search_index_state(db).last_indexed

    before = indexed()
    hide(world)
    with read_only_session(world.engine) as db:
        assert not load_search_index_state(db).is_behind
    assert indexed() == before


def test_verdicts_on_hidden_questions_change_no_release_no_estimate_no_agreement(world, tmp_path):
    cora = world.people["cora"]
    hide(world)
    for number in world.questions[:30]:
        give(world, accept(world, question=number))

    def figures(out):
        write(world, out, batches=["asked"])
        with read_only_session(world.engine) as db:
            return (
                {each.name: each.read_bytes() for each in out.rglob("*") if each.is_file()},
                preview_release(db, by=cora, dataset="demo", batches=["asked"]),
                review.estimate_dataset(db, by=cora, dataset="demo", batches=["asked"]).estimates,
                review.load_progress(db, by=cora, batch="asked", now=NOW),
                review.compute_batch_agreement(db, by=cora, batch="asked"),
                review.load_batch_workload(db, by=cora, batch="asked").people[0].left,
            )

    before = figures(tmp_path / "before" / "v1")
    for each in hidden(world):
        give(world, reject(world, question=each.number))
    assert figures(tmp_path / "after" / "v1") == before


def test_repeats_are_no_dispute(world):
    hide(world)
    numbers = [each.number for each in hidden(world)]
    for number in numbers:
        give(world, reject(world, question=number))
    with read_only_session(world.engine) as db:
        found = review.compute_batch_agreement(db, by=world.people["cora"], batch="asked")
    assert found.shared == 0


# ------------------------------------------------------------------------------------------------- measuring
def test_agreement_with_oneself_and_faults_found_by_hand(world):
    hide(world)
    of = {each.number: each for each in hidden(world)}
    repeats = [each for each in of.values() if each.kind is HiddenKind.REPEAT]
    planted = [each for each in of.values() if each.kind is HiddenKind.PLANTED]
    for each in repeats:
        give(world, accept(world, question=each.source_number))
    give(world, reject(world, question=repeats[0].number))
    for each in repeats[1:]:
        give(world, accept(world, question=each.number))
    give(world, reject(world, question=planted[0].number, kind=ErrorKind.WRONG_KEY))
    give(world, accept(world, question=planted[1].number))
    (ruth,) = attention(world).reviewers
    decision = ruth.attention.agreement.aspects[0].percent
    assert (decision.n, decision.estimate) == (6, pytest.approx(5 / 6))
    every, swapped = ruth.attention.faults
    assert (every.found.count, every.found.n) == (swapped.found.count, swapped.found.n) == (1, 2)
    assert [(each.first, each.last) for each in ruth.attention.blocks] == [(1, 8)]


def test_a_fault_rejected_for_another_reason_is_not_found(world):
    hide(world)
    (one, _) = [each for each in hidden(world) if each.kind is HiddenKind.PLANTED]
    give(world, reject(world, question=one.number, kind=ErrorKind.WORDING))
    (ruth,) = attention(world).reviewers
    assert (ruth.attention.faults[0].found.count, ruth.attention.faults[0].not_accepted.count) == (0, 1)


def test_what_was_said_first_counts_though_it_was_changed_later(world):
    hide(world)
    (one, _) = [each for each in hidden(world) if each.kind is HiddenKind.PLANTED]
    give(world, accept(world, question=one.number))
    give(world, reject(world, question=one.number, kind=ErrorKind.WRONG_KEY, revision=2))
    (ruth,) = attention(world).reviewers
    assert ruth.attention.faults[0].found.count == 0


# ------------------------------------------------------------------------------------------------- removing
def test_a_removed_one_leaves_the_queue_and_the_figures_and_stays_on_record(world):
    hide(world)
    judged, open_ = hidden(world)[:2]
    give(world, accept(world, question=judged.number))
    with unit_of_work(world.engine) as db:
        done = review.remove_hidden(
            db, by=world.people["cora"], batch="asked", numbers=[judged.number, open_.number],
            why="the key was wrong before", now=NOW,
        )  # fmt: skip
    assert done == 2
    assert state(world, judged.number) is AssignmentState.DONE
    assert state(world, open_.number) is AssignmentState.WITHDRAWN
    assert (attention(world).hidden, attention(world).removed) == (6, 2)
    with read_only_session(world.engine) as db:
        entry = db.execute(select(AuditRow).where(AuditRow.what == "remove hidden questions")).scalar_one()
    assert str(judged.number) in entry.old
    assert entry.why == "the key was wrong before"
    with unit_of_work(world.engine) as db, pytest.raises(NotFound, match="already removed"):
        review.remove_hidden(
            db, by=world.people["cora"], batch="asked", numbers=[judged.number], why="again", now=NOW
        )


def test_a_removal_needs_a_reason(world):
    hide(world)
    with unit_of_work(world.engine) as db, pytest.raises(InvalidValue, match="give a reason"):
        review.remove_hidden(
            db, by=world.people["cora"], batch="asked", numbers=[hidden(world)[0].number], why=" ", now=NOW
        )


def test_taking_the_open_questions_back_takes_the_hidden_ones_with_them(world):
    hide(world)
    with unit_of_work(world.engine) as db:
        taken = review.withdraw(db, by=world.people["cora"], batch="asked", from_="ruth", now=NOW)
    assert taken == 30  # the count that the coordinator sees excludes hidden ones
    assert not any(each.is_counted for each in hidden(world))
