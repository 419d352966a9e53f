"""Checks: the headline figures and the table of checks."""

from __future__ import annotations

import streamlit as st

from quality.service import CheckLine, CheckReport
from ui.tables import show_table
from ui.widgets import show_statistic


def show_overview(check_report: CheckReport) -> None:
    """Draw the numbers of questions without and with a problem, and on which checks have not run."""
    columns = st.columns(4)
    with columns[0]:
        show_statistic("No known problem", f"{check_report.valid:,}", n=check_report.questions)
    with columns[1]:
        show_statistic("With a problem", f"{check_report.with_problems:,}", n=check_report.questions)
    with columns[2]:
        not_run = max((line.not_run for line in check_report.lines if line.state.is_on), default=0)
        show_statistic("Waiting for a check", f"{not_run:,}", n=check_report.questions)
    st.caption(
        "Problems of the checks that are on, as far as they have run. Waiting: questions on which the check "
        "that is furthest behind has not run."
    )


def show_check_table(check_report: CheckReport) -> None:
    """Draw one row per check."""
    show_table([_build_row(line) for line in check_report.lines])


def _build_row(line: CheckLine) -> dict[str, object]:
    declaration = line.declaration
    reasons = ", ".join(f"{count:,} ({need.label})" for need, count in line.not_checked.items() if count)
    return {
        "Check": declaration.check.label,
        "On": "on" if line.state.is_on else "off",
        "With a problem": line.with_problem,
        "Passed": line.passed,
        "Not applicable": reasons or "0",
        "Pending": line.not_run,
        "Severity": declaration.severity.label,
        # Last, because a narrow window shows the last columns only after scrolling.
        "Kind": declaration.group.label,
        "Version": declaration.version,
    }
