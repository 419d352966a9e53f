"""POST /review/…: saves the input of the review form.

Each save is one transaction that no script run can interrupt. The response contains the values that were read
back from the database after the commit, and the form shows "Saved" only after that. If the form moves on,
the response contains the next question (``next``; None if no question is open), so that nobody waits for a
script run of the page.
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
from storage.unit_of_work import read_only_session, unit_of_work
from web.drawing.boxes import parse_corrected_boxes, parse_drawn_boxes
from web.forms.routes import form_route
from web.review import schemas
from web.review.claims import claim_question
from web.review.comments import comments_to_json
from web.review.requested_question import QuestionTarget, resolve_question, review_page_to_json

#: Milliseconds that a save waits for other writers. The form waits longer for the response (10 s). It can
#: therefore show the reason for a failure, and nothing is saved after the form has given up. Requests that
#: the form repeats automatically have the shorter limit.
_SAVE_LOCK_TIMEOUT_MS, _DRAFT_LOCK_TIMEOUT_MS = 8_000, 2_000

F = TypeVar("F", bound=schemas.QuestionRequest)


def save_verdict(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save one verdict. A revision that is sent twice is stored once; a stale revision is refused.

    The error message states both revisions. One transaction saves the verdict and loads the next question. If
    the batch has a shared queue, the next question is claimed in a separate transaction: otherwise two people
    who each wait for the other's question would deadlock. In a practice set the response has the same
    question, with feedback.
    """
    request = schemas.parse_request(payload, schemas.VerdictRequest)
    next_sheet: dict[str, Any] | None = None
    with unit_of_work(lock_timeout_ms=_SAVE_LOCK_TIMEOUT_MS) as db:
        locked_question, loaded_question = review.lock_for_verdict(
            db, person=person, batch_id=request.batch, masked_id=request.question, now=now
        )
        request = msgspec.structs.replace(request, question=locked_question.assignment.question_row_id)
        machine_boxes = loaded_question.question.boxes if loaded_question.question is not None else ()
        boxes = parse_corrected_boxes(request.drawings, exam=loaded_question.exam, machine=machine_boxes)
        verdict = schemas.build_verdict(request, person=person, boxes=boxes, now=now)
        saved = review.save_verdict(
            db, verdict=verdict, person=person, locked=locked_question, loaded_question=loaded_question
        )
        is_practice = locked_question.reviewer_batch.is_practice
        if locked_question.queue is None and not is_practice:
            next_sheet = _load_page_after(db, locked_question, person, now)
    if is_practice:  # the form shows the same question again, with the known answer
        next_sheet = _load_next_sheet(request, person, now, target=request.question)
    if locked_question.queue is not None:
        next_sheet = _load_next_sheet(request, person, now, target="next")
    return {"revision": saved.revision, "decision": saved.decision, "at": saved.given_at, "next": next_sheet}


def save_draft(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the current input: text, ratings and boxes. Boxes are stored in pixels of the image matrix."""
    request = _parse_request(payload, schemas.DraftRequest)
    with unit_of_work(lock_timeout_ms=_DRAFT_LOCK_TIMEOUT_MS) as db:
        body: object = schemas.draft_to_stored(request.body)
        if request.part == "boxes":
            drawings = schemas.parse_request(request.body, schemas.DrawingsBody).drawings
            exam, machine_boxes = review.load_exam_for_drawing(
                db, person=person, batch_id=request.batch, question=request.question
            )
            body = boxes_to_plain(parse_drawn_boxes(drawings, exam=exam, machine=machine_boxes))
        revision = review.save_draft(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            part=request.part,
            revision=request.revision,
            body=body,
            now=now,
        )
    return {"revision": revision, "at": now}


def save_own_answer(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the reviewer's own answer. The answer key may be loaded afterwards."""
    request = _parse_request(payload, schemas.OwnAnswerRequest)
    with unit_of_work(lock_timeout_ms=_SAVE_LOCK_TIMEOUT_MS) as db:
        review.save_own_answer(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            answer=schemas.parse_answer(request.answer),
            confidence=request.confidence,
            image=request.image_display,
            now=now,
        )
    with read_only_session() as db:
        saved = _open_sheet(db, request, person, now).own_answer
    if saved is None:
        raise NotFound("The answer could not be confirmed. Your input is still in this window; try again.")
    return {
        "at": saved.committed_at,
        "next": _load_next_sheet(request, person, now, target=request.question),
    }


def save_skip(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Skip the question, with a reason."""
    request = _parse_request(payload, schemas.SkipRequest)
    with unit_of_work(lock_timeout_ms=_SAVE_LOCK_TIMEOUT_MS) as db:
        review.skip_question(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            reason=request.reason,
            now=now,
        )
    return {"at": now, "next": _load_next_sheet(request, person, now, target="next")}


def save_viewing_times(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Save the time spent on the question so far."""
    request = _parse_request(payload, schemas.ViewingTimesRequest)
    with unit_of_work(lock_timeout_ms=_DRAFT_LOCK_TIMEOUT_MS) as db:
        # This fails if the question was unassigned; the form then removes its images.
        review.check_question_access(db, person=person, batch_id=request.batch, question=request.question)
        review.record_viewing_times(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            seconds=request.seconds,
            seconds_looking=request.seconds_looking,
            seconds_away=request.seconds_away,
            now=now,
        )
    return {"at": now}


def save_report_opening(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Open the report. The rating of image alignment can then no longer be changed."""
    request = _parse_request(payload, schemas.ReportRequest)
    with unit_of_work(lock_timeout_ms=_SAVE_LOCK_TIMEOUT_MS) as db:
        review.open_report(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            image_alignment=request.image_alignment,
            image=request.image_display,
            now=now,
        )
    return {"at": now, "next": _load_next_sheet(request, person, now, target=request.question)}


def save_comment(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Append a comment to the reviewer's thread on the question."""
    request = _parse_request(payload, schemas.CommentRequest)
    with unit_of_work(lock_timeout_ms=_SAVE_LOCK_TIMEOUT_MS) as db:
        thread = review.write_comment(
            db,
            person=person,
            batch_id=request.batch,
            question_row_id=request.question,
            text=request.text,
            now=now,
        )
    return {"comments": comments_to_json(thread)}


def load_comments(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Load the reviewer's thread on the question, and mark it as read."""
    request = _parse_request(payload, schemas.CommentsRequest)
    thread_id = {"batch_id": request.batch, "question_row_id": request.question}
    with unit_of_work(lock_timeout_ms=_DRAFT_LOCK_TIMEOUT_MS) as db:
        thread = review.load_own_comments(db, person=person, **thread_id)
        review.mark_comments_read(db, person=person, **thread_id, now=now)
    return {"comments": comments_to_json(thread)}


def load_question(payload: object, person: Person, now: datetime) -> dict[str, Any]:
    """Load another question: the next open question, the question judged last, or a question by its id."""
    request = _parse_request(payload, schemas.NavigationRequest)
    return {"next": _load_next_sheet(request, person, now, target=request.target)}


def _parse_request(payload: object, schema: type[F]) -> F:
    """Parse the request, and replace masked question ids by the real ids."""
    request = schemas.parse_request(payload, schema)
    with read_only_session() as db:
        id_mask = review.load_id_mask(db, batch_id=request.batch)
    if id_mask.secret is None:
        return request
    real_ids: dict[str, Any] = {"question": id_mask.unmask(request.question)}
    if isinstance(request, schemas.NavigationRequest) and isinstance(request.target, int):
        real_ids["target"] = id_mask.unmask(request.target)
    return msgspec.structs.replace(request, **real_ids)


def _open_sheet(db: Session, request: schemas.QuestionRequest, person: Person, now: datetime) -> ReviewSheet:
    sheet = review.load_sheet(db, person=person, batch_id=request.batch, question=request.question, now=now)
    if sheet is None:
        raise NotFound("The question no longer exists. Open the batch again.")
    return sheet


def _load_next_sheet(
    request: schemas.QuestionRequest, person: Person, now: datetime, *, target: QuestionTarget
) -> dict[str, Any] | None:
    """Return the data of the target question; None if there is none, or if loading it failed."""
    try:
        if target == "next":
            claim_question(person, request.batch, after=request.question, now=now)
        with read_only_session() as db:
            question = resolve_question(
                db, person=person, batch_id=request.batch, target=target, after=request.question
            )
            page = review.load_page(db, person=person, batch_id=request.batch, question=question, now=now)
            return None if page is None else review_page_to_json(page, person=person)
    except DomainError:
        return None  # the input is saved; the page's next run shows the problem


def _load_page_after(
    db: Session, locked_question: review.LockedQuestion, person: Person, now: datetime
) -> dict[str, Any] | None:
    """Return the data of the question after the judged one; None as in ``_load_next_sheet``."""
    try:
        page = review.load_page_after(
            db,
            person=person,
            reviewer_batch=locked_question.reviewer_batch,
            left_question=locked_question.assignment,
            now=now,
        )
    except DomainError:
        return None
    return None if page is None else review_page_to_json(page, person=person)


ROUTES = [
    form_route("/review/verdict", save_verdict),
    form_route("/review/draft", save_draft),
    form_route("/review/own-answer", save_own_answer),
    form_route("/review/skip", save_skip),
    form_route("/review/viewing-times", save_viewing_times),
    form_route("/review/report", save_report_opening),
    form_route("/review/question", load_question),
    form_route("/review/comment", save_comment),
    form_route("/review/comments", load_comments),
]
