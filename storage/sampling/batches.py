"""Storage of batches and their questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Function, bindparam, case, func, select
from sqlmodel import Session

from domain.batches import (
    DEFAULT_ANCHORS,
    AssignmentState,
    Batch,
    BatchSettings,
    BatchState,
    ExamBalance,
    FormScope,
    Mode,
    RiskDesign,
    RiskSource,
    SamplingPlan,
)
from domain.checks import Check
from domain.errors import NotFound
from domain.vocabulary import Difficulty
from records.values import from_json, to_json
from storage.rows.batches import AssignmentRow, BatchQuestionRow, BatchRow
from storage.rows.datasets import QuestionRow
from storage.sampling.exclude_copies import exclude_practice_sets
from storage.types import AnySelect

#: Built once, because every verdict executes it several times.
_SELECT_BATCH = select(*BatchRow.__table__.columns).where(BatchRow.id == bindparam("batch_id"))
_BLOCK = 10_000  # rows in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchQuestion:
    """One question in the list of a batch.

    ``state`` combines the states of all its assignments: "unassigned" if there are none, "open" if any
    assignment is open, "skipped" if none is open and any is skipped, and "done" if everybody to whom it is
    assigned has judged it. ``number`` is the question's database id, ``key`` its id in the imported file.
    """

    number: int
    key: str
    stratum: str
    inclusion_probability: float
    state: str


def find_batch(db: Session, *, name: str, lock: bool = False) -> Batch | None:
    """Return the batch or practice set with that name; None if there is none.

    With ``lock`` concurrent draws of the batch wait.
    """
    return _find_first(db, select(BatchRow).where(BatchRow.name == name), lock)


def is_practice_set(db: Session, *, batch_id: int) -> bool:
    """Return whether the batch is a practice set."""
    statement = select(BatchRow.id).where(BatchRow.id == batch_id, exclude_practice_sets())
    return db.execute(statement).first() is None


def load_batch(
    db: Session, *, name: str | None = None, batch_id: int | None = None, lock: bool = False
) -> Batch:
    """Return the batch with that name or id. A practice set can be loaded only by its id.

    Raises:
        NotFound: there is none. For a name, the message lists the existing batches, because only coordinators
            load by name. For an id it does not, because the caller may be a reviewer.
    """
    if (name is None) == (batch_id is None):
        raise ValueError("give either the name or the id of the batch")
    if batch_id is not None and not lock:
        row = db.execute(_SELECT_BATCH, {"batch_id": batch_id}).first()
        batch = None if row is None else batch_from_row(row)
    else:
        statement = (
            select(BatchRow).where(BatchRow.name == name, exclude_practice_sets())
            if name is not None
            else select(BatchRow).where(BatchRow.id == batch_id)
        )
        batch = _find_first(db, statement, lock)
    if batch is None:
        if name is None:
            raise NotFound(f"There is no batch number {batch_id}.")
        if find_batch(db, name=name) is not None:
            raise NotFound(
                f"{name!r} is a practice set, not a batch. Practice sets are on the page Batches, under "
                "Practice, and in cli.py practice."
            )
        raise NotFound(f"There is no batch {name!r}. Existing batches: {_format_names(db)}.")
    return batch


def list_batches(db: Session, *, dataset_id: int | None = None) -> list[Batch]:
    """Return all batches, or those of one dataset, the oldest first. Practice sets are not listed."""
    statement = select(BatchRow).where(exclude_practice_sets()).order_by(BatchRow.id)
    if dataset_id is not None:
        statement = statement.where(BatchRow.dataset_id == dataset_id)
    return [batch_from_row(row) for row in db.execute(statement).scalars()]


def load_batch_sizes(db: Session) -> dict[int, int]:
    """Return the number of questions of each batch, by batch id."""
    statement = select(BatchQuestionRow.batch_id, func.count()).group_by(BatchQuestionRow.batch_id)
    return {row[0]: row[1] for row in db.execute(statement)}


def add_batch(
    db: Session,
    *,
    name: str,
    dataset_id: int,
    plan: SamplingPlan,
    settings: BatchSettings,
    by: int | None,
    now: datetime,
) -> Batch:
    """Add an open batch without questions."""
    row = BatchRow(
        name=name,
        dataset_id=dataset_id,
        seed=plan.seed,
        plan=to_json(plan_to_dict(plan)),
        **_settings_columns(settings),
        state=BatchState.OPEN.value,
        created_by=by,
        created_at=now,
    )
    db.add(row)
    db.flush()
    return batch_from_row(row)


def save_settings(
    db: Session, *, batch_id: int, settings: BatchSettings, by: int | None, now: datetime
) -> Batch:
    """Store new settings with the next revision.

    The caller must have locked the batch and compared its revision.
    """
    row = db.get_one(BatchRow, batch_id)
    for name, value in _settings_columns(settings).items():
        setattr(row, name, value)
    return _increment_revision(db, row, by=by, now=now)


def save_state(db: Session, *, batch_id: int, state: BatchState, by: int | None, now: datetime) -> Batch:
    """Close or open the batch, with the next revision."""
    row = db.get_one(BatchRow, batch_id)
    row.state = state.value
    return _increment_revision(db, row, by=by, now=now)


def iterate_batch_questions(db: Session, *, batch_id: int) -> Iterator[BatchQuestion]:
    """Yield the questions of a batch by position."""
    assignment_counts = (
        select(
            AssignmentRow.question_id,
            func.count().label("people"),
            _count_state(AssignmentState.OPEN).label("open"),
            _count_state(AssignmentState.SKIPPED).label("skipped"),
        )
        .where(AssignmentRow.batch_id == batch_id, AssignmentRow.state != AssignmentState.WITHDRAWN.value)
        .group_by(AssignmentRow.question_id)
        .subquery()
    )
    statement = (
        select(
            BatchQuestionRow.question_id,
            QuestionRow.key,
            BatchQuestionRow.stratum,
            BatchQuestionRow.inclusion_probability,
            assignment_counts.c.people,
            assignment_counts.c.open,
            assignment_counts.c.skipped,
        )
        .join(QuestionRow, QuestionRow.id == BatchQuestionRow.question_id)
        .outerjoin(assignment_counts, assignment_counts.c.question_id == BatchQuestionRow.question_id)
        .where(BatchQuestionRow.batch_id == batch_id)
        .order_by(BatchQuestionRow.position)
    )
    for row in db.execute(statement, execution_options={"yield_per": _BLOCK}):
        yield BatchQuestion(
            number=row.question_id,
            key=row.key,
            stratum=row.stratum,
            inclusion_probability=row.inclusion_probability,
            state=_combine_states(row.people, row.open, row.skipped),
        )


def _count_state(state: AssignmentState) -> Function[int]:
    return func.sum(case((AssignmentRow.state == state.value, 1), else_=0))


def _combine_states(people: int | None, still_open: int | None, skipped: int | None) -> str:
    if not people:
        return "unassigned"
    if still_open:
        return AssignmentState.OPEN.value
    return AssignmentState.SKIPPED.value if skipped else AssignmentState.DONE.value


def plan_to_dict(plan: SamplingPlan) -> dict[str, Any]:
    """Return the plan as plain JSON values. Two draws have the same plan if these values are equal."""
    return {
        "seed": plan.seed,
        "per_1000": plan.per_1000,
        "n": plan.n,
        "shares": {str(tier or "none"): plan.share(tier) for tier in (*Difficulty, None)},
        "strata": list(plan.strata),
        **({"names": {name: dict(values) for name, values in plan.names.items()}} if plan.names else {}),
        **({"not_drawn": True} if plan.exclude_drawn else {}),
        **({"checks": sorted(check.value for check in plan.checks)} if plan.checks else {}),
        **(
            {"balance": {"exams": plan.balance.exams, "healthy_share": plan.balance.healthy_share}}
            if plan.balance
            else {}
        ),
        **(
            {
                "risk": {
                    "uniform_share": plan.risk.uniform_share,
                    "weights": {source.value: float(weight) for source, weight in plan.risk.weights.items()},
                }
            }
            if plan.risk
            else {}
        ),
    }


def plan_from_dict(plain: dict[str, Any]) -> SamplingPlan:
    """Return the plan that :func:`plan_to_dict` converted."""
    shares = plain["shares"].items()
    return SamplingPlan(
        seed=plain["seed"],
        per_1000=plain["per_1000"],
        n=plain["n"],
        shares={None if tier == "none" else Difficulty(tier): share for tier, share in shares},
        strata=tuple(plain["strata"]),
        names=plain.get("names", {}),
        exclude_drawn=plain.get("not_drawn", False),
        checks=tuple(Check(check) for check in plain.get("checks", ())),
        balance=ExamBalance(**plain["balance"]) if "balance" in plain else None,
        risk=_risk_from_plain(plain["risk"]) if "risk" in plain else None,
    )


def _risk_from_plain(plain: dict[str, Any]) -> RiskDesign:
    return RiskDesign(
        uniform_share=plain["uniform_share"],
        weights={RiskSource(name): weight for name, weight in plain["weights"].items()},
    )


def _settings_columns(settings: BatchSettings) -> dict[str, Any]:
    return {
        "mode": settings.mode.value,
        "parts": settings.parts.value,
        "show_report": settings.show_report,
        "one_key_accept": settings.one_key_accept,
        "guideline": settings.guideline,
        "anchors": to_json({name: list(texts) for name, texts in settings.anchors.items()}),
    }


def _increment_revision(db: Session, row: BatchRow, *, by: int | None, now: datetime) -> Batch:
    row.revision += 1
    row.changed_by, row.changed_at = by, now
    db.flush()
    return batch_from_row(row)


def _find_first(db: Session, statement: AnySelect, lock: bool) -> Batch | None:
    row = db.execute(statement.with_for_update() if lock else statement).scalars().first()
    return None if row is None else batch_from_row(row)


def _format_names(db: Session) -> str:
    names: Sequence[str] = (
        db.execute(select(BatchRow.name).where(exclude_practice_sets()).order_by(BatchRow.id).limit(20))
        .scalars()
        .all()
    )
    return ", ".join(names) or "none yet; draw one first"


def batch_from_row(row: Any) -> Batch:  # noqa: ANN401 - a BatchRow, or a result row with its columns
    """Return the batch from a row that has all columns of the table."""
    anchors = from_json(row.anchors)
    return Batch(
        id=row.id or 0,
        name=row.name,
        dataset_id=row.dataset_id,
        plan=plan_from_dict(from_json(row.plan)),
        settings=BatchSettings(
            mode=Mode(row.mode),
            parts=FormScope(row.parts),
            show_report=row.show_report,
            one_key_accept=row.one_key_accept,
            guideline=row.guideline,
            # Ratings that were introduced after the batch was drawn have their default anchors.
            anchors={**DEFAULT_ANCHORS, **{name: tuple(texts) for name, texts in anchors.items()}},
        ),
        state=BatchState(row.state),
        revision=row.revision,
        created_at=row.created_at,
    )
