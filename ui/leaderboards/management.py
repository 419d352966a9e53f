"""Leaderboards: the forms of coordinators for leaderboards, teams, members and reference rows."""

from __future__ import annotations

import streamlit as st

from accounts.service import list_people_with_role
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.leaderboards import Quotas
from domain.people import Person, Role
from evaluation import service as evaluations
from leaderboard import service as leaderboards
from reader_study import service as studies
from release.splits import Split
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice


def show_management(person: Person, name: str) -> None:
    """Show the teams with their members, and the reference rows that can be set."""
    with read_only_session() as db:
        teams = leaderboards.list_teams(db, by=person, leaderboard=name)
        submitters = [submitter.name for submitter in list_people_with_role(db, role=Role.SUBMITTER)]
        evaluation_names = [
            evaluation.name
            for evaluation in evaluations.list_evaluations(db, by=person)
            if evaluation.split == Split.PRIVATE
        ]
        study_names = [summary.study.name for summary in studies.list_studies(db, by=person)]
    with st.expander("Teams", expanded=not teams):
        for team in teams:
            key = f"members-{name}-{team.id}-{len(team.members)}"
            st.multiselect(
                f"Members of {escape_markdown(team.name)}",
                sorted({*submitters, *team.members}),
                default=list(team.members),
                key=key,
            )
            st.button(
                "Save members",
                key=f"save-{key}",
                on_click=run_action,
                args=(_save_members, name, team.name, key),
                kwargs={"notice_key": f"teams-{name}"},
            )
        if not submitters:
            st.caption("Nobody has the role submitter yet. An admin assigns it on the page People.")
        form_key = state.form_key(f"team-{name}")
        st.text_input("New team", key=form_key, width=420)
        st.button(
            "Add team",
            key=f"add-team-{name}",
            on_click=run_action,
            args=(_add_team, name, form_key),
            kwargs={"notice_key": f"teams-{name}"},
        )
        show_notice(f"teams-{name}")
    with st.expander("Move to a corrected release"):
        _show_release_choice(person, name)
    show_notice(f"version-{name}")  # a new version closes the expander
    with st.expander("Reference rows"):
        _show_reference_choice(
            name,
            "Evaluation for text only",
            evaluation_names,
            kind="text-only",
            button="Set text only",
            action=_set_text_only,
        )
        _show_reference_choice(
            name,
            "Study for readers",
            study_names,
            kind="readers",
            button="Set readers",
            action=_set_readers,
        )
        show_notice(f"references-{name}")


def _show_release_choice(person: Person, name: str) -> None:
    with read_only_session() as db:
        board = next(board for board in leaderboards.list_leaderboards(db, by=person) if board.name == name)
        private_releases = leaderboards.list_releases_with_private_split(db, by=person)
    choices = [
        release
        for dataset, release in private_releases
        if dataset == board.dataset and release != board.release
    ]
    if choices:
        key = f"release-{name}-{board.version}-{len(choices)}"
        st.selectbox("Release with corrected keys", choices, key=key, width=420)
        st.button(
            "Score all submissions again",
            key=f"change-{key}",
            on_click=run_action,
            args=(_change_release, name, key),
            kwargs={"notice_key": f"version-{name}"},
            help="Previous scores remain visible. Scoring again does not count against a quota.",
        )
    else:
        st.caption("The dataset has no other release with a private split.")


def _show_reference_choice(
    name: str, label: str, choices: list[str], *, kind: str, button: str, action: object
) -> None:
    if not choices:
        st.caption(f"{label}: there is none yet.")
        return
    key = f"{kind}-{name}-{len(choices)}"
    st.selectbox(label, choices, key=key, width=420)
    st.button(
        button,
        key=f"set-{key}",
        on_click=run_action,
        args=(action, name, key),
        kwargs={"notice_key": f"references-{name}"},
    )


def show_create_form(person: Person, *, is_open: bool) -> None:
    """Show the form that creates a leaderboard."""
    with read_only_session() as db:
        private_releases = leaderboards.list_releases_with_private_split(db, by=person)
    with st.expander("Create a leaderboard", expanded=is_open):
        if not private_releases:
            show_empty_state(
                "No release with a private split yet",
                "A leaderboard uses the private questions of a release.",
                "pages/releases.py",
                "View releases",
            )
        else:
            _show_create_fields(
                {f"{dataset} {release}": (dataset, release) for dataset, release in private_releases}
            )
        show_notice("create-leaderboard")


def _show_create_fields(releases_by_label: dict[str, tuple[str, str]]) -> None:
    form_key = state.form_key("leaderboard")
    with st.form(form_key, border=False):
        left, right = st.columns(2)
        left.text_input("Name", key=f"{form_key}-name", placeholder="Chest X-ray questions 2026")
        right.selectbox("Release", list(releases_by_label), key=f"{form_key}-release")
        columns = st.columns(3)
        for column, field, label, default in zip(
            columns,
            ("per_day", "per_month", "total"),
            ("Submissions per day", "Submissions per month", "Submissions in total"),
            (2, 20, 100),
            strict=True,
        ):
            column.number_input(label, 1, 10_000, default, key=f"{form_key}-{field}")
        st.checkbox(
            "Ladder",
            value=True,
            key=f"{form_key}-ladder",
            help="The score of a team changes only if a submission is significantly better. Without it, a "
            "team can raise its score by many submissions.",
        )
        st.form_submit_button(
            "Create leaderboard",
            type="primary",
            on_click=run_action,
            args=(_create_leaderboard, form_key, releases_by_label),
            kwargs={"notice_key": "create-leaderboard"},
        )


def _create_leaderboard(form_key: str, releases_by_label: dict[str, tuple[str, str]]) -> str:
    choice = str(state.get_widget_value(f"{form_key}-release"))
    if choice not in releases_by_label:
        raise InvalidValue("Release", "choose one")
    dataset, release = releases_by_label[choice]
    with unit_of_work() as db:
        board = leaderboards.create_leaderboard(
            db,
            by=current_person(),
            name=str(state.get_widget_value(f"{form_key}-name") or "").strip(),
            dataset=dataset,
            release=release,
            quotas=Quotas(
                per_day=_read_number(f"{form_key}-per_day"),
                per_month=_read_number(f"{form_key}-per_month"),
                total=_read_number(f"{form_key}-total"),
            ),
            uses_ladder=bool(state.get_widget_value(f"{form_key}-ladder")),
            now=clock(),
        )
    state.clear_form("leaderboard")
    questions = count_text(board.questions, "closed private question")
    return f"Created {board.name} with {questions}. Add its teams now."


def _read_number(key: str) -> int:
    value = state.get_widget_value(key)
    return value if isinstance(value, int) else 0


def _add_team(name: str, key: str) -> str:
    team = str(state.get_widget_value(key) or "").strip()
    with unit_of_work() as db:
        leaderboards.add_team(db, by=current_person(), leaderboard=name, name=team, now=clock())
    state.clear_form(f"team-{name}")
    return f"Added {team}. Choose its members."


def _save_members(name: str, team: str, key: str) -> str:
    members = state.get_widget_value(key)
    with unit_of_work() as db:
        saved_team = leaderboards.change_members(
            db,
            by=current_person(),
            leaderboard=name,
            team=team,
            members=[str(member) for member in members] if isinstance(members, list) else [],
            now=clock(),
        )
    return f"{saved_team.name}: {', '.join(saved_team.members) or 'no members'}."


def _change_release(name: str, key: str) -> str:
    with unit_of_work() as db:
        board = leaderboards.change_release(
            db,
            by=current_person(),
            leaderboard=name,
            release=str(state.get_widget_value(key)),
            now=clock(),
        )
    return (
        f"Version {board.version}: all submissions were scored again on {board.release}. Set the permanent "
        "rows of text only and readers again."
    )


def _set_text_only(name: str, key: str) -> str:
    with unit_of_work() as db:
        reference = leaderboards.set_text_only_reference(
            db,
            by=current_person(),
            leaderboard=name,
            evaluation=str(state.get_widget_value(key)),
            now=clock(),
        )
    return f"{reference.name}: {reference.estimate:.2%}."


def _set_readers(name: str, key: str) -> str:
    with unit_of_work() as db:
        reference = leaderboards.set_readers_reference(
            db,
            by=current_person(),
            leaderboard=name,
            study=str(state.get_widget_value(key)),
            now=clock(),
        )
    return f"{reference.name}: {reference.estimate:.2%}, n = {reference.n:,}."
