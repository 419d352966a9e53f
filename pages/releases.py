"""Releases: create a release, download its files, verify it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from release import service as release
from ui.context import read_only_session, require_page
from ui.releases.comparison import show_comparison
from ui.releases.known_release import show_release
from ui.releases.release_form import show_release_form
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a release."""
    person = require_page(Action.MAKE_RELEASE)
    st.title("Releases")
    with read_only_session() as db:
        batches = release.list_releasable_batches(db, by=person)
        releases = release.list_releases(db, by=person)
    if not batches:
        show_empty_state(
            "No batches yet",
            "A release contains the questions that reviewers accepted or corrected in batches.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    st.subheader("New release")
    show_release_form(person, batches)
    st.subheader("Existing releases")
    if not releases:
        st.caption("No releases yet.")
    for existing_release in releases:
        show_release(person, existing_release)
    show_comparison(person, releases)


main()
