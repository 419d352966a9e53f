"""Releases: create a release, download its files, verify it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from release import service as release
from ui.context import read_only_session, require_page
from ui.releases.comparison import show_comparison
from ui.releases.known_release import show_release
from ui.releases.release_form import show_release_form
from ui.widgets import page_fragment, show_empty_state, show_notice


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a release."""
    person = require_page(Action.MAKE_RELEASE)
    st.title("Releases")
    with read_only_session() as db:
        batches = release.list_releasable_batches(db, by=person)
        known_releases = release.list_releases(db, by=person)
    if not batches:
        show_empty_state(
            "No batches yet",
            "A release contains the questions of batches that reviewers accepted or corrected.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    st.subheader("New release")
    show_release_form(person, batches)
    st.subheader("Existing releases")
    show_notice("made")
    if not known_releases:
        st.caption("No releases yet.")
    for known_release in known_releases:
        show_release(person, known_release)
    show_comparison(person, known_releases)


main()
