"""The inputs of a draw: the batch to extend, and the sampling plan."""

from __future__ import annotations

import streamlit as st

from domain.batches import (
    MAX_BALANCED_EXAMS,
    STRATA,
    Batch,
    BatchState,
    ExamBalance,
    RiskDesign,
    SamplingPlan,
)
from domain.checks import Check
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Person
from domain.vocabulary import Difficulty
from sampling import service as sampling
from ui.context import read_only_session
from ui.widgets import escape_markdown

_TIERS = (*Difficulty, None)


def choose_batch_to_extend(batches: list[Batch], form_key: str, dataset: str) -> Batch | None:
    """Show the choice of a batch. Return the batch to extend; None for a new batch."""
    open_batches = {
        batch.name: batch
        for batch in batches
        if batch.state is BatchState.OPEN and batch.plan.balance is None  # balanced batches are drawn once
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


def choose_sampling_plan(person: Person, form_key: str, dataset: str) -> SamplingPlan | None:
    """Show the inputs of a sampling plan and return the plan; if it is invalid, show why and return None."""
    per_1000_label, exams_label = "Per 1,000", "By findings"
    size_mode = st.segmented_control(
        "Sample size",
        [per_1000_label, "Total", exams_label],
        default=per_1000_label,
        required=True,
        key=f"{form_key}-how",
        help="By findings: exams evenly over the findings that their reports state, with a share of "
        "healthy exams, and all their questions. Dataset estimates exclude such a batch.",
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
    with read_only_session() as db:
        seeds = sampling.list_seeds(db, by=person, dataset=dataset)
    seed_value = seed_column.number_input(
        "Seed",
        0,
        2**53 - 1,
        next(seed for seed in range(1, len(seeds) + 2) if seed not in seeds),
        key=f"{form_key}-seed-{dataset}",
        help="The same seed gives the same sample. It is stored with the batch.",
    )
    strata = st.multiselect(
        "Stratify further by",
        list(STRATA),
        key=f"{form_key}-strata",
        format_func=lambda name: name.replace("_", " "),
        help="The questions of each difficulty are allocated to these strata in proportion to their size. "
        "Controlled categories and domains are those of the page Taxonomy when the batch is drawn.",
        placeholder="None",
    )
    exclude_drawn = st.checkbox(
        "Exclude questions drawn before",
        key=f"{form_key}-not-drawn",
        help="Questions in any other batch of the dataset cannot be drawn.",
    )
    checks = st.multiselect(
        "Exclude questions with a problem found by",
        list(Check),
        key=f"{form_key}-checks",
        format_func=lambda check: check.label,
        help="Questions in which one of these checks reported a problem cannot be drawn. The choice is "
        "stored with the batch, and estimates from it apply to the other questions.",
        placeholder="No check",
    )
    is_complete, risk = True, None
    if healthy_percent is None:
        is_complete, risk = _choose_risk(person, form_key, dataset)
    with st.expander("Shares by difficulty"):
        columns = st.columns(len(_TIERS))
        shares = {
            tier: column.number_input(
                str(tier or "no difficulty"),
                0.0,
                100.0,
                1.0,
                0.5,
                key=f"{form_key}-share-{tier}",
                format="%g",
            )
            for tier, column in zip(_TIERS, columns, strict=True)
        }
    if not is_complete:
        return None
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
            exclude_drawn=exclude_drawn,
            checks=tuple(checks),
            risk=risk,
        )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None


def _choose_risk(person: Person, form_key: str, dataset: str) -> tuple[bool, RiskDesign | None]:
    """Show the inputs of a draw by risk.

    Returns:
        Whether the inputs are complete, and the design. The design is None for a draw with equal chances.
    """
    by_risk = st.checkbox(
        "Risk-based sampling",
        key=f"{form_key}-by-risk",
        help="More errors are found per reviewed question. Dataset estimates correct for the chances.",
    )
    if not by_risk:
        return True, None
    with st.spinner("Reading the risk of all questions …"), read_only_session() as db:
        overview = sampling.describe_risk(db, by=person, dataset=dataset)
    available = [source for source, count in overview.questions.items() if count]
    if not available:
        st.error(
            "No source of risk has a result for this dataset. Run the checks, import predictions of models, "
            "or evaluate a model."
        )
        return False, None
    st.caption("Sources of risk. The risk of a question is the mean of the chosen sources.")
    sources = [
        source
        for source in available
        if st.checkbox(
            f"{source.label} ({count_text(overview.questions[source], 'question')})",
            value=True,
            key=f"{form_key}-risk-{source.value}-{dataset}",
        )
    ]
    if not sources:
        st.error("Choose at least one source of risk, or clear the check box above.")
        return False, None
    uniform_percent = st.slider(
        "Questions drawn with equal chances (%)",
        5,
        100,
        50,
        5,
        key=f"{form_key}-uniform",
        help="The uniform arm. It keeps estimates precise if the risk is misleading.",
    )
    return True, RiskDesign(uniform_share=uniform_percent / 100, weights=dict.fromkeys(sources, 1.0))
