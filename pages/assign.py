"""Batches: assign questions to reviewers, set how they are judged, and close or reopen a batch."""

from __future__ import annotations

import streamlit as st

from accounts.service import people_with
from domain.batches import Batch, BatchState
from domain.people import Action, Role
from review import service as review
from ui.batches.choice import batches_or_empty, choose_batch
from ui.batches.disputes import show_disputes
from ui.batches.giving import giving_panel
from ui.batches.hidden import hidden_panel
from ui.batches.moving import moving_panel
from ui.batches.seconds import seconds_panel
from ui.batches.settings import settings_panel
from ui.batches.sharing import sharing_panel
from ui.context import clock, current_person, reading, require_page, unit_of_work
from ui.parts import act, notices, plain, screen
from ui.tables import table

_TABS = (
    "Assign", "Whoever is free", "Move or take back", "How it is judged", "Disputes", "Hidden questions",
)  # fmt: skip


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.ASSIGN)
    st.title("Batches")
    batches = batches_or_empty(
        person, "A batch is drawn from a dataset; then it is assigned to reviewers here."
    )
    if not batches:
        return
    table([_row(each) for each in batches], at_once=6)
    chosen = choose_batch(batches, key="batch-to-manage")
    _header(chosen)
    giving, sharing, moving, judging, settling, hiding = st.tabs(_TABS)
    with reading() as db:
        load = review.batch_load(db, by=person, batch=chosen.name)
        reviewers = [each for each in people_with(db, role=Role.REVIEWER) if each.disabled_at is None]
    with giving:
        giving_panel(chosen, load, reviewers)
        seconds_panel(chosen, reviewers)
    with sharing:
        sharing_panel(chosen, load, reviewers)
    with moving:
        moving_panel(chosen, load, reviewers)
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


def _close(batch: str) -> str:
    with unit_of_work() as db:
        review.close_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is closed."


def _reopen(batch: str) -> str:
    with unit_of_work() as db:
        review.reopen_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is open again."


main()
