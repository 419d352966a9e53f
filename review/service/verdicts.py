"""Services that store a reviewer's work: own answers, verdicts, skips, drafts, times, opened reports.

Each service locks the batch and the question. NotFound does not reveal whether a question exists.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import AssignmentState, FormScope, Mode
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.image_display import ImageDisplay, resolve_image_display
from domain.people import Action, Person, require
from domain.questions import Answer, check_answer
from domain.ratings import RATING_VALUES
from domain.verdicts import OwnAnswer, Verdict
from records.verdicts import verdict_to_plain
from review import rules
from review.id_mask import IdMask
from review.service.locked_questions import (
    LockedQuestion,
    check_writable,
    lock_batch,
    lock_question,
    may_open_question,
    require_key,
    set_state,
)
from review.service.practice import complete_practice
from storage.audit.contents import (
    COMMIT_OWN_ANSWER,
    GIVE_VERDICT,
    OPEN_REPORT,
    SKIP_QUESTION,
    own_answer_to_plain,
    report_opening_to_plain,
    skip_to_plain,
)
from storage.intake.exams import load_exam, load_exam_row_id, load_report
from storage.intake.questions import load_blind_question
from storage.review import drafts as draft_storage
from storage.review import verdicts
from storage.review.question_work import QuestionWithExam, load_question_with_exam
from storage.review.viewing_times import save_viewing_times

MAX_REASON_LENGTH = 500  # the maximum length of the reason for skipping, in characters


def lock_for_verdict(
    db: Session, *, person: Person, batch_id: int, masked_id: int, now: datetime
) -> tuple[LockedQuestion, QuestionWithExam]:
    """Load and lock a question for a verdict, with its exam.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch.
        masked_id: the question id from the browser, masked by the mask of the batch.
        now: the current time.

    Raises:
        NotFound: the question does not exist, or is not assigned to the person (any more).
        Refused: the batch requires the person's own answer first.
    """
    require(person, Action.JUDGE)
    reviewer_batch = lock_batch(db, person=person, batch_id=batch_id)
    number = IdMask(secret=reviewer_batch.id_mask).unmask(masked_id)
    locked = lock_question(
        db, person=person, batch_id=batch_id, question_row_id=number, now=now, reviewer_batch=reviewer_batch
    )
    if not may_open_question(reviewer_batch, locked.work):
        raise rules.build_question_not_found(person, batch_id=batch_id)
    rules.check_own_answer(locked.work.own_answer, settings=reviewer_batch.batch.settings)
    return locked, load_question_with_exam(db, question_id=number, blind=False)


def save_verdict(
    db: Session,
    *,
    verdict: Verdict,
    person: Person,
    locked: LockedQuestion | None = None,
    loaded_question: QuestionWithExam | None = None,
) -> Verdict:
    """Store a verdict and mark the question as done. A later revision supersedes the earlier one.

    Corrections that change nothing are dropped. Drafts are deleted.

    Args:
        db: a session for writing.
        verdict: the new verdict.
        person: the reviewer.
        locked: the locked question from :func:`lock_for_verdict` in this transaction; None to lock it.
        loaded_question: the question from :func:`lock_for_verdict` in this transaction; None to load it.

    Returns:
        The stored verdict. A repeated request with the same revision and content stores nothing.

    Raises:
        NotAllowed: the verdict is another person's.
        NotFound: the question is not assigned to the person.
        StaleRevision: the revision is stored with other content, or is not the next revision.
        Refused: the batch is closed, the question was withdrawn, a required field is missing, or the
            radiograph was not displayed and the person has not confirmed that.
        InvalidValue: the corrected question is not valid.
    """
    require(person, Action.JUDGE)
    if verdict.person_id != person.id:
        raise NotAllowed(f"{person.display_name} cannot give a verdict in another person's name.")
    if locked is None:
        locked = lock_question(
            db,
            person=person,
            batch_id=verdict.batch_id,
            question_row_id=verdict.question_row_id,
            now=verdict.given_at,
        )
    loaded_question = loaded_question or load_question_with_exam(
        db, question_id=verdict.question_row_id, blind=False
    )
    question = require_key(loaded_question)
    verdict = rules.drop_unchanged_corrections(verdict, question=question)
    latest = None
    if locked.work.has_verdicts:
        saved = verdicts.find_verdict(db, **locked.key, revision=verdict.revision)
        if saved is not None and rules.has_same_content(saved, verdict):
            return saved
        latest = verdicts.find_last_verdict(db, **locked.key)
    if verdict.revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(rules.describe_stale_verdict(verdict, latest))
    check_writable(locked)
    if latest is not None and locked.reviewer_batch.is_practice:
        raise Refused(
            "A verdict on a practice question cannot be changed, because its known answer was shown. "
            "Continue with the next question."
        )
    settings = locked.batch.settings
    rules.check_own_answer(locked.work.own_answer, settings=settings)
    rules.check_fixed_alignment(verdict, fixed_rating=locked.work.locked_alignment)
    rules.check_required_fields(verdict, question=question, settings=settings)
    rules.check_correction(verdict, question=question, exam=loaded_question.exam)
    verdict = replace(verdict, image=resolve_image_display(verdict.image, exam=loaded_question.exam))
    try:
        stored_verdict = verdicts.add_verdict(db, verdict=verdict)
    except AlreadyThere as error:
        concurrent = verdicts.find_verdict(db, **locked.key, revision=verdict.revision)
        if concurrent is not None and rules.has_same_content(concurrent, verdict):
            return concurrent
        raise StaleRevision(rules.describe_stale_verdict(verdict, concurrent)) from error
    set_state(db, locked, AssignmentState.DONE, now=verdict.given_at)
    if locked.work.has_drafts:
        draft_storage.clear_drafts(db, **locked.key)
    record_action(
        db,
        by=person,
        action=GIVE_VERDICT,
        subject=locked.subject,
        old=verdict_to_plain(latest) if latest else None,
        new=verdict_to_plain(verdict),
        reason=verdict.why,
        now=verdict.given_at,
    )
    if locked.reviewer_batch.is_practice:
        complete_practice(db, person=person, locked=locked, now=verdict.given_at)
    return stored_verdict


def save_own_answer(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_row_id: int,
    answer: Answer | None,
    confidence: int,
    image: ImageDisplay | None = None,
    now: datetime,
) -> OwnAnswer:
    """Store the reviewer's own answer, once, before the key is shown.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch.
        question_row_id: the id of the question.
        answer: the answer; None for "cannot determine".
        confidence: the confidence, 1 (a guess) to 5 (certain).
        image: whether the radiographs were displayed, as reported by the form; None if not recorded.
        now: the current time.

    Returns:
        The stored own answer. A repeated request with the same answer returns the first one.

    Raises:
        NotFound: the question is not assigned to the person.
        StaleRevision: another answer is already stored; the message has both answers.
        InvalidValue: the answer does not fit the question, or the confidence is not 1 to 5.
        Refused: the batch is closed or shows the key from the start, the question was withdrawn, or the
            radiograph was not displayed and the person has not confirmed that.
    """
    require(person, Action.JUDGE)
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    question = load_blind_question(db, question_id=question_row_id)
    if answer is not None:
        check_answer(answer, format_=question.format, options=question.options, field_name="answer")
    own_answer = OwnAnswer(answer=answer, confidence=confidence, committed_at=now)
    saved = verdicts.find_own_answer(db, **locked.key)
    if saved is not None:
        if (saved.answer, saved.confidence) == (own_answer.answer, own_answer.confidence):
            return saved
        raise StaleRevision(
            "Your own answer is already submitted and cannot be changed: "
            f"{rules.format_own_answer(saved, options=question.options)} "
            f"({saved.committed_at:%Y-%m-%d %H:%M:%S} UTC); this form has "
            f"{rules.format_own_answer(own_answer, options=question.options)}. Open the question again to "
            "continue."
        )
    check_writable(locked)
    if locked.batch.settings.mode is not Mode.ANSWER_FIRST:
        raise Refused(
            f"Batch {locked.batch.name} shows the answer key from the start and does not request your own "
            "answer."
        )
    exam = load_exam(db, exam_id=load_exam_row_id(db, question_id=question_row_id))
    own_answer = replace(own_answer, image=resolve_image_display(image, exam=exam))
    verdicts.add_own_answer(db, **locked.key, answer=own_answer)
    new = own_answer_to_plain(own_answer)
    record_action(db, by=person, action=COMMIT_OWN_ANSWER, subject=locked.subject, new=new, now=now)
    return own_answer


def skip_question(
    db: Session, *, person: Person, batch_id: int, question_row_id: int, reason: str, now: datetime
) -> None:
    """Skip a question with a reason. It can still be judged later. A repeated request changes nothing.

    In a shared queue, the question becomes available to other reviewers.

    Raises:
        NotFound: the question is not assigned to the person.
        Refused: the question has a verdict or was withdrawn, or the batch is closed.
        InvalidValue: the reason is empty or too long.
    """
    require(person, Action.JUDGE)
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_LENGTH:
        raise InvalidValue("reason", f"must have 1 to {MAX_REASON_LENGTH} characters")
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    previous = verdicts.find_last_skip(db, **locked.key)
    if locked.assignment.state is AssignmentState.SKIPPED and previous is not None and previous[1] == reason:
        return  # a repeated request
    check_writable(locked)
    if locked.assignment.state is AssignmentState.DONE:
        raise Refused(
            "This question already has a verdict. Change the verdict instead of skipping the question."
        )
    number = (previous[0] if previous else 0) + 1
    verdicts.add_skip(db, **locked.key, number=number, reason=reason, now=now)
    set_state(db, locked, AssignmentState.SKIPPED, now=now)
    new = skip_to_plain(number=number, reason=reason, skipped_at=now)
    record_action(
        db, by=person, action=SKIP_QUESTION, subject=locked.subject, new=new, reason=reason, now=now
    )


def save_draft(  # allow writes-without-record: a draft is not a judgement yet
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_row_id: int,
    part: str,
    revision: int,
    body: Any,  # noqa: ANN401 - any JSON value
    now: datetime,
) -> int:
    """Store a draft of a part of the form.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch.
        question_row_id: the id of the question.
        part: the name of the part of the form.
        revision: the revision of the draft that the form was opened with; 0 if there was none.
        body: the content of the draft.
        now: the current time.

    Returns:
        The new revision of the draft. A repeated request with the same content returns the same revision.

    Raises:
        NotFound: the question is not assigned to the person.
        StaleRevision: the draft was changed in another tab, or the verdict was saved.
        Refused: the batch is closed, or the question was withdrawn.
    """
    require(person, Action.JUDGE)
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    saved_revision, saved = draft_storage.load_drafts(db, **locked.key).get(part, (0, None))
    if saved_revision == revision + 1 and saved == body:
        return saved_revision
    if saved_revision != revision:
        draft_state = (
            f"is at revision {saved_revision}"
            if saved_revision
            else "was deleted because its verdict was saved"
        )
        raise StaleRevision(
            f"Draft not saved: the draft ({part}) {draft_state}, but this form has revision {revision}. It"
            " was changed in another tab or window. Open the question again."
        )
    check_writable(locked)
    draft_storage.save_draft(db, **locked.key, part=part, revision=revision + 1, body=body, now=now)
    return revision + 1


def record_viewing_times(  # allow writes-without-record: reading times are not decisions
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_row_id: int,
    seconds: float,
    seconds_looking: float,
    seconds_away: float,
    now: datetime,
) -> None:
    """Store the times spent on a question so far, in seconds. A stored time never decreases.

    Raises:
        NotFound: the question is not assigned to the person.
        InvalidValue: a time is negative or not finite.
    """
    require(person, Action.JUDGE)
    for name, value in (("seconds", seconds), ("looking", seconds_looking), ("away", seconds_away)):
        if not 0 <= value < float("inf"):
            raise InvalidValue(name, f"must be 0 or more and finite, not {value!r}")
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    save_viewing_times(
        db,
        **locked.key,
        seconds=seconds,
        seconds_looking=seconds_looking,
        seconds_away=seconds_away,
        now=now,
    )


def open_report(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_row_id: int,
    image_alignment: int,
    image: ImageDisplay | None = None,
    now: datetime,
) -> str:
    """Open the report after image alignment was rated. The rating cannot be changed afterwards.

    Opening the report again returns its text and ignores the rating.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch.
        question_row_id: the id of the question.
        image_alignment: the rating, 1 to 5.
        image: whether the radiographs were displayed, as reported by the form; None if not recorded.
        now: the current time.

    Returns:
        The text of the report.

    Raises:
        Refused: the batch does not show reports or is closed, the own answer is missing, the question was
            withdrawn, or the radiograph was not displayed and the person has not confirmed that.
        InvalidValue: image alignment is not 1 to 5.
        NotFound: the exam has no report, or the question is not the person's.
    """
    require(person, Action.JUDGE)
    if isinstance(image_alignment, bool) or image_alignment not in RATING_VALUES:
        raise InvalidValue("image_alignment", "rate it 1 to 5 before you open the report")
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    settings = locked.batch.settings
    if not settings.show_report or settings.parts is FormScope.KEY:
        raise Refused(f"Batch {locked.batch.name} does not show reports.")
    rules.check_own_answer(verdicts.find_own_answer(db, **locked.key), settings=settings)
    exam_row_id = load_exam_row_id(db, question_id=question_row_id)
    report = load_report(db, exam_id=exam_row_id)
    if not report:
        raise NotFound("The imported file has no report for this exam.")
    if verdicts.find_locked_alignment(db, **locked.key) is None:
        check_writable(locked)
        image = resolve_image_display(image, exam=load_exam(db, exam_id=exam_row_id))
        verdicts.add_report_opening(db, **locked.key, image_alignment=image_alignment, image=image, now=now)
        new = report_opening_to_plain(image_alignment=image_alignment, opened_at=now, image=image)
        record_action(db, by=person, action=OPEN_REPORT, subject=locked.subject, new=new, now=now)
    return report
