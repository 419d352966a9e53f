"""What the texts of a dataset are like: how long, and of which words."""

from __future__ import annotations

import streamlit as st

from browsing.service import DatasetStatistics
from ui.finding.charts import bars, ranked


def lengths(found: DatasetStatistics) -> None:
    """How long stems and explanations are, in characters or in words."""
    unit = st.segmented_control(
        "In", ["characters", "words"], default="characters", key=f"length-in-{found.dataset}"
    )
    for column, name, each in zip(
        st.columns(2, gap="large"),
        ("Questions", "Explanations"),
        (found.stems, found.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if not each.n:
                st.caption("None.")
                continue
            mean = each.mean_words if unit == "words" else each.mean_characters
            st.caption(f"n = {each.n:,}, mean {mean:.1f} {unit or 'characters'}")
            bins = each.in_words if unit == "words" else each.characters
            st.altair_chart(bars(bins, title=unit or "characters"), width="stretch")


def words_used(found: DatasetStatistics) -> None:
    """The words that are in most stems and explanations."""
    st.caption("In how many texts a word is; the most common words of the language are left out.")
    for column, name, each in zip(
        st.columns(2, gap="large"),
        ("Questions", "Explanations"),
        (found.stems, found.explanations),
        strict=True,
    ):
        with column:
            st.markdown(f"**{name}**")
            if each.words:
                st.altair_chart(ranked(each.words, title="texts"), width="stretch")
            else:
                st.caption("None.")
