"""The review sheet: what is loaded, what is not, and the order through the batch. Both databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event

from domain.batches import BatchSettings, Mode
from domain.errors import NotAllowed, NotFound
from domain.verdicts import Decision
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give
from tests.storage.worlds import NOW, SECRETS, World, make_batch, make_world

ANSWER_FIRST = BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
GIVES_AWAY = re.compile(
    r"question\.(answer|also_right|explanation|boxes|difficulty|category|subcategory|task|content_type)\b"
    r"|exam\.report\b"
)


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """Every SQL statement that is sent while the block runs."""
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest):
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def sheet(world: World, question=None, person="ruth"):
    with unit_of_work(world.engine) as db:
        return review.load_sheet(
            db, person=world.people[person], batch_id=world.batch.id, question=question, now=NOW
        )


def commit(world: World, question=1):
    with unit_of_work(world.engine) as db:
        review.save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=question,
            answer=(0,),
            confidence=2,
            now=NOW,
        )


# ------------------------------------------------------------------------------------------------ blinding
def test_a_blinded_sheet_selects_no_column_that_gives_the_answer_away(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    with statements(engine) as seen:
        assert sheet(world).blind
    assert [each for each in seen if GIVES_AWAY.search(each)] == []
    assert any("question.stem" in each for each in seen)  # shows that the search does cover what was sent


def test_a_blinded_sheet_holds_none_of_the_planted_secrets(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    found = sheet(world)
    assert found.question is None
    assert [secret for secret in SECRETS.values() if secret in repr(found)] == []


def test_after_the_own_answer_key_explanation_and_boxes_are_there_and_the_report_is_not(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    commit(world)
    found = sheet(world)
    assert (found.blind, found.question.answer, found.question.explanation) == (
        False,
        (1,),
        SECRETS["explanation"],
    )
    assert found.question.boxes[0].label == SECRETS["label"]
    assert SECRETS["report"] not in repr(found)


def test_the_report_is_not_selected_before_it_is_opened(engine):
    world = make_world(engine, settings=BatchSettings(show_report=True), assigned_to=["ruth"])
    with statements(engine) as seen:
        assert sheet(world).report is None
    assert [each for each in seen if "exam.report" in each] == []


def test_an_own_answer_to_one_question_opens_no_other(engine):
    world = make_world(engine, settings=ANSWER_FIRST, assigned_to=["ruth"])
    commit(world, question=1)
    assert sheet(world, question=2).blind


# -------------------------------------------------------------------------------- the order through the batch
@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, questions=6, assigned_to=["ruth"])


def test_the_first_open_question_comes_first_with_what_belongs_to_it(world):
    found = sheet(world)
    assert (found.question_number, found.exam.id, found.exam.age) == (1, "E1", "061Y")
    assert [each.id for each in found.exam.radiographs] == ["pa", "lateral"]
    assert (found.previous, found.next) == (None, 2)
    assert (found.progress.position, found.progress.left, found.progress.total) == (1, 6, 6)


def test_after_a_verdict_the_next_open_one_comes_and_the_way_back_is_there(world):
    give(world, accept(world, question=1))
    found = sheet(world)
    assert (found.question_number, found.previous, found.next) == (2, 1, 3)
    assert (found.progress.done, found.progress.left, found.progress.position) == (1, 5, 2)


def test_the_images_of_the_two_next_exams_are_named(world):
    assert sheet(world).upcoming_images == ((2, "pa"), (2, "lateral"), (3, "pa"), (3, "lateral"))
    assert sheet(world, question=6).upcoming_images == ()


def test_nothing_is_left_when_all_are_judged(world):
    for number in world.questions:
        give(world, accept(world, question=number))
    assert sheet(world) is None


def test_a_judged_question_opens_again_with_its_verdict(world):
    give(world, accept(world, question=1))
    assert sheet(world, question=1).last_verdict.decision is Decision.ACCEPT


def test_z_finds_the_question_judged_last(world):
    with read_only_session(world.engine) as db:
        assert review.load_last_judged(db, person=world.people["ruth"], batch_id=world.batch.id) is None
    give(world, accept(world, question=2))
    give(world, accept(world, question=5, given_at=NOW.replace(hour=12)))
    with read_only_session(world.engine) as db:
        assert review.load_last_judged(db, person=world.people["ruth"], batch_id=world.batch.id) == 5


def test_the_key_never_went_out_for_somebody_elses_question(world):
    with pytest.raises(NotFound, match="not assigned to Remo"):
        sheet(world, question=1, person="remo")


def test_a_coordinator_opens_no_sheet(world):
    with pytest.raises(NotAllowed):
        sheet(world, person="cora")


def test_a_reviewers_list_has_the_batches_with_place_and_pace(world):
    for number, looking in ((1, 10.0), (2, 20.0), (3, 60.0)):
        give(world, accept(world, question=number, seconds_looking=looking))
    with unit_of_work(world.engine) as db:
        make_batch(db, dataset_id=world.dataset_id, name="not hers", questions=world.questions)
    with read_only_session(world.engine) as db:
        (listed,) = review.list_batches_for_reviewer(db, person=world.people["ruth"])
    assert (listed.batch.name, listed.progress.done, listed.progress.left) == ("first", 3, 3)
    assert listed.seconds_median == 20.0


# ---------------------------------------------------------------------------------------- radiograph files
def image(world: World, person, exam=1, radiograph="pa"):
    with read_only_session(world.engine) as db:
        return review.load_radiograph_file(
            db, person=world.people[person], exam_number=exam, radiograph_key=radiograph
        )


def test_a_reviewer_gets_the_image_of_an_assigned_exam(world):
    assert image(world, "ruth").media_type == "application/dicom"


def test_a_reviewer_gets_no_image_of_another_exam(world):
    with pytest.raises(NotAllowed, match="No question about exam 1"):
        image(world, "remo")


def test_a_reviewer_gets_no_image_once_all_questions_on_it_are_taken_back(world):
    with unit_of_work(world.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW)
    with pytest.raises(NotAllowed):
        image(world, "ruth")


def test_only_a_coordinator_is_told_that_an_exam_is_not_there(world):
    with pytest.raises(NotAllowed):
        image(world, "ruth", exam=999)
    with pytest.raises(NotFound):
        image(world, "cora", exam=999)


def test_a_coordinator_gets_every_image(world):
    assert len(image(world, "cora", radiograph="lateral").sha256) == 64


@pytest.mark.parametrize("person", ["rea", "ada", "rolf"])
def test_readers_admins_and_disabled_people_get_none(world, person):
    with pytest.raises(NotAllowed):
        image(world, person)
