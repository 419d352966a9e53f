"""Services for comments between a reviewer and the coordinators on a question.

A thread belongs to one reviewer. Other reviewers of the question never see it on the form. A coordinator who
still has to judge the question sees it only after their own verdict. Comments cannot be changed.
"""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.batches import Mode
from domain.comments import Comment, CommentThread, check_comment_text
from domain.errors import Refused
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from notifications.service import notify, notify_coordinators
from review.service.sheets import check_question_access, load_id_mask
from storage.audit.contents import question_subject
from storage.review import comments as comment_storage
from storage.review.assignments import find_assignment
from storage.review.comments import QuestionReviewer
from storage.review.question_work import find_batch_for_person, find_question_work
from storage.sampling.batches import find_batch, load_batch

WRITE_COMMENT = "write comment"


def write_comment(
    db: Session, *, person: Person, batch_id: int, question_row_id: int, text: str, now: datetime
) -> tuple[Comment, ...]:
    """Append a comment of a reviewer to their thread on a question.

    Returns:
        The thread as the reviewer may see it; see :func:`load_own_comments`.

    Raises:
        NotFound: there is no such question, or it is not the person's.
        InvalidValue: the text is empty or too long.
    """
    check_question_access(db, person=person, batch_id=batch_id, question=question_row_id)
    _add_comment(
        db, by=person, batch_id=batch_id, question_row_id=question_row_id, reviewer_id=person.id, text=text,
        now=now,
    )  # fmt: skip
    _notify_coordinators(db, reviewer=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    return load_own_comments(db, person=person, batch_id=batch_id, question_row_id=question_row_id)


def load_own_comments(
    db: Session, *, person: Person, batch_id: int, question_row_id: int
) -> tuple[Comment, ...]:
    """Return a reviewer's thread on a question, the oldest comment first.

    While the reviewer has to answer before the key is shown, the thread contains only their own comments,
    because a coordinator's comment may reveal the key.

    Raises:
        NotFound: there is no such question, or it is not the person's.
    """
    check_question_access(db, person=person, batch_id=batch_id, question=question_row_id)
    thread = comment_storage.load_comments(
        db, batch_id=batch_id, question_id=question_row_id, reviewer_id=person.id
    )
    reviewer_batch = find_batch_for_person(db, batch_id=batch_id, person_id=person.id)
    work = find_question_work(db, batch_id=batch_id, person_id=person.id, question_id=question_row_id)
    is_answer_first = reviewer_batch is not None and reviewer_batch.batch.settings.mode is Mode.ANSWER_FIRST
    if is_answer_first and (work is None or work.own_answer is None):
        return tuple(comment for comment in thread if comment.by_reviewer)
    return thread


def mark_comments_read(  # allow writes-without-record: only who has seen a comment changes
    db: Session, *, person: Person, batch_id: int, question_row_id: int, now: datetime
) -> None:
    """Store that a reviewer has read the comments that :func:`load_own_comments` returns."""
    thread = load_own_comments(db, person=person, batch_id=batch_id, question_row_id=question_row_id)
    comment_numbers = [comment.number for comment in thread if not comment.by_reviewer]
    comment_storage.mark_read(db, comments=comment_numbers, person_id=person.id, now=now)


def list_own_unread_threads(db: Session, *, person: Person) -> list[CommentThread]:
    """Return a reviewer's threads with a comment that they have not read, the latest first."""
    require(person, Action.JUDGE)
    if not comment_storage.count_unread(db, person_id=person.id):
        return []
    threads = comment_storage.list_threads(db, person_id=person.id, reviewer_id=person.id)
    return [thread for thread in threads if thread.unread]


def list_comment_threads(
    db: Session, *, by: Person, question_row_id: int | None = None, open_only: bool = False
) -> list[CommentThread]:
    """Return the threads for a coordinator, the latest first.

    Args:
        db: a read-only session.
        by: the acting person.
        question_row_id: return only threads on this question; None for all questions.
        open_only: whether to return only threads in which the reviewer wrote the last comment.
    """
    require(by, Action.BROWSE)
    threads = comment_storage.list_threads(db, person_id=by.id, question_id=question_row_id)
    return [thread for thread in threads if not (open_only and thread.is_answered)]


def list_question_reviewers(db: Session, *, by: Person, question_row_id: int) -> list[QuestionReviewer]:
    """Return the reviewers of the question to whom the acting person can write."""
    require(by, Action.BROWSE)
    return [
        reviewer
        for reviewer in comment_storage.list_reviewers(db, question_id=question_row_id)
        if reviewer.name != by.name
    ]


def mark_threads_read(  # allow writes-without-record: only who has seen a comment changes
    db: Session, *, by: Person, question_row_id: int, now: datetime
) -> None:
    """Store that a coordinator has read the threads of a question that they may see."""
    require(by, Action.BROWSE)
    threads = comment_storage.list_threads(db, person_id=by.id, question_id=question_row_id)
    comment_numbers = [comment.number for thread in threads if thread.unread for comment in thread.comments]
    comment_storage.mark_read(db, comments=comment_numbers, person_id=by.id, now=now)


def write_to_reviewer(
    db: Session, *, by: Person, batch: str, question_row_id: int, reviewer: str, text: str, now: datetime
) -> None:
    """Append a coordinator's comment to a reviewer's thread, and mark the thread as read by the coordinator.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the question was never assigned to the reviewer, the coordinator is the reviewer, or the
            coordinator still has to judge the question.
        InvalidValue: the text is empty or too long.
    """
    require(by, Action.BROWSE)
    # Practice sets also have comments, but load_batch does not find practice sets.
    loaded_batch = find_batch(db, name=batch) or load_batch(db, name=batch)
    person = load_person_by_name(db, name=reviewer)
    if person.id == by.id:
        raise Refused("This is your own thread as a reviewer. Another coordinator has to answer.")
    assignment = find_assignment(
        db, person_id=person.id, batch_id=loaded_batch.id, question_id=question_row_id
    )
    if assignment is None:
        raise Refused(f"The question was not assigned to {reviewer} in batch {batch}.")
    if comment_storage.has_to_judge(db, person_id=by.id, question_id=question_row_id):
        raise Refused("You have to judge this question yourself. Judge it first, then comment.")
    _add_comment(
        db, by=by, batch_id=loaded_batch.id, question_row_id=question_row_id, reviewer_id=person.id,
        text=text, now=now,
    )  # fmt: skip
    shown_id = load_id_mask(db, batch_id=loaded_batch.id).mask(question_row_id)
    path = f"review?batch={loaded_batch.id}&question={shown_id}"
    notify(
        db,
        by_id=by.id,
        person_ids=[person.id],
        kind=NoticeKind.COMMENT,
        name=loaded_batch.name,
        path=path,
        now=now,
    )
    if by.id:
        mark_threads_read(db, by=by, question_row_id=question_row_id, now=now)


def _notify_coordinators(
    db: Session, *, reviewer: Person, batch_id: int, question_row_id: int, now: datetime
) -> None:
    """Queue a notice to the coordinators who wrote in the thread; to all coordinators if none has written."""
    thread = comment_storage.load_comments(
        db, batch_id=batch_id, question_id=question_row_id, reviewer_id=reviewer.id
    )
    reviewer_batch = find_batch_for_person(db, batch_id=batch_id, person_id=reviewer.id)
    if reviewer_batch is None:
        return
    name, path = reviewer_batch.batch.name, f"browse?question={question_row_id}"
    authors = {comment.author_id for comment in thread if not comment.by_reviewer and comment.author_id}
    if authors:
        notify(
            db, by_id=reviewer.id, person_ids=authors, kind=NoticeKind.COMMENT, name=name, path=path, now=now
        )
    else:
        notify_coordinators(db, by=reviewer, kind=NoticeKind.COMMENT, name=name, path=path, now=now)


def _add_comment(
    db: Session,
    *,
    by: Person,
    batch_id: int,
    question_row_id: int,
    reviewer_id: int,
    text: str,
    now: datetime,
) -> None:
    text = check_comment_text(text)
    number = comment_storage.add_comment(
        db, batch_id=batch_id, question_id=question_row_id, reviewer_id=reviewer_id, author_id=by.id or None,
        text=text, now=now,
    )  # fmt: skip
    record_action(
        db,
        by=by,
        action=WRITE_COMMENT,
        subject=question_subject(batch_id=batch_id, question_row_id=question_row_id),
        new={"number": number, "reviewer": reviewer_id, "text": text},
        now=now,
    )
