"""Navigation in the review form: resolves which question is requested, and collects the data to show it.

Two callers use this module: the review page, for a new window and at each of its script runs, and the routes
that save, whose responses contain the next question. Both therefore show the same data.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlmodel import Session

from domain.people import Person
from review.service import ReviewPage, find_next_open, load_last_judged
from web.review.sheet import review_sheet_to_json

#: "next": the open question after the current one; "last": the one judged last; otherwise a question's
#: number.
QuestionTarget = Literal["next", "last"] | int


def resolve_question(
    db: Session, *, person: Person, batch_id: int, target: QuestionTarget | None, after: int | None
) -> int | None:
    """The number of the requested question; None stands for the first open one.

    ``after`` is the question that the person leaves.
    """
    if target == "last":
        return load_last_judged(db, person=person, batch_id=batch_id)
    if target == "next":
        return None if after is None else find_next_open(db, person=person, batch_id=batch_id, after=after)
    return target


def review_page_to_json(page: ReviewPage, *, person: Person, turn: int = 0) -> dict[str, Any]:
    """The form's data for a question; for ``turn`` see ``sheet_data``."""
    return review_sheet_to_json(
        page.sheet,
        id_mask=page.id_mask,
        person=person.id,
        batches=page.batches,
        any_judged=page.any_judged,
        turn=turn,
    )
