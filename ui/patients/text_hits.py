"""Shows passages of questions and reports that may identify a patient."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from privacy.service import list_hits, load_hit_report
from ui.context import read_only_session
from ui.patients.search_jobs import SEARCH_TEXTS, show_search_button
from ui.tables import show_table
from ui.widgets import escape_markdown, show_statistic

_PAGE_SIZE = 20
_CONTEXT_LENGTH = 60  # characters before and after a passage


def show_text_hits(dataset: str, person: Person) -> None:
    """Show the search button, the counts by kind, and the passages with their context."""
    with read_only_session() as db:
        report = load_hit_report(db, by=person, dataset=dataset)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        show_statistic("Questions with possible patient data", f"{report.with_hits:,}", n=report.questions)
    with right:
        st.caption(
            "The search covers stems, options, explanations, indications and reports. It looks for "
            "patterns (dates, names with titles, numbers, addresses) and for the values of the image "
            "headers. An empty result does not prove that there is no patient data."
        )
    search_job = show_search_button("Search texts", SEARCH_TEXTS, dataset, person)
    if not report.counts:
        if search_job is None:
            st.caption("Nothing found, or not searched yet.")
        return
    kinds = list(report.counts)
    kind = st.pills(
        "Kind",
        kinds,
        format_func=lambda name: f"{name} ({report.counts[name]:,})",
        key=f"hit-kind-{dataset}",
    )
    total = report.counts[kind] if kind else sum(report.counts.values())
    page_count = max(1, -(-total // _PAGE_SIZE))
    page = 1
    if page_count > 1:
        label = f"Page (of {page_count:,})"
        page = int(st.number_input(label, min_value=1, max_value=page_count, key=f"hits-{dataset}-{kind}"))
    with read_only_session() as db:
        page_hits = list_hits(
            db, by=person, dataset=dataset, kind=kind, offset=(page - 1) * _PAGE_SIZE, limit=_PAGE_SIZE
        )
    show_table(
        [
            {
                "Question": row.question_id,
                "Field": row.hit.field,
                "Type": row.hit.kind.value,
                "Passage": row.text[row.hit.start : row.hit.end],
                "Context": _format_excerpt(row.text, row.hit.start, row.hit.end),
            }
            for row in page_hits
        ]
    )
    st.caption(
        escape_markdown(
            "If a passage identifies a patient, correct the question in review or import a corrected file."
        )
    )


def _format_excerpt(text: str, start: int, end: int) -> str:
    """Return the passage in brackets, with the text before and after it."""
    before, after = text[max(0, start - _CONTEXT_LENGTH) : start], text[end : end + _CONTEXT_LENGTH]
    return " ".join(f"…{before}[{text[start:end]}]{after}…".split())
