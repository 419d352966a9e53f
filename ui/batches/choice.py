"""Which batch a page is about."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.batches import Batch, BatchState
from domain.people import Person
from review.service import BatchOverview, overview
from ui import state
from ui.context import reading
from ui.parts import empty_state


def batches_or_empty(person: Person, what_next: str) -> list[BatchOverview]:
    """All batches; where there is none, the page says so, with what comes once there is one."""
    with reading() as db:
        batches = overview(db, by=person)
    if not batches:
        empty_state("No batch yet", what_next, page="pages/sampling.py", label="Draw a batch")
    return batches


def choose_batch(batches: Sequence[BatchOverview], *, key: str, first: int | None = None) -> Batch:
    """Draw the choice. It begins with the batch that was chosen on the page before, else with the
    ``first``-th, else with the largest open one; ``key`` is the widget's, another one on each page.
    """
    names = [each.batch.name for each in batches]
    before = state.chosen("batch")
    begin = largest_open(batches) if first is None else first
    place = names.index(before) if isinstance(before, str) and before in names else begin
    name = st.selectbox("Batch", names, index=place, key=key)
    state.set_chosen("batch", name)
    return batches[names.index(name)].batch


def largest_open(batches: Sequence[BatchOverview]) -> int:
    """The place of the open batch that asks for most judgements, then of the one with most questions.

    The first of equal ones; among all of them when every batch is closed.
    """
    return max(range(len(batches)), key=lambda place: _weight(batches[place]))


def _weight(each: BatchOverview) -> tuple[bool, int, int]:
    return each.batch.state is BatchState.OPEN, each.asked, each.questions
