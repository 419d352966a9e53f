"""Reader studies: design a study, create it, register its readers, follow its progress."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from reader_study.service import list_studies
from ui import state
from ui.context import reading, require_page
from ui.figures.shown import show_report
from ui.parts import empty_state, screen
from ui.studies.incoming import show_incoming
from ui.studies.making import show_making
from ui.studies.planning import show_planning
from ui.studies.shown import show_study

_VIEWS = ("Studies", "New study", "Plan")
_PARTS = {
    "Readers and protocol": show_study,
    "Answers from outside": show_incoming,
    "Report": show_report,
}


@screen
def main() -> None:
    """One of three views, in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.RUN_STUDY)
    st.title("Reader studies")
    view = st.segmented_control(
        "View",
        _VIEWS,
        default=_VIEWS[0],
        key="studies-view",  # allow fixed-widget-key: one switch for the whole page
        label_visibility="collapsed",
    )
    if view == "New study":
        show_making(person)
    elif view == "Plan":
        show_planning()
    else:
        with reading() as db:
            summaries = {each.study.name: each for each in list_studies(db, by=person)}
        if not summaries:
            empty_state(
                "No reader study yet",
                "A study puts the same cases before readers and models. “Plan” says how many it takes; "
                "“New study” draws them and writes the protocol down.",
            )
            return
        names = list(summaries)
        before = state.chosen("study")
        chosen = st.selectbox(
            "Study",
            names,
            index=names.index(before) if before in names else len(names) - 1,
            key=f"studies-chosen-{len(names)}",
        )
        state.set_chosen("study", chosen)
        summary = summaries[chosen]
        part = st.segmented_control(
            "Part",
            list(_PARTS),
            default=next(iter(_PARTS)),
            key=f"studies-part-{summary.study.id}",
            label_visibility="collapsed",
        )
        _PARTS[part or next(iter(_PARTS))](person, summary)


require_page(Action.RUN_STUDY)
main()
