"""Shows the results of iMRMC and RJafroc beside ours."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Action, Person
from reader_study.roc_files import select_roc_ratings
from reader_study.roc_results import MAX_BYTES, RocResult, read_roc_results
from reader_study.service import StudySummary, load_report_data
from ui.context import read_only_session, require_page
from ui.tables import show_table
from ui.widgets import escape_markdown, page_fragment


@page_fragment
def show_roc_comparison(summary: StudySummary) -> None:
    """Show the field for the result files, and a table of each file's numbers beside ours."""
    person = require_page(Action.RUN_STUDY)
    with st.expander("Compare with iMRMC or RJafroc"):
        _show_export(summary, person)
        st.caption(
            "Analyse the exported files with the other program, and choose its results: `AUCperReader.csv` "
            "and `statAnalysis.csv` of iMRMC, or the workbook of RJafroc's `UtilOutputReport`. Up to "
            f"{MAX_BYTES // 1_000_000} MB each. Nothing is stored."
        )
        files = st.file_uploader(
            "Result files", accept_multiple_files=True, key=f"report-{summary.study.id}-roc-files"
        )
        if not files:
            return
        with read_only_session() as db:
            data = load_report_data(db, by=person, study=summary.study.name)
        try:
            roc_ratings = select_roc_ratings(data)
        except DomainError as error:
            st.error(escape_markdown(str(error)))
            return
        for file in files:
            try:
                results = read_roc_results(roc_ratings, name=file.name, content=file.getvalue())
            except DomainError as error:
                st.error(escape_markdown(str(error)))
                continue
            st.markdown(f"**{escape_markdown(file.name)}**")
            show_table([_build_row(result, file.name) for result in results])
        st.caption(
            "Difference: ours minus theirs. iMRMC rounds its degrees of freedom down for p and the interval."
        )


def _show_export(summary: StudySummary, person: Person) -> None:
    """Show the button that checks whether the study can be exported, then the link to its files."""
    name = summary.study.name
    if not st.button("Export for iMRMC and RJafroc", key=f"report-{summary.study.id}-roc-export"):
        return
    with read_only_session() as db:
        data = load_report_data(db, by=person, study=name)
    try:
        roc_ratings = select_roc_ratings(data)
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    counts = (
        f"{count_text(len(roc_ratings.cases), 'yes/no question')} ({sum(roc_ratings.truth):,} yes), "
        f"{count_text(len(roc_ratings.ratings), 'rating')}"
    )
    st.markdown(f"[Files (ZIP)](/files/roc-files.zip?{urlencode({'study': name})}): {counts}.")
    for note in roc_ratings.notes:
        st.caption(escape_markdown(note))


def _build_row(result: RocResult, file: str) -> dict[str, object]:
    return {
        "Result": result.quantity,
        "Reader": result.reader or "all",
        "Arm": result.arm,
        "Ours": _format_number(result.our_value),
        "Theirs": _format_number(result.other_value),
        "Difference": _format_number(result.difference),
        "Our method": result.method,
        "Line": result.location.removeprefix(f"{file}, "),
    }


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
