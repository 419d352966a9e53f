"""Returns a question to the shared queue, so that another reviewer can take it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from review.service import hand_back, load_id_mask, may_hand_back
from ui.context import clock, read_only_session, require_page, unit_of_work
from ui.review_page.address import go_to_question
from ui.widgets import run_action, show_notice


def show_return_button(person: Person, batch_id: int, question: int) -> None:
    """Show the button that returns a question to the shared queue, if the person may do so.

    ``question`` is the masked id of the question.
    """
    with read_only_session() as db:
        question_row_id = load_id_mask(db, batch_id=batch_id).unmask(question)
        may_return = may_hand_back(db, person=person, batch_id=batch_id, question_row_id=question_row_id)
    if may_return:
        st.button(
            "Return this question",
            key=f"hand-back-{batch_id}-{question}",
            on_click=run_action,
            args=(_return_question, batch_id, question),
            kwargs={"notice_key": "hand-back"},
            help="Another reviewer can take it. Your input is kept in case the question returns to you.",
        )
    show_notice("hand-back")


def _return_question(batch_id: int, question: int) -> str:
    person = require_page(Action.JUDGE)
    with unit_of_work() as db:
        question_row_id = load_id_mask(db, batch_id=batch_id).unmask(question)
        hand_back(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=clock())
    go_to_question(batch_id, None)
    return f"Question {question} is returned to the shared queue."
