"""Entries of the audit trail: the filters, a page of entries, files of all of them, and one in full."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

import streamlit as st

from accounts.service.audit_trail import AuditFilter, ShownEntry, audit_entries
from domain.people import Person
from ui import state
from ui.context import reading
from ui.parts import notices
from ui.tables import table

_A_PAGE = 50  # entries per page


def filters(people: tuple[str, ...], actions: tuple[str, ...]) -> tuple[AuditFilter, str]:
    """Draw the filters; return them, and a text that identifies them for the keys of the widgets below."""
    one, two, three, four = st.columns([2, 2, 2, 2])
    person = one.selectbox(
        "Person",
        people,
        index=None,
        key="audit-person",  # allow fixed-widget-key: filters the whole page
        placeholder="Everybody",
    )
    what = two.selectbox(
        "Action",
        actions,
        index=None,
        key="audit-what",  # allow fixed-widget-key: filters the whole page
        placeholder="All actions",
    )
    subject = three.text_input(
        "Subject",
        key="audit-subject",  # allow fixed-widget-key: filters the whole page
        placeholder="batch 3 question 17",
    )
    days = four.date_input(
        "Days (UTC)",
        value=[],
        key="audit-days",  # allow fixed-widget-key: filters the whole page
        format="YYYY-MM-DD",
    )
    since = _midnight(days[0]) if days else None
    before = _midnight(days[-1] + timedelta(days=1)) if days else None
    wanted = AuditFilter(
        person=person,
        what=what,
        subject=" ".join(subject.split()) or None,
        since=since,
        before=before,
    )
    return wanted, f"{person}-{what}-{wanted.subject}-{since}-{before}"


def entries(person: Person, wanted: AuditFilter, scope: str) -> None:
    """Draw the newest matching entries, or those before them; ``scope`` identifies the filter."""
    place = f"audit-below-{scope}"  # another filter starts at its own newest entries
    below = state.chosen(place)
    with reading() as db:
        found = audit_entries(
            db, by=person, wanted=wanted, below=below if isinstance(below, int) else None, limit=_A_PAGE + 1
        )
    shown, more = found[:_A_PAGE], len(found) > _A_PAGE
    notices("audit")
    table([_row(each) for each in shown], empty="No entry fits these filters. Take one of them away.")
    newest, older, files = st.columns([1, 1, 3], vertical_alignment="center")
    newest.button(
        "Newest",
        key=f"newest-{scope}",
        disabled=below is None,
        on_click=state.set_chosen,
        args=(place, None),
        width="stretch",
    )
    older.button(
        "Older",
        key=f"older-{scope}",
        disabled=not more,
        on_click=state.set_chosen,
        args=(place, shown[-1].entry.number if shown else None),
        width="stretch",
    )
    query = urlencode(_query(wanted))
    csv, lines = (f"/files/audit.{form}{'?' if query else ''}{query}" for form in ("csv", "jsonl"))
    files.markdown(f"All of these as a file: [CSV]({csv}) · [JSON Lines]({lines})")
    if any(each.withheld for each in shown):
        st.caption("Withheld: what others said of questions in batches that you judge too.")
    _details(shown)


def _row(each: ShownEntry) -> dict[str, object]:
    entry = each.entry
    return {
        "No.": entry.number,
        "When (UTC)": entry.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "Who": entry.person_name,
        "What": entry.what,
        "Subject": entry.subject,
        "Before": "withheld" if each.withheld else entry.old or "",
        "After": "withheld" if each.withheld else entry.new or "",
        "Why": "withheld" if each.withheld else entry.why,
    }


def _details(shown: tuple[ShownEntry, ...]) -> None:
    """Draw one entry in full: its values in readable form, and its place in the hash chain."""
    by_number = {each.entry.number: each for each in shown}
    first = next(iter(by_number), 0)
    number = st.selectbox(
        "Look at one", list(by_number), index=None, key=f"audit-one-{first}", placeholder="Choose its number"
    )
    if number is None:
        return
    entry = by_number[number].entry
    for title, text in (("Before", entry.old), ("After", entry.new)):
        if text is not None:
            st.caption(title)
            st.code(json.dumps(json.loads(text), indent=2, ensure_ascii=False), language="json")
    st.caption(f"Hash {entry.hash}; the entry before has {entry.previous_hash}")


def _query(wanted: AuditFilter) -> dict[str, str]:
    plain_values = {"person": wanted.person, "what": wanted.what, "subject": wanted.subject}
    times = {"since": wanted.since, "before": wanted.before}
    found = {name: value for name, value in plain_values.items() if value}
    return found | {name: value.isoformat() for name, value in times.items() if value}


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
