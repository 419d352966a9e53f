"""POST /adjudication/…: saves adjudications, each in one transaction that no script run can interrupt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.adjudications import Adjudication
from domain.corrections import Correction
from domain.errors import NotFound
from domain.people import Person
from domain.verdicts import Decision
from review import service as review
from review.correction_choices import OWN_VALUE, combine_value_sources
from storage.unit_of_work import read_only_session, unit_of_work
from web.adjudication import schemas
from web.adjudication.sheet import dispute_to_json
from web.drawing.boxes import parse_drawn_boxes
from web.forms.routes import form_route


def save_adjudication(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one adjudication. A revision that is sent twice is stored once; a stale revision is refused."""
    request = schemas.parse_request(payload, schemas.AdjudicationRequest)
    with read_only_session() as db:
        sheet = review.open_dispute(
            db, person=person, batch_id=request.batch, question_row_id=request.question
        )
    decision, correction = Decision.REJECT, Correction()
    follows: tuple[int, ...] = ()
    if request.decision == "reject":
        follows = tuple(
            verdict.person_id for verdict in sheet.verdicts if verdict.decision is Decision.REJECT
        )
    else:
        own_values = schemas.parse_own_values(request.own, sheet.question)
        if request.value_sources.get("boxes") == OWN_VALUE:
            own_values["boxes"] = parse_drawn_boxes(
                request.drawings or {}, exam=sheet.exam, machine=sheet.question.boxes
            )
        correction, follows = combine_value_sources(
            sheet.question, sheet.verdicts, request.value_sources, own_values
        )
        decision = Decision.ACCEPT if correction.is_empty() else Decision.REVISE
    adjudication = Adjudication(
        batch_id=request.batch,
        question_row_id=request.question,
        revision=request.revision,
        person_id=person.id,
        decision=decision,
        correction=correction,
        follows=follows,
        reason=request.reason,
        given_at=now,
        image=request.image_display,
    )
    with unit_of_work() as db:
        review.adjudicate(db, person=person, adjudication=adjudication, report_ids=request.reports)
    with read_only_session() as db:
        saved = review.open_dispute(
            db, person=person, batch_id=request.batch, question_row_id=request.question
        ).adjudication
    if saved is None or saved.revision < request.revision:
        raise NotFound("The decision could not be confirmed. Your input is still in this window; try again.")
    return {
        "revision": saved.revision,
        "at": saved.given_at,
        "next": load_next_dispute(person, request.batch),
    }


def load_dispute(payload: object, person: Person, now: datetime) -> dict[str, Any]:  # noqa: ARG001 - shared signature
    """Return the data of another dispute; ``next`` is None if no dispute is open."""
    request = schemas.parse_request(payload, schemas.DisputeRequest)
    return {"next": load_next_dispute(person, request.batch, question=request.question)}


def load_next_dispute(person: Person, batch_id: int, *, question: int | None = None) -> dict[str, Any] | None:
    """Return the form's data of a dispute, by default of the first open dispute; None if none is open."""
    with read_only_session() as db:
        disputes = review.list_disputes(db, person=person, batch_id=batch_id)
        if question is None:
            question = next((dispute.question_row_id for dispute in disputes if dispute.is_open), None)
        if question is None:
            return None
        sheet = review.open_dispute(db, person=person, batch_id=batch_id, question_row_id=question)
    return dispute_to_json(sheet, person=person.id, disputes=disputes)


ROUTES = [
    form_route("/adjudication/decision", save_adjudication),
    form_route("/adjudication/dispute", load_dispute),
]
