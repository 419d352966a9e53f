"""Dataset statistics: counts, boxes, lengths and words of every question of a dataset."""

from __future__ import annotations

import streamlit as st

from browsing.service import DatasetStatistics, browsable, dataset_statistics, statistics_version
from domain.people import Action, Person
from ui import state
from ui.context import reading, require_page
from ui.finding.charts import ranked
from ui.finding.texts import lengths, words_used
from ui.parts import empty_state, screen, table

_CALLED = {"format": "Answer format", "content_type": "Content type", "prompt_version": "Prompt version"}
_SHOWN = 30  # values of a column in a chart


@screen
def main() -> None:
    """One dataset at a time; counted once, and again when questions come in."""
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
        key="dataset-to-count",  # allow fixed-widget-key: it is the question itself
    )
    state.set_chosen("dataset", dataset)
    with reading() as db:
        version = statistics_version(db, by=person, dataset=dataset)
    if not version:
        empty_state(
            "No question in it yet",
            "Its import brought none, or was stopped.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    found = _counted(dataset, version, person)
    st.markdown(f"**{found.questions:,} questions of {found.exams:,} exams.**")
    counts, boxes, long, words = st.tabs(["Counts", "Formats and boxes", "Lengths", "Words"])
    with counts:
        _counts(found)
    with boxes:
        _boxes(found)
    with long:
        lengths(found)
    with words:
        words_used(found)


@st.cache_data(max_entries=20, show_spinner="Counting every question …")
def _counted(dataset: str, version: int, _person: Person) -> DatasetStatistics:
    """The statistics of a dataset as it was when ``version`` was its newest question."""
    del version
    with reading() as db:
        return dataset_statistics(db, by=_person, dataset=dataset)


def _counts(found: DatasetStatistics) -> None:
    names = [name for name, counts in found.counts.items() if any(value for value, _ in counts)]
    if not names:
        st.caption("The questions state neither task nor category.")
        return
    chosen = st.segmented_control(
        "By",
        names,
        default=names[0],
        format_func=lambda name: _CALLED.get(name, name.capitalize()),
        key=f"count-by-{found.dataset}",
    )
    counts = [(value or "not stated", count) for value, count in found.counts[chosen or names[0]]]
    left, right = st.columns([3, 2], gap="large")
    left.altair_chart(ranked(counts[:_SHOWN], title="questions"), width="stretch")
    with right:
        table(
            [{"Value": v, "Questions": f"{n:,}", "%": f"{100 * n / found.questions:.1f}"} for v, n in counts]
        )
    if len(counts) > _SHOWN:
        st.caption(f"The chart has the {_SHOWN} most frequent of {len(counts):,}.")
    if found.splits and chosen == "task":
        st.markdown("**The newest release, by side**")
        table(
            [
                {"Side": side, "Task": task or "not stated", "Questions": f"{n:,}"}
                for (side, task), n in sorted(found.splits.items())
            ]
        )


def _boxes(found: DatasetStatistics) -> None:
    table(
        [
            {
                "Answer format": line.name,
                "Questions": f"{line.questions:,}",
                "With boxes": f"{line.with_boxes:,}",
                "Boxes": f"{line.boxes:,}",
                "Boxes a question": "" if line.boxes_a_question is None else f"{line.boxes_a_question:.2f}",
            }
            for line in found.formats
        ]
    )


main()
