"""Leaderboards: the ranked teams, the reference rows and the significance map."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from leaderboard import service as leaderboards
from leaderboard.standings_text import (
    API_NOTE,
    MAP_NOTE,
    build_significance_map,
    describe_leaderboard,
    describe_limits,
    describe_method,
    list_difference_rows,
    list_standing_rows,
)
from ui.context import read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_standings(person: Person, name: str) -> None:
    """Show the leaderboard."""
    with read_only_session() as db:
        newest_version = next(
            board.version for board in leaderboards.list_leaderboards(db, by=person) if board.name == name
        )
    version = newest_version
    if newest_version > 1:
        version = st.selectbox(
            "Version",
            list(range(newest_version, 0, -1)),
            key=f"version-{name}-{newest_version}",
            width=200,
            help="A new version has a corrected release. All submissions were scored again.",
        )
    with st.spinner("Ranking the teams …"), read_only_session() as db:
        standings = leaderboards.load_standings(db, by=person, leaderboard=name, version=version)
    st.markdown(escape_markdown(describe_leaderboard(standings.leaderboard)))
    show_table(list_standing_rows(standings), wide=("Team", "Method"))
    if not standings.rows:
        st.caption("No team has a public submission yet.")
    st.caption(escape_markdown(f"{describe_method(standings)} {API_NOTE}"))
    st.caption(escape_markdown(describe_limits(standings.leaderboard)))
    if standings.differences:
        with st.expander("Significance map"):
            st.caption(MAP_NOTE)
            show_table(build_significance_map(standings))
            show_table(list_difference_rows(standings))
