"""Hidden repeats and planted questions: assigned to one reviewer, spaced, and excluded from other counts."""

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
from storage.rows.audit import AuditRow
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import QuestionRow
from storage.rows.hidden import HiddenSetRow
from storage.sampling.frames import list_dataset_names, load_dataset_sizes
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.release_world import write_test_release
from tests.storage.judgements import load_assignment_state, make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, assign_all, make_batch, make_world

PLAN = HiddenPlan(
    repeat_share=0.2, min_distance=5, planted_count=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3
)
MASK_SECRET = 0x1234_5678_9ABC


@pytest.fixture
def world(engine) -> World:
    """Forty questions on twenty exams; the first thirty are the batch "asked", assigned to ruth."""
    full_world = make_world(engine, questions=40)
    with unit_of_work(engine) as db:
        batch = make_batch(
            db, dataset_id=full_world.dataset_id, name="asked", questions=full_world.questions[:30]
        )
        assign_all(db, batch=batch, questions=full_world.questions[:30], person=full_world.people["ruth"])
    return replace(full_world, batch=batch)


def hide_questions(world: World, plan: HiddenPlan = PLAN, name: str = "asked") -> review.HiddenSummary:
    with unit_of_work(world.engine) as db:
        return review.hide_questions(
            db, by=world.people["cora"], batch=name, plan=plan, mask_secret=MASK_SECRET, now=NOW
        )


def list_hidden(world: World, name: str = "ruth"):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id, person_id=world.people[name].id)


def accept_all(world: World, name: str = "ruth") -> list[int]:
    """Accept that person's questions one by one; return them in the order in which they came."""
    judged: list[int] = []
    while True:
        with read_only_session(world.engine) as db:
            sheet = review.load_sheet(db, person=world.people[name], batch_id=world.batch.id, now=NOW)
        if sheet is None:
            return judged
        judged.append(sheet.question_row_id)
        save_verdict(world, make_acceptance(world, question=sheet.question_row_id, person=name), name)


def compute_attention(world: World) -> review.BatchAttention:
    with read_only_session(world.engine) as db:
        return review.compute_batch_attention(db, by=world.people["cora"], batch="asked")


# ------------------------------------------------------------------------------------------------- hiding
def test_reviewer_gets_the_planned_repeats_and_planted_questions(world):
    summary = hide_questions(world)
    (ruth,) = summary.people
    assert (ruth.person.name, ruth.repeats, ruth.planted) == ("ruth", 6, 2)  # a fifth of thirty
    assert Counter(question.kind for question in list_hidden(world)) == {
        HiddenKind.REPEAT: 6,
        HiddenKind.PLANTED: 2,
    }


def test_one_question_is_planted_per_ten_also_among_questions_assigned_later(world):
    plan = replace(PLAN, repeat_share=0, planted_count=0, planted_every=10)
    steps = ((world.questions[:10], {"ruth": 3, "remo": 1}), (world.questions[10:20], {"remo": 1}))
    for questions, added in steps:
        with unit_of_work(world.engine) as db:
            assign_all(db, batch=world.batch, questions=questions, person=world.people["remo"])
        counts = {count.person.name: count.planted for count in hide_questions(world, plan).people}
        assert {name: count for name, count in counts.items() if count} == added
    with read_only_session(world.engine) as db:
        assert review.load_hidden_plan(db, by=world.people["cora"], batch="asked") == plan


def test_number_and_rate_of_planted_questions_exclude_each_other():
    with pytest.raises(InvalidValue, match="a number or a rate"):
        replace(PLAN, planted_every=10)


def test_plan_is_stored_under_the_names_of_earlier_versions(world):
    """Workspaces have plans under these names, which differ from those of the fields."""
    stored_plan = '{"distance":5,"faults":["key swapped"],"planted":2,"repeats":0.2,"seed":3}'
    hide_questions(world)
    with read_only_session(world.engine) as db:
        assert db.execute(select(HiddenSetRow.plan)).scalar_one() == stored_plan
        assert review.load_hidden_plan(db, by=world.people["cora"], batch="asked") == PLAN


def test_preview_equals_the_later_hiding(world):
    with read_only_session(world.engine) as db:
        preview = review.preview_hiding(db, by=world.people["cora"], batch="asked", plan=PLAN)
    summary = hide_questions(world)
    assert (preview.total, preview.faults) == (summary.total, summary.faults)


@pytest.mark.slow
def test_repeat_keeps_its_distance_and_is_never_next_to_its_exam(world):
    hide_questions(world)
    source_by_number = {
        question.question_row_id: question.source_question_row_id
        for question in list_hidden(world)
        if question.kind is HiddenKind.REPEAT
    }
    order = accept_all(world)
    assert len(order) == 38
    exam_by_number = {**{number: (number - 1) // 2 for number in world.questions}}
    for number, source in source_by_number.items():
        repeat_index, source_index = order.index(number), order.index(source)
        assert repeat_index - source_index - 1 >= PLAN.min_distance
        assert exam_by_number[source] not in {
            exam_by_number.get(source_by_number.get(order[index], order[index]))
            for index in (repeat_index - 1, repeat_index + 1)
        }
    assert order[-1] in world.questions  # a hidden question at the end would be recognised as hidden


def test_same_seed_plans_the_same_hidden_questions(world):
    with read_only_session(world.engine) as db:
        first, repeated, with_other_seed = (
            plan_hidden(db, world.batch, replace(PLAN, seed=seed))[0] for seed in (3, 3, 4)
        )
    assert first == repeated != with_other_seed


def test_planted_question_is_an_altered_copy_of_a_question_new_to_the_reviewer(world):
    hide_questions(world)
    planted = [question for question in list_hidden(world) if question.kind is HiddenKind.PLANTED]
    assert {question.source_question_row_id for question in planted} <= set(world.questions[30:])
    with read_only_session(world.engine) as db:
        for question in planted:
            copy, source = (
                db.execute(select(QuestionRow).where(QuestionRow.id == number)).scalar_one()
                for number in (question.question_row_id, question.source_question_row_id)
            )
            assert (copy.stem, copy.options) == (source.stem, source.options)
            assert copy.answer != source.answer
            assert copy.exam_id == source.exam_id


def test_hiding_again_adds_only_missing_questions(world):
    hide_questions(world)
    with pytest.raises(Refused, match="hides no further questions"):
        hide_questions(world)
    assert hide_questions(world, replace(PLAN, planted_count=3)).total == 1


def test_fault_in_a_field_that_the_batch_does_not_request_is_refused(engine):
    key_world = make_world(engine, assigned_to=["ruth"], settings=BatchSettings(parts=FormScope.KEY))
    plan = replace(PLAN, faults=(PlantedFault.WRONG_SIDE,))
    with pytest.raises(InvalidValue, match="requests key, so these faults cannot be found: wrong side"):
        hide_questions(key_world, plan, "first")


def test_reviewer_may_not_hide_list_measure_or_remove_hidden_questions(world):
    ruth = world.people["ruth"]
    target = {"by": ruth, "batch": "asked"}
    with unit_of_work(world.engine) as db:
        for request in (
            lambda: review.hide_questions(db, **target, plan=PLAN, mask_secret=MASK_SECRET, now=NOW),
            lambda: review.list_hidden_questions(db, **target),
            lambda: review.compute_batch_attention(db, **target),
            lambda: review.remove_hidden(db, **target, numbers=[1], reason="so", now=NOW),
        ):
            with pytest.raises(NotAllowed):
                request()


# ----------------------------------------------------------------------------- excluded from all other counts
@pytest.mark.slow
def test_hidden_questions_are_in_no_count_of_the_batch(world):
    cora = world.people["cora"]

    def read_counts():
        with read_only_session(world.engine) as db:
            (overview,) = [
                candidate
                for candidate in review.list_batch_overviews(db, by=cora)
                if candidate.batch.id == world.batch.id
            ]
            return (
                replace(overview, done=0, left=0),
                overview.done + overview.left,
                review.load_batch_workload(db, by=cora, batch="asked").unassigned,
                [dataset.name for dataset in list_datasets(db)],
                list_dataset_names(db),
                load_dataset_sizes(db),
                db.execute(select(func.count()).select_from(BatchQuestionRow)).scalar_one(),
            )

    before = read_counts()
    hide_questions(world)
    accept_all(world)
    assert read_counts() == before
    with read_only_session(world.engine) as db:
        progress = review.load_progress(db, by=cora, batch="asked", now=NOW)
        agreement = review.compute_batch_agreement(db, by=cora, batch="asked")
    assert progress.reviewed == 30
    assert sum(block.last - block.first + 1 for block in agreement.drift[world.people["ruth"].id]) == 30


def test_hidden_questions_are_not_indexed_for_search(world):
    def index_and_read_state():
        with unit_of_work(world.engine) as db:
            assert not index_questions(db)
        with read_only_session(world.engine) as db:
            return load_search_index_state(db).last_indexed

    before = index_and_read_state()
    hide_questions(world)
    with read_only_session(world.engine) as db:
        assert not load_search_index_state(db).is_behind
    assert index_and_read_state() == before


@pytest.mark.slow
def test_verdicts_on_hidden_questions_change_no_results(world, tmp_path):
    cora = world.people["cora"]
    hide_questions(world)
    for number in world.questions[:30]:
        save_verdict(world, make_acceptance(world, question=number))

    def read_results(out):
        write_test_release(world, out, batches=["asked"])
        with read_only_session(world.engine) as db:
            return (
                {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()},
                preview_release(db, by=cora, dataset="demo", batches=["asked"]),
                review.estimate_dataset(db, by=cora, dataset="demo", batches=["asked"]).estimates,
                review.load_progress(db, by=cora, batch="asked", now=NOW),
                review.compute_batch_agreement(db, by=cora, batch="asked"),
                review.load_batch_workload(db, by=cora, batch="asked").people[0].left,
            )

    before = read_results(tmp_path / "before" / "v1")
    for question in list_hidden(world):
        save_verdict(world, make_rejection(world, question=question.question_row_id))
    assert read_results(tmp_path / "after" / "v1") == before


def test_verdicts_on_hidden_questions_are_not_in_the_agreement(world):
    hide_questions(world)
    numbers = [question.question_row_id for question in list_hidden(world)]
    for number in numbers:
        save_verdict(world, make_rejection(world, question=number))
    with read_only_session(world.engine) as db:
        agreement = review.compute_batch_agreement(db, by=world.people["cora"], batch="asked")
    assert agreement.shared == 0


# ------------------------------------------------------------------------------------------------- measuring
def test_intra_reader_agreement_and_detected_faults_are_exact(world):
    hide_questions(world)
    hidden_by_number = {question.question_row_id: question for question in list_hidden(world)}
    repeats = [question for question in hidden_by_number.values() if question.kind is HiddenKind.REPEAT]
    planted = [question for question in hidden_by_number.values() if question.kind is HiddenKind.PLANTED]
    for repeat in repeats:
        save_verdict(world, make_acceptance(world, question=repeat.source_question_row_id))
    save_verdict(world, make_rejection(world, question=repeats[0].question_row_id))
    for repeat in repeats[1:]:
        save_verdict(world, make_acceptance(world, question=repeat.question_row_id))
    save_verdict(world, make_rejection(world, question=planted[0].question_row_id, kind=ErrorKind.WRONG_KEY))
    save_verdict(world, make_acceptance(world, question=planted[1].question_row_id))
    (ruth,) = compute_attention(world).reviewers
    decision = ruth.attention.agreement.aspects[0].percent
    assert (decision.n, decision.estimate) == (6, pytest.approx(5 / 6))
    all_faults, key_swapped = ruth.attention.faults
    assert (
        (all_faults.found.count, all_faults.found.n)
        == (key_swapped.found.count, key_swapped.found.n)
        == (1, 2)
    )
    assert [(block.first, block.last) for block in ruth.attention.blocks] == [(1, 8)]


def test_fault_rejected_for_another_reason_does_not_count_as_found(world):
    hide_questions(world)
    (planted, _) = [question for question in list_hidden(world) if question.kind is HiddenKind.PLANTED]
    save_verdict(world, make_rejection(world, question=planted.question_row_id, kind=ErrorKind.WORDING))
    (ruth,) = compute_attention(world).reviewers
    assert (ruth.attention.faults[0].found.count, ruth.attention.faults[0].not_accepted.count) == (0, 1)


def test_first_verdict_on_a_hidden_question_counts(world):
    hide_questions(world)
    (planted, _) = [question for question in list_hidden(world) if question.kind is HiddenKind.PLANTED]
    save_verdict(world, make_acceptance(world, question=planted.question_row_id))
    save_verdict(
        world, make_rejection(world, question=planted.question_row_id, kind=ErrorKind.WRONG_KEY, revision=2)
    )
    (ruth,) = compute_attention(world).reviewers
    assert ruth.attention.faults[0].found.count == 0


# ------------------------------------------------------------------------------------------------- removing
def test_removed_hidden_question_is_in_no_count_but_in_the_audit_trail(world):
    hide_questions(world)
    judged_question, open_question = list_hidden(world)[:2]
    save_verdict(world, make_acceptance(world, question=judged_question.question_row_id))
    with unit_of_work(world.engine) as db:
        removed_count = review.remove_hidden(
            db,
            by=world.people["cora"],
            batch="asked",
            numbers=[judged_question.question_row_id, open_question.question_row_id],
            reason="the key was wrong before",
            now=NOW,
        )
    assert removed_count == 2
    assert load_assignment_state(world, judged_question.question_row_id) is AssignmentState.DONE
    assert load_assignment_state(world, open_question.question_row_id) is AssignmentState.WITHDRAWN
    assert (compute_attention(world).hidden_count, compute_attention(world).removed_count) == (6, 2)
    with read_only_session(world.engine) as db:
        entry = db.execute(select(AuditRow).where(AuditRow.what == "remove hidden questions")).scalar_one()
    assert str(judged_question.question_row_id) in entry.old
    assert entry.why == "the key was wrong before"
    with unit_of_work(world.engine) as db, pytest.raises(NotFound, match="already removed"):
        review.remove_hidden(
            db,
            by=world.people["cora"],
            batch="asked",
            numbers=[judged_question.question_row_id],
            reason="again",
            now=NOW,
        )


def test_removal_needs_a_reason(world):
    hide_questions(world)
    with (
        unit_of_work(world.engine) as db,
        pytest.raises(InvalidValue, match="enter a reason for the removal"),
    ):
        review.remove_hidden(
            db,
            by=world.people["cora"],
            batch="asked",
            numbers=[list_hidden(world)[0].question_row_id],
            reason=" ",
            now=NOW,
        )


def test_withdrawing_open_questions_also_withdraws_hidden_ones(world):
    hide_questions(world)
    with unit_of_work(world.engine) as db:
        withdrawn_count = review.withdraw(db, by=world.people["cora"], batch="asked", from_="ruth", now=NOW)
    assert withdrawn_count == 30  # the count that the coordinator sees excludes hidden ones
    assert not any(question.is_counted for question in list_hidden(world))
