"""Forms that change the analysis of a study: a new protocol version, and exclusions with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.people import Person
from domain.protocols import Protocol, ProtocolVersion, diff_protocols
from reader_study import service as studies
from reader_study.service import StudySummary
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.studies.protocol_form import show_protocol_fields
from ui.tables import show_table
from ui.widgets import run_action, show_notice


def show_amendment_forms(
    person: Person, summary: StudySummary, latest_version: ProtocolVersion, readers: Sequence[str]
) -> None:
    """Show the form for a new protocol version and the form for exclusions."""
    left, right = responsive_columns(1, 1, name="amending")
    with left, st.expander("Change protocol"):
        _show_protocol_form(person, summary, latest_version)
    with right, st.expander("Exclude from the analysis"):
        _show_exclusion_form(person, summary, readers)


def _show_protocol_form(person: Person, summary: StudySummary, latest_version: ProtocolVersion) -> None:
    study = summary.study
    form_key = state.form_key(f"protocol-{study.id}-{latest_version.version}")
    if study.frozen:
        st.caption("Reading has begun. The reading conditions are fixed; any other change is an amendment.")
    new_protocol = show_protocol_fields(form_key, latest_version.protocol, frozen=study.frozen)
    changes = () if new_protocol is None else diff_protocols(latest_version.protocol, new_protocol)
    reason = st.text_input(
        "Reason for the change",
        key=f"{form_key}-reason",
        placeholder="required after the first answer" if summary.answers else "",
    )
    if changes:
        show_table(
            [
                {
                    "Field": name.replace("_", " "),
                    "Before": format_protocol_value(old),
                    "After": format_protocol_value(new),
                }
                for name, old, new in changes
            ]
        )
    st.button(
        f"Save version {latest_version.version + 1}",
        key=f"{form_key}-write",
        disabled=not changes or (summary.answers > 0 and not reason.strip()),
        on_click=run_action,
        args=(_change_protocol, person, study.name, new_protocol, reason),
        kwargs={"notice_key": "protocol"},
    )
    show_notice("protocol")


def _change_protocol(person: Person, study: str, protocol: Protocol, reason: str) -> str:
    with unit_of_work() as db:
        version = studies.change_protocol(
            db, by=person, study=study, protocol=protocol, reason=reason, now=clock()
        )
    return f"Saved protocol version {version.version}, SHA-256 {version.sha256}."


def _show_exclusion_form(person: Person, summary: StudySummary, readers: Sequence[str]) -> None:
    study = summary.study
    with read_only_session() as db:
        exclusions = studies.list_exclusions(db, by=person, study=study.name)
    form_key = state.form_key(f"exclude-{study.id}-{len(exclusions)}")
    case = st.number_input(
        "Case",
        1,
        sum(summary.cases.values()),
        None,
        key=f"{form_key}-case",
        placeholder="case number; empty for all cases",
    )
    reader = st.selectbox(
        "Reader", readers, index=None, key=f"{form_key}-reader", placeholder="all readers and models"
    )
    reason = st.text_input("Reason for exclusion", key=f"{form_key}-reason")
    st.button(
        "Exclude",
        key=f"{form_key}-leave",
        disabled=not reason.strip() or (case is None and reader is None),
        on_click=run_action,
        args=(_exclude_readings, person, study.name, None if case is None else int(case), reader, reason),
        kwargs={"notice_key": "exclusion"},
    )
    show_notice("exclusion")
    show_table(
        [
            {
                "Case": "all" if exclusion.case is None else exclusion.case,
                "Reader": exclusion.reader or "all",
                "Reason": exclusion.reason,
                "Date": f"{exclusion.excluded_at:%Y-%m-%d %H:%M} UTC",
            }
            for exclusion in exclusions
        ],
        empty="No exclusions.",
    )
    st.caption("Exclusions are permanent. The report lists each with its reason.")


def _exclude_readings(person: Person, study: str, case: int | None, reader: str | None, reason: str) -> str:
    with unit_of_work() as db:
        studies.exclude_readings(
            db, by=person, study=study, case=case, reader=reader, reason=reason, now=clock()
        )
    excluded_text = " of ".join(filter(None, [None if case is None else f"case {case}", reader]))
    return f"Excluded from the analysis: {excluded_text}."


def format_protocol_value(value: object) -> str:
    """Format the value of a protocol field for display."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(value) if isinstance(value, tuple) else str(value)
