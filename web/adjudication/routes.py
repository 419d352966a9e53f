"""POST /settling/…: saves adjudications, each in one transaction that no script run can interrupt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.adjudications import Adjudication
from domain.corrections import Correction
from domain.errors import NotFound
from domain.people import Person
from domain.verdicts import Decision
from review import service as review
from review.combining import OWN, combined
from storage.unit_of_work import reading, unit_of_work
from web.adjudication import schemas
from web.adjudication.sheet import dispute_data
from web.drawing.boxes import boxes_drawn
from web.forms.routes import sending_route


def settle(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one adjudication. The same revision sent twice is stored once; a stale revision is refused."""
    form = schemas.form_from(plain, schemas.AdjudicationForm)
    with reading() as db:
        sheet = review.open_dispute(db, person=person, batch_id=form.batch, question_number=form.question)
    decision, correction = Decision.REJECT, Correction()
    follows: tuple[int, ...] = ()
    if form.decision == "reject":
        follows = tuple(each.person_id for each in sheet.verdicts if each.decision is Decision.REJECT)
    else:
        own = schemas.own_values(form.own, sheet.question)
        if form.picks.get("boxes") == OWN:
            own["boxes"] = boxes_drawn(form.drawings or {}, exam=sheet.exam, machine=sheet.question.boxes)
        correction, follows = combined(sheet.question, sheet.verdicts, form.picks, own)
        decision = Decision.ACCEPT if correction.is_empty() else Decision.REVISE
    adjudication = Adjudication(
        batch_id=form.batch,
        question_id=form.question,
        revision=form.revision,
        person_id=person.id,
        decision=decision,
        correction=correction,
        follows=follows,
        reason=form.reason,
        given_at=now,
        image=form.image,
    )
    with unit_of_work() as db:
        review.adjudicate(db, person=person, adjudication=adjudication)
    with reading() as db:
        saved = review.open_dispute(
            db, person=person, batch_id=form.batch, question_number=form.question
        ).settled
    if saved is None or saved.revision < form.revision:
        raise NotFound("The settlement can't be read back. Nothing is lost in this window; try again.")
    return {"revision": saved.revision, "at": saved.given_at, "sheet": next_dispute(person, form.batch)}


def turn(plain: object, person: Person, now: datetime) -> dict[str, Any]:  # noqa: ARG001 - shared signature
    """Load another dispute; None if no dispute is open."""
    form = schemas.form_from(plain, schemas.TurnForm)
    return {"sheet": next_dispute(person, form.batch, question=form.to)}


def next_dispute(person: Person, batch_id: int, *, question: int | None = None) -> dict[str, Any] | None:
    """The form's data of that dispute, or of the batch's first open one; None if there is none."""
    with reading() as db:
        listed = review.disputed(db, person=person, batch_id=batch_id)
        if question is None:
            question = next((each.question_number for each in listed if each.settled is None), None)
        if question is None:
            return None
        sheet = review.open_dispute(db, person=person, batch_id=batch_id, question_number=question)
    return dispute_data(sheet, person=person.id, listed=listed)


ROUTES = [
    sending_route("/settling/adjudication", settle),
    sending_route("/settling/turn", turn),
]
