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
    describe_extraction,
    list_accuracy_rows,
    list_consistency_rows,
    list_contrast_rows,
    list_position_rows,
)
from evaluation.service import EvaluationProgress
from release.service import list_releases
from release.splits import Split
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.evaluations.calibration import show_calibration
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice


def show_results(progress: EvaluationProgress) -> None:
    """Show the button that computes the results, and the results if they belong to the present answers."""
    evaluation = progress.evaluation
    st.subheader("Results")
    if evaluation.split == Split.PRIVATE:
        st.caption("This is the private split. Opening the results is recorded in the audit trail.")
    release = _choose_release(evaluation)
    st.button(
        "Compute results",
        key=f"results-{evaluation.name}",
        disabled=not progress.answers,
        on_click=run_action,
        args=(
            _compute_results,
            evaluation.name,
            release,
            progress.answers,
            evaluation.split == Split.PRIVATE,
        ),
        kwargs={"notice_key": f"results-{evaluation.name}"},
    )
    show_notice(f"results-{evaluation.name}")
    original_results = state.get_selection(
        _make_selection_key(evaluation.name, evaluation.release, progress.answers)
    )
    results = state.get_selection(_make_selection_key(evaluation.name, release, progress.answers))
    if isinstance(results, EvaluationResults):
        if release != evaluation.release and isinstance(original_results, EvaluationResults):
            _show_original_accuracies(evaluation, original_results)
            st.markdown(f"#### With the keys of {escape_markdown(release)}")
        _show_computed_results(evaluation, results)


def _choose_release(evaluation: Evaluation) -> str:
    """Show the choice of a release whose keys count, if the dataset has several; return its name."""
    with read_only_session() as db:
        names = [
            record.name
            for record in list_releases(db, by=current_person())
            if record.dataset == evaluation.dataset
        ]
    if len(names) < 2:
        return evaluation.release
    return st.selectbox(
        "Answer keys of release",
        names,
        index=names.index(evaluation.release),
        key=f"results-keys-{evaluation.name}-{len(names)}",
        width=420,
        help="The keys of a corrected release score the same answers again. The previous results remain "
        "visible.",
    )


def _show_original_accuracies(evaluation: Evaluation, results: EvaluationResults) -> None:
    st.markdown(f"**Accuracy with the keys of {escape_markdown(evaluation.release)}**")
    show_table(list_accuracy_rows(results))


def _show_computed_results(evaluation: Evaluation, results: EvaluationResults) -> None:
    if evaluation.is_test_model:
        st.warning(f"{TEST_MODEL_NOTE.capitalize()}: the model is the small one of the tests.")
    for line in describe_extraction(results):
        st.caption(escape_markdown(line))
    if any(accuracy.missing for accuracy in results.accuracies):
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
    show_calibration(results)
    for sentence in describe_exclusions(results):
        st.caption(escape_markdown(sentence))


def _compute_results(name: str, release: str, answers: int, is_recorded: bool) -> None:
    with unit_of_work() if is_recorded else read_only_session() as db:
        by, now = current_person(), clock()
        evaluation, results = evaluations.open_results(db, by=by, name=name, release=release, now=now)
        original_results = results
        if release != evaluation.release:
            _, original_results = evaluations.open_results(db, by=by, name=name, now=now)
    state.set_selection(_make_selection_key(name, release, answers), results)
    state.set_selection(_make_selection_key(name, evaluation.release, answers), original_results)


def _make_selection_key(name: str, release: str, answers: int) -> str:
    return f"results of evaluation {name} with {answers} answers and the keys of {release}"
