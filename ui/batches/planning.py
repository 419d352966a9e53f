"""The inputs of a draw: the dataset, the batch, the sampling plan."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch, BatchState, SamplingPlan
from domain.errors import DomainError
from domain.vocabulary import Difficulty
from sampling import service as sampling
from ui import state
from ui.parts import plain

_TIERS = (*Difficulty, None)


def dataset_to_draw_from(datasets: dict[str, int], form: str) -> str:
    """Draw the selection of a dataset; the default is the one that was viewed last.

    ``datasets`` maps each name to its number of questions.
    """
    names = list(datasets)
    before = state.chosen("dataset")
    name = st.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key=f"{form}-dataset",
        format_func=lambda name: f"{name} ({datasets[name]:,} questions)",
    )
    state.set_chosen("dataset", name)
    return name


def batch_to_add_to(known: list[Batch], form: str, dataset: str) -> Batch | None:
    """Return the batch to add to by its own plan; None for a new batch."""
    there = {each.name: each for each in known if each.state is BatchState.OPEN}
    if not there:
        return None
    name = st.selectbox(
        "Batch",
        ["", *there],
        key=f"{form}-batch-{dataset}",
        format_func=lambda name: "A new batch" if not name else f"Add to {name}",
        help="Drawing again for a batch takes only from the questions that came since. What was drawn stays.",
    )
    if not name:
        return None
    st.markdown(f"Its plan: {plain(sampling.describe(there[name].plan))}.")
    return there[name]


def plan_asked_for(form: str) -> SamplingPlan | None:
    """Return the plan: number, seed and strata. If the input is no valid plan, show why and return None."""
    of_1000 = "Of every 1,000"
    how = st.segmented_control(
        "How many", [of_1000, "In all"], default=of_1000, required=True, key=f"{form}-how"
    )
    amount, seed = st.columns(2)
    if how == of_1000:
        number = amount.number_input("Of every 1,000 questions", 1, 1000, 100, key=f"{form}-per-1000")
    else:
        number = amount.number_input("Questions in all", 1, None, 200, key=f"{form}-n")
    chosen = seed.number_input(
        "Seed", 0, 2**53 - 1, 1, key=f"{form}-seed", help="Another seed draws other questions. It is kept."
    )
    strata = st.multiselect(
        "Further strata within a tier",
        ["task", "category"],
        key=f"{form}-strata",
        help="Each tier's questions are spread over these in proportion to how many there are.",
        placeholder="None",
    )
    with st.expander("Shares of the tiers"):
        columns = st.columns(len(_TIERS))
        shares = {
            tier: column.number_input(
                str(tier or "no tier"), 0.0, 100.0, 1.0, 0.5, key=f"{form}-share-{tier}", format="%g"
            )
            for tier, column in zip(_TIERS, columns, strict=True)
        }
    try:
        return SamplingPlan(
            seed=int(chosen),
            per_1000=int(number) if how == of_1000 else None,
            n=None if how == of_1000 else int(number),
            shares=shares,
            strata=tuple(strata),
        )
    except DomainError as error:
        st.error(plain(str(error)))
        return None
