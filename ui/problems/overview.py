"""Checks: the headline figures and the table of checks."""

from __future__ import annotations

import streamlit as st

from quality.service import CheckLine, CheckReport
from ui.tables import show_table
from ui.widgets import show_statistic


def show_overview(check_report: CheckReport) -> None:
    """Show how many questions have no problem, have a problem, or wait for a check."""
    columns = st.columns(4)
    with columns[0]:
        show_statistic("No problem so far", f"{check_report.valid:,}", n=check_report.questions)
    with columns[1]:
        show_statistic("With a problem", f"{check_report.with_problems:,}", n=check_report.questions)
    with columns[2]:
        show_statistic("Checks pending", f"{check_report.waiting:,}", n=check_report.questions)
    st.caption(
        "Only checks that are on and have run are counted. Checks pending: at least one of the checks "
        "that are on has not run on the question with its current settings."
    )


def show_check_table(check_report: CheckReport) -> None:
    """Show one row per check, and why checks do not apply to questions."""
    show_table([_build_row(line) for line in check_report.lines])
    reasons = [
        f"{line.check.label}: "
        + ", ".join(f"{count:,} ({need.label})" for need, count in line.not_checked.items() if count)
        for line in check_report.lines
        if any(line.not_checked.values())
    ]
    if reasons:
        st.caption(f"Not applicable: {'; '.join(reasons)}.")


def _build_row(line: CheckLine) -> dict[str, object]:
    declaration = line.declaration
    return {
        "Check": declaration.check.label,
        "Status": "on" if line.state.is_on else "off",
        "With a problem": line.with_problem,
        "Passed": line.passed,
        "Not applicable": sum(line.not_checked.values()),
        "Checks pending": line.not_run,
        "Severity": declaration.severity.label,
        # Last, because a narrow window shows the last columns only after scrolling.
        "Kind": declaration.group.label,
    }
