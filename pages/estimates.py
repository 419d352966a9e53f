"""Dataset estimates: rates of the whole dataset from its reviewed sample, sample sizes, group comparison."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Action
from review.service import list_estimable_batches, load_counts_version
from ui.context import current_workspace, read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.estimates.dataset_estimates import load_cached_estimates, show_dataset_estimates
from ui.estimates.groups import show_group_comparison
from ui.widgets import escape_markdown, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show one dataset. Every estimate is shown with n and an interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Dataset estimates")
    with read_only_session() as db:
        batches = list_estimable_batches(db, by=person)
    if not batches:
        show_empty_state(
            "No random sample yet",
            "Draw a random batch and have it reviewed. Estimates for the whole dataset are shown here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    dataset_column, batches_column, goal_column = st.columns([2, 3, 1], vertical_alignment="bottom")
    dataset = choose_dataset(person, list(batches), key="dataset-to-estimate", container=dataset_column)
    chosen_batches = batches_column.multiselect(
        "Batches", batches[dataset], key=f"estimate-batches-{dataset}", placeholder="All random batches"
    )
    goal = goal_column.number_input(
        "Target (± points)",
        min_value=0.1,
        max_value=20.0,
        value=2.0,
        step=0.5,
        format="%g",
        key=f"estimate-goal-{dataset}",
    )
    try:
        with read_only_session() as db:
            version = load_counts_version(db, by=person)
        home = str(current_workspace().home)
        dataset_estimates = load_cached_estimates(
            dataset, tuple(chosen_batches), float(goal) / 100, (home, *version), person
        )
    except Refused as error:
        st.info(escape_markdown(str(error)))
        return
    if not dataset_estimates.estimates.reviewed:
        show_empty_state(
            "No verdicts yet",
            f"The sample of {dataset} ({count_text(dataset_estimates.estimates.dataset_size, 'question')}) "
            "has not been reviewed yet.",
            page="pages/assign.py",
            label="Assign questions",
        )
        return
    show_dataset_estimates(dataset_estimates)
    show_group_comparison(person, dataset, chosen_batches)
    address = urlencode([("dataset", dataset), *(("batch", name) for name in chosen_batches)])
    st.markdown(f"[All figures as CSV](/files/estimates.csv?{address})")


main()
