"""Agreement: how far the reviewers of a batch agree, and how each reviewer's verdicts change over time."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Action, Person
from review import service as review
from ui.batches.agreement import show_agreement_panel
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.batches.consensus import show_consensus_panel
from ui.batches.drift import show_drift_panel
from ui.context import current_workspace, read_only_session, require_page
from ui.widgets import escape_markdown, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show one batch. Every estimate is shown with n and an interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Agreement")
    batches = load_batches_or_show_empty(
        person, "Agreement is shown once two reviewers have judged the same questions."
    )
    if not batches:
        return
    batch = choose_batch(batches, key="batch-to-compare")
    with read_only_session() as db:
        version = review.load_counts_version(db, by=person, batches=[batch.name])
    agreement = _load_agreement(batch.name, (str(current_workspace().home), *version), person)
    st.caption(
        escape_markdown(
            f"{agreement.shared:,} of {count_text(agreement.questions, 'question')} judged by two or more "
            f"reviewers. {agreement.rule_text if agreement.shared or agreement.rule else ''} "
            f"{agreement.exclusion_note}"
        )
    )
    if agreement.agreements:
        show_agreement_panel(agreement)
    elif agreement.shared:
        show_empty_state(
            "No agreement yet",
            "All second opinions so far were requested because of the first verdict and would bias "
            "agreement. Agreement is shown once questions of the random share have two verdicts.",
        )
    else:
        show_empty_state(
            "No questions with two reviewers yet",
            "Request second opinions for a random share of the batch.",
            page="pages/assign.py",
            label="Request second opinions",
        )
    if agreement.consensus is not None and agreement.shared:
        show_consensus_panel(agreement.consensus, agreement.people)
    show_drift_panel(agreement)


@st.cache_data(max_entries=10, ttl=60, show_spinner="Comparing verdicts …")
def _load_agreement(batch: str, version: tuple[object, ...], _person: Person) -> review.BatchAgreement:
    """Compute the agreement of a batch, cached until there is a new verdict, at most for a minute."""
    del version
    with read_only_session() as db:
        return review.compute_batch_agreement(db, by=_person, batch=batch)


main()
