"""Evaluations: the results of one evaluation, computed on request. A look at a private split is recorded."""

from __future__ import annotations

import streamlit as st

from domain.evaluations import Evaluation
from domain.language_models import TEST_MODEL_NOTE
from evaluation import service as evaluations
from evaluation.results import EvaluationResults
from evaluation.results_text import (
    describe_bias,
    describe_exclusions,
    list_accuracy_rows,
    list_consistency_rows,
    list_contrast_rows,
    list_position_rows,
)
from evaluation.service import EvaluationProgress
from release.splits import Split
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice


def show_results(progress: EvaluationProgress) -> None:
    """Draw the button that computes the results, and the results if they are of the present answers."""
    evaluation = progress.evaluation
    st.subheader("Results")
    if evaluation.split == Split.PRIVATE:
        st.caption("This is the private split: each look is recorded in the audit trail.")
    st.button(
        "Compute results",
        key=f"results-{evaluation.name}",
        disabled=not progress.answers,
        on_click=run_action,
        args=(_compute, evaluation.name, progress.answers, evaluation.split == Split.PRIVATE),
        kwargs={"notice_key": f"results-{evaluation.name}"},
    )
    show_notice(f"results-{evaluation.name}")
    results = state.get_selection(_key(evaluation.name, progress.answers))
    if isinstance(results, EvaluationResults):
        _draw(evaluation, results)


def _draw(evaluation: Evaluation, results: EvaluationResults) -> None:
    if evaluation.is_test_model:
        st.warning(f"{TEST_MODEL_NOTE.capitalize()}: the model is the small one of the tests.")
    if any(item.missing for item in results.accuracies):
        st.warning("Not all questions have a reply. Those without one count as wrong.")
    st.caption(
        f"{results.questions:,} questions. Intervals are clustered by patient ({results.clusters:,}). Chance "
        f"is "
        "guessing the same questions; text only is the same model without image."
    )
    st.markdown("**Accuracy**")
    show_table(list_accuracy_rows(results))
    if results.contrasts:
        st.markdown("**Differences from as given, paired**")
        show_table(list_contrast_rows(results))
    if results.consistencies:
        st.markdown("**Same answer as given**")
        show_table(list_consistency_rows(results))
    for bias in results.biases:
        if bias.positions:
            st.markdown(f"**Position bias, {bias.condition.value}**")
            show_table(list_position_rows(bias))
            st.caption(escape_markdown(describe_bias(bias)))
    for sentence in describe_exclusions(results):
        st.caption(escape_markdown(sentence))


def _compute(name: str, answers: int, is_recorded: bool) -> None:
    with unit_of_work() if is_recorded else read_only_session() as db:
        _, results = evaluations.open_results(db, by=current_person(), name=name, now=clock())
    state.set_selection(_key(name, answers), results)


def _key(name: str, answers: int) -> str:
    return f"results of evaluation {name} with {answers} answers"
