"""The review sheet: what is loaded, what is not, and the order through the batch. Both databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event

from domain.batches import AssignmentState, BatchSettings, Mode
from domain.errors import NotAllowed, NotFound
from domain.verdicts import Decision
from review import service as review
from storage.review.assignments import set_state
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, SECRETS, World, assign_all, make_batch, make_world

ANSWER_FIRST = BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
REVEALS_ANSWER = re.compile(
    r"question\.(answer|also_right|explanation|boxes|difficulty|category|subcategory|task|content_type)\b"
    r"|exam\.report\b"
)


@contextmanager
def record_statements(engine: Engine) -> Iterator[list[str]]:
    """Every SQL statement that is sent while the block runs."""
    sent: list[str] = []

    def record(_connection, _cursor, statement, *_rest):
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", record)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", record)


def load_sheet(world: World, question=None, person="ruth"):
    with unit_of_work(world.engine) as db:
        return review.load_sheet(
            db, person=world.people[person], batch_id=world.batch.id, question=question, now=NOW
        )


def save_own_answer(world: World, question=1):
    with unit_of_work(world.engine) as db:
        review.save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=question,
            answer=(0,),
            confidence=2,
            now=NOW,
        )


# ------------------------------------------------------------------------------------------------ blinding
def test_blinded_sheet_selects_no_column_that_reveals_the_answer(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    with record_statements(engine) as sent:
        assert load_sheet(world).blind
    assert [statement for statement in sent if REVEALS_ANSWER.search(statement)] == []
    assert any(
        "question.stem" in statement for statement in sent
    )  # shows that the statements of the sheet are recorded


def test_blinded_sheet_contains_no_secrets(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    loaded = load_sheet(world)
    assert loaded.question is None
    assert [secret for secret in SECRETS.values() if secret in repr(loaded)] == []


def test_sheet_after_the_own_answer_shows_the_key_but_no_report(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    save_own_answer(world)
    loaded = load_sheet(world)
    assert (loaded.blind, loaded.question.answer, loaded.question.explanation) == (
        False,
        (1,),
        SECRETS["explanation"],
    )
    assert loaded.question.boxes[0].label == SECRETS["label"]
    assert SECRETS["report"] not in repr(loaded)


def test_report_is_not_loaded_before_it_is_opened(engine):
    world = make_world(engine, settings=BatchSettings(show_report=True), assigned_to=["ruth"])
    with record_statements(engine) as sent:
        assert load_sheet(world).report is None
    assert [statement for statement in sent if "exam.report" in statement] == []


def test_own_answer_unblinds_its_own_question_only(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    save_own_answer(world, question=1)
    assert load_sheet(world, question=2).blind


# -------------------------------------------------------------------------------- the order through the batch
@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, questions=6, assigned_to=["ruth"])


def test_first_open_question_is_loaded_with_exam_and_neighbours(world):
    loaded = load_sheet(world)
    assert (loaded.question_row_id, loaded.exam.id, loaded.exam.age) == (1, "E1", "061Y")
    assert [radiograph.id for radiograph in loaded.exam.radiographs] == ["pa", "lateral"]
    assert (loaded.previous, loaded.next) == (None, 2)
    assert (loaded.progress.position, loaded.progress.left, loaded.progress.total) == (1, 6, 6)


def test_next_open_question_follows_a_verdict(world):
    save_verdict(world, make_acceptance(world, question=1))
    loaded = load_sheet(world)
    assert (loaded.question_row_id, loaded.previous, loaded.next) == (2, 1, 3)
    assert (loaded.progress.done, loaded.progress.left, loaded.progress.position) == (1, 5, 2)


def test_sheet_names_the_images_of_the_next_two_exams(world):
    assert load_sheet(world).upcoming_images == ((2, "pa"), (2, "lateral"), (3, "pa"), (3, "lateral"))
    assert load_sheet(world, question=6).upcoming_images == ()


def test_no_sheet_is_left_when_all_questions_are_judged(world):
    for number in world.questions:
        save_verdict(world, make_acceptance(world, question=number))
    assert load_sheet(world) is None


def test_judged_question_reopens_with_its_verdict(world):
    save_verdict(world, make_acceptance(world, question=1))
    assert load_sheet(world, question=1).last_verdict.decision is Decision.ACCEPT


def test_last_judged_question_is_found(world):
    with read_only_session(world.engine) as db:
        assert review.load_last_judged(db, person=world.people["ruth"], batch_id=world.batch.id) is None
    save_verdict(world, make_acceptance(world, question=2))
    save_verdict(world, make_acceptance(world, question=5, given_at=NOW.replace(hour=12)))
    with read_only_session(world.engine) as db:
        assert review.load_last_judged(db, person=world.people["ruth"], batch_id=world.batch.id) == 5


def test_last_ten_verdicts_are_the_current_verdicts_of_the_reviewer_in_this_batch(engine):
    world = make_world(engine, questions=13, assigned_to=["ruth", "remo"])
    assert load_sheet(world, 1).recent == ()
    for question in range(1, 13):
        at = NOW + timedelta(minutes=question)
        save_verdict(world, make_acceptance(world, question=question, given_at=at))
    save_verdict(world, make_acceptance(world, question=13, person="remo"), "remo")
    changed = make_rejection(world, question=4, revision=2, given_at=NOW + timedelta(minutes=20))
    save_verdict(world, changed)
    recent = load_sheet(world, 13).recent
    assert [verdict.question_row_id for verdict in recent] == [4, 12, 11, 10, 9, 8, 7, 6, 5, 3]
    assert [verdict.decision for verdict in recent] == [Decision.REJECT, *[Decision.ACCEPT] * 9]
    assert recent[0].given_at == NOW + timedelta(minutes=20)
    with unit_of_work(engine) as db:
        second_batch = make_batch(db, dataset_id=world.dataset_id, name="second", questions=[13])
        assign_all(db, batch=second_batch, questions=[13], person=world.people["ruth"])
    with read_only_session(engine) as db:
        page = review.load_page(db, person=world.people["ruth"], batch_id=second_batch.id, now=NOW)
    assert page.sheet.recent == ()
    assert [listed.seconds_median for listed in page.batches] == [30.0, None]


def test_withdrawn_questions_are_not_among_the_last_verdicts(world):
    for question in (1, 2):
        save_verdict(world, make_acceptance(world, question=question))
    with unit_of_work(world.engine) as db:
        key = {"batch_id": world.batch.id, "person_id": world.people["ruth"].id}
        set_state(db, **key, question_ids=[1], state=AssignmentState.WITHDRAWN, now=NOW)
    assert [verdict.question_row_id for verdict in load_sheet(world, 3).recent] == [2]


def test_question_of_another_reviewer_cannot_be_opened(world):
    with pytest.raises(NotFound, match="not assigned to Remo"):
        load_sheet(world, question=1, person="remo")


def test_coordinator_cannot_open_a_sheet(world):
    with pytest.raises(NotAllowed):
        load_sheet(world, person="cora")


def test_reviewer_sees_batches_with_progress_and_pace(world):
    for number, looking in ((1, 10.0), (2, 20.0), (3, 60.0)):
        save_verdict(world, make_acceptance(world, question=number, seconds_looking=looking))
    with unit_of_work(world.engine) as db:
        make_batch(db, dataset_id=world.dataset_id, name="not hers", questions=world.questions)
    with read_only_session(world.engine) as db:
        (overview,) = review.list_batches_for_reviewer(db, person=world.people["ruth"])
    assert (overview.batch.name, overview.progress.done, overview.progress.left) == ("first", 3, 3)
    assert overview.seconds_median == 20.0


# ---------------------------------------------------------------------------------------- radiograph files
def load_image(world: World, person, exam=1, radiograph="pa"):
    with read_only_session(world.engine) as db:
        return review.load_radiograph_file(
            db, person=world.people[person], exam_row_id=exam, radiograph_key=radiograph
        )


def test_reviewer_can_load_the_image_of_an_assigned_exam(world):
    assert load_image(world, "ruth").media_type == "application/dicom"


def test_reviewer_cannot_load_the_image_of_another_exam(world):
    with pytest.raises(NotAllowed, match="No question about exam 1"):
        load_image(world, "remo")


def test_reviewer_cannot_load_an_image_after_withdrawal(world):
    with unit_of_work(world.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW)
    with pytest.raises(NotAllowed):
        load_image(world, "ruth")


def test_only_a_coordinator_learns_that_an_exam_does_not_exist(world):
    with pytest.raises(NotAllowed):
        load_image(world, "ruth", exam=999)
    with pytest.raises(NotFound):
        load_image(world, "cora", exam=999)


def test_coordinator_can_load_every_image(world):
    assert len(load_image(world, "cora", radiograph="lateral").sha256) == 64


@pytest.mark.parametrize("person", ["rea", "ada", "rolf"])
def test_readers_admins_and_disabled_people_cannot_load_images(world, person):
    with pytest.raises(NotAllowed):
        load_image(world, person)
