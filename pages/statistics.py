"""Dataset statistics: counts, boxes, lengths and words of all questions of a dataset."""

from __future__ import annotations

import streamlit as st

from browsing.service import DatasetStatistics, browsable, dataset_statistics, statistics_version
from domain.people import Action, Person
from ui import state
from ui.context import reading, require_page
from ui.finding.beside import choose_others, show_side_by_side
from ui.finding.counted import show_boxes, show_counts, show_files, show_lengths, show_words
from ui.parts import empty_state, screen


@screen
def main() -> None:
    """One dataset at a time; the statistics are cached until questions are imported."""
    person = require_page(Action.BROWSE)
    st.title("Dataset statistics")
    with reading() as db:
        datasets = browsable(db, by=person)
    if not datasets:
        empty_state(
            "No question yet",
            "Once questions are imported, they are counted here by task, category, length and more.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    before = state.chosen("dataset")
    dataset = st.selectbox(
        "Dataset",
        datasets,
        index=datasets.index(before) if before in datasets else 0,
        key="dataset-to-count",  # allow fixed-widget-key: the widget selects the dataset
    )
    state.set_chosen("dataset", dataset)
    with reading() as db:
        version = statistics_version(db, by=person, dataset=dataset)
    if not version[0]:
        empty_state(
            "No question in it yet",
            "Its import brought none, or was stopped.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    found = _counted(dataset, version, person)
    st.markdown(f"**{found.questions:,} questions of {found.exams:,} exams.**")
    counts, boxes, lengths, words, beside = st.tabs(
        ["Counts", "Formats and boxes", "Lengths", "Words", "Side by side"]
    )
    with counts:
        show_counts(found)
    with boxes:
        show_boxes(found)
    with lengths:
        show_lengths(found)
    with words:
        show_words(found)
    with beside:
        others = choose_others(found, [each for each in datasets if each != dataset])
        show_side_by_side([found, *_others(others, person)])
    show_files(found)


def _others(names: list[str], person: Person) -> list[DatasetStatistics]:
    """The statistics of other datasets; datasets without questions are left out."""
    with reading() as db:
        versions = {name: statistics_version(db, by=person, dataset=name) for name in names}
    return [_counted(name, version, person) for name, version in versions.items() if version[0]]


@st.cache_data(max_entries=20, show_spinner="Counting every question …")
def _counted(dataset: str, version: tuple[int, int], _person: Person) -> DatasetStatistics:
    """The statistics of a dataset, computed once per version: its newest question and release."""
    del version
    with reading() as db:
        return dataset_statistics(db, by=_person, dataset=dataset)


main()
