"""Storage of adjudications and their rules, and queries for possible disputes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.adjudications import Adjudication, AdjudicationRules
from domain.errors import AlreadyThere
from domain.verdicts import Decision, Verdict
from records.values import from_json, to_json
from records.verdicts import (
    VERDICT_COLUMNS,
    correction_from_plain,
    correction_to_plain,
    image_display_from_column,
    verdict_from_columns,
)
from storage.rows.adjudications import AdjudicationRow, AdjudicationRulesRow, AdjudicatorRow
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import QuestionRow
from storage.rows.people import PersonRow
from storage.rows.releases import ErratumReportRow
from storage.rows.verdicts import VerdictRow


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedRules:
    """A batch's rules with their revision. Revision 0 stands for the defaults, which are not stored."""

    rules: AdjudicationRules
    revision: int


def load_rules(db: Session, *, batch_id: int) -> VersionedRules:
    """Return the batch's adjudication rules."""
    row = db.get(AdjudicationRulesRow, batch_id)
    adjudicators = db.execute(
        select(PersonRow.name)
        .join(AdjudicatorRow, AdjudicatorRow.person_id == PersonRow.id)
        .where(AdjudicatorRow.batch_id == batch_id)
        .order_by(PersonRow.name)
    ).scalars()
    if row is None:
        return VersionedRules(rules=AdjudicationRules(adjudicators=tuple(adjudicators)), revision=0)
    rules = AdjudicationRules(
        adjudicators=tuple(adjudicators), hide_names=row.hide_names, same_box_iou=row.same_box
    )
    return VersionedRules(rules=rules, revision=row.revision)


def save_rules(
    db: Session,
    *,
    batch_id: int,
    rules: AdjudicationRules,
    person_ids: Iterable[int],
    revision: int,
    now: datetime,
) -> None:
    """Store the rules. ``person_ids`` are the ids of the adjudicators."""
    row = db.get(AdjudicationRulesRow, batch_id) or AdjudicationRulesRow(batch_id=batch_id)
    row.hide_names, row.same_box, row.revision = rules.hide_names, rules.same_box_iou, revision
    db.add(row)
    db.execute(delete(AdjudicatorRow).where(AdjudicatorRow.batch_id == batch_id))
    db.add_all(
        AdjudicatorRow(batch_id=batch_id, person_id=person_id, named_at=now) for person_id in person_ids
    )
    db.flush()


def list_batches_of_adjudicator(db: Session, *, person_id: int) -> list[int]:
    """Return the ids of the batches in which the person is an adjudicator."""
    statement = select(AdjudicatorRow.batch_id).where(AdjudicatorRow.person_id == person_id)
    return list(db.execute(statement.order_by(AdjudicatorRow.batch_id)).scalars())


def is_adjudicator_on_exam(db: Session, *, person_id: int, exam_row_id: int) -> bool:
    """Return whether the person is an adjudicator of a batch that has a question on that exam."""
    statement = (
        select(BatchQuestionRow.question_id)
        .join(QuestionRow, QuestionRow.id == BatchQuestionRow.question_id)
        .join(AdjudicatorRow, AdjudicatorRow.batch_id == BatchQuestionRow.batch_id)
        .where(AdjudicatorRow.person_id == person_id, QuestionRow.exam_id == exam_row_id)
        .limit(1)
    )
    return db.execute(statement).first() is not None


def list_possible_disputes(db: Session, *, batch_id: int) -> list[int]:
    """Return the ids of the batch's questions that may have a dispute, by position.

    A question that at least two people have judged is returned if it has an adjudication, or if one of its
    verdicts (of any revision) is not "accept". Any judged question is returned if a person reported a problem
    in it after a release.
    """
    is_not_accepted = case((VerdictRow.decision != Decision.ACCEPT.value, 1), else_=0)
    adjudicated = select(AdjudicationRow.question_id).where(AdjudicationRow.batch_id == batch_id)
    possibly_disputed = (
        select(VerdictRow.question_id)
        .where(VerdictRow.batch_id == batch_id)
        .group_by(VerdictRow.question_id)
        .having(
            func.count(VerdictRow.person_id.distinct()) > 1,
            or_(func.max(is_not_accepted) == 1, VerdictRow.question_id.in_(adjudicated)),
        )
    )
    reported = (
        select(VerdictRow.question_id)
        .join(ErratumReportRow, ErratumReportRow.question_id == VerdictRow.question_id)
        .where(VerdictRow.batch_id == batch_id)
    )
    statement = (
        select(BatchQuestionRow.question_id)
        .where(
            BatchQuestionRow.batch_id == batch_id,
            or_(
                BatchQuestionRow.question_id.in_(possibly_disputed),
                BatchQuestionRow.question_id.in_(reported),
            ),
        )
        .order_by(BatchQuestionRow.position)
    )
    return list(db.execute(statement).scalars())


def load_latest_verdicts_by_question(
    db: Session, *, batch_id: int, question_ids: Sequence[int]
) -> dict[int, tuple[Verdict, ...]]:
    """Return {question id: each person's latest verdict, in the order of person ids}."""
    # Table columns are selected, because with mapped columns the ORM would process every value again.
    table = VerdictRow.__table__.c
    question_index, person_index = VERDICT_COLUMNS.index("question_id"), VERDICT_COLUMNS.index("person_id")
    db.flush()  # executing on the connection does not flush the session
    verdicts: dict[int, dict[int, Verdict]] = defaultdict(dict)
    for start in range(0, len(question_ids), 500):
        rows = db.connection().execute(
            select(*(table[name] for name in VERDICT_COLUMNS))
            .where(table.batch_id == batch_id, table.question_id.in_(question_ids[start : start + 500]))
            .order_by(table.question_id, table.person_id, table.revision)
        )
        for row in rows.all():
            verdicts[row[question_index]][row[person_index]] = verdict_from_columns(row)
    return {
        question_id: tuple(verdict_by_person.values()) for question_id, verdict_by_person in verdicts.items()
    }


def load_latest_adjudications(
    db: Session, *, batch_ids: Sequence[int], question_ids: Sequence[int] | None = None
) -> dict[tuple[int, int], Adjudication]:
    """Return the latest adjudication by (batch, question)."""
    statement = select(*AdjudicationRow.__table__.c).where(AdjudicationRow.batch_id.in_(batch_ids))
    if question_ids is not None:
        statement = statement.where(AdjudicationRow.question_id.in_(question_ids))
    rows = db.execute(statement.order_by(AdjudicationRow.revision))
    return {(row.batch_id, row.question_id): adjudication_from_row(row) for row in rows}


def load_adjudicated_questions(db: Session, *, batch_ids: Sequence[int]) -> set[int]:
    """Return the ids of the questions of these batches that have an adjudication."""
    statement = select(AdjudicationRow.question_id).where(AdjudicationRow.batch_id.in_(batch_ids))
    return set(db.execute(statement).scalars())


def add_adjudication(db: Session, *, adjudication: Adjudication) -> None:
    """Append an adjudication.

    Raises:
        AlreadyThere: that revision already exists.
    """
    row = AdjudicationRow(
        batch_id=adjudication.batch_id,
        question_id=adjudication.question_row_id,
        revision=adjudication.revision,
        person_id=adjudication.person_id,
        decision=adjudication.decision.value,
        correction=to_json(correction_to_plain(adjudication.correction)),
        follows=to_json(list(adjudication.follows)),
        reason=adjudication.reason,
        given_at=adjudication.given_at,
        image=adjudication.image,
    )
    try:
        with db.begin_nested():
            db.add(row)
    except IntegrityError as error:
        raise AlreadyThere("This adjudication has already been saved.") from error


def adjudication_from_row(row: Any) -> Adjudication:  # noqa: ANN401 - a row with the table's columns
    return Adjudication(
        batch_id=row.batch_id,
        question_row_id=row.question_id,
        revision=row.revision,
        person_id=row.person_id,
        decision=Decision(row.decision),
        correction=correction_from_plain(from_json(row.correction)),
        follows=tuple(from_json(row.follows)),
        reason=row.reason,
        given_at=row.given_at,
        image=image_display_from_column(row.image),
    )
