"""Shows the accuracies of a report, and the paired differences between raters and one model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.protocols import HelperRule
from measures.results import AUC, AccuracyResult, ArmComparison, MrmcComparison, ReaderMean
from reader_study.report.figures import make_figure_name
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.rows import build_difference_rows
from reader_study.report.tables import TaskAccuracy
from ui.figures.view import ReportView
from ui.tables import show_table
from ui.widgets import escape_markdown

#: The table of the report for each grouping of the accuracies.
_TABLE_BY_GROUPING = {
    "task": "accuracy",
    "category": "by_category",
    "controlled category": "by_controlled_category",
    "domain": "by_domain",
    "difficulty": "by_difficulty",
    "format": "by_format",
}


def show_accuracies(view: ReportView) -> None:
    """Show the accuracies by group, the micro and macro averages, and the overlap of boxes."""
    tables = view.filtered_report.tables
    view.draw_figure(make_figure_name("accuracy", view.task))
    grouping = st.segmented_control(
        "Group by",
        list(_TABLE_BY_GROUPING),
        default="task",
        key=f"{view.key}-by",
        format_func=str.capitalize,
    )
    table_name = _TABLE_BY_GROUPING[grouping or "task"]
    _show_cross_table(getattr(tables, table_name), grouping or "task")
    show_table(
        [
            {
                "Rater": row.rater,
                "Micro (%)": _format_share(row.micro, row.micro_low, row.micro_high),
                "Macro (%)": _format_share(row.macro, row.macro_low, row.macro_high),
                "n": row.n,
                "Tasks": row.tasks,
                "Note": row.note,
            }
            for row in tables.overall
        ]
    )
    st.caption("Micro: each question counts once. Macro: mean of the tasks.")
    view.show_table_links(table_name, "overall", "coverage", "groups")
    _show_reader_means(view)
    _show_diagnostic(view)
    _show_boxes(view)
    _show_paper_layout(view)


def _show_reader_means(view: ReportView) -> None:
    """Show the mean of the readers by measure: accuracy, and on yes/no questions also AUC and others."""
    rows = [row for row in view.report.tables.reader_means if row.task == view.task]
    if not rows:
        return
    has_helpers = any(row.includes_helpers for row in rows)
    st.markdown("**Means of the readers**")
    show_table(
        [
            {
                "Measure": _format_measure_name(row.measure),
                **_describe_arm(row.arm, rows),
                "Mean": _format_measure(row.measure, row.estimate, row.low, row.high),
                "Readers": row.readers,
                **(
                    {"Readers who set the key": "included" if row.includes_helpers else "excluded"}
                    if has_helpers
                    else {}
                ),
                "Cases": row.cases,
                "Applies to": "similar readers" if row.random_readers else "these readers only",
                "Method": row.method,
                "Note": row.note,
            }
            for row in rows
        ]
    )
    view.show_table_links("reader_means")


def _describe_arm(arm: str, rows: Sequence[MrmcComparison | ReaderMean]) -> dict[str, str]:
    """Return the column Arm with its text; an empty dict in a study with a single arm."""
    return {"Arm": arm or "mean of the arms"} if any(row.arm for row in rows) else {}


def _format_measure_name(measure: str) -> str:
    return measure.upper() if measure == AUC else measure.capitalize()


def _format_measure(measure: str, value: float | None, low: float | None, high: float | None) -> str:
    """Return an AUC with three decimals, and other measures in per cent."""
    if measure != AUC or value is None:
        text = _format_share(value, low, high)
        return text if value is None else f"{text} %"
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.3f}, {high:.3f}]")


def _show_diagnostic(view: ReportView) -> None:
    """Show sensitivity, specificity and predictive values of yes/no questions, and the AUC of confidences."""
    results = [row for row in view.filtered_report.tables.diagnostic if row.task == view.task]
    if not results:
        return
    st.markdown("**Yes/no questions**")
    labels = {
        "sensitivity": "Sensitivity (%)", "specificity": "Specificity (%)", "ppv": "PPV (%)", "npv": "NPV (%)"
    }  # fmt: skip
    lines: dict[str, dict[str, object]] = {}
    for row in results:
        line = lines.setdefault(row.rater, {"Rater": row.rater, **dict.fromkeys(labels.values(), "–")})
        if row.measure in labels:
            line[labels[row.measure]] = f"{_format_share(row.estimate, row.low, row.high)}, n {row.n:,}"
    show_table(list(lines.values()))
    if any(row.measure == AUC for row in view.filtered_report.tables.diagnostic):
        view.draw_figure("auc")
    view.show_table_links("diagnostic")


def _show_boxes(view: ReportView) -> None:
    box_rows = view.filtered_report.tables.boxes
    if not box_rows:
        return
    st.markdown("**Bounding boxes: mean IoU with the answer key**")
    show_table(
        [
            {
                "Rater": row.rater,
                "Format": row.format,
                "Mean IoU (%)": _format_share(row.estimate, row.low, row.high),
                "Per key box (%)": _format_share(row.per_truth, None, None),
                "Per matched pair (%)": _format_share(row.per_match, None, None),
                "n": row.n,
                "With a box": row.with_boxes,
                "Note": row.note,
            }
            for row in box_rows
        ]
    )
    st.caption(
        "On questions with a box in the key. Boxes are matched one to one without regard to labels. Mean IoU "
        "is per larger number of boxes (the V-score of GEMeX), with a bootstrap interval by exam. Raters "
        "without boxes are not listed."
    )
    view.show_table_links("boxes")


def _show_paper_layout(view: ReportView) -> None:
    """Show the accuracies in the layout of the ReXVQA paper, for comparison with the paper."""
    with st.expander("ReXVQA layout"):
        view.draw_figure("bars")
        st.caption("Percentages of all raters, without intervals. Replies without an answer count as wrong.")
        show_table(view.report.tables.printed_by_task)
        if view.report.tables.printed_by_category:
            show_table(view.report.tables.printed_by_category)
        view.show_table_links("printed_by_task", "printed_by_category")


def _show_cross_table(results: Sequence[AccuracyResult], grouping: str) -> None:
    """Show a table of each accuracy with its interval, the number of correct answers and n.

    Rows are raters and columns are groups. For categories, of which there are many, rows and columns are
    exchanged.
    """
    groups = list(dict.fromkeys(result.group for result in results))
    if not groups:
        st.caption(f"No question has a {grouping}.")
        return
    results_by_cell = {(result.rater, result.group): result for result in results}
    raters = list(dict.fromkeys(result.rater for result in results))
    if grouping.endswith("category"):
        lines = [
            {
                grouping.capitalize(): group,
                **{name: _format_accuracy(results_by_cell.get((name, group))) for name in raters},
            }
            for group in groups
        ]
    else:
        lines = [
            {
                "Rater": name,
                **{group: _format_accuracy(results_by_cell.get((name, group))) for group in groups},
            }
            for name in raters
        ]
    show_table(lines)
    best_note = (
        "; \\* significantly better than every other rater (paired interval)" if grouping == "task" else ""
    )
    st.caption(f"Accuracy (%), interval, correct of n{best_note}.")


def _format_accuracy(result: AccuracyResult | None) -> str:
    if result is None or result.estimate is None or result.low is None or result.high is None:
        return "–"
    best_mark = " *" if isinstance(result, TaskAccuracy) and result.best else ""
    return (
        f"{result.estimate * 100:.1f}{best_mark} [{result.low * 100:.0f}, {result.high * 100:.0f}] "
        f"{result.correct:,}/{result.n:,}"
    )


def _format_share(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value * 100:.2f}" + (
        "" if low is None or high is None else f" [{low * 100:.1f}, {high * 100:.1f}]"
    )


def show_differences(view: ReportView) -> None:
    """Show the differences from the models and between the arms."""
    _show_differences_from_models(view)
    _show_arm_differences(view)


def _show_differences_from_models(view: ReportView) -> None:
    """Show the difference of each rater, and of the mean reader, from the models."""
    if view.report.facts.model is None:
        if view.report.facts.models:
            st.info("The protocol does not name one of the models for comparison. Choose a model above.")
        else:
            st.info("No models in the study. Choose models or import predictions under “Imports”.")
        return
    view.draw_figure(make_figure_name("differences", view.task))
    st.caption(escape_markdown(view.report.facts.family))
    show_table(
        [
            {
                "Rater": row.label,
                "Difference (percentage points)": row.words,
                "Only rater correct": "–" if row.details.rater_only is None else row.details.rater_only,
                "Only model correct": "–" if row.details.model_only is None else row.details.model_only,
                "p": _format_p(row.details.p_exact),
                "p (adjusted)": _format_p(row.details.p_adjusted),
            }
            for row in build_difference_rows(view.filtered_report, task=view.task)
        ]
    )
    st.markdown("**Mean of the readers minus each model**")
    comparisons = [row for row in view.report.tables.mrmc if row.task == view.task]
    show_table(
        [
            {
                "Model": row.model,
                "Measure": _format_measure_name(row.measure),
                **_describe_arm(row.arm, comparisons),
                "Difference (percentage points)": "–"
                if is_withheld(row.note)
                else _format_share(row.difference, row.low, row.high),
                "Readers": _describe_readers(row),
                "Cases": row.cases,
                "p": _format_p(row.p),
                "p (adjusted)": _format_p(row.p_adjusted),
                "Applies to": "similar readers" if row.random_readers else "these readers only",
                "Method": row.method,
                "Note": row.note,
            }
            for row in comparisons
        ],
        empty="No comparison: it needs readers and a model.",
    )
    _show_missing_answers(view)
    leave_one_out_tables = (
        ("leave_one_out", "leave_one_out_paired") if view.report.tables.leave_one_out else ()
    )
    view.show_table_links("paired", "unpaired", "mrmc", *leave_one_out_tables, "missing_answers")


def _show_missing_answers(view: ReportView) -> None:
    """Show the comparison with the chosen model under assumptions about missing answers, over all tasks."""
    model = view.report.facts.model
    rows = [row for row in view.report.tables.missing_answers if row.model == model]
    if not rows:
        return
    st.markdown("**Sensitivity to missing answers**")
    show_table(
        [
            {
                "Assumption": row.scenario,
                "Missing answers assumed": row.filled_readers + row.filled_model,
                "Assumed correct, readers": "–" if row.share_correct is None else f"{row.share_correct:.0%}",
                "Difference (percentage points)": _format_share(row.difference, row.low, row.high),
                "Conclusion": row.conclusion or "–",
                "Note": row.note,
            }
            for row in rows
        ]
    )
    st.caption(
        "All tasks. Tipping point: the smallest share of the readers' missing answers that changes the "
        "conclusion if it is correct and the rest wrong."
    )


def _show_arm_differences(view: ReportView) -> None:
    """Show the differences between the arms of the study, and the checks of a crossover."""
    rows = [row for row in view.report.tables.arms if row.task == view.task]
    if not rows:
        return
    st.markdown("**Differences between arms**")
    st.caption("Each reader counts once. Period and sequence check the assumptions of the crossover.")
    show_table(
        [
            {
                "Contrast": f"{row.a} minus {row.b}",
                "Measure": _format_measure_name(row.measure),
                "Difference (percentage points)": "–"
                if is_withheld(row.note)
                else _format_share(row.difference, row.low, row.high),
                "Readers": _describe_readers(row),
                "Cases": row.cases,
                "p": _format_p(row.p),
                "p (adjusted)": _format_p(row.p_adjusted),
                "Applies to": _describe_population(row),
                "Method": row.method,
                "Note": row.note,
            }
            for row in rows
        ]
    )
    view.show_table_links("arms")


def _describe_readers(row: MrmcComparison | ArmComparison) -> str:
    note = {
        HelperRule.EXCLUDED: "",
        HelperRule.INCLUDED: " (with those of the key)",
        HelperRule.LEAVE_ONE_OUT: " (those of the key by the others' majority)",
    }[row.helpers]
    return f"{row.readers}{note}"


def _describe_population(row: ArmComparison) -> str:
    if row.random_readers and row.random_cases:
        return "similar readers and cases"
    return "similar readers, these cases" if row.random_readers else "these readers, similar cases"


def _format_p(value: float | None) -> str:
    return "–" if value is None else "< .0001" if value < 0.0001 else f"{value:.4f}"
