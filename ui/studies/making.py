"""Creating a study: cases, design and protocol in one form, stored together."""

from __future__ import annotations

import streamlit as st

from domain.batches import SamplingPlan
from domain.errors import DomainError
from domain.people import Person
from domain.protocols import Protocol
from domain.studies import ONE_ARM, Arm, CaseSource, Crossing, SourceKind, StudyDesign
from reader_study.service import create_study
from release.service import KnownRelease, list_releases
from sampling.service import drawable, list_batches
from ui import state
from ui.context import clock, reading, unit_of_work
from ui.layout import beside
from ui.parts import act, empty_state, notices, plain
from ui.studies.protocol_form import protocol_fields

_FORM = "study"


def show_making(person: Person) -> None:
    """Draw the form; the study that it creates is shown in the other view."""
    with reading() as db:
        datasets = [name for name, size in drawable(db, by=person).items() if size]
        batches = list_batches(db, by=person)
        releases = list_releases(db, by=person)
    if not datasets:
        empty_state(
            "Nothing to read yet",
            "Cases are drawn from imported questions.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    notices("making")
    form = state.form(_FORM)
    left, right = beside(1, 1, name="making")
    with left:
        name = st.text_input("Name", key=f"{form}-name", placeholder="pilot")
        source = _source(form, datasets, [each.name for each, _ in batches], releases)
        design = _design(form)
    with right:
        st.markdown("**Protocol**")
        protocol = protocol_fields(form, Protocol())
    if isinstance(design, StudyDesign) and isinstance(protocol, Protocol):
        st.caption(
            "The cases are drawn and frozen now. The protocol is written down with its SHA-256; later "
            "versions stand beside it. Readers are named next."
        )
        st.button(
            "Make the study",
            type="primary",
            key=f"{form}-make",
            disabled=not name.strip(),
            on_click=act,
            args=(_make, person, name, source, design, protocol),
            kwargs={"place": "making"},
        )


def _make(
    person: Person, name: str, source: CaseSource, design: StudyDesign, protocol: Protocol
) -> str | None:
    with unit_of_work() as db:
        study = create_study(
            db, by=person, name=name, source=source, design=design, protocol=protocol, now=clock()
        )
    state.clear_form(_FORM)
    state.set_chosen("study", study.name)
    return f"The study {study.name} is made. Open “Studies” to name its readers."


def _source(form: str, datasets: list[str], batches: list[str], releases: list[KnownRelease]) -> CaseSource:
    kinds = list(SourceKind)
    kind = st.selectbox("Cases from a", kinds, key=f"{form}-kind", format_func=str)
    dataset = st.selectbox("Dataset", datasets, key=f"{form}-dataset")
    if kind is SourceKind.BATCH and batches:
        chosen = st.selectbox("Batch", batches, key=f"{form}-batch")
        return CaseSource(kind=kind, dataset=dataset, name=chosen)
    if kind is SourceKind.RELEASE:
        names = [each.name for each in releases if each.dataset == dataset]
        if names:
            chosen = st.selectbox("Release", names, key=f"{form}-release-{dataset}")
            return CaseSource(kind=kind, dataset=dataset, name=chosen)
        st.info("This dataset has no release yet; the whole dataset is drawn from.")
    return CaseSource(kind=SourceKind.DATASET, dataset=dataset)


def _design(form: str) -> StudyDesign | None:
    first, second, third = st.columns(3)
    n = first.number_input("Cases", 1, 5000, 200, key=f"{form}-n")
    training = second.number_input("Training cases", 0, 50, 5, key=f"{form}-training")
    seed = third.number_input("Seed", 0, 2**31, 1, key=f"{form}-seed")
    repeats = first.number_input(
        "Hidden repeats", 0, 500, 20, key=f"{form}-repeats", help="Of each reader's own cases."
    )
    gap = second.number_input("Cases between", 1, 1000, 30, key=f"{form}-gap")
    one = third.checkbox("One question an exam", value=True, key=f"{form}-one")
    crossings = list(Crossing)
    crossing = st.selectbox("Who reads what", crossings, key=f"{form}-crossing", format_func=str)
    readers_per_case, shared, washout_days = None, 0, 0
    arms: tuple[Arm, ...] = ONE_ARM
    if crossing is Crossing.PARTS:
        left, right = st.columns(2)
        readers_per_case = left.number_input("Readers a case", 1, 50, 2, key=f"{form}-per-case")
        shared = right.number_input("Cases read by all", 0, 5000, 20, key=f"{form}-shared")
    if crossing is Crossing.CROSSOVER:
        left, middle, right = st.columns(3)
        told = left.text_input("Arm with indication, age, sex", "told", key=f"{form}-told")
        bare = middle.text_input("Arm with the image alone", "image only", key=f"{form}-bare")
        washout_days = right.number_input("Days of wash-out", 0, 365, 28, key=f"{form}-washout")
        try:
            arms = (Arm(name=told), Arm(name=bare, told=False))
        except DomainError as error:
            st.error(plain(str(error)))
            return None
    try:
        return StudyDesign(
            plan=SamplingPlan(seed=int(seed), per_1000=None, n=int(n)),
            crossing=crossing,
            training=int(training),
            repeats=int(repeats),
            repeat_gap=int(gap),
            one_per_exam=one,
            readers_per_case=readers_per_case,
            shared=shared,
            washout_days=washout_days,
            arms=arms,
        )
    except DomainError as error:
        st.error(plain(str(error)))
        return None
