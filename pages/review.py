"""The review page: one question at a time, on the sheet that the database provides for the reviewer."""

from __future__ import annotations

import streamlit as st

from domain.batches import BatchState
from domain.errors import DomainError
from domain.people import Action
from review.service import batches_for, open_page, veil
from review.sheet import BatchForReviewer
from ui import state
from ui.address import number_in
from ui.context import clock, reading, require_page
from ui.forms.review import judging_form
from ui.parts import empty_state, plain, screen
from ui.review_page.address import BATCH, QUESTION, go_to_question
from ui.review_page.no_question import all_with_others, nothing_open
from ui.review_page.return_question import hand_back_button
from web.review.claims import claim
from web.review.guideline import without_images
from web.review.requested_question import Where, form_data, question_wanted


@screen
def judging() -> None:
    """The form with its data. It saves by its own routes, not through this page."""
    person = require_page(Action.JUDGE)  # checked again at each run of the fragment
    with reading() as db:
        batches = batches_for(db, person=person)
    if not batches:
        empty_state(
            "Nothing is assigned to you yet",
            "A coordinator assigns you questions of a batch. They appear here; there is nothing to set up.",
        )
        return
    chosen = _chosen_batch(batches)
    question = _meant(chosen.batch.id, number_in(st.query_params.get(QUESTION)))
    claimed = None
    try:
        if question is None:
            claimed = claim(person, chosen.batch.id, after=None, now=clock())
        with reading() as db:
            page = open_page(db, person=person, batch_id=chosen.batch.id, question=question, now=clock())
    except DomainError as error:
        st.warning(plain(str(error)))
        st.button(
            "Go on with the next question",
            key="judging-go-on",
            on_click=go_to_question,
            args=(chosen.batch.id, None),
        )
        return
    if page is None:
        if claimed is not None and claimed.free_at is not None:
            all_with_others(chosen, claimed.free_at)
        else:
            nothing_open(person, chosen, batches)
        return
    data = form_data(page, person=person, turn=state.judging_turn())
    go_to_question(data["batch"], data["question"])
    if judging_form(data, on_go=_went):
        _guideline(chosen.batch.name, chosen.batch.settings.guideline)
    hand_back_button(person, data["batch"], data["question"])


def _went() -> None:
    """Called if the form requests another question, or reports which question it already shows."""
    asked = state.judging_request()
    person = require_page(Action.JUDGE)
    batch_id, turn = number_in(asked.get("batch", asked.get("from"))), number_in(asked.get("turn"))
    if batch_id is None or turn is None:
        return
    state.set_judging_turn(turn)
    asked_for = asked.get("to")
    where: Where | None
    match asked_for:
        case "next" | "last":
            where = asked_for
        case _:
            where = _meant(batch_id, number_in(asked_for))
    after = _meant(batch_id, number_in(asked.get("after")))
    if where == "next":
        claim(person, batch_id, after=after, now=clock())
    with reading() as db:
        question = question_wanted(db, person=person, batch_id=batch_id, where=where, after=after)
        shown = question and veil(db, batch_id=batch_id).shown(question)
    go_to_question(batch_id, shown)


def _chosen_batch(batches: list[BatchForReviewer]) -> BatchForReviewer:
    """The batch in the URL; otherwise the first open one with questions left.

    If there is none either: the first open batch, or the first of all.
    """
    asked = number_in(st.query_params.get(BATCH))
    by_id = {each.batch.id: each for each in batches}
    if asked in by_id:
        return by_id[asked]
    is_open = [each for each in batches if each.batch.state is BatchState.OPEN]
    return next((each for each in is_open if each.place.left), next(iter(is_open), batches[0]))


def _guideline(batch: str, text: str) -> None:
    @st.dialog(f"Guideline of {batch}", width="large")
    def show() -> None:
        st.markdown(without_images(text))

    show()


def _meant(batch_id: int, shown: int | None) -> int | None:
    """The real number for a question number of the URL or of the form."""
    if shown is None:
        return None
    with reading() as db:
        return veil(db, batch_id=batch_id).meant(shown)


require_page(Action.JUDGE)
judging()
