"""The form that creates a study with its cases, its design and its protocol."""

from __future__ import annotations

import streamlit as st

from domain.batches import SamplingPlan
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Person
from domain.protocols import Protocol
from domain.studies import ONE_ARM, Arm, CaseSource, Crossing, SourceKind, StudyDesign
from domain.vocabulary import AnswerFormat
from reader_study.service import count_available_cases, create_study, list_models
from reader_study.study_sizes import AvailableCases
from release.service import ReleaseRecord, list_releases
from sampling.service import list_batches, list_drawable_datasets
from ui import state
from ui.background_jobs.checkpoint_job import start_checkpoint
from ui.context import clock, current_workspace, read_only_session, unit_of_work
from ui.dataset_choice import choose_dataset
from ui.layout import responsive_columns
from ui.studies.protocol_form import show_protocol_fields
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice

_FORM_NAME = "study"


def show_study_form(person: Person) -> None:
    """Show the form, or an empty state if there are no questions."""
    with read_only_session() as db:
        datasets = {name: size for name, size in list_drawable_datasets(db, by=person).items() if size}
        releases = list_releases(db, by=person)
    if not datasets:
        show_empty_state(
            "No questions yet",
            "The cases of a study are drawn from imported questions.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    form_key = state.form_key(_FORM_NAME)
    left, right = responsive_columns(1, 1, name="making")
    with left:
        name = st.text_input("Name", key=f"{form_key}-name", placeholder="for example residents 2027")
        source = _choose_source(person, form_key, list(datasets), releases)
        formats = _choose_formats(form_key)
        version = (str(current_workspace().home), datasets[source.dataset])
        available = _load_available_cases(source, formats, version, person)
        design = _choose_design(form_key, source, formats, available)
    with right:
        st.markdown("**Protocol**")
        with read_only_session() as db:
            models = {
                model.name: model.predictions
                for model in list_models(db, by=person, dataset=source.dataset)
                if model.predictions
            }
        protocol = show_protocol_fields(form_key, Protocol(), models=models)
    if isinstance(design, StudyDesign) and isinstance(protocol, Protocol):
        st.caption(
            "Creating the study draws and freezes its cases and records the protocol with its SHA-256. You "
            "can then add readers and amend the protocol."
        )
        st.button(
            "Create study",
            type="primary",
            key=f"{form_key}-make",
            disabled=not name.strip(),
            on_click=run_action,
            args=(_create_study, person, name, source, design, protocol),
            kwargs={"notice_key": "making"},
        )
    show_notice("making")


def _create_study(
    person: Person, name: str, source: CaseSource, design: StudyDesign, protocol: Protocol
) -> str | None:
    with unit_of_work() as db:
        study = create_study(
            db, by=person, name=name, source=source, design=design, protocol=protocol, now=clock()
        )
    start_checkpoint(person, after=f"study {study.name}")
    state.clear_form(_FORM_NAME)
    state.set_selection("study", study.name)
    return f"Created the study {study.name}. Open “Studies” to add readers."


def _choose_source(
    person: Person, form_key: str, datasets: list[str], releases: list[ReleaseRecord]
) -> CaseSource:
    kinds = list(SourceKind)
    kind = st.selectbox("Source of cases", kinds, key=f"{form_key}-kind", format_func=str)
    dataset = choose_dataset(person, datasets, key=f"{form_key}-dataset")
    if kind is SourceKind.BATCH:
        with read_only_session() as db:
            batches = [batch.name for batch, _ in list_batches(db, by=person, dataset=dataset)]
        if batches:
            source_name = st.selectbox("Batch", batches, key=f"{form_key}-batch-{dataset}")
            return CaseSource(kind=kind, dataset=dataset, name=source_name)
        st.info("This dataset has no batches. Cases are drawn from the whole dataset.")
    if kind is SourceKind.RELEASE:
        names = [release.name for release in releases if release.dataset == dataset]
        if names:
            source_name = st.selectbox("Release", names, key=f"{form_key}-release-{dataset}")
            return CaseSource(kind=kind, dataset=dataset, name=source_name)
        st.info("This dataset has no releases. Cases are drawn from the whole dataset.")
    return CaseSource(kind=SourceKind.DATASET, dataset=dataset)


def _choose_formats(form_key: str) -> tuple[AnswerFormat, ...]:
    """Return the chosen answer formats in their declared order; empty if all or none are chosen."""
    chosen_formats = st.pills(
        "Answer formats",
        list(AnswerFormat),
        selection_mode="multi",
        default=list(AnswerFormat),
        key=f"{form_key}-formats",
        format_func=lambda format_: format_.label.capitalize(),
        help="Free text: readers type an answer, which an expert marks.",
    )
    formats = tuple(format_ for format_ in AnswerFormat if format_ in chosen_formats)
    if not formats:
        st.caption("No format is chosen, so questions of all formats are drawn.")
    return () if len(formats) == len(AnswerFormat) else formats


@st.cache_data(max_entries=20, ttl=60, show_spinner="Counting the cases …")
def _load_available_cases(
    source: CaseSource, formats: tuple[AnswerFormat, ...], version: tuple[object, ...], _person: Person
) -> AvailableCases:
    """Return the counts. They are cached for a minute, because counting a million questions takes seconds."""
    del version
    with read_only_session() as db:
        return count_available_cases(db, by=_person, source=source, formats=formats)


def _describe_available_cases(source: CaseSource, available: AvailableCases, *, one_per_exam: bool) -> str:
    questions, exams = count_text(available.questions, "question"), count_text(available.exams, "exam")
    if one_per_exam:
        cases = count_text(available.exams, "case")
        return f"{cases} available, including training cases: one question per exam of {source}."
    return f"{questions} on {exams} of {source} available. Training cases are on other exams."


def _choose_design(
    form_key: str, source: CaseSource, formats: tuple[AnswerFormat, ...], available: AvailableCases
) -> StudyDesign | None:
    one_per_exam = st.checkbox("One question per exam", value=True, key=f"{form_key}-one")
    max_cases, sizes = (
        available.count(one_per_exam=one_per_exam),
        available.suggest_sizes(one_per_exam=one_per_exam),
    )
    st.caption(escape_markdown(_describe_available_cases(source, available, one_per_exam=one_per_exam)))
    # The keys contain the available numbers, so that the default sizes follow a change of the source.
    size_key = f"{form_key}-{max_cases}-{available.exams}"
    left_column, middle_column, right_column = st.columns(3)
    n = left_column.number_input("Cases", 1, max(1, max_cases), max(1, sizes.scored), key=f"{size_key}-n")
    training = middle_column.number_input("Training cases", 0, 50, sizes.training, key=f"{size_key}-training")
    seed = right_column.number_input("Seed", 0, 2**31, 1, key=f"{form_key}-seed")
    repeats = left_column.number_input(
        "Hidden repeats",
        0,
        500,
        sizes.repeats,
        key=f"{size_key}-repeats",
        help="Number of each reader's cases that are shown a second time.",
    )
    repeat_gap = middle_column.number_input(
        "Minimum gap (cases)", 1, 1000, sizes.repeat_gap, key=f"{size_key}-gap"
    )
    if one_per_exam and n + training > max_cases:
        st.error(
            f"{n:,} cases and {count_text(int(training), 'training case')} need {n + training:,} exams;"
            f" {max_cases:,} are available. Choose fewer, or allow several questions of one exam."
        )
        return None
    crossings = list(Crossing)
    crossing = st.selectbox(
        "Study design",
        crossings,
        key=f"{form_key}-crossing",
        format_func=lambda choice: choice.label.capitalize(),
    )
    readers_per_case, shared, washout_days = None, 0, 0
    arms: tuple[Arm, ...] = ONE_ARM
    if crossing is Crossing.PARTS:
        left, right = st.columns(2)
        readers_per_case = left.number_input("Readers per case", 1, 50, 2, key=f"{form_key}-per-case")
        shared = right.number_input("Cases read by all readers", 0, 5000, 20, key=f"{form_key}-shared")
    if crossing is Crossing.CROSSOVER:
        left, middle, right = st.columns(3)
        clinical_arm = left.text_input(
            "Arm with clinical information", "with clinical information", key=f"{form_key}-clinical"
        )
        image_arm = middle.text_input("Arm with images only", "image only", key=f"{form_key}-bare")
        washout_days = right.number_input("Wash-out (days)", 0, 365, 28, key=f"{form_key}-washout")
        try:
            arms = (Arm(name=clinical_arm), Arm(name=image_arm, clinical_info_shown=False))
        except DomainError as error:
            st.error(escape_markdown(str(error)))
            return None
    try:
        return StudyDesign(
            plan=SamplingPlan(seed=int(seed), per_1000=None, n=int(n)),
            crossing=crossing,
            training=int(training),
            repeats=int(repeats),
            repeat_gap=int(repeat_gap),
            one_per_exam=one_per_exam,
            formats=formats,
            readers_per_case=readers_per_case,
            shared=shared,
            washout_days=washout_days,
            arms=arms,
        )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None
