"""Shows the report on a dataset's compliance: stages, keys found without the image, and biases."""

from __future__ import annotations

import streamlit as st

from domain.checks import CHECKS
from domain.count_texts import count_text
from quality.compliance.bias import BiasLine, OptionBias
from quality.service import ComplianceReport
from ui.tables import show_table


def show_report(report: ComplianceReport) -> None:
    """Show the stages, the text-only accuracy and the report of biases."""
    st.subheader("Stages")
    show_table(
        [
            {
                "Stage": stage.check.label,
                "With a problem": stage.with_problem,
                "Remaining": stage.remaining,
            }
            for stage in report.stages
        ]
    )
    st.caption(
        f"n = {count_text(report.questions, 'question')} of {count_text(report.patients, 'patient')} (an "
        f"exam without a patient id counts as one patient). The dataset may be sent to: {report.data_use}. "
        "The page Checks lists the questions."
    )
    # Not a column of the table: the table would not fit into a narrow window.
    st.caption(
        "Requirements: "
        + " ".join(f"{stage.check.label}: {CHECKS[stage.check].description}" for stage in report.stages)
    )
    _show_text_only(report)
    _show_options(report.options)
    _show_bias(report.bias)


def _show_text_only(report: ComplianceReport) -> None:
    st.subheader("Key found without the image")
    if not report.text_only:
        st.caption(f"Not examined: {report.text_only_note}.")
        return
    show_table(
        [
            {
                "Task": line.task.capitalize(),
                "n": line.n,
                "Accuracy (%)": f"{100 * line.accuracy:.1f}",
                "Chance (%)": f"{100 * line.chance:.1f}",
                "Above chance (points)": f"{100 * line.gain:.1f} "
                f"({100 * line.low:.1f} to {100 * line.high:.1f})",
            }
            for line in report.text_only
        ]
    )
    st.caption(
        "Logistic regression on the text, 5-fold cross-validation by patient. 95 % interval, clustered by "
        "patient, for these classifiers."
    )


def _show_options(lines: tuple[OptionBias, ...]) -> None:
    st.subheader("Options")
    show_table(
        [
            {
                "The key is": line.option,
                "n": line.n,
                "Share (%)": f"{100 * line.share:.1f}",
                "Chance (%)": f"{100 * line.chance:.1f}",
                "Difference (points)": f"{100 * line.difference:.1f} "
                f"({100 * line.low:.1f} to {100 * line.high:.1f})",
            }
            for line in lines
        ],
        empty="No question has one correct option.",
    )


def _show_bias(lines: tuple[BiasLine, ...]) -> None:
    st.subheader("Patients and images")
    show_table(
        [
            {
                "Exam": line.exam_property.capitalize(),
                "Question": line.question_property.capitalize(),
                "n": line.n,
                "Cramér's V (95 % interval)": _format_association(line),
                "Note": line.note,
            }
            for line in lines
        ]
    )
    st.caption(
        "0: no association, 1: complete. Bootstrap by patient; V cannot be negative, so an interval from 0 "
        "does not prove an association. The maker of the device is not stored with the images."
    )


def _format_association(line: BiasLine) -> str:
    if line.estimate is None:
        return "not defined"
    if line.low is None or line.high is None:
        return f"{line.estimate:.2f}"
    return f"{line.estimate:.2f} ({line.low:.2f} to {line.high:.2f})"
