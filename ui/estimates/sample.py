"""The judged sample behind the estimates of a page, read once for all of them."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from review.service import SampleData, load_sample
from ui.context import read_only_session


# Shared, not copied: nothing modifies it. Cached for one run of the page; each estimate has its own cache.
@st.cache_resource(max_entries=2, ttl=5, show_spinner="Reading the sample …")
def load_cached_sample(
    dataset: str, batches: tuple[str, ...], version: tuple[object, ...], _person: Person
) -> SampleData:
    """Return the verdicts of these batches at that version; of all batches if none is named."""
    del version
    with read_only_session() as db:
        return load_sample(db, by=_person, dataset=dataset, batches=batches or None)
