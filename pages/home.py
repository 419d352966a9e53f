"""Home: what to do next, by role."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.batches import BatchState
from domain.count_texts import count_text
from domain.people import Action, Person, Role
from review.service import BatchOverview, list_batch_overviews, list_batches_for_reviewer
from review.sheet import BatchListItem
from sampling.service import list_drawable_datasets
from ui import state
from ui.context import read_only_session, require_page
from ui.next_step import find_next_step
from ui.studies.own_studies import show_own_studies
from ui.widgets import escape_markdown, go_to
from ui.work_box import show_work_box

_MAX_BATCHES = 8


def main(person: Person) -> None:
    """The sections of all the person's roles, one below the other."""
    st.title("Home")
    if person.may(Action.JUDGE):
        _show_reviewer_section(person)
    if person.may(Action.SEE_PROGRESS):
        _show_coordinator_section(person)
    if person.may(Action.MANAGE_PEOPLE):
        _show_admin_section(person)
    if person.may(Action.READ):
        show_own_studies(person)
    if not any(person.may(action) for action in Action):
        st.info("Your account has no role yet. Ask an admin to assign one.")


def _show_reviewer_section(person: Person) -> None:
    with read_only_session() as db:
        batches = list_batches_for_reviewer(db, person=person)
    st.subheader("Your batches")
    if not batches:
        st.write(
            "No questions are assigned to you yet. Questions that a coordinator assigns to you appear here."
        )
        return
    for own_batch in sorted(
        batches, key=lambda own_batch: (not _has_open_questions(own_batch), own_batch.batch.id)
    ):
        _show_own_batch(own_batch)


def _show_own_batch(own_batch: BatchListItem) -> None:
    progress = own_batch.progress
    show_work_box(
        own_batch.batch.name,
        done=progress.done,
        total=progress.total,
        details=_describe_progress(own_batch),
        has_work=_has_open_questions(own_batch),
        is_begun=bool(progress.done or progress.skipped),
        is_closed=own_batch.batch.state is BatchState.CLOSED,
        key=f"continue-{own_batch.batch.id}",
        page="pages/review.py",
        batch=own_batch.batch.id,
    )


def _describe_progress(own_batch: BatchListItem) -> list[str]:
    progress = own_batch.progress
    details = [f"{progress.done:,} of {progress.total:,} done"]
    if progress.skipped:
        details.append(f"{progress.skipped:,} skipped")
    if progress.left:
        details.append(f"{progress.left:,} left")
        if own_batch.seconds_median:
            details.append(f"about {_format_duration(progress.left * own_batch.seconds_median)} at your pace")
    return details


def _has_open_questions(own_batch: BatchListItem) -> bool:
    return own_batch.batch.state is BatchState.OPEN and own_batch.progress.left > 0


def _show_coordinator_section(person: Person) -> None:
    with read_only_session() as db:
        datasets = list_drawable_datasets(db, by=person)
        batches = list_batch_overviews(db, by=person)
    step = find_next_step(datasets, batches)
    st.subheader("Next step")
    with st.container(border=True):
        text_column, button_column = st.columns([4, 1], vertical_alignment="center")
        with text_column:
            st.markdown(f"**{escape_markdown(step.situation)}**")
            st.markdown(escape_markdown(step.instruction))
        with button_column:
            if st.button(step.label, key="next-step", type="primary", width="stretch"):
                go_to(step.page)
    if batches:
        st.subheader("Batches")
        for overview_row in batches[:_MAX_BATCHES]:
            _show_batch_progress(overview_row)
        if len(batches) > _MAX_BATCHES:
            st.caption(f"The newest {_MAX_BATCHES} of {len(batches):,}. The page Progress shows all batches.")
    if datasets:
        st.subheader("Datasets")
        for name, questions in sorted(datasets.items()):
            st.markdown(f"{escape_markdown(name)} · {count_text(questions, 'question')}")


def _show_batch_progress(overview_row: BatchOverview) -> None:
    details = [
        count_text(overview_row.questions, "question"),
        f"{overview_row.done:,} of {count_text(overview_row.requested, 'judgement')} done",
    ]
    if overview_row.skipped:
        details.append(f"{overview_row.skipped:,} skipped")
    if overview_row.batch.state is BatchState.CLOSED:
        details.append("closed")
    name_column, bar_column = st.columns([1, 3], vertical_alignment="center")
    if name_column.button(
        f"**{escape_markdown(overview_row.batch.name)}**",
        key=f"progress-{overview_row.batch.id}",
        type="tertiary",
        icon=":material/monitoring:",
        help="Open the progress of this batch.",
    ):
        state.set_selection("batch", overview_row.batch.name)  # the batch that the page Progress opens
        go_to("pages/progress.py")
    bar_column.progress(
        overview_row.done / overview_row.requested if overview_row.requested else 0.0,
        text=escape_markdown(" · ".join(details)),
    )


def _show_admin_section(person: Person) -> None:
    with read_only_session() as db:
        people = accounts.list_people(db, by=person)
    st.subheader("People")
    active_people = [account for account in people if account.disabled_at is None]
    counts = " · ".join(
        f"{sum(role in account.roles for account in active_people)} with role {role}" for role in Role
    )
    st.write(escape_markdown(f"{count_text(len(active_people), 'account')}: {counts}"))
    if st.button("Manage people", key="to-people"):
        go_to("pages/people.py")


def _format_duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


main(require_page())
