"""Compares several datasets, in the layout that papers use for the splits of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from browsing.dataset_comparison import (
    ComparisonLine,
    build_format_rows,
    build_overview_rows,
    compare_boxes,
    compare_column,
    compare_words,
    list_columns,
)
from browsing.service import DatasetStatistics
from release.leak_report import LeakReport, SharedQuestions, build_rows, describe_content
from release.service import find_dataset_leaks
from ui import state
from ui.context import current_person, read_only_session
from ui.tables import show_table

#: The maximum number of shared wordings on the page.
_MAX_WORDINGS = 50


def choose_other_datasets(statistics: DatasetStatistics, other_datasets: Sequence[str]) -> list[str]:
    """Show the choice of further datasets for the comparison."""
    if not other_datasets:
        st.caption("There is only one dataset. Import another one to compare them.")
        return []
    return st.multiselect("Compare with", other_datasets, key=f"beside-{statistics.dataset}")


def show_dataset_comparison(datasets: Sequence[DatasetStatistics]) -> None:
    """Show the questions by one column, the boxes by answer format, and a link to the CSV file."""
    names = [statistics.dataset for statistics in datasets]
    show_table(build_overview_rows(datasets))
    columns = list_columns(datasets)
    chosen_column = st.segmented_control(
        "Questions by",
        columns,
        default=columns[0],
        format_func=lambda name: name.replace("_", " ").capitalize(),
        key=f"beside-by-{names[0]}-{len(columns)}",
    )
    show_table(
        [_build_comparison_row(line, names) for line in compare_column(datasets, chosen_column or columns[0])]
    )
    st.caption("Number of questions, and percent of the dataset.")
    if any(line.counts for line in compare_boxes(datasets) if sum(line.counts)):
        st.markdown("**Questions and boxes by answer format**")
        show_table(build_format_rows(datasets))
    with st.expander("Frequent words, percent of the texts"):
        for heading, of_explanations in (("Questions", False), ("Explanations", True)):
            st.markdown(f"**{heading}**")
            show_table(compare_words(datasets, of_explanations=of_explanations))
    if len(names) > 1:
        _show_leak_check(names)
    query = urlencode([("dataset", name) for name in names])
    st.markdown(f":small[[side-by-side.csv](/files/statistics/side-by-side.csv?{query})]")


def _show_leak_check(names: Sequence[str]) -> None:
    """Show the button that compares patients, images, reports and questions, and the result below it."""
    st.markdown("**Shared patients, images, reports and questions**")
    result_key = f"leaks-{'-'.join(names)}"
    with_questions = st.checkbox(
        "Compare questions",
        key=f"{result_key}-questions",
        help="Finds equal and near-duplicate wordings. Takes about a minute per 100,000 questions.",
    )
    if st.button("Check for leaks", key=f"{result_key}-check"):
        progress = st.empty()

        def show_progress(count: int) -> None:
            progress.caption(f"{count:,} exams and wordings compared")

        with st.spinner("Comparing datasets …"), read_only_session() as db:
            result = find_dataset_leaks(
                db,
                by=current_person(),
                datasets=names,
                with_questions=with_questions,
                report_progress=show_progress,
            )
        progress.empty()
        state.set_selection(result_key, result)
    report = state.get_selection(result_key)
    if not isinstance(report, LeakReport):
        st.caption("A patient or an image in both a training and a test set makes results too good.")
        return
    show_table(build_rows(report))
    st.caption(" ".join(describe_content(report)) + " Equal reports may be templates.")
    if report.shared_questions is not None:
        _show_shared_wordings(report.shared_questions)


def _show_shared_wordings(shared_questions: SharedQuestions) -> None:
    show_table(
        [
            {
                "Question": " / ".join(wording.stems),
                "Similarity": round(wording.similarity, 2),
                **dict(sorted(wording.questions.items())),
            }
            for wording in shared_questions.wordings[:_MAX_WORDINGS]
        ],
        empty="No wording is in more than one dataset.",
    )
    if len(shared_questions.wordings) > _MAX_WORDINGS:
        st.caption(
            f"Showing the {_MAX_WORDINGS} most similar of {len(shared_questions.wordings):,}. "
            "`cli.py leaks --questions --out FILE` writes all."
        )


def _build_comparison_row(line: ComparisonLine, names: Sequence[str]) -> dict[str, object]:
    heading = "Boxes" if line.totals is None else line.column.replace("_", " ").capitalize()
    cells: dict[str, object] = {heading: line.value}
    for i, name in enumerate(names):
        count = f"{line.counts[i]:,}"
        cells[name] = count if line.totals is None else f"{count} ({line.format_percent(i)})"
    if len(names) > 1:
        cells["All"] = f"{sum(line.counts):,}"
    return cells
