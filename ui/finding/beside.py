"""Several datasets side by side on screen, in the layout that papers use for the splits of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from browsing.service import DatasetStatistics
from browsing.side_by_side import Line, boxes_of, columns_of, lines_of
from ui.tables import table


def choose_others(found: DatasetStatistics, others: Sequence[str]) -> list[str]:
    """Draw the choice of further datasets for the comparison."""
    if not others:
        st.caption(
            "There is one dataset only. Import a split under a name of its own, and it can stand here."
        )
        return []
    return st.multiselect("Beside it", others, key=f"beside-{found.dataset}")


def show_side_by_side(found: Sequence[DatasetStatistics]) -> None:
    """Draw questions with percentages by one column, boxes by answer format, and a link to the CSV file."""
    names = [each.dataset for each in found]
    columns = columns_of(found)
    chosen = st.segmented_control(
        "Questions by",
        columns,
        default=columns[0],
        format_func=lambda name: name.replace("_", " ").capitalize(),
        key=f"beside-by-{names[0]}-{len(columns)}",
    )
    table([_row(line, names) for line in lines_of(found, chosen or columns[0])])
    st.caption("Questions, and per cent of the dataset's questions.")
    if any(line.counts for line in boxes_of(found) if sum(line.counts)):
        st.markdown("**Boxes by answer format**")
        table([_row(line, names) for line in boxes_of(found)])
    query = urlencode([("dataset", name) for name in names])
    st.markdown(f":small[[side-by-side.csv](/files/statistics/side-by-side.csv?{query})]")


def _row(line: Line, names: Sequence[str]) -> dict[str, object]:
    heading = "Boxes" if line.wholes is None else line.column.replace("_", " ").capitalize()
    cells: dict[str, object] = {heading: line.value}
    for place, name in enumerate(names):
        count = f"{line.counts[place]:,}"
        cells[name] = count if line.wholes is None else f"{count} ({line.percent(place)})"
    if len(names) > 1:
        cells["All"] = f"{sum(line.counts):,}"
    return cells
