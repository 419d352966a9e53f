"""Review: one question at a time, with the data that the reviewer may see."""

from __future__ import annotations

import streamlit as st

from domain.batches import BatchState
from domain.errors import DomainError
from domain.people import Action
from review.service import list_batches_for_reviewer, load_id_mask, load_page
from review.sheet import BatchListItem
from ui import state
from ui.address import parse_id
from ui.context import clock, read_only_session, require_page
from ui.forms.preferences import add_preferences
from ui.forms.review import mount_review_form
from ui.review_page.address import BATCH_PARAMETER, QUESTION_PARAMETER, go_to_question
from ui.review_page.no_question import show_all_claimed, show_completed, show_other_batches
from ui.review_page.return_question import show_return_button
from ui.widgets import escape_markdown, page_fragment, show_empty_state
from web.review.claims import claim_question
from web.review.guideline import replace_images_by_links
from web.review.requested_question import QuestionTarget, resolve_question, review_page_to_json


@page_fragment
def main() -> None:
    """Show the form with its data. The form saves through its own routes, not through this page."""
    person = require_page(Action.JUDGE)  # checked again at each run of the fragment
    with read_only_session() as db:
        batches = list_batches_for_reviewer(db, person=person)
    if not batches:
        show_empty_state(
            "No questions are assigned to you yet",
            "Questions that a coordinator assigns to you appear here.",
        )
        return
    own_batch = _choose_batch(batches)
    question = _unmask_question(own_batch.batch.id, parse_id(st.query_params.get(QUESTION_PARAMETER)))
    next_claim = None
    try:
        if question is None:
            next_claim = claim_question(person, own_batch.batch.id, after=None, now=clock())
        with read_only_session() as db:
            page = load_page(db, person=person, batch_id=own_batch.batch.id, question=question, now=clock())
    except DomainError as error:
        st.warning(escape_markdown(str(error)))
        if own_batch.is_locked:
            show_other_batches(own_batch, batches)
            return
        st.button(
            "Continue with the next question",
            key="judging-go-on",
            on_click=go_to_question,
            args=(own_batch.batch.id, None),
        )
        return
    if page is None:
        if next_claim is not None and next_claim.free_at is not None:
            show_all_claimed(own_batch, next_claim.free_at)
        else:
            show_completed(person, own_batch, batches)
        return
    data = review_page_to_json(page, person=person, request_number=state.get_review_request_number())
    go_to_question(data["batch"], data["question"])
    if mount_review_form(add_preferences(data, person), on_navigate=_handle_navigation):
        _show_guideline(own_batch.batch.name, own_batch.batch.settings.guideline)
    show_return_button(person, data["batch"], data["question"])


def _handle_navigation() -> None:
    """Handle the form's request for another question, or its message about which question it shows."""
    request = state.get_review_request()
    person = require_page(Action.JUDGE)
    batch_id, request_number = (
        parse_id(request.get("batch", request.get("from"))),
        parse_id(request.get("number")),
    )
    if batch_id is None or request_number is None:
        return
    state.set_review_request_number(request_number)
    requested_target = request.get("target")
    target: QuestionTarget | None
    match requested_target:
        case "next" | "last":
            target = requested_target
        case _:
            target = _unmask_question(batch_id, parse_id(requested_target))
    after = _unmask_question(batch_id, parse_id(request.get("after")))
    if target == "next":
        claim_question(person, batch_id, after=after, now=clock())
    with read_only_session() as db:
        question = resolve_question(db, person=person, batch_id=batch_id, target=target, after=after)
        masked_id = question and load_id_mask(db, batch_id=batch_id).mask(question)
    go_to_question(batch_id, masked_id)


def _choose_batch(batches: list[BatchListItem]) -> BatchListItem:
    """Return the batch in the URL; otherwise the first open, unlocked batch with questions left.

    If there is none, return the first open batch, or else the first batch.
    """
    requested_id = parse_id(st.query_params.get(BATCH_PARAMETER))
    batches_by_id = {own_batch.batch.id: own_batch for own_batch in batches}
    if requested_id in batches_by_id:
        return batches_by_id[requested_id]
    open_batches = [own_batch for own_batch in batches if own_batch.batch.state is BatchState.OPEN]
    return next(
        (own_batch for own_batch in open_batches if own_batch.progress.left and not own_batch.is_locked),
        next(iter(open_batches), batches[0]),
    )


def _show_guideline(batch: str, text: str) -> None:
    @st.dialog(f"Guideline of {batch}", width="large")
    def show_dialog() -> None:
        st.markdown(replace_images_by_links(text))

    show_dialog()


def _unmask_question(batch_id: int, masked_id: int | None) -> int | None:
    """Return the question id for a masked id from the URL or the form."""
    if masked_id is None:
        return None
    with read_only_session() as db:
        return load_id_mask(db, batch_id=batch_id).unmask(masked_id)


require_page(Action.JUDGE)
main()
