"""Shows who marks the open answers of a study, with their progress, and the form that assigns them."""

from __future__ import annotations

import streamlit as st

from accounts.service import list_people_with_role
from domain.access import ROLES_BY_ACTION, Action
from domain.count_texts import count_text
from domain.marks import MarkerRole
from domain.people import Person
from reader_study import service as studies
from reader_study.service import StudySummary
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.widgets import run_action, show_notice


def show_markers(person: Person, summary: StudySummary) -> None:
    """Show the markers and their progress. Show nothing if the study has no open question."""
    study = summary.study
    with read_only_session() as db:
        progress = studies.load_marking_progress(db, by=person, study=study.name)
        reader_ids = {reader.person_id for reader in studies.list_readers(db, by=person, study=study.name)}
        candidates = {
            candidate.name: candidate.display_name
            for role in ROLES_BY_ACTION[Action.MARK_ANSWERS]
            for candidate in list_people_with_role(db, role=role)
            if candidate.id not in reader_ids
        }
    if not progress.open_cases:
        return
    st.subheader("Open answers")
    cases_text = count_text(progress.open_cases, "case")
    if not summary.protocol.protocol.marks_open_answers:
        st.caption(
            f"{cases_text} with an open question, scored by exact match with the answer key (protocol)."
        )
        return
    st.caption(
        f"{cases_text} with an open question. {count_text(progress.total, 'distinct answer')} of readers and "
        f"models {'differs' if progress.total == 1 else 'differ'} from the key and must be marked. Markers "
        "do not see who answered. The marks of the first marker count; a second marker measures the "
        "agreement of markers."
    )
    current = {marker.role: marker.name for marker in progress.markers}
    candidates |= {marker.name: marker.display_name for marker in progress.markers}
    for column, role in zip(responsive_columns(1, 1, name="markers"), MarkerRole, strict=True):
        taken_names = {name for other, name in current.items() if other is not role}
        available_names = {
            name: display_name for name, display_name in candidates.items() if name not in taken_names
        }
        with column:
            _show_marker_choice(person, study.name, role, current.get(role), names=available_names)
            if role in current:
                st.caption(f"{progress.marked[role]:,} of {progress.total:,} marked")
    show_notice("markers")


def _show_marker_choice(
    person: Person, study: str, role: MarkerRole, current: str | None, *, names: dict[str, str]
) -> None:
    options = [None, *names]
    key = f"marker-{study}-{role.value}-{current}-{len(options)}"
    chosen_name = st.selectbox(
        role.label.capitalize(),
        options,
        index=options.index(current),
        key=key,
        format_func=lambda name: "None" if name is None else names[name],
        help="People with the role reviewer who do not read in this study.",
    )
    st.button(
        f"Save {role.label}",
        key=f"{key}-save",
        disabled=chosen_name == current,
        on_click=run_action,
        args=(_assign_marker, person, study, role, chosen_name),
        kwargs={"notice_key": "markers"},
    )


def _assign_marker(person: Person, study: str, role: MarkerRole, name: str | None) -> str:
    with unit_of_work() as db:
        studies.assign_marker(db, by=person, study=study, role=role, to=name, now=clock())
    if name is None:
        return f"Removed the {role.label}. Existing marks are kept."
    return f"{name} is the {role.label}. They find the answers under “Mark study answers”."
