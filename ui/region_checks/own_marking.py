"""Shows the region checks of which a person is an expert, each with a button to continue."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from generation import service as generation
from ui.context import read_only_session
from ui.work_box import show_work_box


def show_own_region_checks(person: Person) -> None:
    """Show one box per check. Show nothing if the person is an expert of none."""
    with read_only_session() as db:
        tasks = generation.list_region_tasks(db, person=person)
    if not tasks:
        return
    st.subheader("Sentences to mark")
    for task in tasks:
        show_work_box(
            task.name,
            done=task.done,
            total=task.total,
            details=[f"{task.done:,} of {task.total:,} sentences marked"],
            has_work=task.done < task.total,
            is_begun=bool(task.done),
            is_closed=False,
            key=f"own-region-check-{task.check_id}",
            page="pages/score_outputs.py",
            check=task.check_id,
        )
