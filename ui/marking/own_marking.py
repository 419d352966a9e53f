"""Shows the studies in which a person marks open answers, each with a button to continue."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from reader_study.service import list_marking_tasks
from ui.context import read_only_session
from ui.work_box import show_work_box


def show_own_marking(person: Person) -> None:
    """Show one box per study. Show nothing if the person marks answers in no study."""
    with read_only_session() as db:
        tasks = list_marking_tasks(db, person=person)
    if not tasks:
        return
    st.subheader("Open answers to mark")
    for task in tasks:
        show_work_box(
            task.study.name,
            done=task.done,
            total=task.total,
            details=[f"{task.done:,} of {task.total:,} marked"],
            has_work=task.done < task.total,
            is_begun=bool(task.done),
            is_closed=False,
            key=f"own-marking-{task.study.id}",
            page="pages/mark_answers.py",
            study=task.study.id,
        )
