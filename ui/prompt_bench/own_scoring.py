"""Shows the prompt benches that a person scores, each with a button to continue."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from language_models import service as models
from ui.context import read_only_session
from ui.work_box import show_work_box


def show_own_scoring(person: Person) -> None:
    """Show one box per bench. Show nothing if the person scores no bench."""
    with read_only_session() as db:
        tasks = models.list_bench_tasks(db, person=person)
    if not tasks:
        return
    st.subheader("Outputs to score")
    for task in tasks:
        show_work_box(
            task.name,
            done=task.done,
            total=task.total,
            details=[f"{task.done:,} of {task.total:,} scores given"],
            has_work=task.done < task.total,
            is_begun=bool(task.done),
            is_closed=False,
            key=f"own-scoring-{task.bench_id}",
            page="pages/score_outputs.py",
            bench=task.bench_id,
        )
