"""Handing a question of a shared queue back, so that another reviewer can take it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from review.service import hand_back, may_hand_back, veil
from ui.context import clock, reading, require_page, unit_of_work
from ui.parts import act, notices
from ui.review_page.address import go_to_question


def hand_back_button(person: Person, batch_id: int, question: int) -> None:
    """Draw the button that hands a question of a shared queue back; no reason is needed."""
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
    go_to_question(batch_id, None)
    return f"Question {question} is handed back."
