"""Disputes: detection, adjudication by a further person, and their effect on releases and histories."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from domain.adjudications import Adjudication, AdjudicationRules, Dispute
from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.errors import InvalidValue, NotAllowed, Refused, StaleRevision
from domain.image_display import ImageDisplay
from domain.people import Person
from domain.verdicts import Decision, ErrorKind
from review import service as review
from storage.accounts.people import load_person
from storage.rows.people import PersonRoleRow, PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW, World, make_world

KEY_C = Correction(answer=(2,))


def make_revision(world: World, question: int, person: str, correction: Correction):
    return make_acceptance(
        world, question=question, person=person, decision=Decision.REVISE, correction=correction,
        errors=frozenset({ErrorKind.WRONG_KEY}),
    )  # fmt: skip


def make_box(x: float, label: str = "Nodule") -> LabelledBox:
    return LabelledBox(radiograph="pa", label=label, box=Box(x_min=x, y_min=100, x_max=x + 100, y_max=200))


@pytest.fixture
def world(engine) -> World:
    """Ruth and Remo agree on question 1, and only Ruth judges question 7.

    They differ on 2 (decision), 3 (key), 4 (boxes far apart), 5 (boxes close together) and 6 (wording).
    """
    world = make_world(engine, assigned_to=("ruth", "remo"))
    for person in ("ruth", "remo"):
        save_verdict(world, make_acceptance(world, question=1, person=person), person)
    save_verdict(world, make_acceptance(world, question=2))
    save_verdict(world, make_rejection(world, question=2, person="remo"), "remo")
    save_verdict(world, make_acceptance(world, question=3))
    save_verdict(world, make_revision(world, 3, "remo", KEY_C), "remo")
    for question, distance in ((4, 300.0), (5, 10.0)):
        save_verdict(world, make_revision(world, question, "ruth", Correction(boxes=(make_box(500),))))
        save_verdict(
            world,
            make_revision(world, question, "remo", Correction(boxes=(make_box(500 + distance),))),
            "remo",
        )
    save_verdict(world, make_revision(world, 6, "ruth", Correction(stem="Which one?")))
    save_verdict(world, make_revision(world, 6, "remo", Correction(stem="What one?")), "remo")
    save_verdict(world, make_acceptance(world, question=7))
    return world


@pytest.fixture
def anna(world) -> Person:
    """A person who judged nothing, named as the batch's adjudicator."""
    with unit_of_work(world.engine) as db:
        row = PersonRow(name="anna", display_name="Anna", created_at=NOW)
        db.add(row)
        db.flush()
        db.add(PersonRoleRow(person_id=row.id, role="reviewer"))
        person_id = row.id
    with unit_of_work(world.engine) as db:
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=AdjudicationRules(adjudicators=("anna",)),
            revision=0, now=NOW,
        )  # fmt: skip
        return load_person(db, person_id=person_id)


def adjudicate(world: World, person: Person, question: int, **changes) -> Adjudication:
    fields = {
        "revision": 1, "decision": Decision.ACCEPT, "reason": "It is plain to see.",
        "given_at": NOW + timedelta(hours=1), **changes,
    }  # fmt: skip
    with unit_of_work(world.engine) as db:
        return review.adjudicate(
            db,
            person=person,
            adjudication=Adjudication(
                batch_id=world.batch.id, question_row_id=question, person_id=person.id, **fields
            ),
        )


def list_disputes(world: World, person: Person) -> dict[int, set[Dispute]]:
    with read_only_session(world.engine) as db:
        return {
            dispute.question_row_id: set(dispute.kinds)
            for dispute in review.list_disputes(db, person=person, batch_id=world.batch.id)
        }


def test_disputes_are_listed_with_their_kinds(world, anna):
    assert list_disputes(world, anna) == {
        2: {Dispute.DECISION}, 3: {Dispute.KEY}, 4: {Dispute.BOXES}, 6: {Dispute.WORDING},
    }  # fmt: skip


def test_adjudicated_question_stays_listed_when_all_accept_it(world, anna):
    adjudicate(world, anna, 1)
    assert list_disputes(world, anna)[1] == set()


def test_stricter_overlap_makes_close_boxes_a_dispute(world, anna):
    with unit_of_work(world.engine) as db:
        rules = AdjudicationRules(adjudicators=("anna",), same_box_iou=0.95)
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=rules, revision=1, now=NOW
        )
    assert list_disputes(world, anna)[5] == {Dispute.BOXES}


def test_dispute_hides_names_and_shows_both_values(world, anna):
    with read_only_session(world.engine) as db:
        sheet = review.open_dispute(db, person=anna, batch_id=world.batch.id, question_row_id=3)
    assert sheet.reviewer_names == ("Reviewer A", "Reviewer B")
    (difference,) = sheet.differences
    assert (difference.field, difference.imported_value, difference.reviewer_values) == (
        "answer",
        (1,),
        ((1,), (2,)),
    )


def test_only_named_adjudicators_without_own_verdict_may_adjudicate(world, anna):
    with pytest.raises(NotAllowed, match="is not an adjudicator"):
        adjudicate(world, world.people["ruth"], 2)
    with unit_of_work(world.engine) as db:
        rules = AdjudicationRules(adjudicators=("anna", "ruth"))
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=rules, revision=1, now=NOW
        )
    with pytest.raises(NotAllowed, match="judged this question"):
        adjudicate(world, world.people["ruth"], 2)


def test_question_with_one_verdict_cannot_be_adjudicated(world, anna):
    with pytest.raises(Refused, match="there is no dispute"):
        adjudicate(world, anna, 7)


def test_repeated_adjudication_is_saved_once_and_a_different_one_is_refused_as_stale(world, anna):
    first = adjudicate(world, anna, 2)
    assert adjudicate(world, anna, 2, given_at=NOW + timedelta(hours=2)) == first
    with pytest.raises(StaleRevision, match="adjudicated in the meantime"):
        adjudicate(world, anna, 2, decision=Decision.REJECT)
    revised = adjudicate(world, anna, 2, decision=Decision.REJECT, revision=2)
    assert revised.revision == 2


def test_adjudication_needs_a_reason_and_must_match_the_adopted_verdict(world, anna):
    with pytest.raises(InvalidValue, match="give a reason"):
        adjudicate(world, anna, 2, reason=" ")
    remo = world.people["remo"].id
    with pytest.raises(InvalidValue, match="whose verdict differs"):
        adjudicate(world, anna, 3, follows=(remo,))
    adjudicate(world, anna, 3, follows=(remo,), decision=Decision.REVISE, correction=KEY_C)


def test_adjudication_may_accept_several_answers(world, anna, tmp_path):
    correction = Correction(answer=(0,), also_right=((2,),))
    adjudicate(world, anna, 3, decision=Decision.REVISE, correction=correction)
    gold = load_released_records(world, tmp_path)
    assert (gold["Q3"]["answer"], gold["Q3"]["also_right"]) == ([0], [[2]])


def load_released_records(world: World, tmp_path) -> dict[str, dict]:
    import json

    with unit_of_work(world.engine) as db:
        create_release(
            db, by=world.people["cora"], dataset="demo", name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), now=NOW,
        )  # fmt: skip
    lines = (tmp_path / "v1" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def test_release_has_adjudicated_questions_and_no_open_disputes(world, anna, tmp_path):
    adjudicate(world, anna, 2, decision=Decision.REJECT)
    adjudicate(world, anna, 4, decision=Decision.REVISE, correction=Correction(boxes=(make_box(600),)))
    gold = load_released_records(world, tmp_path)
    assert sorted(gold) == ["Q1", "Q4", "Q5", "Q7"]
    assert gold["Q4"]["boxes"][0]["box"] == [600, 100, 700, 200]
    assert gold["Q5"]["boxes"][0]["box"] == [
        500,
        100,
        600,
        200,
    ]  # the boxes overlap enough to count as equal, so the box of the first is released
    corrections = (tmp_path / "v1" / "corrections.jsonl").read_text(encoding="utf-8")
    assert '"who":"anna"' in corrections
    excluded = (tmp_path / "v1" / "left_out.jsonl").read_text(encoding="utf-8")
    assert "rejected by the adjudicator" in excluded


def test_adjudication_without_a_drawn_radiograph_needs_a_confirmation_and_exports_it(world, anna, tmp_path):
    correction = Correction(boxes=(make_box(600),))
    with pytest.raises(Refused, match="The radiograph was not displayed"):
        adjudicate(
            world, anna, 4, decision=Decision.REVISE, correction=correction, image=ImageDisplay.NOT_DRAWN
        )
    adjudicate(world, anna, 4, decision=Decision.REVISE, correction=correction, image=ImageDisplay.CONFIRMED)
    load_released_records(world, tmp_path)
    lines = (tmp_path / "v1" / "corrections.jsonl").read_text(encoding="utf-8").splitlines()
    q4_lines = [line for line in lines if '"question_id":"Q4"' in line]
    assert q4_lines
    assert all('"image":"not drawn, confirmed"' in line for line in q4_lines)
    # It is not recorded for the other questions.
    assert not any('"image"' in line for line in lines if line not in q4_lines)


def test_stale_adjudication_rules_are_refused_with_a_message_that_shows_both(world, anna):
    with (
        unit_of_work(world.engine) as db,
        pytest.raises(StaleRevision, match=r"Saved rules: anna.*Your rules: nobody"),
    ):
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=AdjudicationRules(), revision=0, now=NOW
        )


def test_an_adjudicator_may_see_the_exams_of_the_batch(world, anna):
    with read_only_session(world.engine) as db:
        assert review.load_radiograph_file(db, person=anna, exam_row_id=1, radiograph_key="pa")
        with pytest.raises(NotAllowed):
            review.load_radiograph_file(db, person=replace(anna, id=99), exam_row_id=1, radiograph_key="pa")
