"""From one question to another: which one is asked for, and all that the form needs to show it.

Two ask: the review page, for a fresh window and at each of its runs, and the routes that save, whose answers
carry the question that comes next. Both get it from here, so that neither can show more than the other.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlmodel import Session

from domain.people import Person
from review.service import ReviewPage, last_judged, next_open
from web.review.sheet import sheet_data

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


def form_data(page: ReviewPage, *, person: Person, turn: int = 0) -> dict[str, Any]:
    """What the form shows of a question; ``turn`` is that of ``sheet_data``."""
    return sheet_data(
        page.sheet,
        veil=page.veil,
        person=person.id,
        batches=page.batches,
        any_judged=page.any_judged,
        turn=turn,
    )
