"""Navigation in the review form: resolves which question is requested, and collects the data to show it.

Two callers use this module: the review page, for a new window and at each of its script runs, and the routes
that save, whose responses contain the next question. Both therefore show the same data.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlmodel import Session

from domain.people import Person
from review.service import ReviewPage, last_judged, next_open
from web.review.sheet import sheet_data

#: "next": the open question after the current one; "last": the one judged last; otherwise a question's
#: number.
Where = Literal["next", "last"] | int


def question_wanted(
    db: Session, *, person: Person, batch_id: int, where: Where | None, after: int | None
) -> int | None:
    """The number of the requested question; None stands for the first open one.

    ``after`` is the question that the person leaves.
    """
    if where == "last":
        return last_judged(db, person=person, batch_id=batch_id)
    if where == "next":
        return None if after is None else next_open(db, person=person, batch_id=batch_id, after=after)
    return where


def form_data(page: ReviewPage, *, person: Person, turn: int = 0) -> dict[str, Any]:
    """The form's data for a question; for ``turn`` see ``sheet_data``."""
    return sheet_data(
        page.sheet,
        veil=page.veil,
        person=person.id,
        batches=page.batches,
        any_judged=page.any_judged,
        turn=turn,
    )
