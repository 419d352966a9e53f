"""Services that show questions to a reviewer. Data that the reviewer must not see is not loaded.

NotFound does not reveal whether the question does not exist or belongs to another person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any

from sqlmodel import Session

from domain.batches import AssignmentState, Mode
from domain.boxes import LabelledBox
from domain.errors import NotAllowed, NotFound
from domain.exams import Exam
from domain.people import Action, Person, require
from review.id_mask import IdMask
from review.rules import build_question_not_found, check_own_answer
from review.service.feedback import load_feedback
from review.service.locked_questions import may_open_question, require_key
from review.service.qualification import check_qualified
from review.sheet import BatchListItem, ReviewerProgress, ReviewSheet, StoredImage, ViewingTimes
from storage.images.radiographs import find_image, list_radiograph_keys
from storage.intake.exams import load_report
from storage.review import assignments, claims, shared_queues
from storage.review.adjudications import is_adjudicator_on_exam
from storage.review.assignments import AssignedQuestion, BatchMember
from storage.review.drafts import load_drafts
from storage.review.hidden import find_id_mask, list_unassigned_hidden
from storage.review.practice import list_assigned_sets, list_locked_batches
from storage.review.question_work import (
    BatchCounts,
    BatchForPerson,
    QuestionWork,
    find_batch_for_person,
    find_question_work,
    load_batch_counts,
    load_looking_times,
    load_question_with_exam,
    load_times_and_recent,
    load_upcoming_questions,
)
from storage.review.verdicts import (
    find_last_judged_question,
    find_last_skip,
    find_last_verdict,
)

#: The number of next open questions whose images may be preloaded, and the maximum number of their exams.
_PRELOAD_QUESTIONS, _PRELOAD_EXAMS = 8, 2
#: The number of last verdicts that the form lists.
_RECENT_VERDICTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """The data of the review form."""

    sheet: ReviewSheet
    id_mask: IdMask
    batches: list[BatchListItem]


def load_sheet(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None = None,
    now: datetime,
) -> ReviewSheet | None:
    """Load a question for a reviewer: :func:`load_page` without the list of batches.

    Args:
        db: a read-only session.
        person: the reviewer.
        batch_id: the id of the batch.
        question: the id of the question; None for the first open question.
        now: the current time.

    Returns:
        The data of the question; None if no question is open.

    Raises:
        NotFound: the question does not exist, or is not assigned to the person (any more).
    """
    page = load_page(db, person=person, batch_id=batch_id, question=question, now=now)
    return None if page is None else page.sheet


def load_page(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None = None,
    reviewer_batch: BatchForPerson | None = None,
    upcoming: Sequence[BatchMember] | None = None,
    now: datetime,  # noqa: ARG001 - all services of the sheet take the time; opening does not store it yet
) -> ReviewPage | None:
    """Load a question for a reviewer, with progress, neighbours and the list of batches.

    Args:
        db: a read-only session.
        person: the reviewer.
        batch_id: the id of the batch.
        question: the id of the question; None for the first open question.
        reviewer_batch: the batch, if it was already loaded in this transaction.
        upcoming: the open questions after this one, if they are already loaded.
        now: the current time.

    Returns:
        The data of the question; None if no question is open.

    Raises:
        NotFound: the question does not exist, or is not assigned to the person (any more).
        Refused: the batch requires a practice set that the person has not passed.
    """
    require(person, Action.JUDGE)
    reviewer_key: dict[str, Any] = {"person_id": person.id, "batch_id": batch_id}
    reviewer_batch = reviewer_batch or find_batch_for_person(db, **reviewer_key)
    if reviewer_batch is not None:
        check_qualified(db, person=person, reviewer_batch=reviewer_batch)
    if question is None:
        first = assignments.find_first_open(db, **reviewer_key)
        if first is None:
            return None
        question = first.question_row_id
    work = None if reviewer_batch is None else find_question_work(db, **reviewer_key, question_id=question)
    if reviewer_batch is None or work is None or not may_open_question(reviewer_batch, work):
        raise build_question_not_found(person, batch_id=batch_id)
    settings, position = reviewer_batch.batch.settings, work.assigned.position
    assignment_key = {**reviewer_key, "question_id": question}
    own_answer = work.own_answer if settings.mode is Mode.ANSWER_FIRST else None
    blind = settings.mode is Mode.ANSWER_FIRST and own_answer is None
    fixed_alignment = None if blind or not settings.show_report else work.locked_alignment
    is_report_open = fixed_alignment is not None
    skip = find_last_skip(db, **assignment_key) if work.assigned.state is AssignmentState.SKIPPED else None
    loaded_question = load_question_with_exam(db, question_id=question, blind=blind)
    previous_row_id, next_row_id = assignments.find_neighbours(db, **reviewer_key, position=position)
    counts, current_position = load_batch_counts(db, **reviewer_key, position=position)
    times, recent = load_times_and_recent(
        db,
        **reviewer_key,
        batch_ids=[batch_count.batch.id for batch_count in counts],
        in_pool=reviewer_batch.in_pool,
        most=_RECENT_VERDICTS,
    )
    batches = [
        _build_batch_list_item(db, person, batch_count, times.get(batch_count.batch.id, []))
        for batch_count in counts
    ]
    current_progress = next(
        (listed_batch.progress for listed_batch in batches if listed_batch.batch.id == batch_id), None
    )
    seconds, looking_seconds, away_seconds = work.viewing_seconds
    sheet = ReviewSheet(
        batch=reviewer_batch.batch,
        question_row_id=question,
        exam_row_id=work.exam_row_id,
        exam=loaded_question.exam,
        blind=blind,
        stem_only=loaded_question.blind_question,
        question=loaded_question.question,
        own_answer=own_answer,
        drafts=load_drafts(db, **assignment_key) if work.has_drafts else {},
        last_verdict=find_last_verdict(db, **assignment_key) if work.has_verdicts and not blind else None,
        skipped=skip[1] if skip else None,
        recent=tuple(recent),
        report_open=is_report_open,
        report=load_report(db, exam_id=work.exam_row_id) if is_report_open else None,
        fixed_alignment=fixed_alignment,
        viewing_times=ViewingTimes(
            seconds=seconds, seconds_looking=looking_seconds, seconds_away=away_seconds
        ),
        feedback=load_feedback(db, reviewer_batch=reviewer_batch, work=work, person_id=person.id),
        is_practice=reviewer_batch.is_practice,
        comments=work.comments,
        unread_comments=work.unread_comments,
        progress=replace(
            current_progress or ReviewerProgress(done=0, skipped=0, left=0, total=0),
            position=current_position,
        ),
        previous=previous_row_id,
        next=next_row_id,
        upcoming_images=_list_upcoming_images(
            db, reviewer_batch, person=person, work=work, upcoming=upcoming
        ),
    )
    return ReviewPage(sheet=sheet, id_mask=IdMask(secret=reviewer_batch.id_mask), batches=batches)


def load_page_after(
    db: Session,
    *,
    person: Person,
    reviewer_batch: BatchForPerson,
    left_question: AssignedQuestion,
    now: datetime,
) -> ReviewPage | None:
    """Load the next open question after ``left_question``, or the first open one if there is none after it.

    A reviewer who left a question open therefore does not return to it after every save.

    Args:
        db: a read-only session.
        person: the reviewer.
        reviewer_batch: the batch, loaded in this transaction.
        left_question: the question that the reviewer leaves.
        now: the current time.

    Returns:
        The data of the question; None if no question is open.
    """
    require(person, Action.JUDGE)
    reviewer_key = {"person_id": person.id, "batch_id": reviewer_batch.batch.id}
    following, first = load_upcoming_questions(
        db, **reviewer_key, position=left_question.position, limit=_PRELOAD_QUESTIONS + 1
    )
    if following:
        question, upcoming = following[0].question_row_id, following[1:]
        return load_page(
            db,
            **_reviewer_and_batch(person, reviewer_batch),
            question=question,
            reviewer_batch=reviewer_batch,
            upcoming=upcoming,
            now=now,
        )
    if first is None:
        return None
    return load_page(
        db,
        **_reviewer_and_batch(person, reviewer_batch),
        question=first.question_row_id,
        reviewer_batch=reviewer_batch,
        now=now,
    )


def load_exam_for_drawing(
    db: Session, *, person: Person, batch_id: int, question: int
) -> tuple[Exam, tuple[LabelledBox, ...]]:
    """Return the exam on which a reviewer draws boxes, and the question's own boxes.

    Raises:
        NotFound: the question does not exist, or is not assigned to the person (any more).
        Refused: the batch requires the person's own answer first.
    """
    reviewer_batch, work = _load_own_question(db, person=person, batch_id=batch_id, question=question)
    check_own_answer(work.own_answer, settings=reviewer_batch.batch.settings)
    loaded_question = load_question_with_exam(db, question_id=question, blind=False)
    return loaded_question.exam, require_key(loaded_question).boxes


def check_question_access(db: Session, *, person: Person, batch_id: int, question: int) -> None:
    """Check that the person may open the question.

    Raises:
        NotFound: the question does not exist, or is not assigned to the person (any more).
    """
    _load_own_question(db, person=person, batch_id=batch_id, question=question)


def load_id_mask(db: Session, *, batch_id: int) -> IdMask:
    """Return the mask for the question ids of a batch that are sent to browsers."""
    return IdMask(secret=find_id_mask(db, batch_id=batch_id))


def find_next_open(db: Session, *, person: Person, batch_id: int, after: int) -> int | None:
    """Return the id of the next open question after ``after``, else the first one; None if none is open."""
    require(person, Action.JUDGE)
    current = assignments.find_assignment(db, person_id=person.id, batch_id=batch_id, question_id=after)
    if current is not None:
        position_key = {"person_id": person.id, "batch_id": batch_id, "position": current.position}
        for member in assignments.list_open_after(db, **position_key, limit=1):
            return member.question_row_id
    first = assignments.find_first_open(db, person_id=person.id, batch_id=batch_id)
    return first.question_row_id if first else None


def load_last_judged(db: Session, *, person: Person, batch_id: int) -> int | None:
    """Return the id of the question that the person judged last; None without a verdict."""
    require(person, Action.JUDGE)
    return find_last_judged_question(db, batch_id=batch_id, person_id=person.id)


def list_skipped_questions(db: Session, *, person: Person, batch_id: int) -> list[tuple[int, str]]:
    """Return (id, reason) of each question that the person has skipped, in the order of the batch."""
    require(person, Action.JUDGE)
    skipped = []
    for member in assignments.list_skipped(db, person_id=person.id, batch_id=batch_id):
        skip = find_last_skip(db, batch_id=batch_id, question_id=member.question_row_id, person_id=person.id)
        skipped.append((member.question_row_id, skip[1] if skip else ""))
    return skipped


def list_batches_for_reviewer(db: Session, *, person: Person) -> list[BatchListItem]:
    """Return the batches in which the person has questions, including closed ones, the oldest first."""
    require(person, Action.JUDGE)
    counts, _ = load_batch_counts(db, person_id=person.id)
    practice_sets = list_assigned_sets(db, person_id=person.id)
    locked = list_locked_batches(db, person_id=person.id)
    times = load_looking_times(
        db, person_id=person.id, batch_ids=[batch_count.batch.id for batch_count in counts]
    )
    return [
        replace(
            _build_batch_list_item(db, person, batch_count, times.get(batch_count.batch.id, [])),
            is_practice=batch_count.batch.id in practice_sets,
            is_locked=batch_count.batch.id in locked,
        )
        for batch_count in counts
    ]


def load_radiograph_file(
    db: Session, *, person: Person, exam_row_id: int, radiograph_key: str
) -> StoredImage:
    """Return the image file of a radiograph, if the person may see it.

    Coordinators may see all radiographs. Reviewers may see the radiographs of exams on which they have a
    question, can take one from a shared queue, or adjudicate.

    Raises:
        NotAllowed: the person has no question on the exam.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    if not person.may(Action.ASSIGN):
        require(person, Action.JUDGE)
        locked = list_locked_batches(db, person_id=person.id)
        batch_ids = [
            batch_id
            for batch_id in assignments.list_batches_of_person(db, person_id=person.id)
            if batch_id not in locked
        ]
        exam_key = {"person_id": person.id, "exam_row_id": exam_row_id}
        if not (
            assignments.has_question_on_exam(db, **exam_key, batch_ids=batch_ids)
            or shared_queues.pool_has_exam(db, **exam_key)
            or is_adjudicator_on_exam(db, **exam_key)
        ):
            raise NotAllowed(
                f"No question about exam {exam_row_id} is assigned to {person.display_name}. "
                "Ask a coordinator for it."
            )
    image = find_image(db, exam_row_id=exam_row_id, radiograph_key=radiograph_key)
    if image is None:
        raise NotFound(f"Exam {exam_row_id} has no image for radiograph {radiograph_key!r}.")
    return StoredImage(sha256=image[0], media_type=image[1])


def _load_own_question(
    db: Session, *, person: Person, batch_id: int, question: int
) -> tuple[BatchForPerson, QuestionWork]:
    require(person, Action.JUDGE)
    reviewer_batch = find_batch_for_person(db, batch_id=batch_id, person_id=person.id)
    work = find_question_work(db, batch_id=batch_id, question_id=question, person_id=person.id)
    if reviewer_batch is None or work is None or not may_open_question(reviewer_batch, work):
        raise build_question_not_found(person, batch_id=batch_id)
    check_qualified(db, person=person, reviewer_batch=reviewer_batch)
    return reviewer_batch, work


def _reviewer_and_batch(person: Person, reviewer_batch: BatchForPerson) -> dict[str, Any]:
    return {"person": person, "batch_id": reviewer_batch.batch.id}


def _build_batch_list_item(
    db: Session, person: Person, counts: BatchCounts, times: list[float]
) -> BatchListItem:
    """Return the batch with the person's progress.

    ``times`` has the viewing seconds of their first verdicts.
    """
    reviewer_key = {"person_id": person.id, "batch_id": counts.batch.id}
    done, skipped, left = (
        counts.states.get(state, 0)
        for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
    )
    if counts.in_pool:
        # Hidden questions are counted from the start, so that the total does not grow when one is assigned.
        left += claims.count_claimable(db, **reviewer_key) + len(list_unassigned_hidden(db, **reviewer_key))
    return BatchListItem(
        batch=counts.batch,
        progress=ReviewerProgress(done=done, skipped=skipped, left=left, total=done + skipped + left),
        seconds_median=median(times) if times else None,
    )


def _list_upcoming_images(
    db: Session,
    reviewer_batch: BatchForPerson,
    *,
    person: Person,
    work: QuestionWork,
    upcoming: Sequence[BatchMember] | None,
) -> tuple[tuple[int, str], ...]:
    """Return (exam id, radiograph id) of the next exams, for preloading."""
    reviewer_key = {"person_id": person.id, "batch_id": reviewer_batch.batch.id}
    if upcoming is None:
        upcoming, _ = load_upcoming_questions(
            db, **reviewer_key, position=work.assigned.position, limit=_PRELOAD_QUESTIONS
        )
    exam_row_ids = dict.fromkeys(member.exam_row_id for member in upcoming)
    if reviewer_batch.in_pool:
        exam_row_ids |= dict.fromkeys(
            claims.list_upcoming_exams(db, **reviewer_key, limit=_PRELOAD_QUESTIONS)
        )
    exam_row_ids.pop(work.exam_row_id, None)
    return list_radiograph_keys(db, exam_row_ids=list(exam_row_ids)[:_PRELOAD_EXAMS])
