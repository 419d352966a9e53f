"""The reported problems and their outcomes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from domain.corrections import Change
from domain.people import Action, Person
from domain.questions import Question, format_answer, option_letter
from release import service as release
from ui.tables import show_table
from ui.widgets import show_statistic


def show_reports(person: Person, entries: list[release.ErratumEntry]) -> None:
    """Show the counts of the reports by outcome, and a table of the reports, the latest first."""
    sees_all = person.may(Action.MAKE_RELEASE)
    st.subheader("Reported problems" if sees_all else "Problems you reported")
    if not entries:
        st.caption("No problems reported yet.")
        return
    open_count = sum(entry.settled_at is None for entry in entries)
    left, right = st.columns(2)
    with left:
        show_statistic("Open", f"{open_count:,}", n=len(entries))
    with right:
        show_statistic("Settled", f"{len(entries) - open_count:,}", n=len(entries))
    show_table([_build_row(entry, with_reporter=sees_all) for entry in entries])
    if sees_all and open_count:
        st.caption(
            "Adjudicators of the batches of these questions decide on the page Adjudicate. Name them on the "
            "page Batches. They must not have judged the question or reported the problem. Then create a new "
            "release of the same batches and splits."
        )


def _build_row(entry: release.ErratumEntry, *, with_reporter: bool) -> dict[str, object]:
    report = entry.report
    row: dict[str, object] = {
        "Release": f"{report.dataset} {report.release}",
        "Question": report.question_id,
        "Problem": report.kind.label,
        "Description": report.text,
        "Outcome": entry.status.value if entry.status else "settled",
        "Changes": describe_changes(report.released, entry.changes),
        "Reason": entry.reason,
        "Reported (UTC)": f"{report.reported_at:%Y-%m-%d %H:%M}",
    }
    if with_reporter:
        row["Reported by"] = report.reported_by or "command"
    return row


def describe_changes(released: Question, changes: tuple[Change, ...]) -> str:
    """Describe the changes of a question in one line, such as "answer: A → B"."""
    options = next((change.after for change in changes if change.field == "options"), released.options)
    return "; ".join(
        f"{change.field.replace('_', ' ')}: {_format_value(change.field, change.before, released.options)} → "
        f"{_format_value(change.field, change.after, options)}"
        for change in changes
    )


def _format_value(field: str, value: Any, options: tuple[str, ...]) -> str:  # noqa: ANN401 - a field of any type
    if field == "answer":
        return format_answer(value, options)
    if field == "options":
        return " / ".join(f"{option_letter(i)}. {text}" for i, text in enumerate(value))
    if field == "boxes":
        return ", ".join(box.describe() for box in value) or "no boxes"
    return str(value) if value not in (None, "", ()) else "none"
