"""The review page: one question at a time, judged on the sheet that the database gives out for it."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from domain.batches import BatchState
from domain.errors import DomainError
from domain.people import Action, Person
from review.service import batches_for, hand_back, last_judged, may_hand_back, skipped_questions, veil
from review.sheet import BatchForReviewer
from ui import state
from ui.context import clock, clock_time, reading, require_page, unit_of_work
from ui.door.requests import LARGEST_NUMBER
from ui.judging.claiming import claim
from ui.judging.component import judging_form
from ui.judging.guideline import without_images
from ui.judging.turning import Where, form_data, question_wanted
from ui.parts import act, empty_state, notices, plain, screen

BATCH, QUESTION = "batch", "question"


@screen
def judging() -> None:
    """The form with all that it needs. What it saves does not pass here: it goes by routes of its own."""
    person = require_page(Action.JUDGE)  # asked again at each run of the fragment
    with reading() as db:
        batches = batches_for(db, person=person)
    if not batches:
        empty_state(
            "Nothing is assigned to you yet",
            "A coordinator assigns you questions of a batch. They appear here; there is nothing to set up.",
        )
        return
    chosen = _chosen_batch(batches)
    question = _meant(chosen.batch.id, _number(st.query_params.get(QUESTION)))
    claimed = None
    try:
        if question is None:
            claimed = claim(person, chosen.batch.id, after=None, now=clock())
        with reading() as db:
            data = form_data(
                db,
                person=person,
                batch_id=chosen.batch.id,
                question=question,
                turn=state.judging_turn(),
                batches=batches,
                now=clock(),
            )
    except DomainError as error:
        st.warning(plain(str(error)))
        st.button(
            "Go on with the next question", key="judging-go-on", on_click=_to, args=(chosen.batch.id, None)
        )
        return
    if data is None:
        if claimed is not None and claimed.free_at is not None:
            _all_with_others(chosen, claimed.free_at)
        else:
            _nothing_open(person, chosen, batches)
        return
    _to(data["batch"], data["question"])
    if judging_form(data, on_go=_went):
        _guideline(chosen.batch.name, chosen.batch.settings.guideline)
    _hand_back_button(person, data["batch"], data["question"])


def _hand_back_button(person: Person, batch_id: int, question: int) -> None:
    """For a question of a shared queue: give it to somebody else, without a reason."""
    notices("hand-back")
    with reading() as db:
        number = veil(db, batch_id=batch_id).meant(question)
        held = may_hand_back(db, person=person, batch_id=batch_id, question_number=number)
    if held:
        st.button(
            "Hand this question back",
            key=f"hand-back-{batch_id}-{question}",
            on_click=act,
            args=(_hand_back, batch_id, question),
            kwargs={"place": "hand-back"},
            help="Somebody else gets it. What you entered is kept, should it come back to you.",
        )


def _hand_back(batch_id: int, question: int) -> str:
    person = require_page(Action.JUDGE)
    with unit_of_work() as db:
        number = veil(db, batch_id=batch_id).meant(question)
        hand_back(db, person=person, batch_id=batch_id, question_number=number, now=clock())
    _to(batch_id, None)
    return f"Question {question} is handed back."


def _all_with_others(chosen: BatchForReviewer, free_at: datetime) -> None:
    """Nothing is free for the moment, but not all is judged."""
    with st.container(border=True):
        st.markdown(f"**{plain(chosen.batch.name)}: all that is left is with others at the moment.**")
        st.markdown(
            f"You have judged {chosen.place.done:,}. What somebody does not finish comes back to whoever is "
            f"free, the first of it by {clock_time(free_at)}."
        )
        st.button(
            "Look again", key=f"look-again-{chosen.batch.id}", on_click=_to, args=(chosen.batch.id, None)
        )


def _went() -> None:
    """The form asks for another question, or says which one it has turned to by itself."""
    asked = state.judging_request()
    person = require_page(Action.JUDGE)
    batch_id, turn = _number(asked.get("batch", asked.get("from"))), _number(asked.get("turn"))
    if batch_id is None or turn is None:
        return
    state.set_judging_turn(turn)
    asked_for = asked.get("to")
    by_number = asked_for not in ("next", "last")
    where: Where | None = _meant(batch_id, _number(asked_for)) if by_number else asked_for
    after = _meant(batch_id, _number(asked.get("after")))
    if where == "next":
        claim(person, batch_id, after=after, now=clock())
    with reading() as db:
        question = question_wanted(db, person=person, batch_id=batch_id, where=where, after=after)
        shown = question and veil(db, batch_id=batch_id).shown(question)
    _to(batch_id, shown)


def _to(batch_id: int, question: int | None) -> None:
    """The address says where one is, so F5 comes back to the same question."""
    wanted = {BATCH: str(batch_id)} | ({} if question is None else {QUESTION: str(question)})
    st.query_params.from_dict(wanted)


def _chosen_batch(batches: list[BatchForReviewer]) -> BatchForReviewer:
    """The one of the address; else the first open one with something left, else the first."""
    asked = _number(st.query_params.get(BATCH))
    by_id = {each.batch.id: each for each in batches}
    if asked in by_id:
        return by_id[asked]
    is_open = [each for each in batches if each.batch.state is BatchState.OPEN]
    return next((each for each in is_open if each.place.left), next(iter(is_open), batches[0]))


def _nothing_open(person: Person, chosen: BatchForReviewer, batches: list[BatchForReviewer]) -> None:
    """All is judged or put aside: what was done, what was skipped, where to go on."""
    batch, place = chosen.batch, chosen.place
    with reading() as db:
        shown = veil(db, batch_id=batch.id).shown
        skipped = [
            (shown(number), reason)
            for number, reason in skipped_questions(db, person=person, batch_id=batch.id)
        ]
        last = last_judged(db, person=person, batch_id=batch.id)
        judged = last and shown(last)
    if batch.state is BatchState.CLOSED:
        st.info(f"Batch {plain(batch.name)} is closed. A coordinator can open it again.")
    with st.container(border=True):
        st.markdown(f"**{plain(batch.name)}: you are through. Thank you.**")
        words = f"{place.done} of {place.total} questions judged"
        if chosen.seconds_median is not None:
            words += f"; median time of looking {chosen.seconds_median:.0f} s a question"
        st.markdown(words + ".")
        if skipped:
            st.markdown(f"{len(skipped)} skipped; each can still be judged:")
            for number, reason in skipped[:50]:
                st.button(
                    f"Question {number}: {plain(reason)}",
                    key=f"judging-skipped-{number}",
                    on_click=_to,
                    args=(batch.id, number),
                )
        if judged is not None:
            st.button(
                "Reopen your last verdict",
                key=f"judging-last-{batch.id}",
                on_click=_to,
                args=(batch.id, judged),
            )
    for other in batches:
        if other.batch.id != batch.id and other.place.left and other.batch.state is BatchState.OPEN:
            st.button(
                f"Go on with {plain(other.batch.name)} ({other.place.left} left)",
                key=f"judging-batch-{other.batch.id}",
                on_click=_to,
                args=(other.batch.id, None),
            )


def _guideline(batch: str, text: str) -> None:
    @st.dialog(f"Guideline of {batch}", width="large")
    def show() -> None:
        st.markdown(without_images(text))

    show()


def _meant(batch_id: int, shown: int | None) -> int | None:
    """The question that a number of the address or of the form stands for."""
    if shown is None:
        return None
    with reading() as db:
        return veil(db, batch_id=batch_id).meant(shown)


def _number(value: object) -> int | None:
    """A number of the address or of the form's request; None for what no question or batch can have."""
    try:
        number = int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return None
    return number if 0 < number <= LARGEST_NUMBER else None


require_page(Action.JUDGE)
judging()
