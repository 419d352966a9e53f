"""One study for its coordinator: design, readers with their progress, and every version of the protocol."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import streamlit as st

from accounts.service import people_with
from domain.people import Person, Role
from domain.protocols import Protocol, ProtocolVersion, differences
from domain.studies import CaseKind, ReaderLevel, ReaderProfile, StudyState
from reader_study import service as studies
from reader_study.service import ReaderProgress, StudySummary
from ui.context import clock, reading, unit_of_work
from ui.layout import beside
from ui.parts import act, human_time, notices, plain
from ui.studies.amending import show_amending, told
from ui.tables import table


def show_study(person: Person, summary: StudySummary) -> None:
    """Draw everything except questions, answers and keys."""
    study = summary.study
    with reading() as db:
        progress = studies.study_progress(db, by=person, study=study.name)
        versions = studies.protocol_versions(db, by=person, study=study.name)
        faulty = studies.faulty_questions(db, by=person, study=study.name)
    notices("study")
    words = [
        f"{summary.cases[CaseKind.SCORED]:,} cases of {study.source}",
        studies.describe(study.design),
        "frozen: the first answer is in"
        if study.frozen
        else "nobody has begun on the screen: readers may still be named",
    ]
    if study.simulated:
        words.insert(0, "SIMULATED")
    st.markdown(plain(" · ".join(words)))
    _readers(person, summary, progress)
    _protocol(versions)
    show_amending(person, summary, versions[-1], [each.reader.name for each in progress])
    if faulty:
        st.subheader("Reported as faulty")
        table(
            [
                {"Case": each.case, "Question": each.question_id, "Reader": each.reader, "Why": each.why}
                for each in faulty
            ]
        )
    closed = study.state is StudyState.CLOSED
    st.button(
        "Open it again" if closed else "Close the study",
        key=f"study-close-{study.id}-{study.state}",
        on_click=act,
        args=(_set_open, person, study.name, closed),
        kwargs={"place": "study", "switch": f"study-{study.id}"},
    )


def _set_open(person: Person, study: str, open_: bool) -> str:
    change = studies.reopen_study if open_ else studies.close_study
    with unit_of_work() as db:
        found = change(db, by=person, study=study, now=clock())
    return f"The study {found.name} is {found.state}."


# ------------------------------------------------------------------------------------------------ readers
def _readers(person: Person, summary: StudySummary, progress: tuple[ReaderProgress, ...]) -> None:
    st.subheader("Readers")
    table([_line(each) for each in progress], empty="Nobody reads in this study yet.")
    study = summary.study
    if study.state is StudyState.CLOSED:
        return
    left, right = beside(1, 1, name="readers")
    if not study.frozen:
        with left:
            _assign(person, study.name, study.id, {each.reader.name for each in progress})
    if progress:
        with left if study.frozen else right, st.expander("Profile of a reader"):
            _profile(person, study.name, study.id, progress)


def _line(each: ReaderProgress) -> dict[str, object]:
    reader = each.reader
    level = str(reader.profile.level) if reader.profile.level else "not stated"
    marks = [
        word
        for word, holds in (
            ("helped to set the key", reader.of_reference),
            ("from outside", reader.outside),
            ("simulated", reader.simulated),
        )
        if holds
    ]
    return {
        "Reader": reader.display_name,
        "Level": level,
        "Years": "" if reader.profile.years is None else f"{reader.profile.years:g}",
        "Subspecialty": reader.profile.subspecialty,
        "Read": f"{each.done} of {each.total}",
        "Repeats": f"{each.repeats_done} of {each.repeats}",
        "Training": f"{each.training_done} of {each.training}",
        "Seconds (median)": "" if each.seconds_median is None else f"{each.seconds_median:.1f}",
        "Cannot determine": each.cannot_determine,
        "Faulty": each.faulty,
        "Last answer": human_time(each.last_read_at, now=clock()),
        "": ", ".join(marks),
    }


def _assign(person: Person, study: str, study_id: int, known: set[str]) -> None:
    with reading() as db:
        people = [each for each in people_with(db, role=Role.READER) if each.name not in known]
    if not people:
        st.caption("Everybody with the role reader is named already. An admin adds people.")
        return
    names = {each.name: each.display_name for each in people}
    key = f"study-assign-{study_id}-{len(known)}"
    chosen = st.multiselect(
        "Add readers",
        list(names),
        key=key,
        format_func=names.__getitem__,
        placeholder="people with the role reader",
    )
    st.button(
        "Add",
        key=f"{key}-add",
        disabled=not chosen,
        on_click=act,
        args=(_add, person, study, tuple(chosen)),
        kwargs={"place": "study"},
    )
    st.caption("Everybody's order is written down anew; after the first answer it stays.")


def _add(person: Person, study: str, names: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        readers = studies.assign_readers(db, by=person, study=study, to=names, now=clock())
    return f"{len(readers)} readers; each has an order of their own."


def _profile(person: Person, study: str, study_id: int, progress: tuple[ReaderProgress, ...]) -> None:
    readers = {each.reader.name: each.reader for each in progress}
    name = st.selectbox("Reader", list(readers), key=f"study-profile-{study_id}")
    reader = readers[name]
    key = f"study-profile-{study_id}-{name}"
    levels = [None, *ReaderLevel]
    level = st.selectbox(
        "Level",
        levels,
        index=levels.index(reader.profile.level),
        key=f"{key}-level",
        format_func=lambda each: str(each or "not stated"),
    )
    years = st.number_input(
        "Years of reading radiographs", 0.0, 80.0, reader.profile.years, key=f"{key}-years"
    )
    special = st.text_input("Subspecialty", reader.profile.subspecialty, key=f"{key}-special")
    helped = st.checkbox("Helped to set the key", reader.of_reference, key=f"{key}-helped")
    st.button(
        "Save the profile",
        key=f"{key}-save",
        on_click=act,
        args=(_save_profile, person, study, name),
        kwargs={
            "profile": ReaderProfile(level=level, years=years, subspecialty=special.strip()),
            "helped": helped,
            "place": "study",
        },
    )


def _save_profile(person: Person, study: str, name: str, *, profile: ReaderProfile, helped: bool) -> str:
    with unit_of_work() as db:
        studies.set_profile(
            db,
            by=person,
            study=study,
            reader=name,
            profile=profile,
            of_reference=helped,
            now=clock(),
        )
    return f"The profile of {name} is saved."


# ----------------------------------------------------------------------------------------------- protocol
def _protocol(versions: tuple[ProtocolVersion, ...]) -> None:
    last = versions[-1]
    st.subheader("Protocol")
    st.caption(
        f"Version {last.version} of {last.written_at:%Y-%m-%d %H:%M} UTC, SHA-256 `{last.sha256}`"
        + (f"; an amendment, after {last.answers_before} answers" if last.answers_before else "")
    )
    for before, after in pairwise(versions):
        changed = [
            {"Field": name.replace("_", " "), "Before": told(old), "After": told(new)}
            for name, old, new in differences(before.protocol, after.protocol)
        ]
        when = (
            f"{after.answers_before} answers were in" if after.answers_before else "before the first answer"
        )
        st.markdown(
            plain(f"Version {after.version}, {after.written_at:%Y-%m-%d %H:%M} UTC, {when}. {after.why}")
        )
        table(changed)
    with st.expander("All of it"):
        table(
            [
                {"Field": each.name.replace("_", " "), "Value": told(getattr(last.protocol, each.name))}
                for each in fields(Protocol)
            ]
        )
        st.caption("Every version stays.")
