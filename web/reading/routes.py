"""POST /reading/…: saves from the reading form, each in one transaction that no script run can interrupt.

The response states what was read back from the database after the commit, and contains the next case, so that
no reader waits for a script run of the page.
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
from storage.unit_of_work import reading, unit_of_work
from web.drawing.boxes import boxes_drawn
from web.forms.routes import sending_route
from web.reading import schemas
from web.reading.sheet import reading_data
from web.review.schemas import Objects, answer_of


def give_answer(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one answer. The same revision sent twice is stored once; a stale revision is refused."""
    form = schemas.form_from(plain, schemas.AnswerForm)
    boxes = _boxes(form, person, form.drawings, now)
    with unit_of_work() as db:
        studies.give_reading(
            db,
            person=person,
            study_id=form.study,
            position=form.position,
            revision=form.revision,
            said=studies.Said(
                answer=answer_of(form.answer),
                cannot_determine=form.cannot,
                faulty=form.faulty,
                confidence=form.confidence,
                boxes=boxes or (),
                seconds=form.seconds,
                seconds_looking=form.seconds_looking,
                seconds_away=form.seconds_away,
                image=form.image,
            ),
            now=now,
        )
    with reading() as db:
        saved = studies.reading_at(db, person=person, study_id=form.study, position=form.position)
    if saved is None:
        raise NotFound("The answer can't be read back. Nothing is lost in this window; try again.")
    return {
        "revision": saved.revision,
        "at": saved.read_at,
        "sheet": _sheet_after(form, person, now),
    }


def keep_draft(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the current input; boxes are stored in pixels of the matrix."""
    form = schemas.form_from(plain, schemas.DraftForm)
    boxes = _boxes(form, person, form.body.drawings, now)
    with unit_of_work() as db:
        revision = studies.keep_reading_draft(
            db,
            person=person,
            study_id=form.study,
            position=form.position,
            revision=form.revision,
            body=schemas.plain_entry(form.body, boxes=None if boxes is None else boxes_to_plain(boxes)),
            now=now,
        )
    return {"revision": revision, "at": now}


def record_time(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the time spent on the case so far."""
    form = schemas.form_from(plain, schemas.TimeForm)
    with unit_of_work() as db:
        studies.record_reading_time(
            db,
            person=person,
            study_id=form.study,
            position=form.position,
            seconds=form.seconds,
            seconds_looking=form.seconds_looking,
            seconds_away=form.seconds_away,
            now=now,
        )
    return {"at": now}


def turn(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Load another case; None if there is none now. The page states the reason."""
    form = schemas.form_from(plain, schemas.TurnForm)
    with reading() as db:
        found = studies.open_case(db, person=person, study_id=form.study, position=form.to, now=now)
    return {"sheet": reading_data(found, person=person.id) if isinstance(found, ReadingSheet) else None}


def _sheet_after(form: schemas.AnswerForm, person: Person, now: datetime) -> dict[str, Any] | None:
    """A training case again, now with its feedback; otherwise the next case."""
    try:
        with reading() as db:
            here = studies.is_training(db, person=person, study_id=form.study, position=form.position)
            found = studies.open_case(
                db, person=person, study_id=form.study, position=form.position if here else None, now=now
            )
    except DomainError:
        return None  # the answer is saved; the page's next run shows the problem
    return reading_data(found, person=person.id) if isinstance(found, ReadingSheet) else None


def _boxes(
    form: schemas.CaseForm, person: Person, drawings: dict[str, Objects] | None, now: datetime
) -> tuple[LabelledBox, ...] | None:
    """The drawn boxes in pixels of the matrix; None if nothing was drawn."""
    if drawings is None:
        return None
    with reading() as db:
        found = studies.open_case(db, person=person, study_id=form.study, position=form.position, now=now)
    if not isinstance(found, ReadingSheet):
        return None
    return boxes_drawn(drawings, exam=found.exam, machine=())


ROUTES = [
    sending_route("/reading/answer", give_answer),
    sending_route("/reading/draft", keep_draft),
    sending_route("/reading/time", record_time),
    sending_route("/reading/turn", turn),
]
