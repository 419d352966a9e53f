"""Agreement: what the reviewers of a batch agree on, and how each one's verdicts drift."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.people import Action, Person
from review import service as review
from ui import state
from ui.batches.agreement import agreement_panel
from ui.batches.choice import largest_open
from ui.batches.drift import drift_panel
from ui.context import current_workspace, reading, require_page
from ui.parts import empty_state, plain, screen


@screen
def main() -> None:
    """One batch at a time; every number with its n and interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Agreement")
    with reading() as db:
        batches = review.overview(db, by=person)
    if not batches:
        empty_state(
            "No batch yet",
            "Once two reviewers have judged the same questions, what they agree on is shown here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    batch = _choose(batches)
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
    """Compared once, and again when somebody judges, or after a minute."""
    del version
    with reading() as db:
        return review.batch_agreement(db, by=_person, batch=batch)


def _choose(batches: list[review.BatchOverview]) -> Batch:
    names = [each.batch.name for each in batches]
    before = state.chosen("batch")
    name = st.selectbox(
        "Batch",
        names,
        index=names.index(before) if before in names else largest_open(batches),
        key="batch-to-compare",  # allow fixed-widget-key: it is the question itself, nothing is asked about
    )
    state.set_chosen("batch", name)
    return batches[names.index(name)].batch


main()
