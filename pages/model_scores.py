"""Model scores: all models on one split of a release, by slice, and single cases."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.language_models import TEST_MODEL_NOTE
from domain.people import Action
from evaluation import service as evaluations
from evaluation.scoreboard import list_judged_by_test_model
from ui.address import parse_id
from ui.context import read_only_session, require_page
from ui.model_scores.case import show_case
from ui.model_scores.choice import (
    choose_slice,
    choose_split,
    open_split,
    show_column_import,
    show_computation,
)
from ui.model_scores.sections import SECTIONS
from ui.widgets import escape_markdown, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the dashboard, or the case in the URL."""
    person = require_page(Action.RUN_MODELS)
    st.title("Model scores")
    question, release = parse_id(st.query_params.get("question")), parse_id(st.query_params.get("release"))
    if question is not None and release is not None:
        split = st.query_params.get("split") or "public"
        try:
            show_case(person, release_id=release, split=split, question_row_id=question)
        except DomainError as error:
            st.error(escape_markdown(str(error)))
        return
    with read_only_session() as db:
        evaluated_splits = evaluations.list_evaluated_splits(db, by=person)
    if not evaluated_splits:
        show_empty_state(
            "No answers yet",
            "Scores compare models on the questions of a release, shown unchanged (condition “as given”).",
            page="pages/evaluations.py",
            label="View evaluations",
        )
        return
    evaluated_split = choose_split(evaluated_splits)
    show_computation(person, evaluated_split)
    show_column_import(evaluated_split)
    split_scores = open_split(person, evaluated_split)
    if split_scores is None:
        return
    test_models = [model.name for model in split_scores.models if model.is_test_model]
    if test_models:
        st.warning(escape_markdown(f"{', '.join(test_models)}: {TEST_MODEL_NOTE}."))
    judged_by_test_model = list_judged_by_test_model(split_scores.models)
    if judged_by_test_model:
        st.warning(
            escape_markdown(
                f"AR-scores or extracted answers of {', '.join(judged_by_test_model)}: {TEST_MODEL_NOTE}."
            )
        )
    chosen_slice = choose_slice(split_scores)
    if not chosen_slice.rows.any():
        st.info("No question is in this slice.")
        return
    section = st.segmented_control(
        "Section", list(SECTIONS), default=next(iter(SECTIONS)), key=f"{evaluated_split.key} section",
        label_visibility="collapsed",
    )  # fmt: skip
    SECTIONS[section or next(iter(SECTIONS))](chosen_slice)


main()
