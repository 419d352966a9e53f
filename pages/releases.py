"""Releases: create a release, download its files, verify it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from release import service as release
from ui.context import reading, require_page
from ui.parts import empty_state, notices, screen
from ui.releases.made import show_made
from ui.releases.making import make


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt a release."""
    person = require_page(Action.MAKE_RELEASE)
    st.title("Releases")
    with reading() as db:
        batches = release.releasable(db, by=person)
        made = release.list_releases(db, by=person)
    if not batches:
        empty_state(
            "Nothing to release yet",
            "A release holds the questions of batches that reviewers accepted or corrected.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    make(person, batches)
    st.subheader("Made")
    notices("made")
    if not made:
        st.caption("No release yet.")
    for each in made:
        show_made(person, each)


main()
