"""Near-duplicates: find and mark questions of one exam that ask the same thing; calibrate the threshold."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from quality.duplicates.marking import DEFAULT_LIMIT, GroupShare, require_below_limit
from quality.duplicates.search import SearchSettings
from quality.service import list_datasets, load_pairs
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_person, read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.duplicates.calibration import show_calibration
from ui.duplicates.jobs import (
    SearchRequest,
    SearchSummary,
    load_latest_search_job,
    read_summary,
    start_search,
)
from ui.duplicates.pairs import show_pair
from ui.tables import show_table
from ui.widgets import page_fragment, run_action, show_empty_state, show_notice

_NOTICE, _MARK_NOTICE = "duplicates", "mark-duplicates"


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Near-duplicates")
    with read_only_session() as db:
        dataset_names = [dataset.name for dataset in list_datasets(db, by=person)]
    if not dataset_names:
        show_empty_state(
            "No dataset yet",
            "Import questions to search them for near-duplicates.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    dataset = choose_dataset(person, dataset_names, key="dataset-to-compare")
    search_tab, calibration_tab = st.tabs(["Search", "Calibration"])
    with search_tab:
        _show_search(person, dataset)
    with calibration_tab:
        show_calibration(person, dataset)


def _show_search(person: Person, dataset: str) -> None:
    st.markdown(
        "Questions of one exam are near-duplicates if they are similar and agree in side, negation, region, "
        "size, finding, format, options and answer key. The search only lists them. Of a pair that you then "
        "mark, the question with the shorter explanation gets a problem on the page Checks."
    )
    job = load_latest_search_job(person, dataset)
    is_active = show_job_progress(job)
    summary = read_summary(job)
    if not is_active:
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        threshold = left.number_input(
            "Minimum similarity",
            min_value=0.05,
            max_value=1.0,
            value=SearchSettings().threshold,
            step=0.05,
            key=f"threshold-{dataset}",
            help="Cosine similarity of the texts, 0 to 1. A higher value finds fewer pairs. The tab "
            "Calibration shows which pairs a value separates.",
        )
        right.button(
            "Search for near-duplicates",
            key=f"search-{dataset}",
            type="secondary" if summary else "primary",
            on_click=run_action,
            args=(_start, SearchRequest(dataset=dataset, threshold=threshold)),
            kwargs={"notice_key": _NOTICE},
        )
    show_notice(_NOTICE)
    show_job_outcome(job)
    if summary is not None:
        _show_summary(person, dataset, summary, is_active=is_active)


def _show_summary(person: Person, dataset: str, summary: SearchSummary, *, is_active: bool) -> None:
    show_table([_build_row(share) for share in summary.shares])
    overall_share = next(share for share in summary.shares if share.kind == "all")
    if overall_share.marked + summary.contradiction_count and not summary.is_marked and not is_active:
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        limit = left.number_input(
            "Largest share to mark (%)",
            min_value=0,
            max_value=100,
            value=round(DEFAULT_LIMIT * 100),
            key=f"limit-{dataset}",
            help="Nothing is marked if more of the dataset, of a task or of a category would be.",
        )
        right.button(
            "Mark near-duplicates",
            key=f"mark-{dataset}",
            type="primary",
            on_click=run_action,
            args=(_mark, dataset, summary, limit / 100),
            kwargs={"notice_key": _MARK_NOTICE},
            help="Stores them as problems on the page Checks. The questions are not changed.",
        )
        show_notice(_MARK_NOTICE)
    if summary.paper_pairs:
        st.caption(
            f"A cosine similarity above .9 alone would merge {summary.paper_pairs:,} pairs; "
            f"{summary.paper_wrong:,} of them are not duplicates."
        )
    with read_only_session() as db:
        contradictions = load_pairs(db, by=person, pairs=summary.contradictions)
        duplicates = load_pairs(db, by=person, pairs=summary.duplicates)
    if contradictions:
        st.subheader(f"Contradicting keys ({summary.contradiction_count:,})")
        for pair in contradictions:
            show_pair(pair)
    if duplicates:
        st.subheader(f"Near-duplicates ({overall_share.marked:,})")
        st.caption("The question on the left is kept.")
        for pair in duplicates:
            show_pair(pair)
    if len(contradictions) + len(duplicates) < overall_share.marked + summary.contradiction_count:
        st.caption("More are listed on the page Checks once they are marked.")


def _build_row(share: GroupShare) -> dict[str, object]:
    label = "All questions" if share.kind == "all" else f"{share.kind.capitalize()}: {share.name or 'none'}"
    return {
        "Questions of": label,
        "Questions": share.questions,
        "Near-duplicates": share.marked,
        "Share": f"{share.share:.1%}",
    }


def _start(request: SearchRequest) -> None:
    start_search(current_person(), request)


def _mark(dataset: str, summary: SearchSummary, limit: float) -> None:
    # Refuse before a new job replaces the result on the page.
    require_below_limit(summary.shares, limit=limit)
    _start(SearchRequest(dataset=dataset, threshold=summary.threshold, limit=limit))


main()
