"""POST /judging/…: saves from the review form, each in one transaction that no script run can interrupt.

The response states what was read back from the database after the commit; the form shows "Saved" on that
basis. If the form moves on, the response contains the next question (``sheet``; None if no question is open),
so that nobody waits for a script run of the page.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

import msgspec
from sqlmodel import Session

from domain.errors import DomainError, NotFound
from domain.people import Person
from records.values import boxes_to_plain
from review import service as review
from review.sheet import ReviewSheet
from storage.unit_of_work import reading, unit_of_work
from web.drawing.boxes import boxes_drawn, corrected_boxes
from web.forms.routes import sending_route
from web.review import schemas
from web.review.claims import claim
from web.review.requested_question import Where, form_data, question_wanted

#: Milliseconds that a save waits for other writers: less than the form waits for the response (10 s), so that
#: the form can show the reason, and nothing is saved after the form has given up. Requests that the form
#: repeats by itself wait less.
_PATIENCE_MS, _SOON_MS = 8_000, 2_000

F = TypeVar("F", bound=schemas.Form)


def save_verdict(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one verdict. The same revision sent twice is stored once; a stale revision is refused.

    The refusal names both revisions. The verdict, and the data of the next question, take one transaction. If
    the batch has a shared queue, the next question is claimed in a separate transaction: otherwise two people
    who each wait for the other's question would deadlock.
    """
    form = schemas.form_from(plain, schemas.VerdictForm)
    shown: dict[str, Any] | None = None
    with unit_of_work(patience_ms=_PATIENCE_MS) as db:
        held, asked = review.open_to_judge(
            db, person=person, batch_id=form.batch, shown=form.question, now=now
        )
        form = msgspec.structs.replace(form, question=held.assigned.question_number)
        machine = asked.question.boxes if asked.question is not None else ()
        boxes = corrected_boxes(form.drawings, exam=asked.exam, machine=machine)
        verdict = schemas.verdict_of(form, person=person, boxes=boxes, now=now)
        saved = review.give_verdict(db, verdict=verdict, person=person, held=held, asked=asked)
        if held.queue is None:
            shown = _page_after(db, held, person, now)
    if held.queue is not None:
        shown = _sheet_after(form, person, now, to="next")
    return {"revision": saved.revision, "decision": saved.decision, "at": saved.given_at, "sheet": shown}


def keep_draft(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the current input: text, ratings and boxes. Boxes are stored in pixels of the matrix."""
    form = _form(plain, schemas.DraftForm)
    with unit_of_work(patience_ms=_SOON_MS) as db:
        body: object = form.body
        if form.part == "boxes":
            drawings = schemas.form_from(form.body, schemas.DrawingsForm).drawings
            exam, machine = review.drawn_on(db, person=person, batch_id=form.batch, question=form.question)
            body = boxes_to_plain(boxes_drawn(drawings, exam=exam, machine=machine))
        revision = review.keep_draft(
            db,
            person=person,
            batch_id=form.batch,
            question_number=form.question,
            part=form.part,
            revision=form.revision,
            body=body,
            now=now,
        )
    return {"revision": revision, "at": now}


def commit_own_answer(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the reviewer's own answer; from now on the key may be loaded."""
    form = _form(plain, schemas.OwnAnswerForm)
    with unit_of_work(patience_ms=_PATIENCE_MS) as db:
        review.commit_own_answer(
            db,
            person=person,
            batch_id=form.batch,
            question_number=form.question,
            answer=schemas.answer_of(form.answer),
            confidence=form.confidence,
            image=form.image,
            now=now,
        )
    with reading() as db:
        saved = _sheet(db, form, person, now).own_answer
    if saved is None:
        raise NotFound("The answer can't be read back. Nothing is lost in this window; try again.")
    return {"at": saved.committed_at, "sheet": _sheet_after(form, person, now, to=form.question)}


def skip(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Skip the question, with a reason."""
    form = _form(plain, schemas.SkipForm)
    with unit_of_work(patience_ms=_PATIENCE_MS) as db:
        review.skip_question(
            db,
            person=person,
            batch_id=form.batch,
            question_number=form.question,
            reason=form.reason,
            now=now,
        )
    return {"at": now, "sheet": _sheet_after(form, person, now, to="next")}


def look(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the time spent on the question so far."""
    form = _form(plain, schemas.LookForm)
    with unit_of_work(patience_ms=_SOON_MS) as db:
        # Refused if the question was unassigned; the form then removes its images.
        review.check_theirs(db, person=person, batch_id=form.batch, question=form.question)
        review.record_look(
            db,
            person=person,
            batch_id=form.batch,
            question_number=form.question,
            seconds=form.seconds,
            seconds_looking=form.seconds_looking,
            seconds_away=form.seconds_away,
            now=now,
        )
    return {"at": now}


def open_report(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Fix the rating of image alignment; from now on the sheet contains the report."""
    form = _form(plain, schemas.ReportForm)
    with unit_of_work(patience_ms=_PATIENCE_MS) as db:
        review.open_report(
            db,
            person=person,
            batch_id=form.batch,
            question_number=form.question,
            image_alignment=form.image_alignment,
            image=form.image,
            now=now,
        )
    return {"at": now, "sheet": _sheet_after(form, person, now, to=form.question)}


def turn(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """Load another question: the next open one, the one judged last, or one by its number."""
    form = _form(plain, schemas.TurnForm)
    return {"sheet": _sheet_after(form, person, now, to=form.to)}


def _form(plain: object, kind: type[F]) -> F:
    """Parse the request, and replace masked question numbers by the real ones."""
    form = schemas.form_from(plain, kind)
    with reading() as db:
        veil = review.veil(db, batch_id=form.batch)
    if veil.secret is None:
        return form
    meant: dict[str, Any] = {"question": veil.meant(form.question)}
    if isinstance(form, schemas.TurnForm) and isinstance(form.to, int):
        meant["to"] = veil.meant(form.to)
    return msgspec.structs.replace(form, **meant)


def _sheet(db: Session, form: schemas.Form, person: Person, now: datetime) -> ReviewSheet:
    sheet = review.open_sheet(db, person=person, batch_id=form.batch, question=form.question, now=now)
    if sheet is None:
        raise NotFound("The question is not there any more. Open the batch again.")
    return sheet


def _sheet_after(form: schemas.Form, person: Person, now: datetime, *, to: Where) -> dict[str, Any] | None:
    """The data of the next question; None if there is none, or if an error prevents it from being shown."""
    try:
        if to == "next":
            claim(person, form.batch, after=form.question, now=now)
        with reading() as db:
            question = question_wanted(db, person=person, batch_id=form.batch, where=to, after=form.question)
            page = review.open_page(db, person=person, batch_id=form.batch, question=question, now=now)
            return None if page is None else form_data(page, person=person)
    except DomainError:
        return None  # the input is saved; the page's next run shows the problem


def _page_after(
    db: Session, held: review.HeldQuestion, person: Person, now: datetime
) -> dict[str, Any] | None:
    """The data of the question after a judged one; None as for ``_sheet_after``."""
    try:
        page = review.page_after(db, person=person, place=held.place, left=held.assigned, now=now)
    except DomainError:
        return None
    return None if page is None else form_data(page, person=person)


ROUTES = [
    sending_route("/judging/verdict", save_verdict),
    sending_route("/judging/draft", keep_draft),
    sending_route("/judging/own-answer", commit_own_answer),
    sending_route("/judging/skip", skip),
    sending_route("/judging/look", look),
    sending_route("/judging/report", open_report),
    sending_route("/judging/turn", turn),
]
