"""Shows threads of comments: lists on Home, and the threads of a question with a field to answer."""

from __future__ import annotations

import streamlit as st

from domain.comments import MAX_COMMENT_LENGTH, CommentThread
from domain.count_texts import count_text
from domain.people import Person
from review import service as review
from review.service import QuestionReviewer
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.widgets import escape_markdown, format_relative_time, go_to, run_action, show_notice

_MAX_THREADS = 8  # threads in a list
_MAX_EXCERPT_LENGTH = 160  # characters


def show_open_comments(person: Person) -> None:
    """Show the threads whose last comment is by a reviewer. Show nothing if there are none."""
    with read_only_session() as db:
        threads = review.list_comment_threads(db, by=person, open_only=True)
    if not threads:
        return
    st.subheader("Open comments")
    st.caption(f"{count_text(len(threads), 'thread')} to which nobody has replied yet.")
    for thread in threads[:_MAX_THREADS]:
        question_row_id = thread.comments[-1].question_row_id
        unread_text = f" · **{thread.unread:,} unread**" if thread.unread else ""
        st.markdown(
            f"[{escape_markdown(thread.question_id)}](/browse?question={question_row_id})"
            f" · {escape_markdown(thread.reviewer_name)} · batch {escape_markdown(thread.batch)}{unread_text}"
            f"  \n{_format_excerpt(thread)}"
        )
    if len(threads) > _MAX_THREADS:
        st.caption(f"The newest {_MAX_THREADS} of {len(threads):,}. `cli.py comment list` prints all.")


def show_unread_comments(person: Person) -> None:
    """Show the reviewer's threads that contain an unread comment. Show nothing if there are none."""
    with read_only_session() as db:
        threads = review.list_own_unread_threads(db, person=person)
        id_masks = {
            batch_id: review.load_id_mask(db, batch_id=batch_id)
            for batch_id in {thread.comments[0].batch_id for thread in threads}
        }
    if not threads:
        return
    st.subheader("Unread comments")
    for thread in threads[:_MAX_THREADS]:
        comment = thread.comments[-1]
        masked_id = id_masks[comment.batch_id].mask(comment.question_row_id)
        text_column, button_column = st.columns([4, 1], vertical_alignment="center")
        text_column.markdown(
            f"Batch {escape_markdown(thread.batch)}, from {escape_markdown(comment.author_name)}, "
            f"{format_relative_time(comment.written_at, now=clock())}"
        )
        if button_column.button("Open question", key=f"unread-{comment.number}", width="stretch"):
            go_to("pages/review.py", batch=comment.batch_id, question=masked_id)
    if len(threads) > _MAX_THREADS:
        st.caption(f"The newest {_MAX_THREADS} of {len(threads):,}.")


def show_question_threads(person: Person, question_row_id: int) -> None:
    """Show the threads of a question, and a field to write to one of its reviewers."""
    with read_only_session() as db:
        threads = review.list_comment_threads(db, by=person, question_row_id=question_row_id)
        reviewers = review.list_question_reviewers(db, by=person, question_row_id=question_row_id)
    if any(thread.unread for thread in threads):
        _mark_read(person, question_row_id)
    st.subheader("Comments")
    for thread in threads:
        status = "answered" if thread.is_answered else "open"
        st.markdown(
            f"**{escape_markdown(thread.reviewer_name)}** · batch {escape_markdown(thread.batch)} · {status}"
        )
        for comment in thread.comments:
            st.markdown(
                f":small[{comment.written_at:%Y-%m-%d %H:%M} UTC · {escape_markdown(comment.author_name)}]"
                f"  \n{escape_markdown(comment.text)}"
            )
    if not threads:
        st.caption("No comments. Reviewers can write comments in the review form.")
    if not reviewers:
        return
    reviewers_by_label = {
        f"{reviewer.display_name} (batch {reviewer.batch})": reviewer for reviewer in reviewers
    }
    last_comment_id = threads[0].comments[-1].number if threads else 0
    form_key = state.form_key(f"comment-{question_row_id}-{last_comment_id}")
    open_thread = next((thread for thread in threads if not thread.is_answered), None)
    default_index = next(
        (
            index
            for index, reviewer in enumerate(reviewers_by_label.values())
            if open_thread is not None
            and (reviewer.batch, reviewer.name) == (open_thread.batch, open_thread.reviewer)
        ),
        0,
    )
    label = st.selectbox("To", list(reviewers_by_label), index=default_index, key=f"{form_key}-to")
    st.text_area("Comment", key=f"{form_key}-text", max_chars=MAX_COMMENT_LENGTH)
    st.button(
        "Send comment",
        key=f"{form_key}-send",
        on_click=run_action,
        args=(_send_comment, person, question_row_id, reviewers_by_label[label], f"{form_key}-text"),
        kwargs={"notice_key": "comments"},
    )
    show_notice("comments")
    st.caption("Only this reviewer and coordinators see it. Comments cannot be changed later.")


def _mark_read(person: Person, question_row_id: int) -> None:
    with unit_of_work() as db:
        review.mark_threads_read(db, by=person, question_row_id=question_row_id, now=clock())


def _send_comment(person: Person, question_row_id: int, reviewer: QuestionReviewer, text_key: str) -> str:
    with unit_of_work() as db:
        review.write_to_reviewer(
            db,
            by=person,
            batch=reviewer.batch,
            question_row_id=question_row_id,
            reviewer=reviewer.name,
            text=str(state.get_widget_value(text_key) or ""),
            now=clock(),
        )
    return f"Sent to {reviewer.display_name}."


def _format_excerpt(thread: CommentThread) -> str:
    text = " ".join(thread.comments[-1].text.split())
    return escape_markdown(text if len(text) <= _MAX_EXCERPT_LENGTH else f"{text[:_MAX_EXCERPT_LENGTH]}…")
