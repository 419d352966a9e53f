"""Accuracies on the page, and their paired differences to one model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from measures.results import AccuracyResult
from reader_study.report.figures import figure_name
from reader_study.report.rows import difference_rows
from reader_study.report.tables import TaskAccuracy
from ui.figures.view import View
from ui.parts import plain
from ui.tables import table

#: The grouping of the accuracies, and the table of the report that holds it.
_BY = {
    "task": "accuracy",
    "category": "by_category",
    "difficulty": "by_difficulty",
    "format": "by_format",
}


def show_accuracies(view: View) -> None:
    tables = view.chosen.tables
    view.figure(figure_name("accuracy", view.task))
    by = st.segmented_control("By", list(_BY), default="task", key=f"{view.key}-by")
    name = _BY[by or "task"]
    _crossed(getattr(tables, name), by or "task")
    table(
        [
            {
                "Rater": each.rater,
                "Micro, %": _share(each.micro, each.micro_low, each.micro_high),
                "Macro, %": _share(each.macro, each.macro_low, each.macro_high),
                "n": each.n,
                "Tasks": each.tasks,
                "": each.note,
            }
            for each in tables.overall
        ]
    )
    st.caption("Micro: every question once. Macro: the plain mean of the tasks.")
    view.tables(name, "overall", "coverage", "groups")
    _boxes(view)
    _printed(view)


def _boxes(view: View) -> None:
    found = view.chosen.tables.boxes
    if not found:
        return
    st.markdown("**Boxes: mean overlap (IoU) with the key's**")
    table(
        [
            {
                "Rater": each.rater,
                "Format": each.format,
                "Overlap, %": _share(each.estimate, each.low, each.high),
                "Over the key's boxes, %": _share(each.per_truth, None, None),
                "Over matched pairs, %": _share(each.per_match, None, None),
                "n": each.n,
                "With a box": each.with_boxes,
                "": each.note,
            }
            for each in found
        ]
    )
    st.caption(
        "Of questions whose key has a box, matched one to one whatever the labels; over the larger number of "
        "boxes (the V-score of GEMeX), with a bootstrap interval by exam. Who drew no box is not listed."
    )
    view.tables("boxes")


def _printed(view: View) -> None:
    """Draw the tables in the layout of the paper, for comparison with its tables."""
    with st.expander("As ReXVQA prints it"):
        st.caption(
            "Per cent alone, of all raters; intervals stand above. Replies without an answer are wrong."
        )
        table(view.report.tables.printed_by_task)
        if view.report.tables.printed_by_category:
            table(view.report.tables.printed_by_category)
        view.tables("printed_by_task", "printed_by_category")


def _crossed(found: Sequence[AccuracyResult], by: str) -> None:
    """Draw each accuracy with its interval, the number of right answers and n.

    Raters are rows and groups are columns. Categories are rows instead, because there are many.
    """
    groups = list(dict.fromkeys(each.group for each in found))
    if not groups:
        st.caption(f"No question states its {by}.")
        return
    cell = {(each.rater, each.group): each for each in found}
    names = list(dict.fromkeys(each.rater for each in found))
    if by == "category":
        lines = [
            {by.capitalize(): group, **{name: _counted(cell.get((name, group))) for name in names}}
            for group in groups
        ]
    else:
        lines = [
            {"Rater": name, **{group: _counted(cell.get((name, group))) for group in groups}}
            for name in names
        ]
    table(lines)
    best = "; \\* ahead of every other rater by the paired interval" if by == "task" else ""
    st.caption(f"Per cent, interval, right of n{best}.")


def _counted(each: AccuracyResult | None) -> str:
    if each is None or each.estimate is None or each.low is None or each.high is None:
        return "–"
    best = " *" if isinstance(each, TaskAccuracy) and each.best else ""
    return (
        f"{each.estimate * 100:.1f}{best} [{each.low * 100:.0f}, {each.high * 100:.0f}] "
        f"{each.correct:,}/{each.n:,}"
    )


def _share(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value * 100:.2f}" + (
        "" if low is None or high is None else f" [{low * 100:.1f}, {high * 100:.1f}]"
    )


def show_differences(view: View) -> None:
    if view.report.facts.model is None:
        st.info("No model has predictions on these cases. Bring some in under “Answers from outside”.")
        return
    view.figure(figure_name("differences", view.task))
    st.caption(plain(view.report.facts.family))
    table(
        [
            {
                "Rater": each.label,
                "Difference, points": each.words,
                "Right alone": each.details.rater_only,
                "Model right alone": each.details.model_only,
                "p (exact)": _p(each.details.p_exact),
                "p (Holm)": _p(each.details.p_holm),
            }
            for each in difference_rows(view.chosen, task=view.task)
        ]
    )
    st.markdown("**Readers together against each model**")
    table(
        [
            {
                "Model": each.model,
                "Readers less model, points": _share(each.difference, each.low, each.high),
                "Readers": each.readers,
                "Cases": each.cases,
                "p": _p(each.p),
                "Said of": "readers like these" if each.random_readers else "these readers",
                "Method": each.method,
                "": each.note,
            }
            for each in view.report.tables.mrmc
        ],
        empty="Needs readers and a model.",
    )
    view.tables("paired", "unpaired", "mrmc")


def _p(value: float | None) -> str:
    return "–" if value is None else "< .0001" if value < 0.0001 else f"{value:.4f}"
