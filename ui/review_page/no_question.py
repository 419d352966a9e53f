"""The review page without an open question: all are done, or other reviewers have the remaining ones."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from domain.batches import BatchState
from domain.people import Person
from review.practice import PracticeState, format_pass_mark, format_share
from review.service import list_skipped_questions, load_id_mask, load_last_judged, load_own_practice
from review.sheet import BatchListItem
from ui.context import format_clock_time, read_only_session
from ui.review_page.address import go_to_question
from ui.widgets import escape_markdown


def show_all_claimed(batch_for_reviewer: BatchListItem, free_at: datetime) -> None:
    """Show the page when other reviewers have claimed all remaining questions of a shared queue.

    Args:
        batch_for_reviewer: the batch, with the reviewer's progress.
        free_at: the time by which the first of these questions returns to the queue.
    """
    with st.container(border=True):
        st.markdown(
            f"**{escape_markdown(batch_for_reviewer.batch.name)}: the remaining questions are with other"
            " reviewers.**"
        )
        st.markdown(
            f"You have judged {batch_for_reviewer.progress.done:,}. Questions without activity return to the"
            f" shared queue, the first one by {format_clock_time(free_at)}."
        )
        st.button(
            "Refresh",
            key=f"look-again-{batch_for_reviewer.batch.id}",
            on_click=go_to_question,
            args=(batch_for_reviewer.batch.id, None),
        )


def show_completed(person: Person, batch_for_reviewer: BatchListItem, batches: list[BatchListItem]) -> None:
    """Show the page when all questions are judged or skipped: a summary, and links to continue."""
    batch, progress = batch_for_reviewer.batch, batch_for_reviewer.progress
    with read_only_session() as db:
        mask_id = load_id_mask(db, batch_id=batch.id).mask
        skipped_questions = [
            (mask_id(question_id), reason)
            for question_id, reason in list_skipped_questions(db, person=person, batch_id=batch.id)
        ]
        last_id = load_last_judged(db, person=person, batch_id=batch.id)
        last_masked_id = None if last_id is None else mask_id(last_id)
    if batch.state is BatchState.CLOSED:
        st.info(f"Batch {escape_markdown(batch.name)} is closed. A coordinator can reopen it.")
    with st.container(border=True):
        st.markdown(f"**“{escape_markdown(batch.name)}”: your review is complete.**")
        summary = f"{progress.done} of your {progress.total} questions judged"
        if batch_for_reviewer.seconds_median is not None:
            summary += f"; median viewing time {batch_for_reviewer.seconds_median:.0f} s per question"
        st.markdown(summary + ".")
        if batch_for_reviewer.is_practice:
            _show_practice_result(person, batch.id)
        if skipped_questions:
            st.markdown(f"{len(skipped_questions)} skipped; each can still be judged:")
            for masked_id, reason in skipped_questions[:50]:
                st.button(
                    f"Question {masked_id}: {escape_markdown(reason)}",
                    key=f"judging-skipped-{masked_id}",
                    on_click=go_to_question,
                    args=(batch.id, masked_id),
                )
        if last_masked_id is not None:
            st.button(
                "Show your last question" if batch_for_reviewer.is_practice else "Reopen your last verdict",
                key=f"judging-last-{batch.id}",
                on_click=go_to_question,
                args=(batch.id, last_masked_id),
            )
    show_other_batches(batch_for_reviewer, batches)


def show_other_batches(batch_for_reviewer: BatchListItem, batches: list[BatchListItem]) -> None:
    """Show a button for each other open batch with questions left, those of practice sets first."""
    batch = batch_for_reviewer.batch
    for other_batch in sorted(batches, key=lambda candidate: not candidate.is_practice):
        if (
            other_batch.batch.id != batch.id
            and other_batch.progress.left
            and not other_batch.is_locked
            and other_batch.batch.state is BatchState.OPEN
        ):
            st.button(
                f"Continue with batch “{escape_markdown(other_batch.batch.name)}” "
                f"({other_batch.progress.left} left)",
                key=f"judging-batch-{other_batch.batch.id}",
                on_click=go_to_question,
                args=(other_batch.batch.id, None),
            )


def _show_practice_result(person: Person, batch_id: int) -> None:
    with read_only_session() as db:
        own_practice = load_own_practice(db, person=person, batch_id=batch_id)
    if own_practice is None:
        return
    practice, score = own_practice
    st.markdown(
        escape_markdown(
            f"Errors found: {format_share(score.found)}. Sound questions accepted: "
            f"{format_share(score.accepted)}. {format_pass_mark(practice.pass_mark).capitalize()}."
        )
    )
    if score.state is PracticeState.PASSED:
        st.success("Practice set passed.")
    elif score.state is PracticeState.FAILED:
        st.error("Practice set not passed. Ask a coordinator for another practice set.")
    else:
        st.info("The result is shown once all questions are judged, including skipped ones.")
