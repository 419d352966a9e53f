"""Shows the statistics of a dataset: counts, boxes, lengths, words, and links to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from browsing.figures import render_figures
from browsing.finding_counts import FindingCounts, build_finding_rows
from browsing.service import DatasetStatistics, count_report_findings
from domain.people import Person
from domain.vocabulary import AnswerFormat
from ui import state
from ui.chart import show_chart
from ui.context import read_only_session
from ui.layout import responsive_columns
from ui.search.charts import build_histogram, build_ranked_bar_chart
from ui.tables import show_table

_COLUMN_LABELS = {
    "format": "Answer format",
    "content_type": "Content type",
    "prompt_version": "Prompt version",
}
_MAX_VALUES = 30  # the maximum number of bars in a chart, and of rows in the table of observations
_FILES = ("statistics.csv", "statistics.json")


def show_counts(statistics: DatasetStatistics) -> None:
    """Show the number of questions for each value of one column."""
    names = [name for name, counts in statistics.counts.items() if any(value for value, _ in counts)]
    if not names:
        st.caption("The questions state neither task nor category.")
        return
    chosen_column = st.segmented_control(
        "Group by",
        names,
        default=names[0],
        format_func=_label_column,
        key=f"count-by-{statistics.dataset}",
    )
    column = chosen_column or names[0]
    counts = [(_label_value(column, value), count) for value, count in statistics.counts[column]]
    left, right = responsive_columns(3, 2, name="counted")
    with left:
        show_chart(build_ranked_bar_chart(counts[:_MAX_VALUES], title="questions"))
    with right:
        show_table(
            [
                {_label_column(column): value, "Questions": count, "%": 100 * count / statistics.questions}
                for value, count in counts
            ],
            decimals={"%": 1},
        )
    if len(counts) > _MAX_VALUES:
        st.caption(f"The chart shows the {_MAX_VALUES} most frequent of {len(counts):,}.")
    if statistics.splits.get(column):
        _show_splits(statistics, column, [value for value, _ in statistics.counts[column]])


def _label_column(name: str) -> str:
    return _COLUMN_LABELS.get(name, name.replace("_", " ").capitalize())


def _label_value(column: str, value: str) -> str:
    """Return a value of a column as shown on screen: an answer format by its label."""
    return AnswerFormat(value).label if column == "format" and value else value or "not stated"


def _show_splits(statistics: DatasetStatistics, column: str, values: Sequence[str]) -> None:
    """Show the newest release: one row per value, and one column per split with questions and percent."""
    counts = statistics.splits[column]
    totals = Counter[str]()
    for (split, _), n in statistics.splits["task"].items():
        totals[split] += n
    heading = _label_column(column)

    def format_cell(split: str, value: str) -> str:
        n = counts.get((split, value), 0)
        return f"{n:,} ({100 * n / totals[split]:.1f})"

    lines: list[dict[str, object]] = [
        {
            heading: _label_value(column, value),
            **{split: format_cell(split, value) for split in sorted(totals)},
        }
        for value in values
        if any((split, value) in counts for split in totals)
    ]
    total_line = {heading: "All", **{split: f"{totals[split]:,}" for split in sorted(totals)}}
    st.markdown("**Newest release, by split**")
    show_table([*lines, total_line])
    st.caption("Number of questions, and percent of the split.")


def show_boxes(statistics: DatasetStatistics) -> None:
    """Show the boxes by answer format, the boxes per question, and the observations in boxes."""
    show_table(
        [
            {
                "Answer format": "All" if line.name == "all" else _label_value("format", line.name),
                "Questions": line.questions,
                "With boxes": line.with_boxes,
                "Boxes": line.boxes,
                "Boxes per question": line.boxes_per_question,
            }
            for line in statistics.formats
        ],
        decimals={"Boxes per question": 2},
    )
    if not any(boxes for boxes, _ in statistics.boxes):
        st.caption("No question has a box.")
        return
    left, right = responsive_columns(1, 1, name="boxes")
    with left:
        st.markdown("**Boxes per question**")
        st.caption(f"n = {statistics.questions:,} questions")
        bins = [(boxes, boxes, count) for boxes, count in statistics.boxes]
        show_chart(build_histogram(bins, title="boxes", unit="questions"))
    with right:
        st.markdown("**Observations in boxes**")
        st.caption(f"n = {statistics.formats[-1].with_boxes:,} questions with boxes")
        _show_labels("Observation", statistics.observations, statistics)
        if len(statistics.observations) > _MAX_VALUES:
            st.caption(f"The {_MAX_VALUES} most frequent; the files list all.")
        if statistics.regions:
            st.markdown("**Controlled regions**")
            _show_labels("Region", statistics.regions, statistics)
    if statistics.splits["observations"]:
        labels = [label for label, _, _ in statistics.observations[:_MAX_VALUES]]
        _show_splits(statistics, "observations", labels)


def _show_labels(heading: str, labels: Sequence[tuple[str, int, int]], statistics: DatasetStatistics) -> None:
    """Show questions and boxes by label or controlled region."""
    with_boxes = statistics.formats[-1].with_boxes
    show_table(
        [
            {
                heading: label or "not stated",
                "Questions": f"{questions:,}",
                "% of those with boxes": f"{100 * questions / with_boxes:.1f}",
                "Boxes": f"{boxes:,}",
            }
            for label, questions, boxes in labels[:_MAX_VALUES]
        ]
    )


def show_report_findings(dataset: str, person: Person) -> None:
    """Show the button that counts the findings in reports, and the result below it."""
    st.markdown("**Findings in reports**")
    result_key = f"findings-{dataset}"
    if st.button("Count findings in reports", key=result_key):
        with st.spinner("Reading reports …"), read_only_session() as db:
            state.set_selection(result_key, count_report_findings(db, by=person, dataset=dataset))
    counts = state.get_selection(result_key)
    if not isinstance(counts, FindingCounts):
        return
    st.caption(f"n = {counts.with_report:,} exams with a report, of {counts.exams:,}")
    if not counts.with_report:
        st.caption("No exam has a report.")
        return
    show_table(build_finding_rows(counts))
    st.caption(
        "A finding counts if the report states it without doubt. Healthy: the report states and suspects "
        "none. An exam may have several findings."
    )


def show_lengths(statistics: DatasetStatistics) -> None:
    """Show histograms of the lengths of questions and explanations."""
    unit = st.segmented_control(
        "Unit", ["characters", "words"], default="characters", key=f"length-in-{statistics.dataset}"
    )
    for column, name, lengths in zip(
        responsive_columns(1, 1, name="lengths"),
        ("Questions", "Explanations"),
        (statistics.stems, statistics.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if not lengths.n:
                st.caption("None.")
                continue
            mean = lengths.mean_words if unit == "words" else lengths.mean_characters
            st.caption(f"n = {lengths.n:,}, mean {mean:.1f} {unit or 'characters'}")
            bins = lengths.in_words if unit == "words" else lengths.characters
            show_chart(build_histogram(bins, title=unit or "characters"))


def show_words(statistics: DatasetStatistics) -> None:
    """Show the most frequent words of questions and explanations."""
    st.caption(
        "Number of texts that contain each word. Common English words are excluded, except words that open "
        "questions, such as what and is."
    )
    for column, name, texts in zip(
        responsive_columns(1, 1, name="words"),
        ("Questions", "Explanations"),
        (statistics.stems, statistics.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if texts.words:
                show_chart(build_ranked_bar_chart(texts.words, title="texts"))
            else:
                st.caption("None.")


def show_files(statistics: DatasetStatistics) -> None:
    """Show links to the statistics as files. Their route computes them again and requires a sign-in."""
    dataset = urlencode({"dataset": statistics.dataset})
    with st.expander("Download statistics"):
        links = [f"[{name}](/files/statistics/{name}?{dataset})" for name in _FILES]
        links += [
            f"[{name}.svg](/files/statistics/{name}.svg?{dataset})" for name in render_figures(statistics)
        ]
        st.markdown(" · ".join(links))
