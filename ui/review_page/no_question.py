"""The review page without an open question: everything is done, or the rest is with other reviewers."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from domain.batches import BatchState
from domain.people import Person
from review.service import last_judged, skipped_questions, veil
from review.sheet import BatchForReviewer
from ui.context import clock_time, reading
from ui.parts import plain
from ui.review_page.address import go_to_question


def all_with_others(chosen: BatchForReviewer, free_at: datetime) -> None:
    """Draw the page while no question is free, but not all are judged."""
    with st.container(border=True):
        st.markdown(f"**{plain(chosen.batch.name)}: all that is left is with others at the moment.**")
        st.markdown(
            f"You have judged {chosen.place.done:,}. What somebody does not finish comes back to whoever is "
            f"free, the first of it by {clock_time(free_at)}."
        )
        st.button(
            "Look again",
            key=f"look-again-{chosen.batch.id}",
            on_click=go_to_question,
            args=(chosen.batch.id, None),
        )


def nothing_open(person: Person, chosen: BatchForReviewer, batches: list[BatchForReviewer]) -> None:
    """Draw the page when all is judged or skipped: what was done, what was skipped, and where to continue."""
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
                    on_click=go_to_question,
                    args=(batch.id, number),
                )
        if judged is not None:
            st.button(
                "Reopen your last verdict",
                key=f"judging-last-{batch.id}",
                on_click=go_to_question,
                args=(batch.id, judged),
            )
    for other in batches:
        if other.batch.id != batch.id and other.place.left and other.batch.state is BatchState.OPEN:
            st.button(
                f"Go on with {plain(other.batch.name)} ({other.place.left} left)",
                key=f"judging-batch-{other.batch.id}",
                on_click=go_to_question,
                args=(other.batch.id, None),
            )
