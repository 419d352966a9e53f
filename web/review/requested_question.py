"""Resolves which question the review form requests, and collects the data to show it.

The review page uses this module at each script run, and the routes that save use it for the next question in
their responses. Both therefore show the same data.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlmodel import Session

from domain.people import Person
from review.service import ReviewPage, find_next_open, load_last_judged
from web.review.sheet import review_sheet_to_json

#: "next": the open question after the current one. "last": the question judged last. A number: the question
#: with this id.
QuestionTarget = Literal["next", "last"] | int


def resolve_question(
    db: Session, *, person: Person, batch_id: int, target: QuestionTarget | None, after: int | None
) -> int | None:
    """Return the id of the requested question. The result None stands for the first open question.

    ``after`` is the id of the question that the person leaves.
    """
    if target == "last":
        return load_last_judged(db, person=person, batch_id=batch_id)
    if target == "next":
        return None if after is None else find_next_open(db, person=person, batch_id=batch_id, after=after)
    return target


def review_page_to_json(page: ReviewPage, *, person: Person, request_number: int = 0) -> dict[str, Any]:
    """Return the form's data for a question; for ``request_number`` see :func:`review_sheet_to_json`."""
    return review_sheet_to_json(
        page.sheet,
        id_mask=page.id_mask,
        person=person.id,
        batches=page.batches,
        request_number=request_number,
    )
