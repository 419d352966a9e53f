"""The inputs of a draw: the batch to extend, and the sampling plan."""

from __future__ import annotations

import streamlit as st

from domain.batches import MAX_BALANCED_EXAMS, Batch, BatchState, ExamBalance, SamplingPlan
from domain.checks import Check
from domain.errors import DomainError
from domain.vocabulary import Difficulty
from sampling import service as sampling
from ui.widgets import escape_markdown

_TIERS = (*Difficulty, None)


def choose_batch_to_extend(batches: list[Batch], form_key: str, dataset: str) -> Batch | None:
    """Draw the choice of a batch. Return the batch to extend by its own plan; None for a new batch."""
    open_batches = {
        batch.name: batch
        for batch in batches
        if batch.state is BatchState.OPEN and batch.plan.balance is None  # those are drawn once
    }
    if not open_batches:
        return None
    name = st.selectbox(
        "Batch",
        ["", *open_batches],
        key=f"{form_key}-batch-{dataset}",
        format_func=lambda name: "A new batch" if not name else f"Add to {name}",
        help=(
            "Adding to a batch draws only from questions imported since its last draw. Questions that are "
            "already drawn stay."
        ),
    )
    if not name:
        return None
    st.markdown(f"Sampling plan: {escape_markdown(sampling.describe_plan(open_batches[name].plan))}.")
    return open_batches[name]


def choose_sampling_plan(form_key: str) -> SamplingPlan | None:
    """Draw the inputs of a sampling plan and return it; if it is not valid, show why and return None."""
    per_1000_label, exams_label = "Per 1,000", "Exams by findings"
    size_mode = st.segmented_control(
        "Sample size",
        [per_1000_label, "Total", exams_label],
        default=per_1000_label,
        required=True,
        key=f"{form_key}-how",
        help="Exams by findings: exams evenly over the findings that their reports state, with a share of "
        "healthy exams, and all their questions. Dataset estimates leave such a batch out.",
    )
    number_column, seed_column = st.columns(2)
    healthy_percent = None
    if size_mode == exams_label:
        number = number_column.number_input(
            "Exams", 1, MAX_BALANCED_EXAMS, 300, key=f"{form_key}-balanced-exams"
        )
        healthy_percent = st.number_input(
            "Healthy exams (%)", 0.0, 100.0, 12.48, 0.01, key=f"{form_key}-healthy", format="%.2f"
        )
    elif size_mode == per_1000_label:
        number = number_column.number_input("Questions per 1,000", 1, 1000, 100, key=f"{form_key}-per-1000")
    else:
        number = number_column.number_input("Total number of questions", 1, None, 200, key=f"{form_key}-n")
    seed_value = seed_column.number_input(
        "Seed",
        0,
        2**53 - 1,
        1,
        key=f"{form_key}-seed",
        help="The same seed gives the same sample. It is stored with the batch.",
    )
    strata = st.multiselect(
        "Stratify further by",
        ["task", "category"],
        key=f"{form_key}-strata",
        help="The questions of each tier are allocated to these strata in proportion to their size.",
        placeholder="None",
    )
    not_drawn = st.checkbox(
        "Leave out questions of other batches",
        key=f"{form_key}-not-drawn",
        help="Questions that are in any other batch of the dataset cannot be drawn.",
    )
    checks = st.multiselect(
        "Leave out questions with problems of",
        list(Check),
        key=f"{form_key}-checks",
        format_func=lambda check: check.label,
        help="Questions in which one of these checks reported a problem cannot be drawn. The choice is "
        "stored with the batch, and estimates from it apply to the other questions.",
        placeholder="No check",
    )
    with st.expander("Tier shares"):
        columns = st.columns(len(_TIERS))
        shares = {
            tier: column.number_input(
                str(tier or "no tier"), 0.0, 100.0, 1.0, 0.5, key=f"{form_key}-share-{tier}", format="%g"
            )
            for tier, column in zip(_TIERS, columns, strict=True)
        }
    try:
        return SamplingPlan(
            seed=int(seed_value),
            per_1000={per_1000_label: int(number), exams_label: 1000}.get(size_mode),
            n=int(number) if size_mode == "Total" else None,
            balance=None
            if healthy_percent is None
            else ExamBalance(exams=int(number), healthy_share=healthy_percent / 100),
            shares=shares,
            strata=tuple(strata),
            not_drawn=not_drawn,
            checks=tuple(checks),
        )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None
