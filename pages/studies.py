"""Reader studies: design a study, create it, register its readers, follow its progress."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from reader_study.service import list_studies
from ui import state
from ui.context import read_only_session, require_page
from ui.figures.report_page import show_report
from ui.studies.case_gallery import show_case_gallery
from ui.studies.extraction_check import show_extraction_check
from ui.studies.power_planning import show_planning
from ui.studies.study_form import show_study_form
from ui.studies.study_imports import show_study_imports
from ui.studies.study_view import show_study
from ui.widgets import page_fragment, show_empty_state

_VIEWS = ("Studies", "New study", "Sample size")
_STUDY_PARTS = {
    "Readers and protocol": show_study,
    "Imports": show_study_imports,
    "Extraction check": show_extraction_check,
    "Report": show_report,
    "Cases": show_case_gallery,
}


@page_fragment
def main() -> None:
    """Show one of three views, in one fragment, so that a click cannot interrupt a save."""
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
        show_study_form(person)
    elif view == "Sample size":
        show_planning(person)
    else:
        with read_only_session() as db:
            summaries_by_name = {summary.study.name: summary for summary in list_studies(db, by=person)}
        if not summaries_by_name:
            show_empty_state(
                "No reader studies yet",
                "In a study, readers and models answer the same cases. “Sample size” estimates how many "
                "readers and cases are needed; “New study” draws the cases and records the protocol.",
            )
            return
        names = list(summaries_by_name)
        last_study = state.get_selection("study")
        study_name = st.selectbox(
            "Study",
            names,
            index=names.index(last_study) if last_study in names else len(names) - 1,
            key=f"studies-chosen-{len(names)}",
        )
        state.set_selection("study", study_name)
        summary = summaries_by_name[study_name]
        part = st.segmented_control(
            "Part",
            list(_STUDY_PARTS),
            default=next(iter(_STUDY_PARTS)),
            key=f"studies-part-{summary.study.id}",
            label_visibility="collapsed",
        )
        _STUDY_PARTS[part or next(iter(_STUDY_PARTS))](person, summary)


require_page(Action.RUN_STUDY)
main()
