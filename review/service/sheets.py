"""Opening a question for a reviewer: what may be seen is fetched, what may not is not."""

from __future__ import annotations

from datetime import datetime
from statistics import median

from sqlmodel import Session

from domain.batches import AssignmentState, Mode
from domain.boxes import LabelledBox
from domain.errors import NotAllowed, NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.verdicts import Verdict
from review.rules import not_theirs
from review.sheet import BatchForReviewer, Look, Place, ReviewSheet, StoredImage
from review.veil import Veil
from storage import assignments, claims, shared_queues
from storage.adjudications import settles_on_exam
from storage.batches import load_batch
from storage.drafts import drafts_of
from storage.exams import exam_number as exam_number_of
from storage.exams import load_exam, load_report
from storage.hidden import not_given_yet, veil_of
from storage.looks import look_of
from storage.questions import load_blind_question, load_question
from storage.radiographs import image_of, radiograph_keys
from storage.verdicts import (
    last_judged_question,
    last_skip,
    last_verdict,
    looking_times,
    own_answer,
    report_opening,
)

#: How far ahead images are named: open questions looked through, exams taken.
_QUESTIONS_AHEAD, _EXAMS_AHEAD = 8, 2


def open_sheet(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question: int | None = None,
    now: datetime,  # noqa: ARG001 - every service of the sheet is told the time; opening keeps none yet
) -> ReviewSheet | None:
    """The question with that number, or the first open one; None when nothing is left open.

    Raises:
        NotAllowed: the person is no reviewer.
        NotFound: no such question, or it is not, or no longer, the person's; which of the two, is not told.
    """
    require(person, Action.JUDGE)
    if question is None:
        place = assignments.first_open(db, person_id=person.id, batch_id=batch_id)
        if place is None:
            return None
    else:
        place = assignments.assignment(db, person_id=person.id, batch_id=batch_id, question_id=question)
        if place is None or not _may_open(db, person, batch_id, place):
            raise not_theirs(person, batch_id=batch_id)
    batch = load_batch(db, batch_id=batch_id)
    number, position = place.question_number, place.position
    key = {"batch_id": batch_id, "question_id": number, "person_id": person.id}
    own = own_answer(db, **key) if batch.settings.mode is Mode.ANSWER_FIRST else None
    blind = batch.settings.mode is Mode.ANSWER_FIRST and own is None
    exam_number = exam_number_of(db, question_id=number)
    fixed_alignment = None if blind or not batch.settings.show_report else report_opening(db, **key)
    report_open = fixed_alignment is not None
    skip = last_skip(db, **key) if place.state is AssignmentState.SKIPPED else None
    beside = {"person_id": person.id, "batch_id": batch_id, "position": position}
    before, after = assignments.neighbours(db, **beside)
    shares = shared_queues.is_member(db, batch_id=batch_id, person_id=person.id)
    seconds, looking, away = look_of(db, **key)
    return ReviewSheet(
        batch=batch,
        question_number=number,
        exam_number=exam_number,
        exam=load_exam(db, exam_id=exam_number),
        blind=blind,
        stem_only=load_blind_question(db, question_id=number),
        question=None if blind else load_question(db, question_id=number),
        own_answer=own,
        drafts=drafts_of(db, **key),
        last_verdict=None if blind else last_verdict(db, **key),
        skipped=skip[1] if skip else None,
        report_open=report_open,
        report=load_report(db, exam_id=exam_number) if report_open else None,
        fixed_alignment=fixed_alignment,
        look=Look(seconds=seconds, seconds_looking=looking, seconds_away=away),
        place=_place(db, **beside, shares=shares),
        previous=before,
        next=after,
        upcoming_images=_upcoming(db, **beside, exam_number=exam_number, shares=shares),
    )


def drawn_on(
    db: Session, *, person: Person, batch_id: int, question: int
) -> tuple[Exam, tuple[LabelledBox, ...]]:
    """What a person's boxes are drawn on and compared with: the question's exam, and the machine's boxes.

    Raises:
        NotFound: no such question, or it is not, or no longer, the person's; which of the two, is not told.
        Refused: the batch wants the person's own answer first.
    """
    check_theirs(db, person=person, batch_id=batch_id, question=question)
    key = {"batch_id": batch_id, "question_id": question, "person_id": person.id}
    answer_first = load_batch(db, batch_id=batch_id).settings.mode is Mode.ANSWER_FIRST
    if answer_first and own_answer(db, **key) is None:
        raise Refused(
            "This batch wants your own answer first. Commit it; the key and the boxes are shown then."
        )
    exam = load_exam(db, exam_id=exam_number_of(db, question_id=question))
    return exam, load_question(db, question_id=question).boxes


def check_theirs(db: Session, *, person: Person, batch_id: int, question: int) -> None:
    """Whether the person may open the question, and nothing else of it.

    Raises:
        NotFound: no such question, or it is not, or no longer, the person's; which of the two, is not told.
    """
    require(person, Action.JUDGE)
    place = assignments.assignment(db, person_id=person.id, batch_id=batch_id, question_id=question)
    if place is None or not _may_open(db, person, batch_id, place):
        raise not_theirs(person, batch_id=batch_id)


def saved_verdict(db: Session, *, person: Person, batch_id: int, question: int) -> Verdict | None:
    """The person's own latest verdict on a question, as the database has it."""
    require(person, Action.JUDGE)
    return last_verdict(db, batch_id=batch_id, question_id=question, person_id=person.id)


def veil(db: Session, *, batch_id: int) -> Veil:
    """What stands on the wire for the numbers of the batch's questions."""
    return Veil(secret=veil_of(db, batch_id=batch_id))


def next_open(db: Session, *, person: Person, batch_id: int, after: int) -> int | None:
    """The number of the open question that comes next behind ``after``, else the first open one of all.

    Who leaves a question unjudged and goes on is not thrown back to it by every save. None: none is open.
    """
    require(person, Action.JUDGE)
    here = assignments.assignment(db, person_id=person.id, batch_id=batch_id, question_id=after)
    if here is not None:
        beside = {"person_id": person.id, "batch_id": batch_id, "position": here.position}
        for each in assignments.open_after(db, **beside, limit=1):
            return each.question_number
    first = assignments.first_open(db, person_id=person.id, batch_id=batch_id)
    return first.question_number if first else None


def last_judged(db: Session, *, person: Person, batch_id: int) -> int | None:
    """The number of the question that the person judged last, to be reopened; None before any."""
    require(person, Action.JUDGE)
    return last_judged_question(db, batch_id=batch_id, person_id=person.id)


def skipped_questions(db: Session, *, person: Person, batch_id: int) -> list[tuple[int, str]]:
    """(number, reason) of each question that the person has put aside, in the batch's order."""
    require(person, Action.JUDGE)
    found = []
    for each in assignments.skipped(db, person_id=person.id, batch_id=batch_id):
        skip = last_skip(db, batch_id=batch_id, question_id=each.question_number, person_id=person.id)
        found.append((each.question_number, skip[1] if skip else ""))
    return found


def batches_for(db: Session, *, person: Person) -> list[BatchForReviewer]:
    """The batches in which something is the person's, the oldest first; closed ones too."""
    require(person, Action.JUDGE)
    listed = []
    held = assignments.batches_of(db, person_id=person.id)
    pools = shared_queues.pools_of(db, person_id=person.id)
    for batch_id in sorted({*held, *pools}):
        times = looking_times(db, batch_id=batch_id, person_id=person.id)
        listed.append(
            BatchForReviewer(
                batch=load_batch(db, batch_id=batch_id),
                place=_place(
                    db, person_id=person.id, batch_id=batch_id, position=None, shares=batch_id in pools
                ),
                seconds_median=median(times) if times else None,
            )
        )
    return listed


def radiograph_file(db: Session, *, person: Person, exam_number: int, radiograph_key: str) -> StoredImage:
    """The original file of a radiograph, if the person may see it: as coordinator, or with a question on it.

    Raises:
        NotAllowed: no question about the exam is the person's.
        NotFound: the exam has no such radiograph, or its file never came in.
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


def _may_open(db: Session, person: Person, batch_id: int, place: assignments.AssignedQuestion) -> bool:
    """Whether it is still the person's: of a shared queue also what they had and let run out."""
    if place.state is not AssignmentState.WITHDRAWN:
        return True
    return shared_queues.is_member(db, batch_id=batch_id, person_id=person.id)


def _place(db: Session, *, person_id: int, batch_id: int, position: int | None, shares: bool) -> Place:
    """``shares``: the person takes questions from the batch's shared queue."""
    mine = {"person_id": person_id, "batch_id": batch_id}
    count, so_far = assignments.counts(db, **mine, position=-1 if position is None else position)
    done, skipped, left = (
        count.get(state, 0) for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
    )
    if shares:
        # What is hidden is counted from the start: no total may grow when one of them comes.
        left += claims.count_takeable(db, **mine) + len(not_given_yet(db, **mine))
    return Place(
        done=done,
        skipped=skipped,
        left=left,
        total=done + skipped + left,
        position=None if position is None else so_far,
    )


def _upcoming(
    db: Session, *, person_id: int, batch_id: int, position: int, exam_number: int, shares: bool
) -> tuple[tuple[int, str], ...]:
    mine = {"person_id": person_id, "batch_id": batch_id}
    coming = assignments.open_after(db, **mine, position=position, limit=_QUESTIONS_AHEAD)
    exams = assignments.exams_of(db, question_ids=[each.question_number for each in coming])
    in_order = dict.fromkeys(exams[each.question_number] for each in coming)
    if shares:
        in_order |= dict.fromkeys(claims.free_ahead(db, **mine, limit=_QUESTIONS_AHEAD))
    in_order.pop(exam_number, None)
    return radiograph_keys(db, exam_numbers=list(in_order)[:_EXAMS_AHEAD])
