"""A dataset's statistics on screen: counts, boxes, lengths, words, and all of it as files."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from browsing.figures import figures_of
from browsing.service import DatasetStatistics
from ui.chart import chart
from ui.finding.charts import bars, ranked
from ui.layout import beside
from ui.tables import table

_CALLED = {"format": "Answer format", "content_type": "Content type", "prompt_version": "Prompt version"}
_SHOWN = 30  # values of a column in a chart
_FILES = ("statistics.csv", "statistics.json")


def show_counts(found: DatasetStatistics) -> None:
    """Draw the numbers of questions by the values of one column."""
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
    left, right = beside(3, 2, name="counted")
    with left:
        chart(ranked(counts[:_SHOWN], title="questions"))
    with right:
        table(
            [{"Value": v, "Questions": f"{n:,}", "%": f"{100 * n / found.questions:.1f}"} for v, n in counts]
        )
    if len(counts) > _SHOWN:
        st.caption(f"The chart has the {_SHOWN} most frequent of {len(counts):,}.")
    if found.splits and chosen == "task":
        st.markdown("**The newest release, by side**")
        table(_by_side(found))


def _by_side(found: DatasetStatistics) -> list[dict[str, object]]:
    """Return one row per task and one column per side of the split: questions, and percent of the side."""
    sides = sorted({side for side, _ in found.splits})
    whole = {side: sum(n for (other, _), n in found.splits.items() if other == side) for side in sides}
    tasks = [task for task, _ in found.counts["task"] if any((side, task) in found.splits for side in sides)]

    def cell(side: str, task: str) -> str:
        n = found.splits.get((side, task), 0)
        return f"{n:,} ({100 * n / whole[side]:.1f})"

    lines: list[dict[str, object]] = [
        {"Task": task or "not stated", **{side: cell(side, task) for side in sides}} for task in tasks
    ]
    return [*lines, {"Task": "all", **{side: f"{whole[side]:,}" for side in sides}}]


def show_boxes(found: DatasetStatistics) -> None:
    """Draw boxes by answer format, boxes per question, and the labels of the boxes."""
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
    if not any(boxes for boxes, _ in found.boxes):
        st.caption("No question has a box.")
        return
    left, right = beside(1, 1, name="boxes")
    with left:
        st.markdown("**Boxes a question**")
        st.caption(f"n = {found.questions:,} questions")
        bins = [(boxes, boxes, count) for boxes, count in found.boxes]
        chart(bars(bins, title="boxes", counted="questions"))
    with right:
        st.markdown("**What the boxes show**")
        st.caption(f"n = {found.formats[-1].with_boxes:,} questions with boxes")
        table(
            [
                {
                    "Observation": label or "not stated",
                    "Questions": f"{questions:,}",
                    "% of those with boxes": f"{100 * questions / found.formats[-1].with_boxes:.1f}",
                    "Boxes": f"{boxes:,}",
                }
                for label, questions, boxes in found.observations[:_SHOWN]
            ]
        )
        if len(found.observations) > _SHOWN:
            st.caption(f"The {_SHOWN} most frequent; the files have more.")


def show_lengths(found: DatasetStatistics) -> None:
    """Draw histograms of lengths."""
    unit = st.segmented_control(
        "In", ["characters", "words"], default="characters", key=f"length-in-{found.dataset}"
    )
    for column, name, each in zip(
        beside(1, 1, name="lengths"),
        ("Questions", "Explanations"),
        (found.stems, found.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if not each.n:
                st.caption("None.")
                continue
            mean = each.mean_words if unit == "words" else each.mean_characters
            st.caption(f"n = {each.n:,}, mean {mean:.1f} {unit or 'characters'}")
            bins = each.in_words if unit == "words" else each.characters
            chart(bars(bins, title=unit or "characters"))


def show_words(found: DatasetStatistics) -> None:
    """Draw the most frequent words."""
    st.caption("In how many texts a word is; the most common words of the language are left out.")
    for column, name, each in zip(
        beside(1, 1, name="words"),
        ("Questions", "Explanations"),
        (found.stems, found.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if each.words:
                chart(ranked(each.words, title="texts"))
            else:
                st.caption("None.")


def show_files(found: DatasetStatistics) -> None:
    """Draw links to all of it as files. Their route counts again and requires a valid sign-in."""
    dataset = urlencode({"dataset": found.dataset})
    with st.expander("Files"):
        links = [f"[{name}](/files/statistics/{name}?{dataset})" for name in _FILES]
        links += [f"[{name}.svg](/files/statistics/{name}.svg?{dataset})" for name in figures_of(found)]
        st.markdown(" · ".join(links))
