"""Changes to the basis of a study's analysis: a new version of the protocol, and exclusions with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.people import Person
from domain.protocols import Protocol, ProtocolVersion, differences
from reader_study import service as studies
from reader_study.service import StudySummary
from ui import state
from ui.context import clock, reading, unit_of_work
from ui.layout import beside
from ui.parts import act
from ui.studies.protocol_form import protocol_fields
from ui.tables import table


def show_amending(
    person: Person, summary: StudySummary, last: ProtocolVersion, readers: Sequence[str]
) -> None:
    """Draw both forms. What they write appears in the lists above them and in the report."""
    left, right = beside(1, 1, name="amending")
    with left, st.expander("Change the protocol"):
        _protocol(person, summary, last)
    with right, st.expander("Leave something out of the analysis"):
        _exclusion(person, summary, readers)


def _protocol(person: Person, summary: StudySummary, last: ProtocolVersion) -> None:
    study = summary.study
    form = state.form(f"protocol-{study.id}-{last.version}")
    if study.frozen:
        st.caption(
            "The first answer is in: how cases are read stays, and a change of the rest is an amendment."
        )
    wanted = protocol_fields(form, last.protocol, frozen=study.frozen)
    changed = () if wanted is None else differences(last.protocol, wanted)
    why = st.text_input(
        "Why it is changed",
        key=f"{form}-why",
        placeholder="needed once answers are in" if summary.answers else "",
    )
    if changed:
        table(
            [
                {"Field": name.replace("_", " "), "Before": told(old), "After": told(new)}
                for name, old, new in changed
            ]
        )
    st.button(
        f"Write down version {last.version + 1}",
        key=f"{form}-write",
        disabled=not changed or (summary.answers > 0 and not why.strip()),
        on_click=act,
        args=(_change, person, study.name, wanted, why),
        kwargs={"place": "study"},
    )


def _change(person: Person, study: str, protocol: Protocol, why: str) -> str:
    with unit_of_work() as db:
        version = studies.change_protocol(db, by=person, study=study, protocol=protocol, why=why, now=clock())
    return f"Version {version.version} of the protocol is written down, SHA-256 {version.sha256}."


def _exclusion(person: Person, summary: StudySummary, readers: Sequence[str]) -> None:
    study = summary.study
    with reading() as db:
        left_out = studies.exclusions_in(db, by=person, study=study.name)
    form = state.form(f"exclude-{study.id}-{len(left_out)}")
    case = st.number_input(
        "Case",
        1,
        sum(summary.cases.values()),
        None,
        key=f"{form}-case",
        placeholder="its number; empty: every case",
    )
    reader = st.selectbox(
        "Reader", readers, index=None, key=f"{form}-reader", placeholder="everybody, the models too"
    )
    why = st.text_input("Why it is left out", key=f"{form}-why")
    st.button(
        "Leave it out",
        key=f"{form}-leave",
        disabled=not why.strip() or (case is None and reader is None),
        on_click=act,
        args=(_exclude, person, study.name, None if case is None else int(case), reader, why),
        kwargs={"place": "study"},
    )
    table(
        [
            {
                "Case": "every" if each.case is None else each.case,
                "Reader": each.reader or "everybody",
                "Why": each.why,
                "When": f"{each.excluded_at:%Y-%m-%d %H:%M} UTC",
            }
            for each in left_out
        ],
        empty="Nothing is left out.",
    )
    st.caption("An exclusion stays, with who and when; the report lists all of them.")


def _exclude(person: Person, study: str, case: int | None, reader: str | None, why: str) -> str:
    with unit_of_work() as db:
        studies.exclude(db, by=person, study=study, case=case, reader=reader, why=why, now=clock())
    what = " of ".join(filter(None, [None if case is None else f"case {case}", reader]))
    return f"Left out of the analysis: {what}."


def told(value: object) -> str:
    """Format the value of a protocol field for display."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(value) if isinstance(value, tuple) else str(value)
