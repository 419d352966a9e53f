"""Mark study answers: the open answers of a reader study, marked without knowing who answered."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from reader_study.service import list_marking_tasks
from ui.address import parse_id
from ui.context import read_only_session, require_page
from ui.marking.open_answer import show_marking
from ui.widgets import page_fragment, show_empty_state

STUDY_PARAMETER = "study"


@page_fragment
def main() -> None:
    """Show one answer of the chosen study, in one fragment, so that a key press cannot interrupt a save."""
    person = require_page(Action.MARK_ANSWERS)
    st.title("Mark study answers")
    with read_only_session() as db:
        tasks = {task.study.id: task for task in list_marking_tasks(db, person=person)}
    if not tasks:
        show_empty_state(
            "No answers to mark",
            "A study appears here when a coordinator asks you to mark its open answers.",
        )
        return
    requested_id = parse_id(st.query_params.get(STUDY_PARAMETER))
    unfinished_ids = [study_id for study_id, task in tasks.items() if task.done < task.total]
    default_id = requested_id if requested_id in tasks else next(iter([*unfinished_ids, *tasks]))
    study_id = default_id
    if len(tasks) > 1:
        study_id = st.selectbox(
            "Study",
            list(tasks),
            index=list(tasks).index(default_id),
            key=f"mark-study-{len(tasks)}",
            format_func=lambda task_study_id: tasks[task_study_id].study.name,
        )
    st.query_params.from_dict({STUDY_PARAMETER: str(study_id)})
    show_marking(person, study_id)


require_page(Action.MARK_ANSWERS)
main()
