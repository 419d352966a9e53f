"""Storage of hidden questions. Each is a separate question in an unlisted dataset, assigned to one person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update
from sqlmodel import Session

from domain.hidden import HiddenKind, HiddenPlan, HiddenQuestion, PlantedFault
from domain.questions import Question
from records.values import from_json, to_json
from storage.intake.bulk import load_next_row_ids, lock_for_import
from storage.intake.datasets import add_dataset, add_import
from storage.review.assignments import POSITION_GAP
from storage.review.question_copies import copy_question, load_question_columns
from storage.rows.batches import AssignmentRow
from storage.rows.datasets import QuestionRow
from storage.rows.hidden import HiddenQuestionRow, HiddenSetRow

#: The text between the source's key and the id in the key of a hidden question.
HIDDEN_MARK = " (hidden "
#: Built once, because every request of a reviewer executes it.
_ID_MASK = select(HiddenSetRow.id_mask).where(HiddenSetRow.batch_id == bindparam("batch_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSet:
    """The dataset of a batch's hidden questions, the mask of its question ids, and the latest plan."""

    batch_id: int
    dataset_id: int
    import_id: int
    id_mask: int
    plan: HiddenPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionToHide:
    """A question to be hidden, as a copy of its source question.

    ``position`` is its position among the person's assignments; None in a shared queue. ``altered_question``
    is a planted question as the person will see it; None means that the source is not changed.
    """

    person_id: int
    kind: HiddenKind
    source_question_row_id: int
    fault: PlantedFault | None = None
    altered_question: Question | None = None
    position: int | None = None
    min_judged_count: int = 0


def find_id_mask(db: Session, *, batch_id: int) -> int | None:
    """Return the mask of the batch's question ids; None if the batch has no hidden questions."""
    return db.execute(_ID_MASK, {"batch_id": batch_id}).scalar_one_or_none()


def find_hidden_set(db: Session, *, batch_id: int) -> HiddenSet | None:
    """Return the batch's hidden set; None if it never had hidden questions."""
    row = db.get(HiddenSetRow, batch_id)
    if row is None:
        return None
    return HiddenSet(
        batch_id=batch_id,
        dataset_id=row.dataset_id,
        import_id=row.import_id,
        id_mask=row.id_mask,
        plan=_plan_from_plain(from_json(row.plan)),
    )


def count_hidden_by_batch(db: Session) -> dict[int, int]:
    """Return the number of hidden questions by batch. Removed questions are not counted."""
    statement = (
        select(HiddenQuestionRow.batch_id, func.count())
        .where(HiddenQuestionRow.removed_at.is_(None))
        .group_by(HiddenQuestionRow.batch_id)
    )
    return {row[0]: row[1] for row in db.execute(statement)}


def save_hidden_set(
    db: Session, *, batch_id: int, plan: HiddenPlan, id_mask: int, by: int | None, now: datetime
) -> HiddenSet:
    """Store the plan. The first plan also creates the batch's dataset, mask and gaps between positions.

    Later values of ``id_mask`` are ignored, because a masked id must always refer to the same question.
    """
    row = db.get(HiddenSetRow, batch_id)
    if row is None:
        name = f"(hidden questions of batch {batch_id})"
        dataset_id = add_dataset(db, name=name, minimum_explanation=None, now=now)
        import_id = add_import(
            db, dataset_id=dataset_id, file_name=name, file_format="hidden", by=by, now=now
        )
        db.execute(
            update(AssignmentRow)
            .where(AssignmentRow.batch_id == batch_id)
            .values(position=AssignmentRow.position * POSITION_GAP)
        )
        row = HiddenSetRow(
            batch_id=batch_id,
            dataset_id=dataset_id,
            import_id=import_id,
            id_mask=id_mask,
            plan="",
            changed_at=now,
        )
    row.plan, row.changed_at = to_json(plan_to_plain(plan)), now
    db.add(row)
    db.flush()
    return HiddenSet(
        batch_id=batch_id, dataset_id=row.dataset_id, import_id=row.import_id, id_mask=row.id_mask, plan=plan
    )


def add_hidden(
    db: Session, *, hidden: HiddenSet, requests: Sequence[QuestionToHide], now: datetime
) -> tuple[HiddenQuestion, ...]:
    """Add copies of the sources as new questions, and assign those that have a position."""
    if not requests:
        return ()
    lock_for_import(db)
    _, first_id = load_next_row_ids(db)
    sources = load_question_columns(db, {request.source_question_row_id for request in requests})
    questions, hidden_questions = [], []
    for number, request in enumerate(requests, start=first_id):
        questions.append(
            copy_question(
                sources[request.source_question_row_id],
                request.altered_question,
                number=number,
                mark=HIDDEN_MARK,
                dataset_id=hidden.dataset_id,
                import_id=hidden.import_id,
            )
        )
        hidden_questions.append(
            HiddenQuestion(
                question_row_id=number,
                batch_id=hidden.batch_id,
                person_id=request.person_id,
                kind=request.kind,
                fault=request.fault,
                source_question_row_id=request.source_question_row_id,
                min_judged_count=request.min_judged_count,
                hidden_at=now,
            )
        )
    db.execute(insert(QuestionRow), questions)
    db.execute(insert(HiddenQuestionRow), [_hidden_columns(question) for question in hidden_questions])
    for question, request in zip(hidden_questions, requests, strict=True):
        if request.position is not None:
            assign_hidden(db, hidden=question, position=request.position, now=now)
    return tuple(hidden_questions)


def assign_hidden(db: Session, *, hidden: HiddenQuestion, position: int, now: datetime) -> None:
    """Add an open assignment of the hidden question at ``position`` in the person's queue."""
    db.add(
        AssignmentRow(
            batch_id=hidden.batch_id, question_id=hidden.question_row_id, person_id=hidden.person_id,
            position=position, state="open", assigned_at=now, changed_at=now,
        )
    )  # fmt: skip
    db.flush()


def list_hidden_questions(
    db: Session, *, batch_id: int, person_id: int | None = None
) -> tuple[HiddenQuestion, ...]:
    """Return the hidden questions of the batch, or of one person in it, including removed ones, by id."""
    statement = select(HiddenQuestionRow).where(HiddenQuestionRow.batch_id == batch_id)
    if person_id is not None:
        statement = statement.where(HiddenQuestionRow.person_id == person_id)
    return tuple(
        _hidden_from_row(row)
        for row in db.execute(statement.order_by(HiddenQuestionRow.question_id)).scalars()
    )


def list_unassigned_hidden(db: Session, *, batch_id: int, person_id: int) -> tuple[HiddenQuestion, ...]:
    """Return the hidden questions that a shared queue has not assigned to the person yet, in order."""
    is_assigned = (
        select(AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id == batch_id,
            AssignmentRow.person_id == person_id,
            AssignmentRow.question_id == HiddenQuestionRow.question_id,
        )
        .exists()
    )
    statement = (
        select(HiddenQuestionRow)
        .where(
            HiddenQuestionRow.batch_id == batch_id,
            HiddenQuestionRow.person_id == person_id,
            HiddenQuestionRow.removed_at.is_(None),
            ~is_assigned,
        )
        .order_by(HiddenQuestionRow.after, HiddenQuestionRow.question_id)
    )
    return tuple(_hidden_from_row(row) for row in db.execute(statement).scalars())


def remove_hidden(db: Session, *, numbers: Iterable[int], by: int | None, reason: str, now: datetime) -> None:
    """Mark hidden questions as removed, so that they no longer count. Questions and judgements are kept."""
    db.execute(
        update(HiddenQuestionRow)
        .where(HiddenQuestionRow.question_id.in_(list(numbers)))
        .values(removed_at=now, removed_by=by, removed_why=reason)
    )


def plan_to_plain(plan: HiddenPlan) -> dict[str, Any]:
    """Return the plan as the JSON values that are stored."""
    return {
        "repeats": plan.repeat_share,
        "distance": plan.min_distance,
        "planted": plan.planted_count,
        **({"planted_every": plan.planted_every} if plan.planted_every else {}),
        "faults": [fault.value for fault in plan.faults],
        "seed": plan.seed,
    }


def _plan_from_plain(plain: dict[str, Any]) -> HiddenPlan:
    return HiddenPlan(
        repeat_share=plain["repeats"],
        min_distance=plain["distance"],
        planted_count=plain["planted"],
        planted_every=plain.get("planted_every", 0),
        faults=tuple(PlantedFault(fault) for fault in plain["faults"]),
        seed=plain["seed"],
    )


def _hidden_columns(hidden: HiddenQuestion) -> dict[str, Any]:
    return {
        "question_id": hidden.question_row_id,
        "batch_id": hidden.batch_id,
        "person_id": hidden.person_id,
        "kind": hidden.kind.value,
        "fault": hidden.fault and hidden.fault.value,
        "source_id": hidden.source_question_row_id,
        "after": hidden.min_judged_count,
        "hidden_at": hidden.hidden_at,
        "removed_why": "",
    }


def _hidden_from_row(row: HiddenQuestionRow) -> HiddenQuestion:
    return HiddenQuestion(
        question_row_id=row.question_id,
        batch_id=row.batch_id,
        person_id=row.person_id,
        kind=HiddenKind(row.kind),
        fault=PlantedFault(row.fault) if row.fault else None,
        source_question_row_id=row.source_id,
        min_judged_count=row.after,
        hidden_at=row.hidden_at,
        removed_at=row.removed_at,
        removal_reason=row.removed_why,
    )
