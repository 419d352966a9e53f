"""A dataset's statistics on screen: counts, boxes, lengths, words, and all of it as files."""

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
_MAX_VALUES = 30  # values of a column in a chart
_FILES = ("statistics.csv", "statistics.json")


def show_counts(statistics: DatasetStatistics) -> None:
    """Draw the numbers of questions by the values of one column."""
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
        show_table(_split_rows(statistics))


def _split_rows(statistics: DatasetStatistics) -> list[dict[str, object]]:
    """Return one row per task and one column per side of the split: questions, and percent of the side."""
    sides = sorted({side for side, _ in statistics.splits})
    side_totals = {
        side: sum(n for (other_side, _), n in statistics.splits.items() if other_side == side)
        for side in sides
    }
    tasks = [
        task
        for task, _ in statistics.counts["task"]
        if any((side, task) in statistics.splits for side in sides)
    ]

    def format_cell(side: str, task: str) -> str:
        n = statistics.splits.get((side, task), 0)
        return f"{n:,} ({100 * n / side_totals[side]:.1f})"

    lines: list[dict[str, object]] = [
        {"Task": task or "not stated", **{side: format_cell(side, task) for side in sides}} for task in tasks
    ]
    return [*lines, {"Task": "all", **{side: f"{side_totals[side]:,}" for side in sides}}]


def show_boxes(statistics: DatasetStatistics) -> None:
    """Draw boxes by answer format, boxes per question, and the labels of the boxes."""
    show_table(
        [
            {
                "Answer format": line.name,
                "Questions": f"{line.questions:,}",
                "With boxes": f"{line.with_boxes:,}",
                "Boxes": f"{line.boxes:,}",
                "Boxes per question": "" if line.boxes_a_question is None else f"{line.boxes_a_question:.2f}",
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
    """Draw histograms of lengths."""
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
    """Draw the most frequent words."""
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
    """Draw links to all of it as files. Their route counts again and requires a valid sign-in."""
    dataset = urlencode({"dataset": statistics.dataset})
    with st.expander("Files"):
        links = [f"[{name}](/files/statistics/{name}?{dataset})" for name in _FILES]
        links += [
            f"[{name}.svg](/files/statistics/{name}.svg?{dataset})" for name in render_figures(statistics)
        ]
        st.markdown(" · ".join(links))
