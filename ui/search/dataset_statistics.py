"""Shows the statistics of a dataset: counts, boxes, lengths, words, and links to files."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from browsing.figures import render_figures
from browsing.service import DatasetStatistics
from ui.chart import show_chart
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
    """Draw the number of questions for each value of one column."""
    names = [name for name, counts in statistics.counts.items() if any(value for value, _ in counts)]
    if not names:
        st.caption("The questions state neither task nor category.")
        return
    chosen_column = st.segmented_control(
        "Group by",
        names,
        default=names[0],
        format_func=lambda name: _COLUMN_LABELS.get(name, name.capitalize()),
        key=f"count-by-{statistics.dataset}",
    )
    counts = [(value or "not stated", count) for value, count in statistics.counts[chosen_column or names[0]]]
    left, right = responsive_columns(3, 2, name="counted")
    with left:
        show_chart(build_ranked_bar_chart(counts[:_MAX_VALUES], title="questions"))
    with right:
        show_table(
            [
                {"Value": v, "Questions": f"{n:,}", "%": f"{100 * n / statistics.questions:.1f}"}
                for v, n in counts
            ]
        )
    if len(counts) > _MAX_VALUES:
        st.caption(f"The chart shows the {_MAX_VALUES} most frequent of {len(counts):,}.")
    if statistics.splits and chosen_column == "task":
        st.markdown("**Newest release, by split**")
        show_table(_build_split_rows(statistics))


def _build_split_rows(statistics: DatasetStatistics) -> list[dict[str, object]]:
    """Return one row per task, with one column per part of the split: questions, and percent of the part."""
    parts = sorted({part for part, _ in statistics.splits})
    part_totals = {
        part: sum(n for (other_part, _), n in statistics.splits.items() if other_part == part)
        for part in parts
    }
    tasks = [
        task
        for task, _ in statistics.counts["task"]
        if any((part, task) in statistics.splits for part in parts)
    ]

    def format_cell(part: str, task: str) -> str:
        n = statistics.splits.get((part, task), 0)
        return f"{n:,} ({100 * n / part_totals[part]:.1f})"

    lines: list[dict[str, object]] = [
        {"Task": task or "not stated", **{part: format_cell(part, task) for part in parts}} for task in tasks
    ]
    return [*lines, {"Task": "all", **{part: f"{part_totals[part]:,}" for part in parts}}]


def show_boxes(statistics: DatasetStatistics) -> None:
    """Draw the boxes by answer format, the boxes per question, and the observations in boxes."""
    show_table(
        [
            {
                "Answer format": line.name,
                "Questions": f"{line.questions:,}",
                "With boxes": f"{line.with_boxes:,}",
                "Boxes": f"{line.boxes:,}",
                "Boxes per question": ""
                if line.boxes_per_question is None
                else f"{line.boxes_per_question:.2f}",
            }
            for line in statistics.formats
        ]
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
        show_table(
            [
                {
                    "Observation": label or "not stated",
                    "Questions": f"{questions:,}",
                    "% of those with boxes": f"{100 * questions / statistics.formats[-1].with_boxes:.1f}",
                    "Boxes": f"{boxes:,}",
                }
                for label, questions, boxes in statistics.observations[:_MAX_VALUES]
            ]
        )
        if len(statistics.observations) > _MAX_VALUES:
            st.caption(f"The {_MAX_VALUES} most frequent; the files list all.")


def show_lengths(statistics: DatasetStatistics) -> None:
    """Draw histograms of the lengths of questions and explanations."""
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
    """Draw the most frequent words of questions and explanations."""
    st.caption("Number of texts that contain each word. Common English words are excluded.")
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
    """Draw links to the statistics as files. Their route computes them again and requires a sign-in."""
    dataset = urlencode({"dataset": statistics.dataset})
    with st.expander("Files"):
        links = [f"[{name}](/files/statistics/{name}?{dataset})" for name in _FILES]
        links += [
            f"[{name}.svg](/files/statistics/{name}.svg?{dataset})" for name in render_figures(statistics)
        ]
        st.markdown(" · ".join(links))
