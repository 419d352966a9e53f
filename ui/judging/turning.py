"""From one question to another: which one is asked for, and all that the form needs to show it.

Two ask: the review page, for a fresh window and at each of its runs, and the routes that save, whose answers
carry the question that comes next. Both get it from here, so that neither can show more than the other.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from sqlmodel import Session

from domain.people import Person
from review.service import batches_for, last_judged, next_open, open_sheet, veil
from review.sheet import BatchForReviewer
from ui.judging.sheet import sheet_data

#: "next": the open question behind the one left; "last": the one judged last; else a question's number.
Where = Literal["next", "last"] | int


def question_wanted(
    db: Session, *, person: Person, batch_id: int, where: Where | None, after: int | None
) -> int | None:
    """The number of the question asked for; None stands for the first open one. ``after`` is the one left."""
    if where == "last":
        return last_judged(db, person=person, batch_id=batch_id)
    if where == "next":
        return None if after is None else next_open(db, person=person, batch_id=batch_id, after=after)
    return where


def form_data(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None,
    turn: int = 0,
    batches: list[BatchForReviewer] | None = None,
    now: datetime,
) -> dict[str, Any] | None:
    """What the form shows of that question, or of the first open one; None when nothing is left open.

    ``question`` is its own number; what the form is told is the number that stands for it on the wire.
    ``batches`` are the person's, where they are at hand already; ``turn`` is that of ``sheet_data``.

    Raises:
        NotAllowed, NotFound: as ``review.service.open_sheet``.
    """
    sheet = open_sheet(db, person=person, batch_id=batch_id, question=question, now=now)
    if sheet is None:
        return None
    return sheet_data(
        sheet,
        veil=veil(db, batch_id=batch_id),
        person=person.id,
        batches=batches_for(db, person=person) if batches is None else batches,
        any_judged=last_judged(db, person=person, batch_id=batch_id) is not None,
        turn=turn,
    )
