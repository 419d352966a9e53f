"""Storage of practice sets: questions with known answers, requirements, results and exemptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, exists, func, insert, or_, select
from sqlmodel import Session

from domain.batches import BatchSettings, SamplingPlan
from domain.errors import NotFound
from domain.practice import KnownAnswer, PassMark, PracticeSet, PracticeVerdict
from domain.studies import StudyState
from domain.verdicts import Decision
from records.values import from_json, to_json
from records.verdicts import correction_from_plain, correction_to_plain, errors_from_json
from storage.inserts import insert_into
from storage.intake.bulk import load_next_row_ids, lock_for_import
from storage.intake.datasets import add_dataset, add_import
from storage.review.question_copies import copy_question, load_question_columns
from storage.review.verdicts import verdict_from_row
from storage.rows.batches import AssignmentRow, BatchRow
from storage.rows.datasets import QuestionRow
from storage.rows.practice import (
    PracticeExemptionRow,
    PracticeQuestionRow,
    PracticeRequirementRow,
    PracticeResultRow,
    PracticeSetRow,
)
from storage.rows.studies import CaseRow, ReaderStudyRow, StudyReaderRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.batches import add_batch

#: The text between the source's key and the id in the key of a practice question.
PRACTICE_MARK = " (practice "
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeResult:
    """A reviewer's result in a finished set: ``found`` of ``faulty``, ``accepted`` of ``sound`` questions."""

    practice_id: int
    person_id: int
    faulty: int
    found: int
    sound: int
    accepted: int
    passed: bool
    completed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """A coordinator's permission to review a batch without having passed a practice set."""

    batch_id: int
    person_id: int
    reason: str
    granted_by: int | None
    granted_at: datetime


# ------------------------------------------------------------------------------------------------- sets
_IS_SOUND = PracticeQuestionRow.decision == Decision.ACCEPT.value
_SELECT_SETS = (
    select(
        PracticeSetRow.batch_id,
        BatchRow.name,
        PracticeSetRow.dataset_id,
        PracticeSetRow.source,
        PracticeSetRow.min_found,
        PracticeSetRow.min_accepted,
        BatchRow.created_at,
        func.sum(case((_IS_SOUND, 1), else_=0)).label("sound"),
        func.sum(case((_IS_SOUND, 0), else_=1)).label("faulty"),
    )
    .join(BatchRow, BatchRow.id == PracticeSetRow.batch_id)
    .join(PracticeQuestionRow, PracticeQuestionRow.batch_id == PracticeSetRow.batch_id)
    .group_by(*PracticeSetRow.__table__.c, BatchRow.name, BatchRow.created_at)
    .order_by(PracticeSetRow.batch_id)
)


def list_practice_sets(db: Session) -> list[PracticeSet]:
    """Return all practice sets, the oldest first."""
    return [_set_from_row(row) for row in db.execute(_SELECT_SETS)]


def load_practice_set(db: Session, *, name: str) -> PracticeSet:
    """Return the practice set with that name.

    Raises:
        NotFound: there is none; the message lists the existing ones.
    """
    row = db.execute(_SELECT_SETS.where(BatchRow.name == name)).first()
    if row is None:
        names = ", ".join(practice.name for practice in list_practice_sets(db))
        raise NotFound(f"There is no practice set {name!r}. Existing practice sets: {names or 'none yet'}.")
    return _set_from_row(row)


def find_practice_set(db: Session, *, batch_id: int) -> PracticeSet | None:
    """Return the practice set with that batch id; None if the batch is not one."""
    row = db.execute(_SELECT_SETS.where(PracticeSetRow.batch_id == batch_id)).first()
    return None if row is None else _set_from_row(row)


def add_practice_set(
    db: Session,
    *,
    name: str,
    source: str,
    pass_mark: PassMark,
    settings: BatchSettings,
    known_answers: Sequence[tuple[int, KnownAnswer]],
    seed: int,
    by: int | None,
    now: datetime,
) -> PracticeSet:
    """Add a practice set with copies of these questions, given as (question id, known answer), in order."""
    dataset_name = f"(practice set {name})"
    dataset_id = add_dataset(db, name=dataset_name, minimum_explanation=None, now=now)
    import_id = add_import(
        db, dataset_id=dataset_id, file_name=dataset_name, file_format="practice", by=by, now=now
    )
    plan = SamplingPlan(seed=seed, per_1000=None, n=len(known_answers))
    batch = add_batch(db, name=name, dataset_id=dataset_id, plan=plan, settings=settings, by=by, now=now)
    db.add(
        PracticeSetRow(
            batch_id=batch.id,
            dataset_id=dataset_id,
            import_id=import_id,
            source=source,
            min_found=pass_mark.found,
            min_accepted=pass_mark.accepted,
        )
    )
    db.flush()
    lock_for_import(db)
    _, first_id = load_next_row_ids(db)
    sources = load_question_columns(db, {question_id for question_id, _ in known_answers})
    questions, rows = [], []
    for position, (source_id, known_answer) in enumerate(known_answers, start=1):
        number = first_id + position - 1
        questions.append(
            copy_question(
                sources[source_id], None, number=number, mark=PRACTICE_MARK, dataset_id=dataset_id,
                import_id=import_id,
            )
        )  # fmt: skip
        rows.append(
            {
                "question_id": number,
                "batch_id": batch.id,
                "source_id": source_id,
                "position": position,
                "decision": known_answer.decision.value,
                "errors": to_json(sorted(error.value for error in known_answer.errors)),
                "correction": to_json(correction_to_plain(known_answer.correction)),
                "explanation": known_answer.explanation,
            }
        )
    db.execute(insert(QuestionRow), questions)
    db.execute(insert(PracticeQuestionRow), rows)
    return load_practice_set(db, name=name)


def list_practice_questions(db: Session, *, practice_id: int) -> list[tuple[int, int]]:
    """Return (question id, position) of the questions of a practice set, by position."""
    statement = (
        select(PracticeQuestionRow.question_id, PracticeQuestionRow.position)
        .where(PracticeQuestionRow.batch_id == practice_id)
        .order_by(PracticeQuestionRow.position)
    )
    return [(row[0], row[1]) for row in db.execute(statement)]


def load_question_row_ids(db: Session, *, dataset_id: int, keys: Sequence[str]) -> dict[str, int]:
    """Return {id in the imported file: question id} for the ids in ``keys`` that the dataset has."""
    numbers: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        rows = db.execute(
            select(QuestionRow.key, QuestionRow.id).where(
                QuestionRow.dataset_id == dataset_id, QuestionRow.key.in_(keys[start : start + _CHUNK])
            )
        )
        numbers.update({row[0]: row[1] for row in rows})
    return numbers


def list_practice_sources(db: Session) -> set[int]:
    """Return the ids of all questions of which a practice set has a copy."""
    return set(db.execute(select(PracticeQuestionRow.source_id)).scalars())


def find_known_answer(db: Session, *, question_id: int) -> KnownAnswer | None:
    """Return the known answer of a practice question; None if the question is not one."""
    row = db.get(PracticeQuestionRow, question_id)
    return None if row is None else _known_answer_from_row(row)


def load_practice_verdicts(
    db: Session, *, practice_id: int, person_id: int | None = None
) -> dict[int, list[PracticeVerdict]]:
    """Return the questions of a practice set with each reviewer's first verdict, by person id.

    Each reviewer's list has all questions of the set, judged or not. With ``person_id``, only that reviewer
    is loaded.
    """
    person_filter = [] if person_id is None else [AssignmentRow.person_id == person_id]
    people = db.execute(
        select(AssignmentRow.person_id)
        .where(AssignmentRow.batch_id == practice_id, *person_filter)
        .distinct()
        .order_by(AssignmentRow.person_id)
    ).scalars()
    verdict_rows = db.execute(
        select(*VerdictRow.__table__.c).where(
            VerdictRow.batch_id == practice_id,
            VerdictRow.revision == 1,
            *([] if person_id is None else [VerdictRow.person_id == person_id]),
        )
    )
    verdicts = {(row.person_id, row.question_id): verdict_from_row(row) for row in verdict_rows}
    questions = [
        (row.question_id, row.exam_id, _known_answer_from_row(row))
        for row in db.execute(
            select(*PracticeQuestionRow.__table__.c, QuestionRow.exam_id)
            .join(QuestionRow, QuestionRow.id == PracticeQuestionRow.question_id)
            .where(PracticeQuestionRow.batch_id == practice_id)
            .order_by(PracticeQuestionRow.position)
        )
    ]
    return {
        person: [
            PracticeVerdict(
                question_row_id=number,
                exam_row_id=exam,
                known_answer=known_answer,
                verdict=verdicts.get((person, number)),
            )
            for number, exam, known_answer in questions
        ]
        for person in people
    }


# ---------------------------------------------------------------------------------------- requirements
def load_requirements(db: Session) -> dict[int, list[int]]:
    """Return {batch id: ids of practice sets}. Reviewers of the batch must have passed one of them."""
    requirements: dict[int, list[int]] = defaultdict(list)
    columns = PracticeRequirementRow.__table__.c
    for row in db.execute(select(columns.batch_id, columns.practice_id).order_by(columns.practice_id)):
        requirements[row.batch_id].append(row.practice_id)
    return dict(requirements)


def save_requirement(
    db: Session, *, batch_id: int, practice_ids: Iterable[int], by: int | None, now: datetime
) -> None:
    """Store the practice sets of a batch; its reviewers must have passed one of them.

    The row of a practice set that stays required is kept, because checkpoints report changed rows.
    """
    required_ids, is_of_batch = set(practice_ids), PracticeRequirementRow.batch_id == batch_id
    existing_ids = set(db.execute(select(PracticeRequirementRow.practice_id).where(is_of_batch)).scalars())
    db.execute(
        delete(PracticeRequirementRow).where(
            is_of_batch, PracticeRequirementRow.practice_id.in_(existing_ids - required_ids)
        )
    )
    db.add_all(
        PracticeRequirementRow(batch_id=batch_id, practice_id=practice_id, required_by=by, required_at=now)
        for practice_id in sorted(required_ids - existing_ids)
    )
    db.flush()


def build_unqualified(batch_id: Any, person_id: Any) -> ColumnElement[bool]:  # noqa: ANN401 - columns or values
    """Return the condition that the batch requires a practice set which the person has not passed.

    An exempted person is qualified.
    """
    has_requirement = exists().where(PracticeRequirementRow.batch_id == batch_id)
    has_passed = exists().where(
        PracticeRequirementRow.batch_id == batch_id,
        PracticeResultRow.batch_id == PracticeRequirementRow.practice_id,
        PracticeResultRow.person_id == person_id,
        PracticeResultRow.passed,
    )
    is_exempted = exists().where(
        PracticeExemptionRow.batch_id == batch_id, PracticeExemptionRow.person_id == person_id
    )
    return and_(has_requirement, ~or_(has_passed, is_exempted))


def list_locked_batches(db: Session, *, person_id: int) -> set[int]:
    """Return the ids of the batches that require a practice set which the person has not passed."""
    batch_id = PracticeRequirementRow.batch_id
    passed_batch_ids = (
        select(PracticeRequirementRow.batch_id)
        .join(PracticeResultRow, PracticeResultRow.batch_id == PracticeRequirementRow.practice_id)
        .where(PracticeResultRow.person_id == person_id, PracticeResultRow.passed)
    )
    exempted_batch_ids = select(PracticeExemptionRow.batch_id).where(
        PracticeExemptionRow.person_id == person_id
    )
    statement = (
        select(batch_id)
        .where(batch_id.not_in(passed_batch_ids), batch_id.not_in(exempted_batch_ids))
        .distinct()
    )
    return set(db.execute(statement).scalars())


def is_qualified(db: Session, *, batch_id: int, person_id: int) -> bool:
    """Return whether the person may review the batch: no practice set is missing."""
    return not db.execute(select(build_unqualified(batch_id, person_id))).scalar_one()


# ------------------------------------------------------------------------------- results and exemptions
def find_open_study(db: Session, *, practice_id: int, person_id: int) -> str | None:
    """Return the name of an open study in which the person reads sources of practice questions, or None."""
    statement = (
        select(ReaderStudyRow.name)
        .join(StudyReaderRow, StudyReaderRow.study_id == ReaderStudyRow.id)
        .join(CaseRow, CaseRow.study_id == ReaderStudyRow.id)
        .join(PracticeQuestionRow, PracticeQuestionRow.source_id == CaseRow.question_id)
        .where(
            ReaderStudyRow.state == StudyState.OPEN.value,
            StudyReaderRow.person_id == person_id,
            PracticeQuestionRow.batch_id == practice_id,
        )
        .order_by(ReaderStudyRow.id)
        .limit(1)
    )
    return db.execute(statement).scalar_one_or_none()


def list_assigned_sets(db: Session, *, person_id: int) -> set[int]:
    """Return the ids of the practice sets that are assigned to the person."""
    statement = (
        select(AssignmentRow.batch_id)
        .join(PracticeSetRow, PracticeSetRow.batch_id == AssignmentRow.batch_id)
        .where(AssignmentRow.person_id == person_id)
        .distinct()
    )
    return set(db.execute(statement).scalars())


def lock_practice_set(db: Session, *, batch_id: int) -> None:
    """Block other transactions that complete this practice set. SQLite has a single writer anyway."""
    db.execute(select(PracticeSetRow.batch_id).where(PracticeSetRow.batch_id == batch_id).with_for_update())


def add_result(db: Session, *, result: PracticeResult) -> bool:
    """Append a result; return False if the reviewer has one already."""
    statement = (
        insert_into(db, PracticeResultRow)
        .values(
            batch_id=result.practice_id,
            person_id=result.person_id,
            faulty=result.faulty,
            found=result.found,
            sound=result.sound,
            accepted=result.accepted,
            passed=result.passed,
            completed_at=result.completed_at,
        )
        .on_conflict_do_nothing()
    )
    return db.execute(statement.returning(PracticeResultRow.person_id)).first() is not None


def list_results(db: Session, *, person_id: int | None = None) -> list[PracticeResult]:
    """Return all results, or those of one person, in the order in which they were completed."""
    statement = select(PracticeResultRow).order_by(PracticeResultRow.completed_at)
    if person_id is not None:
        statement = statement.where(PracticeResultRow.person_id == person_id)
    rows = db.execute(statement).scalars()
    return [
        PracticeResult(
            practice_id=row.batch_id,
            person_id=row.person_id,
            faulty=row.faulty,
            found=row.found,
            sound=row.sound,
            accepted=row.accepted,
            passed=row.passed,
            completed_at=row.completed_at,
        )
        for row in rows
    ]


def add_exemption(db: Session, *, exemption: Exemption) -> None:
    """Append an exemption. The person must not have one for this batch."""
    db.add(
        PracticeExemptionRow(
            batch_id=exemption.batch_id,
            person_id=exemption.person_id,
            reason=exemption.reason,
            granted_by=exemption.granted_by,
            granted_at=exemption.granted_at,
        )
    )
    db.flush()


def list_exemptions(db: Session) -> list[Exemption]:
    """Return all exemptions, in the order in which they were granted."""
    rows = db.execute(select(PracticeExemptionRow).order_by(PracticeExemptionRow.granted_at)).scalars()
    return [
        Exemption(
            batch_id=row.batch_id,
            person_id=row.person_id,
            reason=row.reason,
            granted_by=row.granted_by,
            granted_at=row.granted_at,
        )
        for row in rows
    ]


def _set_from_row(row: Any) -> PracticeSet:  # noqa: ANN401 - a row of _SELECT_SETS
    return PracticeSet(
        id=row.batch_id,
        name=row.name,
        dataset_id=row.dataset_id,
        pass_mark=PassMark(found=row.min_found, accepted=row.min_accepted),
        source=row.source,
        sound=row.sound,
        faulty=row.faulty,
        created_at=row.created_at,
    )


def _known_answer_from_row(row: Any) -> KnownAnswer:  # noqa: ANN401 - a PracticeQuestionRow or its columns
    return KnownAnswer(
        decision=Decision(row.decision),
        errors=errors_from_json(row.errors),
        correction=correction_from_plain(from_json(row.correction)),
        explanation=row.explanation,
    )
