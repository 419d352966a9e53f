"""Bulk actions, which reject or queue all questions found by a search.

The tables and the audit trail call a bulk action a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, text
from sqlmodel import Session

from domain.batches import Batch, BatchSettings, SamplingPlan
from domain.errors import NotFound
from domain.vocabulary import Difficulty
from records.values import from_json, to_json
from storage.rows.applied_rules import AppliedQuestionRow, AppliedRuleRow, UndoneRuleRow
from storage.rows.batches import BatchQuestionRow, BatchRow, DrawRow, StratumRow
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.people import PersonRow
from storage.sampling.batches import add_batch
from storage.types import AnySelect

#: The stratum of questions that were selected by a search, not drawn at random.
FOUND_BY_SEARCH = "found by search"
_REJECT = "reject"
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedBulkAction:
    """A bulk action: who applied it, why, and to how many questions.

    ``number`` is its database id. ``undone_at`` is the time at which it was undone, or None.
    """

    number: int
    dataset: str
    action: str
    search: dict[str, Any]
    reason: str
    questions: int
    batch: str | None
    person: str
    applied_at: datetime
    undone_at: datetime | None
    undo_reason: str


def add_bulk_action(
    db: Session,
    *,
    dataset_id: int,
    action: str,
    search: dict[str, Any],
    reason: str,
    questions: Sequence[int],
    batch_id: int | None,
    by: int | None,
    now: datetime,
) -> int:
    """Append a bulk action with the questions that it applies to; return its id."""
    rule_id = (db.execute(select(func.max(AppliedRuleRow.id))).scalar_one() or 0) + 1
    db.add(
        AppliedRuleRow(
            id=rule_id,
            dataset_id=dataset_id,
            what=action,
            search=to_json(search),
            reason=reason,
            questions=len(questions),
            batch_id=batch_id,
            person_id=by,
            applied_at=now,
        )
    )
    db.flush()
    values = [{"rule_id": rule_id, "question_id": question_id} for question_id in questions]
    if values:
        db.execute(insert(AppliedQuestionRow), values)
    return rule_id


def add_undo(db: Session, *, number: int, reason: str, by: int | None, now: datetime) -> None:
    """Record that the bulk action is undone from ``now`` on."""
    db.add(UndoneRuleRow(rule_id=number, reason=reason, person_id=by, taken_back_at=now))
    db.flush()


def list_bulk_actions(
    db: Session, *, dataset_id: int | None = None, number: int | None = None
) -> list[AppliedBulkAction]:
    """Return the bulk actions, the newest first; filtered by dataset or by id (``number``) if given."""
    statement = (
        select(AppliedRuleRow, DatasetRow.name, BatchRow.name, PersonRow.name, UndoneRuleRow)
        .join(DatasetRow, DatasetRow.id == AppliedRuleRow.dataset_id)
        .outerjoin(BatchRow, BatchRow.id == AppliedRuleRow.batch_id)
        .outerjoin(PersonRow, PersonRow.id == AppliedRuleRow.person_id)
        .outerjoin(UndoneRuleRow, UndoneRuleRow.rule_id == AppliedRuleRow.id)
        .order_by(AppliedRuleRow.id.desc())
    )
    if dataset_id is not None:
        statement = statement.where(AppliedRuleRow.dataset_id == dataset_id)
    if number is not None:
        statement = statement.where(AppliedRuleRow.id == number)
    return [
        AppliedBulkAction(
            number=row.id,
            dataset=dataset,
            action=row.what,
            search=from_json(row.search),
            reason=row.reason,
            questions=row.questions,
            batch=batch,
            person=person or "command line",
            applied_at=row.applied_at,
            undone_at=undone.taken_back_at if undone else None,
            undo_reason=undone.reason if undone else "",
        )
        for row, dataset, batch, person, undone in db.execute(statement)
    ]


def load_bulk_action(db: Session, *, number: int) -> AppliedBulkAction:
    """Return the bulk action with that id.

    Raises:
        NotFound: no bulk action has that id.
    """
    matches = list_bulk_actions(db, number=number)
    if not matches:
        raise NotFound(f"There is no bulk action {number}.")
    return matches[0]


def list_rejection_times(db: Session, *, dataset_id: int) -> list[datetime]:
    """Return the times of the bulk actions that reject questions of the dataset and were not undone."""
    return [
        applied.applied_at
        for applied in list_bulk_actions(db, dataset_id=dataset_id)
        if applied.action == _REJECT and applied.undone_at is None
    ]


def select_rejected(*, dataset_id: int) -> AnySelect:
    """Return a query for the ids of the dataset's questions that are rejected by bulk actions in force."""
    return (
        select(AppliedQuestionRow.question_id)
        .join(AppliedRuleRow, AppliedRuleRow.id == AppliedQuestionRow.rule_id)
        .outerjoin(UndoneRuleRow, UndoneRuleRow.rule_id == AppliedRuleRow.id)
        .where(
            AppliedRuleRow.dataset_id == dataset_id,
            AppliedRuleRow.what == _REJECT,
            UndoneRuleRow.rule_id.is_(None),
        )
    )


def count_rejected(db: Session, *, dataset_id: int) -> int:
    """Return how many questions of the dataset are rejected by bulk actions that were not undone."""
    rejected = select_rejected(dataset_id=dataset_id).distinct().subquery()
    return int(db.execute(select(func.count()).select_from(rejected)).scalar_one())


def load_exclusion_reasons(db: Session, *, numbers: Sequence[int]) -> dict[int, str]:
    """Return {question id: reason} for those of these questions to which no bulk action can be applied.

    If several reasons apply to a question, the last one in the order of the queries is returned.
    """
    reasons = (
        (
            "drawn",
            (
                "SELECT question_id FROM batch_question b WHERE NOT EXISTS (SELECT 1 FROM applied_rule r "
                "JOIN rule_taken_back k ON k.rule_id = r.id WHERE r.batch_id = b.batch_id) AND "
            ),
        ),
        (
            "rejected by a bulk action",
            (
                "SELECT question_id FROM applied_question a WHERE EXISTS (SELECT 1 FROM applied_rule r "
                "WHERE r.id = a.rule_id AND r.what = 'reject' "
                "AND NOT EXISTS (SELECT 1 FROM rule_taken_back k WHERE k.rule_id = r.id)) AND "
            ),
        ),
        ("judged", "SELECT question_id FROM verdict WHERE "),
        ("released", "SELECT question_id FROM release_item WHERE "),
    )
    excluded: dict[int, str] = {}
    for start in range(0, len(numbers), _CHUNK):
        chunk = ",".join(str(int(number)) for number in numbers[start : start + _CHUNK])
        for reason, query in reasons:
            rows = db.execute(text(f"{query} question_id IN ({chunk})"))
            excluded.update((row[0], reason) for row in rows)
    return excluded


def add_queued_batch(
    db: Session,
    *,
    name: str,
    dataset_id: int,
    settings: BatchSettings,
    questions: Sequence[int],
    by: int | None,
    now: datetime,
) -> Batch:
    """Create an open batch of exactly these questions; questions of one exam are adjacent."""
    batch = add_batch(
        db,
        name=name,
        dataset_id=dataset_id,
        plan=SamplingPlan(seed=0, per_1000=None, n=len(questions)),
        settings=settings,
        by=by,
        now=now,
    )
    draw = DrawRow(
        batch_id=batch.id,
        number=1,
        frame_after=0,
        frame_through=max(questions),
        frame_size=len(questions),
        drawn_by=by,
        drawn_at=now,
    )
    db.add(draw)
    db.flush()
    for tier, count in _count_tiers(db, questions).items():
        db.add(StratumRow(draw_id=draw.id or 0, tier=tier, size=count, drawn=count))
    exam_of_question = dict(_iterate_exam_row_ids(db, questions))
    first_of_exam: dict[int, int] = {}
    for number in questions:
        first_of_exam.setdefault(exam_of_question[number], number)
    grouped = sorted(questions, key=lambda number: (first_of_exam[exam_of_question[number]], number))
    db.execute(
        insert(BatchQuestionRow),
        [
            {
                "batch_id": batch.id,
                "question_id": number,
                "draw_id": draw.id,
                "stratum": FOUND_BY_SEARCH,
                "inclusion_probability": 1.0,
                "position": position,
            }
            for position, number in enumerate(grouped, start=1)
        ],
    )
    db.flush()
    return batch


def load_batches_from_search(db: Session) -> set[int]:
    """Return the ids of batches whose questions were found by a search. They are not random samples."""
    statement = select(AppliedRuleRow.batch_id).where(AppliedRuleRow.batch_id.is_not(None))
    return {batch_id for batch_id in db.execute(statement).scalars() if batch_id is not None}


def _count_tiers(db: Session, questions: Sequence[int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for start in range(0, len(questions), _CHUNK):
        statement = select(QuestionRow.difficulty).where(
            QuestionRow.id.in_(questions[start : start + _CHUNK])
        )
        for tier in db.execute(statement).scalars():
            counts[tier or ""] = counts.get(tier or "", 0) + 1
    return {
        tier_name: counts[tier_name]
        for tier_name in (*(str(difficulty) for difficulty in Difficulty), "")
        if tier_name in counts
    }


def _iterate_exam_row_ids(db: Session, questions: Sequence[int]) -> Iterable[tuple[int, int]]:
    for start in range(0, len(questions), _CHUNK):
        statement = select(QuestionRow.id, QuestionRow.exam_id).where(
            QuestionRow.id.in_(questions[start : start + _CHUNK])
        )
        yield from ((row[0], row[1]) for row in db.execute(statement))
