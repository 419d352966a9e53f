"""Score model outputs: blinded outputs of a prompt bench, or the sentences of a region check."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from generation import service as generation
from language_models import service as models
from ui.address import parse_id
from ui.context import read_only_session, require_page
from ui.prompt_bench.scoring import show_scoring
from ui.region_checks.marking import show_region_marking
from ui.widgets import page_fragment, show_empty_state

BENCH_PARAMETER = "bench"
CHECK_PARAMETER = "check"


@page_fragment
def main() -> None:
    """Show one report of the chosen bench or check. In a fragment, a key press cannot interrupt a save."""
    person = require_page(Action.SCORE_OUTPUTS)
    st.title("Score model outputs")
    with read_only_session() as db:
        benches = models.list_bench_tasks(db, person=person)
        checks = generation.list_region_tasks(db, person=person)
    labels_by_task = {(BENCH_PARAMETER, task.bench_id): f"Prompt bench {task.name}" for task in benches} | {
        (CHECK_PARAMETER, task.check_id): f"Region check {task.name}" for task in checks
    }
    if not labels_by_task:
        show_empty_state(
            "No outputs to score",
            "A prompt bench or a region check appears here when a coordinator asks you to score its outputs.",
        )
        return
    unfinished_tasks = [(BENCH_PARAMETER, task.bench_id) for task in benches if task.done < task.total]
    unfinished_tasks += [(CHECK_PARAMETER, task.check_id) for task in checks if task.done < task.total]
    requested_tasks = [
        (parameter, parse_id(st.query_params.get(parameter)))
        for parameter in (CHECK_PARAMETER, BENCH_PARAMETER)
    ]
    candidates = (*requested_tasks, *unfinished_tasks, *labels_by_task)
    chosen_task = next(candidate for candidate in candidates if candidate in labels_by_task)
    if len(labels_by_task) > 1:
        chosen_task = st.selectbox(
            "Bench or check",
            list(labels_by_task),
            index=list(labels_by_task).index(chosen_task),
            key=f"score-outputs-{len(labels_by_task)}",
            format_func=labels_by_task.__getitem__,
            width=420,
        )
    parameter, task_id = chosen_task
    st.query_params.from_dict({parameter: str(task_id)})
    if parameter == BENCH_PARAMETER:
        show_scoring(person, task_id)
    else:
        show_region_marking(person, task_id)


require_page(Action.SCORE_OUTPUTS)
main()
