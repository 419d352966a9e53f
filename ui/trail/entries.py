"""Shows entries of the audit trail: filters, a page of entries, links to files, and one entry in full."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

import streamlit as st

from accounts.audit_values import list_audit_fields
from accounts.service.audit_trail import AuditFilter, VisibleEntry, list_audit_entries
from domain.audit import AuditEntry
from domain.people import Person
from ui import state
from ui.context import read_only_session
from ui.layout import grid_columns
from ui.tables import show_table
from ui.widgets import escape_markdown, show_notice

_PAGE_SIZE = 50  # entries per page
_MAX_CELL_LENGTH = 300  # characters of the details in the table


def show_filters(people: tuple[str, ...], actions: tuple[str, ...]) -> tuple[AuditFilter, str]:
    """Show the filters. Return them, and a text that identifies them in the keys of other widgets."""
    person_column, action_column, subject_column, days_column = grid_columns(4, name="audit")
    person = person_column.selectbox(
        "Person",
        people,
        index=None,
        key="audit-person",  # allow fixed-widget-key: filters the whole page
        placeholder="All people",
    )
    action = action_column.selectbox(
        "Action",
        actions,
        index=None,
        key="audit-what",  # allow fixed-widget-key: filters the whole page
        placeholder="All actions",
    )
    subject = subject_column.text_input(
        "Subject",
        key="audit-subject",  # allow fixed-widget-key: filters the whole page
        placeholder="for example batch 3 question 17",
    )
    days = days_column.date_input(
        "Dates (UTC)",
        value=[],
        key="audit-days",  # allow fixed-widget-key: filters the whole page
        format="YYYY-MM-DD",
    )
    since = _get_start_of_day(days[0]) if days else None
    before = _get_start_of_day(days[-1] + timedelta(days=1)) if days else None
    audit_filter = AuditFilter(
        person=person,
        action=action,
        subject=" ".join(subject.split()) or None,
        since=since,
        before=before,
    )
    return audit_filter, f"{person}-{action}-{audit_filter.subject}-{since}-{before}"


def show_entries(person: Person, audit_filter: AuditFilter, scope: str) -> None:
    """Show one page of the matching entries, newest first, and links to all of them as files.

    Args:
        person: the person who reads the trail.
        audit_filter: the filter of the entries.
        scope: the text that identifies the filter, as :func:`show_filters` returns it.
    """
    position_key = f"audit-below-{scope}"  # each filter starts at its newest entries
    before_number = state.get_selection(position_key)
    with read_only_session() as db:
        entries_found = list_audit_entries(
            db,
            by=person,
            entry_filter=audit_filter,
            below=before_number if isinstance(before_number, int) else None,
            limit=_PAGE_SIZE + 1,
        )
    page_entries, has_more = entries_found[:_PAGE_SIZE], len(entries_found) > _PAGE_SIZE
    show_notice("audit")
    show_table(
        [_build_entry_row(shown_entry) for shown_entry in page_entries],
        empty="No entries match. Remove a filter.",
    )
    newest_column, older_column, files_column = st.columns([1, 1, 3], vertical_alignment="center")
    newest_column.button(
        "Newest",
        key=f"newest-{scope}",
        disabled=before_number is None,
        on_click=state.set_selection,
        args=(position_key, None),
        width="stretch",
    )
    older_column.button(
        "Older",
        key=f"older-{scope}",
        disabled=not has_more,
        on_click=state.set_selection,
        args=(position_key, page_entries[-1].entry.number if page_entries else None),
        width="stretch",
    )
    query = urlencode(_build_query(audit_filter))
    csv_address, jsonl_address = (
        f"/files/audit.{suffix}{'?' if query else ''}{query}" for suffix in ("csv", "jsonl")
    )
    files_column.markdown(
        f"Download all matching entries: [CSV]({csv_address}) · [JSON Lines]({jsonl_address})"
    )
    if any(shown_entry.withheld for shown_entry in page_entries):
        st.caption("Withheld: verdicts of others on questions in batches that you also review.")
    _show_details(page_entries)


def _build_entry_row(shown_entry: VisibleEntry) -> dict[str, object]:
    entry = shown_entry.entry
    return {
        "No.": entry.number,
        "Time (UTC)": entry.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "Person": entry.person_name,
        "Action": entry.action,
        "Subject": entry.subject,
        "Details": "withheld" if shown_entry.withheld else _describe_fields(entry),
        "Reason": "withheld" if shown_entry.withheld else entry.reason,
    }


def _describe_fields(entry: AuditEntry) -> str:
    text = " · ".join(map(str, list_audit_fields(entry)))
    return text if len(text) <= _MAX_CELL_LENGTH else f"{text[:_MAX_CELL_LENGTH]} …"


def _show_details(shown_entries: tuple[VisibleEntry, ...]) -> None:
    """Show one entry in full: its values, its JSON, its hash and the hash of the previous entry."""
    entries_by_number = {shown_entry.entry.number: shown_entry for shown_entry in shown_entries}
    first = next(iter(entries_by_number), 0)
    number = st.selectbox(
        "View entry",
        list(entries_by_number),
        index=None,
        key=f"audit-one-{first}",
        placeholder="Choose a number",
    )
    if number is None:
        return
    entry = entries_by_number[number].entry
    occurred_at = entry.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    reason = f". Reason: {entry.reason}" if entry.reason else ""
    st.markdown(
        escape_markdown(f"{entry.person_name}: {entry.action}, {entry.subject}, {occurred_at}{reason}")
    )
    has_old = entry.old is not None
    show_table(
        [
            {"Field": field.name, **({"Before": field.before} if has_old else {}), "After": field.after}
            for field in list_audit_fields(entry)
        ],
        empty="This entry has no values.",
    )
    with st.expander("JSON"):
        for title, text in (("Before", entry.old), ("After", entry.new)):
            if text is not None:
                st.caption(title)
                st.code(json.dumps(json.loads(text), indent=2, ensure_ascii=False), language="json")
    st.caption(f"Hash {entry.hash}; previous entry {entry.previous_hash}")


def _build_query(audit_filter: AuditFilter) -> dict[str, str]:
    plain_values = {
        "person": audit_filter.person,
        "what": audit_filter.action,
        "subject": audit_filter.subject,
    }
    times = {"since": audit_filter.since, "before": audit_filter.before}
    parameters = {name: value for name, value in plain_values.items() if value}
    return parameters | {name: value.isoformat() for name, value in times.items() if value}


def _get_start_of_day(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
