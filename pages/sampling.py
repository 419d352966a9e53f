"""Draw a batch: the sampling plan, a preview of the sample, and the draw."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from sampling import service as sampling
from ui import state
from ui.batches.drawing import draw, preview
from ui.batches.planning import batch_to_add_to, dataset_to_draw_from, plan_asked_for
from ui.context import reading, require_page
from ui.navigation import ROOT
from ui.parts import empty_state, notices, screen


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt a draw."""
    person = require_page(Action.DRAW_BATCH)
    st.title("Draw a batch")
    with reading() as db:
        datasets = {name: size for name, size in sampling.drawable(db, by=person).items() if size}
    if not datasets:
        empty_state(
            "No questions yet",
            "Batches are drawn from imported questions.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    notices("draw")
    said = state.notice()
    if said is not None and said.place == "draw" and not said.refused:
        st.page_link(ROOT / "pages/assign.py", label="Give it to reviewers", icon=":material/group_work:")
    form = state.form("draw")
    left, right = st.columns([2, 3], gap="large")
    with left:
        dataset = dataset_to_draw_from(datasets, form)
        with reading() as db:
            known = [batch for batch, _ in sampling.list_batches(db, by=person, dataset=dataset)]
            taken = {batch.name for batch, _ in sampling.list_batches(db, by=person)}
        batch = batch_to_add_to(known, form, dataset)
        plan = batch.plan if batch else plan_asked_for(form)
    with right:
        seen = preview(person, dataset, plan, batch) if plan else None
    st.divider()
    if seen is not None and plan is not None:
        draw(form, dataset, plan, batch=batch, n=seen.n, taken=taken)


main()
