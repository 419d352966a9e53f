"""Passages of questions and reports that may identify a patient."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from privacy.service import hit_report, hits
from ui.context import reading
from ui.parts import plain, stat
from ui.patients.searching import SEARCH_TEXTS, search_button
from ui.tables import table

_AT_ONCE = 20
_AROUND = 60


def texts_part(dataset: str, person: Person) -> None:
    """Draw the counts by kind, and the passages in their sentences."""
    with reading() as db:
        report = hit_report(db, by=person, dataset=dataset)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        stat("Questions with a passage to look at", f"{report.with_hits:,}", n=report.questions)
    with right:
        st.caption(
            "Patterns (dates, names by title, numbers, addresses) and what the image headers themselves say "
            "are searched in stems, options, explanations, indications and reports. It shows where to look; "
            "that nothing is found proves nothing."
        )
    search = search_button("Search the texts", SEARCH_TEXTS, dataset, person)
    if not report.counts:
        if search is None:
            st.caption("Nothing found, or not searched yet.")
        return
    kinds = list(report.counts)
    kind = st.pills(
        "Kind",
        kinds,
        format_func=lambda each: f"{each} ({report.counts[each]:,})",
        key=f"hit-kind-{dataset}",
    )
    total = report.counts[kind] if kind else sum(report.counts.values())
    pages = max(1, -(-total // _AT_ONCE))
    page = 1
    if pages > 1:
        label = f"Page, of {pages:,}"
        page = int(st.number_input(label, min_value=1, max_value=pages, key=f"hits-{dataset}-{kind}"))
    with reading() as db:
        shown = hits(db, by=person, dataset=dataset, kind=kind, first=(page - 1) * _AT_ONCE, count=_AT_ONCE)
    table(
        [
            {
                "Question": each.question_id,
                "Field": each.hit.field,
                "Looks like": each.hit.kind.value,
                "Passage": each.text[each.hit.start : each.hit.end],
                "In its sentence": _around(each.text, each.hit.start, each.hit.end),
            }
            for each in shown
        ]
    )
    st.caption(plain("A passage that is one: correct the question in review, or import a file without it."))


def _around(text: str, start: int, end: int) -> str:
    """Return the passage in brackets, with some of the text before and after it."""
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return " ".join(f"…{before}[{text[start:end]}]{after}…".split())
