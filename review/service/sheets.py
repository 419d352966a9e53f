"""Services for showing questions to a reviewer; data that the reviewer may not see is not read.

NotFound does not reveal whether a question exists or is another person's.
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
from review.rules import check_own_answer, not_theirs
from review.service.held import may_open, whole
from review.sheet import BatchForReviewer, Look, Place, ReviewSheet, StoredImage
from review.veil import Veil
from storage.images.radiographs import image_of, radiograph_keys
from storage.intake.exams import load_report
from storage.review import assignments, claims, shared_queues
from storage.review.adjudications import settles_on_exam
from storage.review.assignments import AssignedQuestion, BatchMember
from storage.review.drafts import drafts_of
from storage.review.hidden import not_given_yet, veil_of
from storage.review.question_work import (
    BatchCounts,
    BatchForPerson,
    QuestionWork,
    batch_counts,
    batch_for_person,
    coming_questions,
    looking_times_of,
    question_on_exam,
    question_work,
)
from storage.review.verdicts import (
    last_judged_question,
    last_skip,
    last_verdict,
)

#: How many of the next open questions are searched for images to preload, and for how many exams at most.
_QUESTIONS_AHEAD, _EXAMS_AHEAD = 8, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """The data of the review form; ``any_judged``: whether the person has judged a question of the batch."""

    sheet: ReviewSheet
    veil: Veil
    batches: list[BatchForReviewer]
    any_judged: bool


def open_sheet(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None = None,
    now: datetime,
) -> ReviewSheet | None:
    """Load a question for a reviewer: :func:`open_page` without the list of batches.

    Args:
        db: a session that reads.
        person: the reviewer.
        batch_id: the batch.
        question: the question's number; None for the first open one.
        now: the time.

    Returns:
        None if no question is open.

    Raises:
        NotFound: there is no such question, or it is not, or no longer, the person's.
    """
    page = open_page(db, person=person, batch_id=batch_id, question=question, now=now)
    return None if page is None else page.sheet


def open_page(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None = None,
    place: BatchForPerson | None = None,
    coming: Sequence[BatchMember] | None = None,
    now: datetime,  # noqa: ARG001 - all services of the sheet take the time; opening does not store it yet
) -> ReviewPage | None:
    """Load a question for a reviewer, with progress, neighbours and the list of batches.

    Args:
        db: a session that reads.
        person: the reviewer.
        batch_id: the batch.
        question: the question's number; None for the first open one.
        place: the batch as read in this transaction, if it was.
        coming: the open questions after this one, if they were read.
        now: the time.

    Returns:
        None if no question is open.

    Raises:
        NotFound: there is no such question, or it is not, or no longer, the person's.
    """
    require(person, Action.JUDGE)
    mine: dict[str, Any] = {"person_id": person.id, "batch_id": batch_id}
    if question is None:
        first = assignments.first_open(db, **mine)
        if first is None:
            return None
        question = first.question_number
    place = place or batch_for_person(db, **mine)
    work = None if place is None else question_work(db, **mine, question_id=question)
    if place is None or work is None or not may_open(place, work):
        raise not_theirs(person, batch_id=batch_id)
    settings, position = place.batch.settings, work.assigned.position
    key = {**mine, "question_id": question}
    own = work.own_answer if settings.mode is Mode.ANSWER_FIRST else None
    blind = settings.mode is Mode.ANSWER_FIRST and own is None
    fixed_alignment = None if blind or not settings.show_report else work.fixed_alignment
    report_open = fixed_alignment is not None
    skip = last_skip(db, **key) if work.assigned.state is AssignmentState.SKIPPED else None
    asked = question_on_exam(db, question_id=question, blind=blind)
    before, after = assignments.neighbours(db, **mine, position=position)
    counts, so_far = batch_counts(db, **mine, position=position)
    times = looking_times_of(db, person_id=person.id, batch_ids=[each.batch.id for each in counts])
    batches = [_listed(db, person, each, times.get(each.batch.id, [])) for each in counts]
    here = next((each.place for each in batches if each.batch.id == batch_id), None)
    seconds, looking, away = work.look
    sheet = ReviewSheet(
        batch=place.batch,
        question_number=question,
        exam_number=work.exam_number,
        exam=asked.exam,
        blind=blind,
        stem_only=asked.stem_only,
        question=asked.question,
        own_answer=own,
        drafts=drafts_of(db, **key) if work.has_drafts else {},
        last_verdict=last_verdict(db, **key) if work.has_verdicts and not blind else None,
        skipped=skip[1] if skip else None,
        report_open=report_open,
        report=load_report(db, exam_id=work.exam_number) if report_open else None,
        fixed_alignment=fixed_alignment,
        look=Look(seconds=seconds, seconds_looking=looking, seconds_away=away),
        place=replace(here or Place(done=0, skipped=0, left=0, total=0), position=so_far),
        previous=before,
        next=after,
        upcoming_images=_upcoming(db, place, person=person, work=work, coming=coming),
    )
    return ReviewPage(
        sheet=sheet,
        veil=Veil(secret=place.secret),
        batches=batches,
        any_judged=bool(times.get(batch_id)),
    )


def page_after(
    db: Session, *, person: Person, place: BatchForPerson, left: AssignedQuestion, now: datetime
) -> ReviewPage | None:
    """Load the next open question after ``left``, or the first open one if there is none after it.

    A reviewer who left a question open therefore does not return to it after every save.

    Args:
        db: a session that reads.
        person: the reviewer.
        place: the batch as read in this transaction.
        left: the question that the reviewer leaves.
        now: the time.

    Returns:
        None if no question is open.
    """
    require(person, Action.JUDGE)
    mine = {"person_id": person.id, "batch_id": place.batch.id}
    behind, first = coming_questions(db, **mine, position=left.position, limit=_QUESTIONS_AHEAD + 1)
    if behind:
        question, coming = behind[0].question_number, behind[1:]
        return open_page(db, **_at(person, place), question=question, place=place, coming=coming, now=now)
    if first is None:
        return None
    return open_page(db, **_at(person, place), question=first.question_number, place=place, now=now)


def drawn_on(
    db: Session, *, person: Person, batch_id: int, question: int
) -> tuple[Exam, tuple[LabelledBox, ...]]:
    """The exam that a reviewer draws boxes on, and the question's own boxes.

    Raises:
        NotFound: there is no such question, or it is not, or no longer, the person's.
        Refused: the batch requires the person's own answer first.
    """
    place, work = _theirs(db, person=person, batch_id=batch_id, question=question)
    check_own_answer(work.own_answer, settings=place.batch.settings)
    asked = question_on_exam(db, question_id=question, blind=False)
    return asked.exam, whole(asked).boxes


def check_theirs(db: Session, *, person: Person, batch_id: int, question: int) -> None:
    """Check that the person may open the question.

    Raises:
        NotFound: there is no such question, or it is not, or no longer, the person's.
    """
    _theirs(db, person=person, batch_id=batch_id, question=question)


def veil(db: Session, *, batch_id: int) -> Veil:
    """The mask for the question numbers of a batch that are sent to browsers."""
    return Veil(secret=veil_of(db, batch_id=batch_id))


def next_open(db: Session, *, person: Person, batch_id: int, after: int) -> int | None:
    """The number of the next open question after ``after``, else of the first open one; None without one."""
    require(person, Action.JUDGE)
    here = assignments.assignment(db, person_id=person.id, batch_id=batch_id, question_id=after)
    if here is not None:
        beside = {"person_id": person.id, "batch_id": batch_id, "position": here.position}
        for each in assignments.open_after(db, **beside, limit=1):
            return each.question_number
    first = assignments.first_open(db, person_id=person.id, batch_id=batch_id)
    return first.question_number if first else None


def last_judged(db: Session, *, person: Person, batch_id: int) -> int | None:
    """The number of the question that the person judged last; None without a verdict."""
    require(person, Action.JUDGE)
    return last_judged_question(db, batch_id=batch_id, person_id=person.id)


def skipped_questions(db: Session, *, person: Person, batch_id: int) -> list[tuple[int, str]]:
    """(number, reason) of each question that the person has skipped, in the order of the batch."""
    require(person, Action.JUDGE)
    found = []
    for each in assignments.skipped(db, person_id=person.id, batch_id=batch_id):
        skip = last_skip(db, batch_id=batch_id, question_id=each.question_number, person_id=person.id)
        found.append((each.question_number, skip[1] if skip else ""))
    return found


def batches_for(db: Session, *, person: Person) -> list[BatchForReviewer]:
    """The batches in which the person has questions, including closed ones, the oldest first."""
    require(person, Action.JUDGE)
    counts, _ = batch_counts(db, person_id=person.id)
    times = looking_times_of(db, person_id=person.id, batch_ids=[each.batch.id for each in counts])
    return [_listed(db, person, each, times.get(each.batch.id, [])) for each in counts]


def radiograph_file(db: Session, *, person: Person, exam_number: int, radiograph_key: str) -> StoredImage:
    """The image file of a radiograph, if the person may see it.

    Coordinators may see all; reviewers those of exams on which they have a question, may take one from a
    shared queue, or adjudicate.

    Raises:
        NotAllowed: the person has no question on the exam.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    if not person.may(Action.ASSIGN):
        require(person, Action.JUDGE)
        held = assignments.batches_of(db, person_id=person.id)
        exam = {"person_id": person.id, "exam_number": exam_number}
        if not (
            assignments.has_question_on_exam(db, **exam, batch_ids=held)
            or shared_queues.pool_has_exam(db, **exam)
            or settles_on_exam(db, **exam)
        ):
            raise NotAllowed(
                f"No question about exam {exam_number} is assigned to {person.display_name}. "
                "Ask a coordinator for it."
            )
    found = image_of(db, exam_number=exam_number, radiograph_key=radiograph_key)
    if found is None:
        raise NotFound(f"Exam {exam_number} has no image for radiograph {radiograph_key!r}.")
    return StoredImage(sha256=found[0], media_type=found[1])


def _theirs(
    db: Session, *, person: Person, batch_id: int, question: int
) -> tuple[BatchForPerson, QuestionWork]:
    require(person, Action.JUDGE)
    place = batch_for_person(db, batch_id=batch_id, person_id=person.id)
    work = question_work(db, batch_id=batch_id, question_id=question, person_id=person.id)
    if place is None or work is None or not may_open(place, work):
        raise not_theirs(person, batch_id=batch_id)
    return place, work


def _at(person: Person, place: BatchForPerson) -> dict[str, Any]:
    return {"person": person, "batch_id": place.batch.id}


def _listed(db: Session, person: Person, counts: BatchCounts, times: list[float]) -> BatchForReviewer:
    """The batch with the person's place in it; ``times`` are seconds of looking of their first verdicts."""
    mine = {"person_id": person.id, "batch_id": counts.batch.id}
    done, skipped, left = (
        counts.states.get(state, 0)
        for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
    )
    if counts.shares:
        # Hidden questions are counted from the start, so that the total does not grow when one is given.
        left += claims.count_takeable(db, **mine) + len(not_given_yet(db, **mine))
    return BatchForReviewer(
        batch=counts.batch,
        place=Place(done=done, skipped=skipped, left=left, total=done + skipped + left),
        seconds_median=median(times) if times else None,
    )


def _upcoming(
    db: Session,
    place: BatchForPerson,
    *,
    person: Person,
    work: QuestionWork,
    coming: Sequence[BatchMember] | None,
) -> tuple[tuple[int, str], ...]:
    """(exam number, radiograph id) of the next exams, for preloading."""
    mine = {"person_id": person.id, "batch_id": place.batch.id}
    if coming is None:
        coming, _ = coming_questions(db, **mine, position=work.assigned.position, limit=_QUESTIONS_AHEAD)
    in_order = dict.fromkeys(each.exam_number for each in coming)
    if place.shares:
        in_order |= dict.fromkeys(claims.free_ahead(db, **mine, limit=_QUESTIONS_AHEAD))
    in_order.pop(work.exam_number, None)
    return radiograph_keys(db, exam_numbers=list(in_order)[:_EXAMS_AHEAD])
