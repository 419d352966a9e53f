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
from storage.rows import PersonRoleRow, PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import accept, give, reject
from tests.storage.made_releases import create_release
from tests.storage.worlds import NOW, World, make_world

KEY_C = Correction(answer=(2,))


def revise(world: World, question: int, person: str, correction: Correction):
    return accept(
        world, question=question, person=person, decision=Decision.REVISE, correction=correction,
        errors=frozenset({ErrorKind.WRONG_KEY}),
    )  # fmt: skip


def box(x: float, label: str = "Nodule") -> LabelledBox:
    return LabelledBox(radiograph="pa", label=label, box=Box(x_min=x, y_min=100, x_max=x + 100, y_max=200))


@pytest.fixture
def world(engine) -> World:
    """Two judge: 1 alike, 2 decision, 3 key, 4 boxes apart, 5 boxes close, 6 wording; only one judges 7."""
    world = make_world(engine, assigned_to=("ruth", "remo"))
    for person in ("ruth", "remo"):
        give(world, accept(world, question=1, person=person), person)
    give(world, accept(world, question=2))
    give(world, reject(world, question=2, person="remo"), "remo")
    give(world, accept(world, question=3))
    give(world, revise(world, 3, "remo", KEY_C), "remo")
    for question, apart in ((4, 300.0), (5, 10.0)):
        give(world, revise(world, question, "ruth", Correction(boxes=(box(500),))))
        give(world, revise(world, question, "remo", Correction(boxes=(box(500 + apart),))), "remo")
    give(world, revise(world, 6, "ruth", Correction(stem="Which one?")))
    give(world, revise(world, 6, "remo", Correction(stem="What one?")), "remo")
    give(world, accept(world, question=7))
    return world


@pytest.fixture
def anna(world) -> Person:
    """A person who judged nothing, named as the batch's adjudicator."""
    with unit_of_work(world.engine) as db:
        row = PersonRow(name="anna", display_name="Anna", created_at=NOW)
        db.add(row)
        db.flush()
        db.add(PersonRoleRow(person_id=row.id, role="reviewer"))
        number = row.id
    with unit_of_work(world.engine) as db:
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=AdjudicationRules(adjudicators=("anna",)),
            revision=0, now=NOW,
        )  # fmt: skip
        return load_person(db, person_id=number)


def settle(world: World, person: Person, question: int, **changes) -> Adjudication:
    given = {
        "revision": 1, "decision": Decision.ACCEPT, "reason": "It is plain to see.",
        "given_at": NOW + timedelta(hours=1), **changes,
    }  # fmt: skip
    with unit_of_work(world.engine) as db:
        return review.adjudicate(
            db,
            person=person,
            adjudication=Adjudication(
                batch_id=world.batch.id, question_id=question, person_id=person.id, **given
            ),
        )


def disputes(world: World, person: Person) -> dict[int, set[Dispute]]:
    with read_only_session(world.engine) as db:
        return {
            each.question_number: set(each.kinds)
            for each in review.list_disputes(db, person=person, batch_id=world.batch.id)
        }


def test_what_is_disputed_is_found_and_named(world, anna):
    assert disputes(world, anna) == {
        2: {Dispute.DECISION}, 3: {Dispute.KEY}, 4: {Dispute.BOXES}, 6: {Dispute.WORDING},
    }  # fmt: skip


def test_a_settled_question_stays_in_the_list_though_everybody_accepts_it(world, anna):
    settle(world, anna, 1)
    assert disputes(world, anna)[1] == set()


def test_a_stricter_overlap_makes_close_boxes_a_dispute(world, anna):
    with unit_of_work(world.engine) as db:
        rules = AdjudicationRules(adjudicators=("anna",), same_box_iou=0.95)
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=rules, revision=1, now=NOW
        )
    assert disputes(world, anna)[5] == {Dispute.BOXES}


def test_names_are_hidden_by_the_rules_and_both_sides_are_there(world, anna):
    with read_only_session(world.engine) as db:
        sheet = review.open_dispute(db, person=anna, batch_id=world.batch.id, question_number=3)
    assert sheet.reviewer_names == ("Reviewer A", "Reviewer B")
    (difference,) = sheet.differences
    assert (difference.field, difference.imported_value, difference.reviewer_values) == (
        "answer",
        (1,),
        ((1,), (2,)),
    )


def test_who_judged_the_question_or_was_not_named_settles_nothing(world, anna):
    with pytest.raises(NotAllowed, match="is not an adjudicator"):
        settle(world, world.people["ruth"], 2)
    with unit_of_work(world.engine) as db:
        rules = AdjudicationRules(adjudicators=("anna", "ruth"))
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=rules, revision=1, now=NOW
        )
    with pytest.raises(NotAllowed, match="judged this question"):
        settle(world, world.people["ruth"], 2)


def test_a_question_that_one_person_judged_is_not_settled(world, anna):
    with pytest.raises(Refused, match="there is no dispute"):
        settle(world, anna, 7)


def test_the_same_settlement_twice_is_one_and_another_is_stale(world, anna):
    first = settle(world, anna, 2)
    assert settle(world, anna, 2, given_at=NOW + timedelta(hours=2)) == first
    with pytest.raises(StaleRevision, match="adjudicated in the meantime"):
        settle(world, anna, 2, decision=Decision.REJECT)
    again = settle(world, anna, 2, decision=Decision.REJECT, revision=2)
    assert again.revision == 2


def test_a_reason_is_required_and_following_means_saying_the_same(world, anna):
    with pytest.raises(InvalidValue, match="give a reason"):
        settle(world, anna, 2, reason=" ")
    remo = world.people["remo"].id
    with pytest.raises(InvalidValue, match="whose verdict differs"):
        settle(world, anna, 3, follows=(remo,))
    settle(world, anna, 3, follows=(remo,), decision=Decision.REVISE, correction=KEY_C)


def test_several_answers_may_stand(world, anna, tmp_path):
    either = Correction(answer=(0,), also_right=((2,),))
    settle(world, anna, 3, decision=Decision.REVISE, correction=either)
    gold = released(world, tmp_path)
    assert (gold["Q3"]["answer"], gold["Q3"]["also_right"]) == ([0], [[2]])


def released(world: World, tmp_path) -> dict[str, dict]:
    import json

    with unit_of_work(world.engine) as db:
        create_release(
            db, by=world.people["cora"], dataset="demo", name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), now=NOW,
        )  # fmt: skip
    lines = (tmp_path / "v1" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def test_a_release_has_the_settled_form_and_leaves_open_disputes_out(world, anna, tmp_path):
    settle(world, anna, 2, decision=Decision.REJECT)
    settle(world, anna, 4, decision=Decision.REVISE, correction=Correction(boxes=(box(600),)))
    gold = released(world, tmp_path)
    assert sorted(gold) == ["Q1", "Q4", "Q5", "Q7"]
    assert gold["Q4"]["boxes"][0]["box"] == [600, 100, 700, 200]
    assert gold["Q5"]["boxes"][0]["box"] == [500, 100, 600, 200]  # overlap suffices: the first reviewer's
    corrections = (tmp_path / "v1" / "corrections.jsonl").read_text(encoding="utf-8")
    assert '"who":"anna"' in corrections
    left_out = (tmp_path / "v1" / "left_out.jsonl").read_text(encoding="utf-8")
    assert "rejected by the adjudicator" in left_out


def test_a_settlement_without_the_radiograph_needs_the_confirmation_and_is_exported_with_it(
    world, anna, tmp_path
):
    correction = Correction(boxes=(box(600),))
    with pytest.raises(Refused, match="The radiograph was not displayed"):
        settle(world, anna, 4, decision=Decision.REVISE, correction=correction, image=ImageDisplay.NOT_DRAWN)
    settle(world, anna, 4, decision=Decision.REVISE, correction=correction, image=ImageDisplay.CONFIRMED)
    released(world, tmp_path)
    lines = (tmp_path / "v1" / "corrections.jsonl").read_text(encoding="utf-8").splitlines()
    of_four = [line for line in lines if '"question_id":"Q4"' in line]
    assert of_four
    assert all('"image":"not drawn, confirmed"' in line for line in of_four)
    assert not any('"image"' in line for line in lines if line not in of_four)  # not recorded for the others


def test_rules_that_somebody_changed_meanwhile_are_refused_with_both(world, anna):
    with unit_of_work(world.engine) as db, pytest.raises(StaleRevision, match=r"Saved: anna.*Yours: nobody"):
        review.change_adjudication_rules(
            db, by=world.people["cora"], batch="first", rules=AdjudicationRules(), revision=0, now=NOW
        )


def test_an_adjudicator_may_see_the_exams_of_the_batch(world, anna):
    with read_only_session(world.engine) as db:
        assert review.load_radiograph_file(db, person=anna, exam_number=1, radiograph_key="pa")
        with pytest.raises(NotAllowed):
            review.load_radiograph_file(db, person=replace(anna, id=99), exam_number=1, radiograph_key="pa")
