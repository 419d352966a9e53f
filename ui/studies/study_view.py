"""Shows a study to a coordinator: design, readers with their progress, and all protocol versions."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import streamlit as st

from accounts.service import list_people_with_role
from domain.count_texts import count_text
from domain.people import Person, Role
from domain.protocols import Protocol, ProtocolVersion, diff_protocols
from domain.studies import CaseKind, ReaderLevel, ReaderProfile, StudyState
from reader_study import service as studies
from reader_study.service import ReaderProgress, StudySummary
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.studies.amendments import format_protocol_value, show_amendment_forms
from ui.studies.markers import show_markers
from ui.tables import show_table
from ui.widgets import escape_markdown, format_relative_time, run_action, show_notice


def show_study(person: Person, summary: StudySummary) -> None:
    """Show the study without its questions, answers and keys."""
    study = summary.study
    with read_only_session() as db:
        progress = studies.load_study_progress(db, by=person, study=study.name)
        versions = studies.list_protocol_versions(db, by=person, study=study.name)
        reported_questions = studies.list_faulty_questions(db, by=person, study=study.name)
    summary_parts = [
        f"{count_text(summary.cases[CaseKind.SCORED], 'case')} from {study.source}",
        studies.describe_design(study.design),
        "reading has begun: readers and cases are fixed"
        if study.frozen
        else "no answers in Overread yet: readers can be added",
    ]
    if study.simulated:
        summary_parts.insert(0, "Simulated study")
    st.markdown(escape_markdown(" · ".join(summary_parts)))
    _show_readers(person, summary, progress)
    show_markers(person, summary)
    _show_protocol(versions)
    show_amendment_forms(
        person, summary, versions[-1], [reader_progress.reader.name for reader_progress in progress]
    )
    if reported_questions:
        st.subheader("Reported questions")
        show_table(
            [
                {
                    "Case": report.case,
                    "Question": report.question_id,
                    "Reader": report.reader,
                    "Reason": report.why,
                }
                for report in reported_questions
            ]
        )
    is_closed = study.state is StudyState.CLOSED
    st.button(
        "Reopen study" if is_closed else "Close study",
        key=f"study-close-{study.id}-{study.state}",
        on_click=run_action,
        args=(_close_or_reopen, person, study.name, is_closed),
        kwargs={"notice_key": "study-state", "toggle_key": f"study-{study.id}"},
    )
    show_notice("study-state")


def _close_or_reopen(person: Person, study: str, must_reopen: bool) -> str:
    change_state = studies.reopen_study if must_reopen else studies.close_study
    with unit_of_work() as db:
        changed_study = change_state(db, by=person, study=study, now=clock())
    return f"The study {changed_study.name} is now {changed_study.state}."


# ------------------------------------------------------------------------------------------------ readers
def _show_readers(person: Person, summary: StudySummary, progress: tuple[ReaderProgress, ...]) -> None:
    st.subheader("Readers")
    show_table(
        [_build_reader_row(reader_progress) for reader_progress in progress],
        empty="No readers yet.",
    )
    study = summary.study
    if study.state is StudyState.CLOSED:
        return
    left, right = responsive_columns(1, 1, name="readers")
    if not study.frozen:
        with left:
            _show_assignment(
                person, study.name, study.id, {reader_progress.reader.name for reader_progress in progress}
            )
            show_notice("study-readers")
    if progress:
        with left if study.frozen else right, st.expander("Edit reader profile"):
            _show_profile_form(person, study.name, study.id, progress)


def _build_reader_row(progress: ReaderProgress) -> dict[str, object]:
    reader = progress.reader
    level = str(reader.profile.level) if reader.profile.level else "not stated"
    notes = [
        note
        for note, applies in (
            ("contributed to the answer key", reader.of_reference),
            ("external", reader.is_external),
            ("simulated", reader.simulated),
        )
        if applies
    ]
    return {
        "Reader": reader.display_name,
        "Level": level,
        "Years of experience": "" if reader.profile.years is None else f"{reader.profile.years:g}",
        "Subspecialty": reader.profile.subspecialty,
        "Cases read": f"{progress.done} of {progress.total}",
        "Repeats": f"{progress.repeats_done} of {progress.repeats}",
        "Training": f"{progress.training_done} of {progress.training}",
        "Median time (s)": "" if progress.seconds_median is None else f"{progress.seconds_median:.1f}",
        "Cannot determine": progress.cannot_determine,
        "Problems": progress.faulty,
        "Last answer": format_relative_time(progress.last_read_at, now=clock()),
        "Note": ", ".join(notes),
    }


def _show_assignment(person: Person, study: str, study_id: int, assigned_names: set[str]) -> None:
    with read_only_session() as db:
        available_readers = [
            reader
            for reader in list_people_with_role(db, role=Role.READER)
            if reader.name not in assigned_names
        ]
    if not available_readers:
        st.caption("All people with the role reader have been added. An admin can add more people.")
        return
    display_names = {reader.name: reader.display_name for reader in available_readers}
    key = f"study-assign-{study_id}-{len(assigned_names)}"
    chosen_names = st.multiselect(
        "Add readers",
        list(display_names),
        key=key,
        format_func=display_names.__getitem__,
        placeholder="Choose people with the role reader",
    )
    st.button(
        "Add to study",
        key=f"{key}-add",
        disabled=not chosen_names,
        on_click=run_action,
        args=(_assign_readers, person, study, tuple(chosen_names)),
        kwargs={"notice_key": "study-readers"},
    )
    st.caption(
        "If readers are added, all readers get a new order of cases. The order is fixed after the first "
        "answer."
    )


def _assign_readers(person: Person, study: str, names: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        readers = studies.assign_readers(db, by=person, study=study, to=names, now=clock())
    return f"The study has {count_text(len(readers), 'reader')}, each with their own order of cases."


def _show_profile_form(
    person: Person, study: str, study_id: int, progress: tuple[ReaderProgress, ...]
) -> None:
    readers = {reader_progress.reader.name: reader_progress.reader for reader_progress in progress}
    name = st.selectbox("Reader", list(readers), key=f"study-profile-{study_id}")
    reader = readers[name]
    key = f"study-profile-{study_id}-{name}"
    levels = [None, *ReaderLevel]
    level = st.selectbox(
        "Level",
        levels,
        index=levels.index(reader.profile.level),
        key=f"{key}-level",
        format_func=lambda reader_level: str(reader_level or "not stated"),
    )
    years = st.number_input("Years of experience", 0.0, 80.0, reader.profile.years, key=f"{key}-years")
    subspecialty = st.text_input("Subspecialty", reader.profile.subspecialty, key=f"{key}-special")
    of_reference = st.checkbox("Contributed to the answer key", reader.of_reference, key=f"{key}-helped")
    st.button(
        "Save profile",
        key=f"{key}-save",
        on_click=run_action,
        args=(_save_profile, person, study, name),
        kwargs={
            "profile": ReaderProfile(level=level, years=years, subspecialty=subspecialty.strip()),
            "of_reference": of_reference,
            "notice_key": "reader-profile",
        },
    )
    show_notice("reader-profile")


def _save_profile(
    person: Person, study: str, name: str, *, profile: ReaderProfile, of_reference: bool
) -> str:
    with unit_of_work() as db:
        studies.set_profile(
            db,
            by=person,
            study=study,
            reader=name,
            profile=profile,
            of_reference=of_reference,
            now=clock(),
        )
    return f"Saved the profile of {name}."


# ----------------------------------------------------------------------------------------------- protocol
def _show_protocol(versions: tuple[ProtocolVersion, ...]) -> None:
    latest_version = versions[-1]
    st.subheader("Protocol")
    st.caption(
        f"Version {latest_version.version} of {latest_version.written_at:%Y-%m-%d %H:%M} UTC, SHA-256"
        f" `{latest_version.sha256}`"
        + (
            f"; amended after {count_text(latest_version.answers_before, 'answer')}"
            if latest_version.answers_before
            else ""
        )
    )
    for old_version, new_version in pairwise(versions):
        changes = [
            {
                "Field": name.replace("_", " "),
                "Before": format_protocol_value(old),
                "After": format_protocol_value(new),
            }
            for name, old, new in diff_protocols(old_version.protocol, new_version.protocol)
        ]
        timing = (
            f"after {count_text(new_version.answers_before, 'answer')}"
            if new_version.answers_before
            else "before the first answer"
        )
        st.markdown(
            escape_markdown(
                f"Version {new_version.version}, {new_version.written_at:%Y-%m-%d %H:%M} UTC, {timing}."
                f" {new_version.reason}"
            )
        )
        show_table(changes)
    with st.expander("Full protocol"):
        show_table(
            [
                {
                    "Field": field.name.replace("_", " "),
                    "Value": format_protocol_value(getattr(latest_version.protocol, field.name)),
                }
                for field in fields(Protocol)
            ]
        )
        st.caption("All versions are kept.")
