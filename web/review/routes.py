"""POST /judging/…: what the judging form saves, each in one transaction that no script run can cut off.

An answer says what was read back from the database after the commit; the form shows "saved" by it. Where
the form goes on from there, the answer carries what it shows next (``sheet``; None where nothing is left
open), so that nobody waits for a run of the page's script.
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

#: How long a save waits for other writers: less than the form waits for its answer (10 s), so that it says
#: why, and nothing is saved behind the reviewer's back. What the form sends again by itself waits less.
_PATIENCE_MS, _SOON_MS = 8_000, 2_000

F = TypeVar("F", bound=schemas.Form)


def save_verdict(plain: object, person: Person, now: datetime) -> dict[str, Any]:
    """One verdict: the same revision sent twice is stored once, a stale one refused with both named.

    The verdict, and what the form shows next, take one transaction. Where the batch has a shared queue, the
    next question is claimed in a transaction of its own: two people who each wait for the other's question
    would wait for ever.
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
    """What is typed, ticked and drawn, as it changes; boxes are kept in pixels of the matrix."""
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
    """The reviewer's own answer; the key may be fetched from now on."""
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
    """Put the question aside, with the reason."""
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
    """Time on the question so far."""
    form = _form(plain, schemas.LookForm)
    with unit_of_work(patience_ms=_SOON_MS) as db:
        # Refused where it was taken back: the form takes its pictures away.
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
    """Fix the rating of image alignment; the report itself comes with the sheet from now on."""
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
    """Another question: the next open one, the one judged last, or one by its number."""
    form = _form(plain, schemas.TurnForm)
    return {"sheet": _sheet_after(form, person, now, to=form.to)}


def _form(plain: object, kind: type[F]) -> F:
    """What the form sends, with the questions' own numbers instead of those that stand for them."""
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
    """What the form shows next; None where there is nothing, or no more than the page can say of it."""
    try:
        if to == "next":
            claim(person, form.batch, after=form.question, now=now)
        with reading() as db:
            question = question_wanted(db, person=person, batch_id=form.batch, where=to, after=form.question)
            page = review.open_page(db, person=person, batch_id=form.batch, question=question, now=now)
            return None if page is None else form_data(page, person=person)
    except DomainError:
        return None  # what was saved is saved; the page's own run says what is the matter with the next one


def _page_after(
    db: Session, held: review.HeldQuestion, person: Person, now: datetime
) -> dict[str, Any] | None:
    """What the form shows behind a question that was judged; None as for ``_sheet_after``."""
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
