"""Dataset statistics: counts, boxes, lengths and words of all questions of a dataset."""

from __future__ import annotations

import streamlit as st

from browsing.service import (
    DatasetStatistics,
    compute_dataset_statistics,
    list_browsable_datasets,
    load_statistics_version,
)
from domain.count_texts import count_text
from domain.people import Action, Person
from ui.context import read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.search.comparison import choose_other_datasets, show_dataset_comparison
from ui.search.dataset_statistics import (
    show_boxes,
    show_counts,
    show_files,
    show_lengths,
    show_report_findings,
    show_words,
)
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show one dataset. Statistics are cached until a question, a release or a name mapping is added."""
    person = require_page(Action.BROWSE)
    st.title("Statistics")
    with read_only_session() as db:
        datasets = list_browsable_datasets(db, by=person)
    if not datasets:
        show_empty_state(
            "No questions yet",
            "After an import, this page shows counts by task, category, length and more.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    dataset = choose_dataset(person, datasets, key="dataset-to-count")
    with read_only_session() as db:
        version = load_statistics_version(db, by=person, dataset=dataset)
    newest_question_id = version[0]
    if not newest_question_id:
        show_empty_state(
            "No questions in this dataset",
            "Its import added no questions, or was cancelled.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    statistics = _load_statistics(dataset, version, person)
    st.markdown(
        f"**{count_text(statistics.questions, 'question')} of {count_text(statistics.exams, 'exam')}**"
    )
    counts_tab, boxes_tab, lengths_tab, words_tab, comparison_tab = st.tabs(
        ["Counts", "Formats and boxes", "Text lengths", "Frequent words", "Compare datasets"]
    )
    with counts_tab:
        show_counts(statistics)
    with boxes_tab:
        show_boxes(statistics)
        show_report_findings(dataset, person)
    with lengths_tab:
        show_lengths(statistics)
    with words_tab:
        show_words(statistics)
    with comparison_tab:
        other_names = choose_other_datasets(statistics, [name for name in datasets if name != dataset])
        show_dataset_comparison([statistics, *_load_others(other_names, person)])
    show_files(statistics)


def _load_others(names: list[str], person: Person) -> list[DatasetStatistics]:
    """Return the statistics of other datasets, without datasets that have no questions."""
    with read_only_session() as db:
        versions = {name: load_statistics_version(db, by=person, dataset=name) for name in names}
    return [_load_statistics(name, version, person) for name, version in versions.items() if version[0]]


@st.cache_data(max_entries=20, show_spinner="Counting questions …")
def _load_statistics(dataset: str, version: tuple[int, int, int], _person: Person) -> DatasetStatistics:
    """Compute the statistics, cached per version: the ids of the newest question, release and mapping."""
    del version
    with read_only_session() as db:
        return compute_dataset_statistics(db, by=_person, dataset=dataset)


main()
