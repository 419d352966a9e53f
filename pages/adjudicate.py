"""Adjudicate: questions on which reviewers disagree, one by one, with their verdicts side by side."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.errors import DomainError
from domain.people import Action, Person
from review.service import Disputed, batches_to_settle, disputed
from ui import state
from ui.address import number_in
from ui.context import reading, require_page
from ui.forms.adjudication import settling_form
from ui.parts import empty_state, plain, screen
from ui.tables import table
from web.adjudication.routes import next_dispute

BATCH, QUESTION = "batch", "question"


@screen
def main() -> None:
    """The form with its data. It saves by its own routes, not through this page."""
    person = require_page(Action.ADJUDICATE)
    with reading() as db:
        mine = batches_to_settle(db, person=person)
    if not mine:
        st.title("Adjudicate")
        empty_state(
            "Nothing is yours to settle",
            "Where two reviewers of a question disagree, somebody who did not judge it settles it. A "
            "coordinator names you for a batch on the page Batches; its disputes then appear here.",
        )
        return
    batch = _chosen(person, mine)
    try:
        data = next_dispute(person, batch.id, question=number_in(st.query_params.get(QUESTION)))
        if data is None:
            with reading() as db:
                listed = disputed(db, person=person, batch_id=batch.id)
    except DomainError as error:
        st.warning(plain(str(error)))
        return
    if data is not None:
        settling_form(data, on_over=_nothing)
        return
    st.title("Adjudicate")
    _through(batch, listed)


def _through(batch: Batch, listed: list[Disputed]) -> None:
    if not listed:
        empty_state(
            f"No dispute in batch {batch.name}",
            "As soon as two reviewers of one question disagree on it, it appears here.",
        )
        return
    st.success(f"All {len(listed):,} disputes of batch {plain(batch.name)} are settled. Thank you.")
    table(
        [
            {
                "Question": each.question_id,
                "Disagreed on": ", ".join(sorted(each.about)) or "nothing any more",
                "Settled": each.settled.decision.value if each.settled else "",
                "Because": each.settled.reason if each.settled else "",
                "When (UTC)": f"{each.settled.given_at:%Y-%m-%d %H:%M}" if each.settled else "",
            }
            for each in listed
        ]
    )
    st.selectbox(
        "Open one again",
        [each.question_number for each in listed],
        index=None,
        placeholder="Choose its id",
        format_func={each.question_number: each.question_id for each in listed}.__getitem__,
        key=f"settle-again-{batch.id}",
        on_change=_again,
        args=(batch.id,),
    )


def _again(batch_id: int) -> None:
    number = state.field(f"settle-again-{batch_id}")
    if number is not None:
        st.query_params.from_dict({BATCH: str(batch_id), QUESTION: str(number)})


def _chosen(person: Person, mine: list[Batch]) -> Batch:
    wanted = number_in(st.query_params.get(BATCH))
    names = {each.id: each.name for each in mine}
    chosen = wanted if wanted in names else _first_open(person, mine)
    if len(mine) > 1:
        chosen = st.selectbox(
            "Batch",
            list(names),
            index=list(names).index(chosen),
            format_func=names.__getitem__,
            key=f"settle-batch-{'-'.join(map(str, names))}",
        )
    return next(each for each in mine if each.id == chosen)


def _first_open(person: Person, mine: list[Batch]) -> int:
    """The first batch with an open dispute; otherwise the first batch."""
    if len(mine) == 1:
        return mine[0].id
    with reading() as db:
        for each in mine:
            if any(one.settled is None for one in disputed(db, person=person, batch_id=each.id)):
                return each.id
    return mine[0].id


def _nothing() -> None:
    """Called if the form has no further dispute; the script run that follows shows the reason."""
    st.query_params.pop(QUESTION, None)


main()
