"""Checks: the settings of a dataset: which checks are on, and the minimum length of an explanation."""

from __future__ import annotations

import streamlit as st

from domain.checks import CHECKS, Check, CheckGroup
from domain.count_texts import count_text
from quality.service import (
    CheckReport,
    DatasetSummary,
    load_check_report,
    set_minimum_explanation,
    switch_check,
)
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_notice


def show_settings(check_report: CheckReport, dataset: DatasetSummary) -> None:
    """Show a checkbox per check and the button that saves."""
    with st.expander("Settings"):
        active_checks = [line.check for line in check_report.lines if line.state.is_on]
        # The keys contain the stored values, so that a change by another person is shown.
        version = "-".join(check.value for check in active_checks)
        columns = st.columns(len(CheckGroup))
        chosen_checks: set[Check] = set()
        for column, group in zip(columns, CheckGroup, strict=True):
            column.markdown(f"**{group.label}**")
            chosen_checks |= {
                check
                for check, declaration in CHECKS.items()
                if declaration.group is group
                and column.checkbox(
                    check.label,
                    value=check in active_checks,
                    key=f"on-{dataset.id}-{check}-{version}",
                    help=f"{declaration.description} Version {declaration.version}.",
                )
            }
        min_length = st.number_input(
            "Minimum explanation length (characters)",
            min_value=0,
            value=dataset.minimum_explanation,
            key=f"minimum-{dataset.id}-{dataset.minimum_explanation}",
            help="Shorter explanations are reported as a format problem.",
            width=300,
        )
        st.button(
            "Save settings",
            key=f"save-{dataset.id}",
            disabled=chosen_checks == set(active_checks) and int(min_length) == dataset.minimum_explanation,
            on_click=run_action,
            args=(_save_settings, dataset.name, frozenset(chosen_checks), int(min_length)),
            kwargs={"notice_key": "check-settings"},
        )
        show_notice("check-settings")


def _save_settings(dataset: str, chosen_checks: frozenset[Check], min_length: int) -> str:
    person = current_person()
    with unit_of_work() as db:
        for check in CHECKS:
            switch_check(
                db, by=person, dataset=dataset, check=check, is_on=check in chosen_checks, now=clock()
            )
        set_minimum_explanation(db, by=person, dataset=dataset, characters=min_length, now=clock())
    with read_only_session() as db:
        check_report = load_check_report(db, by=person, dataset=dataset)
    if check_report.is_complete:
        return "Saved."
    return f"Saved. Run the checks to apply the settings to {count_text(check_report.questions, 'question')}."
