"""Draw a batch: the sampling plan, a preview of the sample, and the draw."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Action
from sampling import service as sampling
from ui import state
from ui.batches.draw import show_draw_button, show_preview
from ui.batches.draw_inputs import choose_batch_to_extend, choose_sampling_plan
from ui.batches.strategies import show_strategies
from ui.context import read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.navigation import ROOT
from ui.widgets import page_fragment, show_empty_state, show_notice


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a draw."""
    person = require_page(Action.DRAW_BATCH)
    st.title("Draw a batch")
    with read_only_session() as db:
        datasets = {
            name: size for name, size in sampling.list_drawable_datasets(db, by=person).items() if size
        }
    if not datasets:
        show_empty_state(
            "No questions yet",
            "Batches are drawn from imported questions.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    form_key = state.form_key("draw")
    left, right = st.columns([2, 3], gap="large")
    with left:
        dataset = choose_dataset(
            person,
            list(datasets),
            key=f"{form_key}-dataset",
            format_name=lambda name: f"{name} ({count_text(datasets[name], 'question')})",
        )
        with read_only_session() as db:
            batches = [batch for batch, _ in sampling.list_batches(db, by=person, dataset=dataset)]
            taken_names = {batch.name for batch, _ in sampling.list_batches(db, by=person)}
        batch = choose_batch_to_extend(batches, form_key, dataset)
        plan = batch.plan if batch else choose_sampling_plan(person, form_key, dataset)
    with right:
        draw_preview = show_preview(person, dataset, plan, batch) if plan else None
    show_strategies(person, form_key, dataset, design=plan.risk if plan else None)
    st.divider()
    if draw_preview is not None and plan is not None:
        show_draw_button(form_key, dataset, plan, batch=batch, n=draw_preview.n, taken_names=taken_names)
    show_notice("draw")
    last_notice = state.get_notice()
    if last_notice is not None and last_notice.key == "draw" and not last_notice.refused:
        st.page_link(ROOT / "pages/assign.py", label="Assign to reviewers", icon=":material/group_work:")


main()
