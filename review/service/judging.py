"""A reviewer's writes: own answer, verdict, skip, drafts, time, opening the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session

from domain.batches import AssignmentState, Batch, BatchState, Mode, Parts
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.people import Action, Person, require
from domain.questions import Answer, check_answer
from domain.verdicts import OwnAnswer, Verdict
from review import rules
from storage import verdicts
from storage.assignments import AssignedQuestion, assignment, hold_batch, set_state
from storage.batches import load_batch
from storage.drafts import clear_drafts, drafts_of, put_draft
from storage.exams import exam_number as exam_number_of
from storage.exams import load_exam, load_report
from storage.looks import put_look
from storage.questions import load_blind_question, load_question

LONGEST_REASON = 500  # characters of a skip's reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A question that is the person's, in its batch; ``key`` names it to storage."""

    batch: Batch
    assigned: AssignedQuestion
    key: dict[str, int]


def give_verdict(db: Session, *, verdict: Verdict, person: Person) -> Verdict:
    """Record one reviewer's judgement of one question; a later revision supersedes the earlier.

    Corrections that change nothing are left out.

    Returns:
        The verdict as stored. The same revision with the same content returns the first, unchanged.

    Raises:
        StaleRevision: that revision is saved with other content, or it is not the next one.
        Refused: the batch is closed, the question not the person's, or something asked for is missing.
        InvalidValue: the corrected question couldn't stand.
    """
    require(person, Action.JUDGE)
    if verdict.person_id != person.id:
        raise NotAllowed(f"{person.display_name} can't give a verdict in somebody else's name.")
    place = _place(db, person=person, batch_id=verdict.batch_id, question_number=verdict.question_id)
    question = load_question(db, question_id=verdict.question_id)
    verdict = rules.only_real_changes(verdict, question=question)
    saved = verdicts.verdict_of_revision(db, **place.key, revision=verdict.revision)
    if saved is not None and rules.same_content(saved, verdict):
        return saved
    last = verdicts.last_verdict(db, **place.key)
    if verdict.revision != (last.revision if last else 0) + 1:
        raise StaleRevision(rules.stale_text(verdict, last))
    _check_open(place)
    settings = place.batch.settings
    rules.check_own_answer(verdicts.own_answer(db, **place.key), settings=settings)
    rules.check_fixed_alignment(verdict, fixed=verdicts.report_opening(db, **place.key))
    rules.check_asked_parts(verdict, question=question, settings=settings)
    exam = load_exam(db, exam_id=exam_number_of(db, question_id=verdict.question_id))
    rules.check_correction(verdict, question=question, exam=exam)
    try:
        verdicts.add_verdict(db, verdict=verdict)
    except AlreadyThere as error:
        first = verdicts.verdict_of_revision(db, **place.key, revision=verdict.revision)
        if first is not None and rules.same_content(first, verdict):
            return first
        raise StaleRevision(rules.stale_text(verdict, first)) from error
    _set_state(db, place, AssignmentState.DONE, now=verdict.given_at)
    clear_drafts(db, **place.key)
    return verdict


def commit_own_answer(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_number: int,
    answer: Answer | None,
    confidence: int,
    now: datetime,
) -> OwnAnswer:
    """Keep the reviewer's own answer, once, before the key is fetched; None is "cannot determine".

    Returns:
        The own answer as stored; the same one given again returns the first.

    Raises:
        StaleRevision: another answer is committed already; both are named.
        InvalidValue: the answer names no option, or the confidence is not 1 to 5.
        Refused: the batch is closed, or shows the key from the start.
    """
    require(person, Action.JUDGE)
    place = _place(db, person=person, batch_id=batch_id, question_number=question_number)
    question = load_blind_question(db, question_id=question_number)
    if answer is not None:
        check_answer(answer, format_=question.format, options=question.options, field_name="answer")
    own = OwnAnswer(answer=answer, confidence=confidence, committed_at=now)
    saved = verdicts.own_answer(db, **place.key)
    if saved is not None:
        if (saved.answer, saved.confidence) == (own.answer, own.confidence):
            return saved
        raise StaleRevision(
            "Your own answer is committed already and stays: "
            f"{rules.own_answer_text(saved, options=question.options)} "
            f"({saved.committed_at:%Y-%m-%d %H:%M:%S} UTC); this form says "
            f"{rules.own_answer_text(own, options=question.options)}. Open the question again to go on."
        )
    _check_open(place)
    if place.batch.settings.mode is not Mode.ANSWER_FIRST:
        raise Refused(f"Batch {place.batch.name} shows the key from the start and takes no own answer.")
    verdicts.add_own_answer(db, **place.key, own=own)
    return own


def skip_question(
    db: Session, *, person: Person, batch_id: int, question_number: int, reason: str, now: datetime
) -> None:
    """Put the question aside with a reason; it can be opened and judged later.

    Raises:
        Refused: it has a verdict, the batch is closed, or it is not the person's.
        InvalidValue: the reason is empty or too long.
    """
    require(person, Action.JUDGE)
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise InvalidValue("reason", f"say in 1 to {LONGEST_REASON} characters why the question is skipped")
    place = _place(db, person=person, batch_id=batch_id, question_number=question_number)
    before = verdicts.last_skip(db, **place.key)
    if place.assigned.state is AssignmentState.SKIPPED and before is not None and before[1] == reason:
        return  # the second click
    _check_open(place)
    if place.assigned.state is AssignmentState.DONE:
        raise Refused("This question has a verdict already. Change the verdict instead of skipping it.")
    verdicts.add_skip(db, **place.key, number=(before[0] if before else 0) + 1, reason=reason, now=now)
    _set_state(db, place, AssignmentState.SKIPPED, now=now)


def keep_draft(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_number: int,
    part: str,
    revision: int,
    body: Any,  # noqa: ANN401 - any JSON value
    now: datetime,
) -> int:
    """Keep what is typed, ticked or drawn; ``revision`` is the one the form knows, 0 where there was none.

    Returns:
        The draft's new revision. The same body sent twice returns the first's.

    Raises:
        StaleRevision: another tab kept the draft since, or it has become a verdict.
    """
    require(person, Action.JUDGE)
    place = _place(db, person=person, batch_id=batch_id, question_number=question_number)
    known, saved = drafts_of(db, **place.key).get(part, (0, None))
    if known == revision + 1 and saved == body:
        return known
    if known != revision:
        what = f"is at revision {known}" if known else "is gone: its verdict was saved"
        raise StaleRevision(
            f"Not kept: the draft ({part}) {what}, this form knows revision {revision}. It was changed in "
            "another tab or window. Open the question again."
        )
    _check_open(place)
    put_draft(db, **place.key, part=part, revision=revision + 1, body=body, now=now)
    return revision + 1


def record_look(
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_number: int,
    seconds: float,
    seconds_looking: float,
    seconds_away: float,
    now: datetime,
) -> None:
    """Keep the time on a question so far; each figure only ever grows."""
    require(person, Action.JUDGE)
    for name, value in (("seconds", seconds), ("looking", seconds_looking), ("away", seconds_away)):
        if not 0 <= value < float("inf"):
            raise InvalidValue(name, f"must be 0 or more and finite, not {value!r}")
    place = _place(db, person=person, batch_id=batch_id, question_number=question_number)
    put_look(
        db,
        **place.key,
        seconds=seconds,
        seconds_looking=seconds_looking,
        seconds_away=seconds_away,
        now=now,
    )


def open_report(
    db: Session, *, person: Person, batch_id: int, question_number: int, image_alignment: int, now: datetime
) -> str:
    """The report's text, after image alignment was rated; from now on that rating stays.

    Opening it again gives the text again, whatever rating comes with it.

    Raises:
        Refused: the batch doesn't show reports, or the own answer is not committed yet.
        InvalidValue: image alignment is not 1 to 5.
        NotFound: the exam has no report.
    """
    require(person, Action.JUDGE)
    if isinstance(image_alignment, bool) or image_alignment not in (1, 2, 3, 4, 5):
        raise InvalidValue("image_alignment", "rate it 1 to 5 before the report is opened")
    place = _place(db, person=person, batch_id=batch_id, question_number=question_number)
    settings = place.batch.settings
    if not settings.show_report or settings.parts is Parts.KEY:
        raise Refused(f"Batch {place.batch.name} doesn't show reports.")
    rules.check_own_answer(verdicts.own_answer(db, **place.key), settings=settings)
    report = load_report(db, exam_id=exam_number_of(db, question_id=question_number))
    if not report:
        raise NotFound("The file had no report for this exam.")
    if verdicts.report_opening(db, **place.key) is None:
        _check_open(place)
        verdicts.add_report_opening(db, **place.key, image_alignment=image_alignment, now=now)
    return report


def _place(db: Session, *, person: Person, batch_id: int, question_number: int) -> _Place:
    """The question, if it is the person's; other writers of it wait until this transaction ends."""
    hold_batch(db, batch_id=batch_id)
    key = {"batch_id": batch_id, "question_id": question_number, "person_id": person.id}
    assigned = assignment(db, **key, lock=True)
    if assigned is None:
        raise rules.not_theirs(person, batch_id=batch_id, question_number=question_number)
    return _Place(batch=load_batch(db, batch_id=batch_id), assigned=assigned, key=key)


def _check_open(place: _Place) -> None:
    if place.batch.state is BatchState.CLOSED:
        raise Refused(
            f"Not saved: batch {place.batch.name} is closed. A coordinator can open it again; "
            "what you have entered stays in this window until then."
        )
    if place.assigned.state is AssignmentState.WITHDRAWN:
        raise Refused(
            "Not saved: this question was taken back or given to somebody else. Go on with the next one, "
            "or ask a coordinator."
        )


def _set_state(db: Session, place: _Place, state: AssignmentState, *, now: datetime) -> None:
    if place.assigned.state is not state:
        set_state(
            db,
            person_id=place.key["person_id"],
            batch_id=place.key["batch_id"],
            question_ids=[place.key["question_id"]],
            state=state,
            now=now,
        )
