"""Batches: who judges what, how it is judged, and whether a batch takes verdicts."""

from __future__ import annotations

import streamlit as st

from accounts.service import people_with
from domain.batches import Batch, BatchState
from domain.errors import DomainError
from domain.people import Action, Person, Role
from review import service as review
from ui import state
from ui.batches.choice import largest_open
from ui.batches.disputes import show_disputes
from ui.batches.hidden import hidden_panel
from ui.batches.seconds import seconds_panel
from ui.batches.settings import settings_panel
from ui.batches.sharing import sharing_panel
from ui.context import clock, current_person, reading, require_page, unit_of_work
from ui.parts import act, empty_state, notices, plain, screen, table

_TABS = (
    "Assign", "Whoever is free", "Move or take back", "How it is judged", "Disputes", "Hidden questions",
)  # fmt: skip


@screen
def main() -> None:
    """All in one fragment, so that no click can overtake a save."""
    person = require_page(Action.ASSIGN)
    st.title("Batches")
    with reading() as db:
        batches = review.overview(db, by=person)
    if not batches:
        empty_state(
            "No batch yet",
            "A batch is drawn from a dataset; then it is assigned to reviewers here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    table([_row(each) for each in batches])
    chosen = _choose(batches)
    _header(chosen)
    giving, sharing, moving, judging, settling, hiding = st.tabs(_TABS)
    with reading() as db:
        load = review.batch_load(db, by=person, batch=chosen.name)
        reviewers = [each for each in people_with(db, role=Role.REVIEWER) if each.disabled_at is None]
    with giving:
        _assign(chosen, load, reviewers)
        seconds_panel(chosen, reviewers)
    with sharing:
        sharing_panel(chosen, load, reviewers)
    with moving:
        _move(chosen, load, reviewers)
    with judging:
        settings_panel(chosen, person)
    with settling:
        show_disputes(person, chosen.name, [each.name for each in reviewers])
    with hiding:
        hidden_panel(chosen)


def _row(each: review.BatchOverview) -> dict[str, object]:
    return {
        "Batch": each.batch.name,
        "State": each.batch.state.value,
        "Mode": each.batch.settings.mode.value,
        "Asks for": each.batch.settings.parts.value,
        "Questions": each.questions,
        "Judgements asked for": each.asked,
        "Done": each.done,
        "Skipped": each.skipped,
        "Left": each.left,
    }


def _choose(batches: list[review.BatchOverview]) -> Batch:
    names = [each.batch.name for each in batches]
    before = state.chosen("batch")
    name = st.selectbox(
        "Batch",
        names,
        index=names.index(before) if before in names else largest_open(batches),
        key="batch-to-manage",  # allow fixed-widget-key: it is the question itself, nothing is asked about
    )
    state.set_chosen("batch", name)
    return batches[names.index(name)].batch


def _header(batch: Batch) -> None:
    closed = batch.state is BatchState.CLOSED
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        st.markdown(
            f"**{plain(batch.name)}** is "
            + ("closed: it takes no verdicts." if closed else "open: it takes verdicts.")
        )
    with right:
        st.button(
            "Open again" if closed else "Close batch",
            key=f"state-{batch.id}-{batch.revision}",
            on_click=act,
            args=(_reopen if closed else _close, batch.name),
            kwargs={"place": "state", "switch": f"state-{batch.id}"},
            help="What is judged stays. A closed batch can be opened again.",
            width="stretch",
        )
    notices("state")


# --------------------------------------------------------------------------------------------------- assign
def _assign(batch: Batch, load: review.BatchLoad, reviewers: list[Person]) -> None:
    table([_load_row(each) for each in load.people], empty="Nobody has a question of this batch yet.")
    st.caption(_waiting(load))
    notices("assign")
    if not reviewers:
        empty_state("No reviewers yet", "An admin gives people the role of reviewer on the page People.")
        return
    shown = {each.name: f"{each.display_name} ({each.name})" for each in reviewers}
    form = state.form(f"assign-{batch.id}")
    people, number = st.columns([3, 1])
    names = people.multiselect(
        "Reviewers",
        list(shown),
        key=f"{form}-to-{batch.id}",
        format_func=shown.get,
        placeholder="Choose who judges",
        disabled=batch.state is BatchState.CLOSED,
    )
    overlap = number.number_input(
        "Reviewers for each question",
        min_value=1,
        max_value=max(2, len(reviewers)),
        value=1,
        key=f"{form}-overlap-{batch.id}",
        help="1: each question is judged once. 2: a second reviewer is added to every question that has one.",
        disabled=batch.state is BatchState.CLOSED,
    )
    if not names:
        st.caption(
            "This batch is closed; open it again to assign it."
            if batch.state is BatchState.CLOSED
            else "Choose reviewers to see who would get how many. The questions of one exam stay together."
        )
        return
    _preview(batch, load, names, int(overlap), shown)
    st.button(
        "Assign",
        type="primary",
        key=f"{form}-go-{batch.id}",
        on_click=act,
        args=(_save_assignment, batch.name, batch.id, tuple(names), int(overlap)),
        kwargs={"place": "assign"},
    )


def _waiting(load: review.BatchLoad) -> str:
    if load.unassigned:
        return (
            f"{load.unassigned:,} {'question is' if load.unassigned == 1 else 'questions are'} with nobody."
        )
    if load.shared is not None and load.shared.free:
        return f"{load.shared.free:,} judgements wait in the shared queue for whoever is free."
    return "Every question is with a reviewer."


def _preview(
    batch: Batch, load: review.BatchLoad, names: list[str], overlap: int, shown: dict[str, str]
) -> None:
    try:
        with reading() as db:
            would = review.preview_assign(
                db, by=current_person(), batch=batch.name, to=names, overlap=overlap
            )
    except DomainError as error:
        st.error(plain(str(error)))
        return
    left = {each.person.name: each.left for each in load.people}
    table(
        [
            {
                "Reviewer": shown[name],
                "Left now": left.get(name, 0),
                "Would get": count,
                "Left then": left.get(name, 0) + count,
            }
            for name, count in would.given.items()
        ]
    )
    for note in would.notes:
        st.caption(plain(note))


def _load_row(each: review.PersonLoad) -> dict[str, object]:
    return {
        "Reviewer": f"{each.person.display_name} ({each.person.name})",
        "Account": "disabled" if each.person.disabled_at else "active",
        "Done": each.done,
        "Skipped": each.skipped,
        "Left": each.left,
    }


# ----------------------------------------------------------------------------------------- move or take back
def _move(batch: Batch, load: review.BatchLoad, reviewers: list[Person]) -> None:
    notices("move")
    holding = [each for each in load.people if each.left]
    if not holding:
        st.caption("Nobody has an open question of this batch.")
        return
    form = state.form(f"move-{batch.id}")
    left = {each.person.name: f"{each.person.display_name} ({each.left:,} left)" for each in holding}
    from_ = st.selectbox(
        "Open questions of",
        list(left),
        index=None,
        key=f"{form}-from-{batch.id}",
        format_func=left.get,
        placeholder="Choose whose",
    )
    if from_ is None:
        st.caption("What is done or skipped stays where it is; open questions move, or go back to nobody.")
        return
    shown = {each.name: f"{each.display_name} ({each.name})" for each in reviewers if each.name != from_}
    to = st.multiselect(
        "Move them to",
        list(shown),
        key=f"{form}-to-{batch.id}-{from_}",
        format_func=shown.get,
        placeholder="Choose who takes over",
    )
    moving, taking, _ = st.columns([1, 1, 2])
    with moving:
        st.button(
            "Move",
            type="primary",
            key=f"{form}-move-{batch.id}-{from_}",
            disabled=not to,
            on_click=act,
            args=(_save_move, batch.name, batch.id, from_, tuple(to)),
            kwargs={"place": "move"},
            width="stretch",
        )
    with taking:
        st.button(
            "Take back",
            key=f"{form}-back-{batch.id}-{from_}",
            on_click=act,
            args=(_take_back, batch.name, batch.id, from_),
            kwargs={"place": "move"},
            help="They are with nobody then, and can be assigned again.",
            width="stretch",
        )


# -------------------------------------------------------------------------------------------------- writes
def _save_assignment(batch: str, batch_id: int, names: tuple[str, ...], overlap: int) -> str:
    with unit_of_work() as db:
        summary = review.assign(db, by=current_person(), batch=batch, to=names, overlap=overlap, now=clock())
    state.clear_form(f"assign-{batch_id}")
    return _said("Assigned", summary)


def _save_move(batch: str, batch_id: int, from_: str, to: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        summary = review.reassign(db, by=current_person(), batch=batch, from_=from_, to=to, now=clock())
    state.clear_form(f"move-{batch_id}")
    return _said("Moved", summary)


def _take_back(batch: str, batch_id: int, from_: str) -> str:
    with unit_of_work() as db:
        taken = review.withdraw(db, by=current_person(), batch=batch, from_=from_, now=clock())
    state.clear_form(f"move-{batch_id}")
    return f"{taken:,} open questions of {from_} were taken back; they are with nobody now."


def _close(batch: str) -> str:
    with unit_of_work() as db:
        review.close_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is closed."


def _reopen(batch: str) -> str:
    with unit_of_work() as db:
        review.reopen_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is open again."


def _said(verb: str, summary: review.AssignSummary) -> str:
    given = ", ".join(f"{count:,} to {name}" for name, count in summary.given.items())
    return " ".join([f"{verb}: {given}.", *summary.notes])


main()
