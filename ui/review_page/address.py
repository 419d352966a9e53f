"""The address of the review page. It contains batch and question: a reload shows them again."""

from __future__ import annotations

import streamlit as st

BATCH_PARAMETER, QUESTION_PARAMETER = "batch", "question"


def go_to_question(batch_id: int, question: int | None) -> None:
    """Write batch and question into the address; None as the question means the next open question."""
    target_parameters = {BATCH_PARAMETER: str(batch_id)} | (
        {} if question is None else {QUESTION_PARAMETER: str(question)}
    )
    # Streamlit sends the address whenever it is set, even if it is unchanged. Such a message may arrive after
    # the form has proceeded to the next question. It would reset the address, and a reload would show a
    # question that is already judged.
    if st.query_params.to_dict() != target_parameters:
        st.query_params.from_dict(target_parameters)
