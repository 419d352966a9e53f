"""Verdicts, own answers, skips and report openings: added, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.verdicts import RATING_NAMES, Decision, ErrorKind, Opinion, OwnAnswer, Ratings, Verdict
from domain.vocabulary import Difficulty
from storage.codec import (
    answer_from_plain,
    answer_to_plain,
    correction_from_plain,
    correction_to_plain,
    from_json,
    to_json,
)
from storage.rows import OwnAnswerRow, ReportOpeningRow, SkipRow, VerdictRow

_MINE = (
    VerdictRow.batch_id == bindparam("batch_id"),
    VerdictRow.person_id == bindparam("person_id"),
)
# Built once: every verdict asks these several times.
_LAST_JUDGED = (
    select(VerdictRow.question_id)
    .where(*_MINE)
    .order_by(VerdictRow.given_at.desc(), VerdictRow.question_id.desc())
    .limit(1)
)
_LOOKING_TIMES = select(VerdictRow.seconds_looking).where(*_MINE, VerdictRow.revision == 1)
_VERDICTS = select(*VerdictRow.__table__.columns).where(
    *_MINE, VerdictRow.question_id == bindparam("question_id")
)
_LAST = _VERDICTS.order_by(VerdictRow.revision.desc()).limit(1)
_OF_REVISION = _VERDICTS.where(VerdictRow.revision == bindparam("revision"))
_ALIGNMENT = select(ReportOpeningRow.image_alignment).where(
    ReportOpeningRow.batch_id == bindparam("batch_id"),
    ReportOpeningRow.question_id == bindparam("question_id"),
    ReportOpeningRow.person_id == bindparam("person_id"),
)

_YES_NO_FIELDS = ("domain_specific", "cognitive_depth", "image_centric", "clinically_relevant")
#: The columns that make a verdict, those of the opinion last.
VERDICT_COLUMNS = (
    "batch_id", "question_id", "person_id", "revision", "decision", "seconds", "seconds_looking",
    "seconds_away", "given_at", "why", "difficulty", "errors", "correction", "clinical_reasoning", "comment",
    *RATING_NAMES, *_YES_NO_FIELDS,
)  # fmt: skip


def add_verdict(db: Session, *, verdict: Verdict) -> None:
    """Append the verdict.

    Raises:
        AlreadyThere: that revision of this person's verdict on the question is saved already.
    """
    _append(db, VerdictRow(**_columns(verdict)), "verdict")


def last_verdict(db: Session, *, batch_id: int, question_id: int, person_id: int) -> Verdict | None:
    """The person's verdict on the question with the highest revision."""
    return _verdict_where(db, batch_id, question_id, person_id, None)


def verdict_of_revision(
    db: Session, *, batch_id: int, question_id: int, person_id: int, revision: int
) -> Verdict | None:
    """The person's verdict on the question with that revision."""
    return _verdict_where(db, batch_id, question_id, person_id, revision)


def last_judged_question(db: Session, *, batch_id: int, person_id: int) -> int | None:
    """The number of the question that the person gave the latest verdict on."""
    return db.execute(_LAST_JUDGED, {"batch_id": batch_id, "person_id": person_id}).scalar_one_or_none()


def looking_times(db: Session, *, batch_id: int, person_id: int) -> list[float]:
    """Seconds of looking of each of the person's first verdicts in the batch."""
    return list(db.execute(_LOOKING_TIMES, {"batch_id": batch_id, "person_id": person_id}).scalars())


def judging_has_begun(db: Session, *, batch_id: int) -> bool:
    """Whether a verdict, an own answer or an opened report of the batch is saved."""
    return any(
        db.execute(select(table.batch_id).where(table.batch_id == batch_id).limit(1)).first() is not None
        for table in (VerdictRow, OwnAnswerRow, ReportOpeningRow)
    )


def own_answer(db: Session, *, batch_id: int, question_id: int, person_id: int) -> OwnAnswer | None:
    """What the person answered before the key was fetched."""
    row = db.get(OwnAnswerRow, (batch_id, question_id, person_id))
    if row is None:
        return None
    return OwnAnswer(
        answer=None if row.answer is None else answer_from_plain(from_json(row.answer)),
        confidence=row.confidence,
        committed_at=row.committed_at,
    )


def add_own_answer(db: Session, *, batch_id: int, question_id: int, person_id: int, own: OwnAnswer) -> None:
    """Append the own answer.

    Raises:
        AlreadyThere: the person has committed one already.
    """
    row = OwnAnswerRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        answer=None if own.answer is None else to_json(answer_to_plain(own.answer)),
        confidence=own.confidence,
        committed_at=own.committed_at,
    )
    _append(db, row, "own answer")


def last_skip(db: Session, *, batch_id: int, question_id: int, person_id: int) -> tuple[int, str] | None:
    """(number, reason) of the person's latest skip of the question; None when it was never skipped."""
    row = db.execute(
        select(SkipRow.number, SkipRow.reason)
        .where(
            SkipRow.batch_id == batch_id, SkipRow.question_id == question_id, SkipRow.person_id == person_id
        )
        .order_by(SkipRow.number.desc())
        .limit(1)
    ).first()
    return None if row is None else (row.number, row.reason)


def add_skip(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    person_id: int,
    number: int,
    reason: str,
    now: datetime,
) -> None:
    """Append a skip; ``number`` counts from 1 for this person and question."""
    row = SkipRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        number=number,
        reason=reason,
        skipped_at=now,
    )
    _append(db, row, "skip")


def report_opening(db: Session, *, batch_id: int, question_id: int, person_id: int) -> int | None:
    """The image alignment that the person rated before opening the report; None while it is closed."""
    values = {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    return db.execute(_ALIGNMENT, values).scalar_one_or_none()


def add_report_opening(
    db: Session, *, batch_id: int, question_id: int, person_id: int, image_alignment: int, now: datetime
) -> None:
    """Append the opening of the report, with the rating that it fixes."""
    row = ReportOpeningRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        image_alignment=image_alignment,
        opened_at=now,
    )
    _append(db, row, "report opening")


_decision = cache(Decision)


@lru_cache(maxsize=2_000)  # most verdicts say what others say: an acceptance with its few ratings
def _opinion(columns: tuple[Any, ...]) -> Opinion:
    difficulty, errors, correction, clinical_reasoning, comment, *marks = columns
    return Opinion(
        ratings=Ratings(**dict(zip(RATING_NAMES, marks[:4], strict=True))),
        **dict(zip(_YES_NO_FIELDS, marks[4:], strict=True)),
        difficulty=Difficulty(difficulty) if difficulty else None,
        errors=frozenset(ErrorKind(each) for each in from_json(errors)),
        correction=correction_from_plain(from_json(correction)),
        clinical_reasoning=clinical_reasoning,
        comment=comment,
    )


def verdict_from_row(row: Any) -> Verdict:  # noqa: ANN401 - a VerdictRow, or a result row with its columns
    """The verdict of a row that has all the table's columns."""
    return verdict_from_columns([getattr(row, name) for name in VERDICT_COLUMNS])


def verdict_from_columns(values: Sequence[Any]) -> Verdict:
    """The verdict of the values of :data:`VERDICT_COLUMNS`, in their order."""
    batch_id, question_id, person_id, revision, decision, seconds, looking, away, given_at, why, *said = (
        values
    )
    return Verdict(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        revision=revision,
        decision=_decision(decision),
        opinion=_opinion(tuple(said)),
        why=why,
        seconds=seconds,
        seconds_looking=looking,
        seconds_away=away,
        given_at=given_at,
    )


def _columns(verdict: Verdict) -> dict[str, Any]:
    opinion = verdict.opinion
    return {
        "batch_id": verdict.batch_id,
        "question_id": verdict.question_id,
        "person_id": verdict.person_id,
        "revision": verdict.revision,
        "decision": verdict.decision.value,
        **{name: getattr(opinion.ratings, name) for name in RATING_NAMES},
        **{name: getattr(opinion, name) for name in _YES_NO_FIELDS},
        "difficulty": opinion.difficulty.value if opinion.difficulty else None,
        "errors": to_json(sorted(each.value for each in opinion.errors)),
        "correction": to_json(correction_to_plain(opinion.correction)),
        "clinical_reasoning": opinion.clinical_reasoning,
        "comment": opinion.comment,
        "why": verdict.why,
        "seconds": verdict.seconds,
        "seconds_looking": verdict.seconds_looking,
        "seconds_away": verdict.seconds_away,
        "given_at": verdict.given_at,
    }


def _verdict_where(
    db: Session, batch_id: int, question_id: int, person_id: int, revision: int | None
) -> Verdict | None:
    values = {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    if revision is None:
        row = db.execute(_LAST, values).first()
    else:
        row = db.execute(_OF_REVISION, {**values, "revision": revision}).first()
    return None if row is None else verdict_from_row(row)


def _append(db: Session, row: Any, noun: str) -> None:  # noqa: ANN401 - a row of one of the tables above
    # A savepoint: what else the transaction has done stands when the database refuses the row.
    try:
        with db.begin_nested():
            db.add(row)
    except IntegrityError as error:
        raise AlreadyThere(f"This {noun} is saved already.") from error
