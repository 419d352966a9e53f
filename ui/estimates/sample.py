"""Loads the judged sample once for all estimates of a page."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from review.service import DatasetRisks, SampleData, load_risks, load_sample
from ui.context import read_only_session


# cache_resource shares the object instead of copying it, which is safe because nothing modifies it. The cache
# needs to last for one run of the page only, because each estimate has a cache of its own.
@st.cache_resource(max_entries=2, ttl=5, show_spinner="Reading the sample …")
def load_cached_sample(
    dataset: str, batches: tuple[str, ...], version: tuple[object, ...], _person: Person
) -> SampleData:
    """Return the verdicts of these batches, or of all batches if ``batches`` is empty."""
    del version
    with read_only_session() as db:
        return load_sample(db, by=_person, dataset=dataset, batches=batches or None)


@st.cache_resource(max_entries=2, ttl=600, show_spinner="Reading the risk of all questions …")
def load_cached_risks(
    dataset: str, frame_key: tuple[object, ...], home: str, _sample: SampleData, _person: Person
) -> DatasetRisks:
    """Return the risk of all questions that the sample represents (``frame_key``), cached for ten minutes.

    A verdict does not change ``frame_key``, unless it is the first verdict of a batch.
    """
    del dataset, frame_key, home
    with read_only_session() as db:
        return load_risks(db, by=_person, sample_data=_sample)
