"""POST /reading/…: saves the input of the reading form.

Each save is one transaction that no script run can interrupt. The response contains the values that were read
back from the database after the commit, and the next case, so that no reader waits for a script run of the
page.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.boxes import LabelledBox
from domain.errors import DomainError, NotFound
from domain.people import Person
from reader_study import service as studies
from reader_study.sheet import ReadingSheet
from records.values import boxes_to_plain
from storage.unit_of_work import read_only_session, unit_of_work
from web.drawing.boxes import parse_drawn_boxes
from web.forms.routes import form_route
from web.reading import schemas
from web.reading.sheet import reading_sheet_to_json
from web.review.schemas import CanvasObjects, parse_answer


def save_answer(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one answer. A revision that is sent twice is stored once; a stale revision is refused."""
    request = schemas.parse_request(payload, schemas.AnswerRequest)
    boxes = _parse_boxes(request, person, request.drawings, now)
    with unit_of_work() as db:
        studies.submit_reading(
            db,
            person=person,
            study_id=request.study,
            position=request.position,
            revision=request.revision,
            submitted=studies.SubmittedAnswer(
                answer=parse_answer(request.answer),
                cannot_determine=request.cannot_determine,
                faulty=request.fault_description,
                confidence=request.confidence,
                boxes=boxes or (),
                seconds=request.seconds,
                seconds_looking=request.seconds_looking,
                seconds_away=request.seconds_away,
                image=request.image_display,
            ),
            now=now,
        )
    with read_only_session() as db:
        saved = studies.load_reading_at(db, person=person, study_id=request.study, position=request.position)
    if saved is None:
        raise NotFound("The answer could not be confirmed. Your input is still in this window; try again.")
    return {
        "revision": saved.revision,
        "at": saved.read_at,
        "next": _load_next_sheet(request, person, now),
    }


def save_draft(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the current input. Boxes are stored in pixels of the image matrix."""
    request = schemas.parse_request(payload, schemas.DraftRequest)
    boxes = _parse_boxes(request, person, request.body.drawings, now)
    with unit_of_work() as db:
        revision = studies.save_reading_draft(
            db,
            person=person,
            study_id=request.study,
            position=request.position,
            revision=request.revision,
            body=schemas.entry_to_json(request.body, boxes=None if boxes is None else boxes_to_plain(boxes)),
            now=now,
        )
    return {"revision": revision, "at": now}


def save_viewing_times(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the time spent on the case so far."""
    request = schemas.parse_request(payload, schemas.ViewingTimesRequest)
    with unit_of_work() as db:
        studies.record_reading_time(
            db,
            person=person,
            study_id=request.study,
            position=request.position,
            seconds=request.seconds,
            seconds_looking=request.seconds_looking,
            seconds_away=request.seconds_away,
            now=now,
        )
    return {"at": now}


def load_case(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Load another case; None if no case is available. The page then states the reason."""
    request = schemas.parse_request(payload, schemas.NavigationRequest)
    with read_only_session() as db:
        case_or_stop = studies.open_case(
            db, person=person, study_id=request.study, position=request.position, now=now
        )
    return {
        "next": reading_sheet_to_json(case_or_stop, person=person.id)
        if isinstance(case_or_stop, ReadingSheet)
        else None
    }


def _load_next_sheet(request: schemas.AnswerRequest, person: Person, now: datetime) -> dict[str, Any] | None:
    """Return the same case with its feedback if it is a training case, otherwise the next case."""
    try:
        with read_only_session() as db:
            is_training = studies.is_training_case(
                db, person=person, study_id=request.study, position=request.position
            )
            case_or_stop = studies.open_case(
                db,
                person=person,
                study_id=request.study,
                position=request.position if is_training else None,
                now=now,
            )
    except DomainError:
        return None  # the answer is saved; the page's next run shows the problem
    return (
        reading_sheet_to_json(case_or_stop, person=person.id)
        if isinstance(case_or_stop, ReadingSheet)
        else None
    )


def _parse_boxes(
    request: schemas.CaseRequest, person: Person, drawings: dict[str, CanvasObjects] | None, now: datetime
) -> tuple[LabelledBox, ...] | None:
    """Return the drawn boxes in pixels of the image matrix; None if nothing was drawn."""
    if drawings is None:
        return None
    with read_only_session() as db:
        case_or_stop = studies.open_case(
            db, person=person, study_id=request.study, position=request.position, now=now
        )
    if not isinstance(case_or_stop, ReadingSheet):
        return None
    return parse_drawn_boxes(drawings, exam=case_or_stop.exam, machine=())


ROUTES = [
    form_route("/reading/answer", save_answer),
    form_route("/reading/draft", save_draft),
    form_route("/reading/viewing-times", save_viewing_times),
    form_route("/reading/case", load_case),
]
