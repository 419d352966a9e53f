"""Home: what to do next, by role."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.batches import BatchState
from domain.people import Action, Person, Role
from review.service import BatchOverview, batches_for, overview
from review.sheet import BatchForReviewer
from sampling.service import drawable
from ui import state
from ui.context import reading, require_page
from ui.next_step import next_step
from ui.own_work import work_box
from ui.parts import go_to, plain
from ui.studies.own import show_own_studies

_BATCHES_AT_MOST = 8


def main(person: Person) -> None:
    """The sections of all the person's roles, one below the other."""
    st.title("Home")
    if person.may(Action.JUDGE):
        _reviewer(person)
    if person.may(Action.SEE_PROGRESS):
        _coordinator(person)
    if person.may(Action.MANAGE_PEOPLE):
        _admin(person)
    if person.may(Action.READ):
        show_own_studies(person)
    if not any(person.may(action) for action in Action):
        st.info("There is nothing for you to do here: your account has no role. Ask an admin for one.")


def _reviewer(person: Person) -> None:
    with reading() as db:
        batches = batches_for(db, person=person)
    st.subheader("Your batches")
    if not batches:
        st.write("Nothing is assigned to you yet. A coordinator gives you questions; they appear here.")
        return
    for each in sorted(batches, key=lambda found: (not _to_do(found), found.batch.id)):
        _batch_to_judge(each)


def _batch_to_judge(each: BatchForReviewer) -> None:
    place = each.place
    work_box(
        each.batch.name,
        done=place.done,
        total=place.total,
        said=_standing(each),
        to_do=_to_do(each),
        is_begun=bool(place.done or place.skipped),
        is_closed=each.batch.state is BatchState.CLOSED,
        key=f"continue-{each.batch.id}",
        page="pages/review.py",
        batch=each.batch.id,
    )


def _standing(each: BatchForReviewer) -> list[str]:
    place = each.place
    said = [f"{place.done:,} of {place.total:,} done"]
    if place.skipped:
        said.append(f"{place.skipped:,} skipped")
    if place.left:
        said.append(f"{place.left:,} left")
        if each.seconds_median:
            said.append(f"about {_duration(place.left * each.seconds_median)} at your pace")
    return said


def _to_do(each: BatchForReviewer) -> bool:
    return each.batch.state is BatchState.OPEN and each.place.left > 0


def _coordinator(person: Person) -> None:
    with reading() as db:
        datasets = drawable(db, by=person)
        batches = overview(db, by=person)
    step = next_step(datasets, batches)
    st.subheader("Next")
    with st.container(border=True):
        words, button = st.columns([4, 1], vertical_alignment="center")
        with words:
            st.markdown(f"**{plain(step.stands)}**")
            st.markdown(plain(step.what))
        with button:
            if st.button(step.label, key="next-step", type="primary", width="stretch"):
                go_to(step.page)
    if batches:
        st.subheader("Batches")
        for each in batches[:_BATCHES_AT_MOST]:
            _batch_under_way(each)
        if len(batches) > _BATCHES_AT_MOST:
            st.caption(f"The newest {_BATCHES_AT_MOST} of {len(batches):,}; all of them are under Progress.")
    if datasets:
        st.subheader("Datasets")
        for name, questions in sorted(datasets.items()):
            st.markdown(f"{plain(name)} · {questions:,} questions")


def _batch_under_way(each: BatchOverview) -> None:
    said = [f"{each.questions:,} questions", f"{each.done:,} of {each.asked:,} judgements done"]
    if each.skipped:
        said.append(f"{each.skipped:,} skipped")
    if each.batch.state is BatchState.CLOSED:
        said.append("closed")
    name, bar = st.columns([1, 3], vertical_alignment="center")
    if name.button(
        f"**{plain(each.batch.name)}**",
        key=f"progress-{each.batch.id}",
        type="tertiary",
        icon=":material/monitoring:",
        help="See the batch's progress.",
    ):
        state.set_chosen("batch", each.batch.name)  # the batch that the page Progress opens
        go_to("pages/progress.py")
    bar.progress(each.done / each.asked if each.asked else 0.0, text=plain(" · ".join(said)))


def _admin(person: Person) -> None:
    with reading() as db:
        people = accounts.list_people(db, by=person)
    st.subheader("People")
    active = [each for each in people if each.disabled_at is None]
    counts = " · ".join(f"{sum(role in each.roles for each in active)} with role {role}" for role in Role)
    st.write(plain(f"{len(active)} accounts: {counts}"))
    if st.button("Manage people", key="to-people"):
        go_to("pages/people.py")


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


main(require_page())
