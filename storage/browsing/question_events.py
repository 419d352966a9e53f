"""The history of one question, collected from all tables that refer to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from domain.history import QuestionEvent
from records.values import boxes_from_plain, from_json
from records.verdicts import image_display_from_column
from storage.review.adjudications import adjudication_from_row
from storage.review.verdicts import verdict_from_row
from storage.rows.adjudications import AdjudicationRow
from storage.rows.applied_rules import AppliedQuestionRow, AppliedRuleRow, UndoneRuleRow
from storage.rows.audit import AuditRow
from storage.rows.batches import AssignmentRow, BatchQuestionRow, BatchRow, DrawRow
from storage.rows.datasets import DatasetRow, ImportRow, ProblemRow, QuestionRow
from storage.rows.people import PersonRow
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.rows.verdicts import OwnAnswerRow, SkipRow, VerdictRow

_JudgementTable = type[OwnAnswerRow] | type[VerdictRow] | type[SkipRow] | type[AdjudicationRow]


def load_events(db: Session, *, question_row_id: int) -> list[QuestionEvent]:
    """Return all events, unordered. The import event lists the problems, because the checks run on import."""
    return [
        *_load_import_events(db, question_row_id),
        *_load_draw_events(db, question_row_id),
        *_load_assignment_events(db, question_row_id),
        *_load_own_answer_events(db, question_row_id),
        *_load_verdict_events(db, question_row_id),
        *_load_skip_events(db, question_row_id),
        *_load_adjudication_events(db, question_row_id),
        *_load_bulk_action_events(db, question_row_id),
        *_load_box_events(db, question_row_id),
        *_load_release_events(db, question_row_id),
    ]


def _load_import_events(db: Session, question_id: int) -> list[QuestionEvent]:
    row = db.execute(
        select(ImportRow.file_name, ImportRow.file_format, ImportRow.imported_at, PersonRow.display_name,
               DatasetRow.name.label("dataset"))
        .join(QuestionRow, QuestionRow.import_id == ImportRow.id)
        .join(DatasetRow, DatasetRow.id == ImportRow.dataset_id)
        .outerjoin(PersonRow, PersonRow.id == ImportRow.imported_by)
        .where(QuestionRow.id == question_id)
    ).one()  # fmt: skip
    problems = db.execute(
        select(ProblemRow.check_name, ProblemRow.field, ProblemRow.reason)
        .where(ProblemRow.question_id == question_id)
        .order_by(ProblemRow.check_name, ProblemRow.field)
    ).all()
    return [
        QuestionEvent(
            kind="imported",
            occurred_at=row.imported_at,
            person_name=row.display_name,
            container=row.file_name,
            details={
                "dataset": row.dataset,
                "format": row.file_format,
                "problems": [f"{check}: {field} {reason}" for check, field, reason in problems],
            },
        )
    ]


def _load_bulk_action_events(db: Session, question_id: int) -> list[QuestionEvent]:
    """Return the bulk actions that rejected or queued the question, and when they were undone."""
    is_about_question = AppliedQuestionRow.question_id == question_id
    applied = db.execute(
        select(AppliedRuleRow.id, AppliedRuleRow.what, AppliedRuleRow.search, AppliedRuleRow.reason,
               AppliedRuleRow.applied_at, BatchRow.name, PersonRow.display_name)
        .join(AppliedQuestionRow, AppliedQuestionRow.rule_id == AppliedRuleRow.id)
        .outerjoin(BatchRow, BatchRow.id == AppliedRuleRow.batch_id)
        .outerjoin(PersonRow, PersonRow.id == AppliedRuleRow.person_id)
        .where(is_about_question)
    )  # fmt: skip
    undone = db.execute(
        select(UndoneRuleRow.rule_id, UndoneRuleRow.reason, UndoneRuleRow.taken_back_at,
               PersonRow.display_name)
        .join(AppliedQuestionRow, AppliedQuestionRow.rule_id == UndoneRuleRow.rule_id)
        .outerjoin(PersonRow, PersonRow.id == UndoneRuleRow.person_id)
        .where(is_about_question)
    )  # fmt: skip
    return [
        *(
            QuestionEvent(
                kind="bulk action",
                occurred_at=row.applied_at,
                person_name=row.display_name,
                container=row.name or "",
                details={
                    "number": row.id,
                    "action": row.what,
                    "search": from_json(row.search),
                    "reason": row.reason,
                },
            )
            for row in applied
        ),
        *(
            QuestionEvent(
                kind="bulk action undone",
                occurred_at=row.taken_back_at,
                person_name=row.display_name,
                details={"number": row.rule_id, "reason": row.reason},
            )
            for row in undone
        ),
    ]


#: The kinds of events by the action in the audit trail.
_BOX_EVENTS = {"correct boxes": "boxes corrected", "convert boxes": "boxes converted"}


def _load_box_events(db: Session, question_id: int) -> list[QuestionEvent]:
    """Return the changes of the boxes by annotation files and added images, from the audit trail."""
    entries = db.execute(
        select(AuditRow.what, AuditRow.at, AuditRow.old, AuditRow.new, AuditRow.why, PersonRow.display_name)
        .outerjoin(PersonRow, PersonRow.id == AuditRow.person_id)
        .where(AuditRow.subject == f"question {question_id}", AuditRow.what.in_(_BOX_EVENTS))
    )
    return [
        QuestionEvent(
            kind=_BOX_EVENTS[entry.what],
            occurred_at=entry.at,
            person_name=entry.display_name,
            container=from_json(entry.new)["file"],
            details={
                "before": boxes_from_plain(from_json(entry.old)),
                "after": boxes_from_plain(from_json(entry.new)["boxes"]),
                "reason": entry.why,
            },
        )
        for entry in entries
    ]


def _load_draw_events(db: Session, question_id: int) -> list[QuestionEvent]:
    rows = db.execute(
        select(BatchRow.name, DrawRow.drawn_at, PersonRow.display_name, BatchQuestionRow.stratum,
               BatchQuestionRow.inclusion_probability)
        .join(DrawRow, DrawRow.id == BatchQuestionRow.draw_id)
        .join(BatchRow, BatchRow.id == BatchQuestionRow.batch_id)
        .outerjoin(PersonRow, PersonRow.id == DrawRow.drawn_by)
        .where(BatchQuestionRow.question_id == question_id)
    )  # fmt: skip
    return [
        QuestionEvent(
            kind="drawn",
            occurred_at=row.drawn_at,
            person_name=row.display_name,
            container=row.name,
            details={"stratum": row.stratum, "inclusion_probability": row.inclusion_probability},
        )
        for row in rows
    ]


def _load_assignment_events(db: Session, question_id: int) -> list[QuestionEvent]:
    rows = db.execute(
        select(BatchRow.name, AssignmentRow.assigned_at, AssignmentRow.state, PersonRow.display_name)
        .join(BatchRow, BatchRow.id == AssignmentRow.batch_id)
        .join(PersonRow, PersonRow.id == AssignmentRow.person_id)
        .where(AssignmentRow.question_id == question_id)
    )
    return [
        QuestionEvent(
            kind="assigned", occurred_at=row.assigned_at, person_name=None, container=row.name,
            details={"to": row.display_name, "state": row.state},
        )
        for row in rows
    ]  # fmt: skip


def _load_own_answer_events(db: Session, question_id: int) -> list[QuestionEvent]:
    return [
        _event_by_person(
            row,
            kind="own answer",
            occurred_at=row.committed_at,
            details={
                "answer": None if row.answer is None else from_json(row.answer),
                "confidence": row.confidence,
                "image": image_display_from_column(row.image),
            },
        )
        for row in _load_rows(db, OwnAnswerRow, question_id)
    ]


def _load_verdict_events(db: Session, question_id: int) -> list[QuestionEvent]:
    return [
        _event_by_person(
            row, kind="verdict", occurred_at=row.given_at, details={"verdict": verdict_from_row(row)}
        )
        for row in _load_rows(db, VerdictRow, question_id)
    ]


def _load_skip_events(db: Session, question_id: int) -> list[QuestionEvent]:
    return [
        _event_by_person(row, kind="skipped", occurred_at=row.skipped_at, details={"why": row.reason})
        for row in _load_rows(db, SkipRow, question_id)
    ]


def _load_adjudication_events(db: Session, question_id: int) -> list[QuestionEvent]:
    return [
        _event_by_person(
            row,
            kind="adjudication",
            occurred_at=row.given_at,
            details={"adjudication": adjudication_from_row(row)},
        )
        for row in _load_rows(db, AdjudicationRow, question_id)
    ]


def _load_rows(db: Session, table: _JudgementTable, question_id: int) -> Iterable[Row[Any]]:
    """Return the table's rows about the question, each with the names of the batch and the person."""
    return db.execute(
        select(*table.__table__.c, BatchRow.name.label("batch"), PersonRow.display_name)
        .join(BatchRow, BatchRow.id == table.batch_id)
        .join(PersonRow, PersonRow.id == table.person_id)
        .where(table.question_id == question_id)
    )


def _event_by_person(
    row: Row[Any], *, kind: str, occurred_at: datetime, details: dict[str, Any]
) -> QuestionEvent:
    return QuestionEvent(
        kind=kind, occurred_at=occurred_at, person_name=row.display_name, container=row.batch, details=details
    )


def _load_release_events(db: Session, question_id: int) -> list[QuestionEvent]:
    rows = db.execute(
        select(
            ReleaseRow.id, ReleaseRow.name, ReleaseRow.made_at, ReleaseItemRow.side, PersonRow.display_name
        )
        .join(ReleaseItemRow, ReleaseItemRow.release_id == ReleaseRow.id)
        .outerjoin(PersonRow, PersonRow.id == ReleaseRow.made_by)
        .where(ReleaseItemRow.question_id == question_id)
    )
    return [
        QuestionEvent(
            kind="released",
            occurred_at=row.made_at,
            person_name=row.display_name,
            container=row.name,
            details={"side": row.side, "release": row.id},
        )
        for row in rows
    ]
