"""Shows the batches of a reviewer, each with its progress and a button to continue."""

from __future__ import annotations

import streamlit as st

from domain.batches import BatchState
from domain.count_texts import count_text, duration_text
from domain.people import Person
from review.service import list_batches_for_reviewer
from review.sheet import BatchListItem
from ui.context import read_only_session
from ui.work_box import show_work_box


def show_own_batches(person: Person) -> None:
    """Show one box per batch, those with open questions first."""
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
        _show_batch(own_batch)


def _show_batch(own_batch: BatchListItem) -> None:
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
    details = [f"{progress.done:,} of {count_text(progress.total, 'question')} done"]
    if own_batch.is_practice:
        details.insert(0, "practice set")
    if own_batch.is_locked:
        details.insert(0, "locked until you have passed a practice set")
    if progress.skipped:
        details.append(f"{progress.skipped:,} skipped")
    if progress.left:
        details.append(f"{progress.left:,} left")
        if own_batch.seconds_median:
            details.append(f"about {duration_text(progress.left * own_batch.seconds_median)} at your pace")
    return details


def _has_open_questions(own_batch: BatchListItem) -> bool:
    return own_batch.batch.state is BatchState.OPEN and own_batch.progress.left > 0
