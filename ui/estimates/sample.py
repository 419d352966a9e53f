"""The sample that a page's estimates are made from, read once for all of them."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from review.service import SampleFacts, read_sample
from ui.context import reading


# Shared, not copied: nothing of it is changed. For one run of the page; each estimate is kept by itself.
@st.cache_resource(max_entries=2, ttl=5, show_spinner="Reading the sample …")
def sample_of(
    dataset: str, batches: tuple[str, ...], version: tuple[object, ...], _person: Person
) -> SampleFacts:
    """What was said of these batches, of all where none is named, at that version."""
    del version
    with reading() as db:
        return read_sample(db, by=_person, dataset=dataset, batches=batches or None)
