"""Agreement: how far the reviewers of a batch agree, and how each reviewer's verdicts change over time."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from review import service as review
from ui.batches.agreement import show_agreement_panel
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.batches.drift import show_drift_panel
from ui.context import current_workspace, read_only_session, require_page
from ui.widgets import escape_markdown, screen, show_empty_state


@screen
def main() -> None:
    """One batch at a time; every figure with its n and interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Agreement")
    batches = load_batches_or_show_empty(
        person, "Once two reviewers have judged the same questions, what they agree on is shown here."
    )
    if not batches:
        return
    batch = choose_batch(batches, key="batch-to-compare")
    with read_only_session() as db:
        version = review.load_counts_version(db, by=person, batches=[batch.name])
    agreement = _load_agreement(batch.name, (str(current_workspace().home), *version), person)
    st.caption(
        escape_markdown(
            f"{agreement.shared:,} of {agreement.questions:,} questions were judged by two reviewers or more."
            f" {agreement.rule_text if agreement.shared or agreement.rule else ''} {agreement.exclusion_note}"
        )
    )
    if agreement.agreements:
        show_agreement_panel(agreement)
    elif agreement.shared:
        show_empty_state(
            "No agreement is shown",
            "Every second opinion so far was sought because something was found, which would bias it. It is "
            "shown once questions of the random share are judged twice.",
        )
    else:
        show_empty_state(
            "No question was judged twice yet",
            "Give a second reviewer to a random share of the batch.",
            page="pages/assign.py",
            label="Seek second opinions",
        )
    show_drift_panel(agreement)


@st.cache_data(max_entries=10, ttl=60, show_spinner="Comparing verdicts …")
def _load_agreement(batch: str, version: tuple[object, ...], _person: Person) -> review.BatchAgreement:
    """The agreement of a batch, cached for a minute or until there is a new verdict."""
    del version
    with read_only_session() as db:
        return review.compute_batch_agreement(db, by=_person, batch=batch)


main()
