"""Agreement: how far the reviewers of a batch agree, and how each reviewer's verdicts change over time."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from review import service as review
from ui.batches.agreement import agreement_panel
from ui.batches.choice import batches_or_empty, choose_batch
from ui.batches.drift import drift_panel
from ui.context import current_workspace, reading, require_page
from ui.parts import empty_state, plain, screen


@screen
def main() -> None:
    """One batch at a time; every figure with its n and interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Agreement")
    batches = batches_or_empty(
        person, "Once two reviewers have judged the same questions, what they agree on is shown here."
    )
    if not batches:
        return
    batch = choose_batch(batches, key="batch-to-compare")
    with reading() as db:
        version = review.counted_version(db, by=person, batches=[batch.name])
    found = _compared(batch.name, (str(current_workspace().home), *version), person)
    st.caption(
        plain(
            f"{found.shared:,} of {found.questions:,} questions were judged by two reviewers or more. "
            f"{found.sought_text if found.shared or found.sought else ''} {found.left_out}"
        )
    )
    if found.between:
        agreement_panel(found)
    elif found.shared:
        empty_state(
            "No agreement is shown",
            "Every second opinion so far was sought because something was found, which would bias it. It is "
            "shown once questions of the random share are judged twice.",
        )
    else:
        empty_state(
            "No question was judged twice yet",
            "Give a second reviewer to a random share of the batch.",
            page="pages/assign.py",
            label="Seek second opinions",
        )
    drift_panel(found)


@st.cache_data(max_entries=10, ttl=60, show_spinner="Comparing verdicts …")
def _compared(batch: str, version: tuple[object, ...], _person: Person) -> review.BatchAgreement:
    """The agreement of a batch, cached for a minute or until there is a new verdict."""
    del version
    with reading() as db:
        return review.batch_agreement(db, by=_person, batch=batch)


main()
