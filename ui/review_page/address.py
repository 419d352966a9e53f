"""The address of the review page: which batch and which question, so that F5 comes back to them."""

from __future__ import annotations

import streamlit as st

BATCH, QUESTION = "batch", "question"


def go_to_question(batch_id: int, question: int | None) -> None:
    """Write them into the address; without a question it is the next open one."""
    wanted = {BATCH: str(batch_id)} | ({} if question is None else {QUESTION: str(question)})
    # Streamlit sends an address whenever one is set. One that says nothing new may come late, when the form
    # has turned to the question after: it would be set back, and a reload lead to a question already judged.
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)
