"""Score outputs: the outputs of a prompt bench, without knowing which version of the prompt they are from."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from language_models import service as models
from ui.address import parse_id
from ui.context import read_only_session, require_page
from ui.prompt_bench.scoring import show_scoring
from ui.widgets import screen, show_empty_state

BENCH_PARAMETER = "bench"


@screen
def main() -> None:
    """Show one report of the chosen bench, in one fragment, so that a key press cannot interrupt a save."""
    person = require_page(Action.SCORE_OUTPUTS)
    st.title("Score outputs")
    with read_only_session() as db:
        tasks = {task.bench_id: task for task in models.list_bench_tasks(db, person=person)}
    if not tasks:
        show_empty_state(
            "No outputs to score",
            "A prompt bench appears here when a coordinator asks you to score its outputs.",
        )
        return
    requested = parse_id(st.query_params.get(BENCH_PARAMETER))
    unfinished = [bench_id for bench_id, task in tasks.items() if task.done < task.total]
    bench_id = requested if requested in tasks else next(iter([*unfinished, *tasks]))
    if len(tasks) > 1:
        bench_id = st.selectbox(
            "Prompt bench",
            list(tasks),
            index=list(tasks).index(bench_id),
            key=f"score-bench-{len(tasks)}",
            format_func=lambda number: tasks[number].name,
            width=420,
        )
    st.query_params.from_dict({BENCH_PARAMETER: str(bench_id)})
    show_scoring(person, bench_id)


require_page(Action.SCORE_OUTPUTS)
main()
