"""Which checks of a dataset are switched on, and how far each has run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.checks import CHECKS, Check, Need, Settings
from records.values import from_json, to_json
from storage.rows.checks import DatasetCheckRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckState:
    """The state of a check in a dataset.

    Version ``version`` of the check has processed all questions with ids up to ``checked_through`` with
    ``settings``. If the check has not run, they are None, 0 and empty. ``missing_needs`` counts the questions
    that it skipped, by the missing input.
    """

    check: Check
    is_on: bool
    version: int | None = None
    settings: Settings = field(default_factory=dict)
    checked_through: int = 0
    missing_needs: Mapping[Need, int] = field(default_factory=dict)
    checked_at: datetime | None = None


def load_states(db: Session, *, dataset_id: int) -> dict[Check, CheckState]:
    """Return the state of each check, in the order of the declarations; the default where none is stored."""
    rows = {
        row.check_name: row
        for row in db.execute(
            select(DatasetCheckRow).where(DatasetCheckRow.dataset_id == dataset_id)
        ).scalars()
    }
    return {
        check: _state_from_row(check, rows[check.value])
        if check.value in rows
        else CheckState(check=check, is_on=declaration.on_by_default)
        for check, declaration in CHECKS.items()
    }


def save_state(db: Session, *, dataset_id: int, state: CheckState) -> None:
    """Insert or replace the state of a check."""
    save_states(db, dataset_id=dataset_id, states=[state])


def save_states(db: Session, *, dataset_id: int, states: Iterable[CheckState]) -> None:
    """Insert or replace the states of checks."""
    # The rows are referenced, because the session holds them weakly and merge would read each one again.
    rows = db.execute(select(DatasetCheckRow).where(DatasetCheckRow.dataset_id == dataset_id)).scalars().all()
    with db.no_autoflush:  # written together at the end
        for state in states:
            db.merge(
                DatasetCheckRow(
                    dataset_id=dataset_id,
                    check_name=state.check.value,
                    is_on=state.is_on,
                    version=state.version,
                    settings=to_json(dict(state.settings)),
                    checked_through=state.checked_through,
                    missing_needs=to_json({need.value: count for need, count in state.missing_needs.items()}),
                    checked_at=state.checked_at,
                )
            )
    db.flush()
    del rows


def restart_checks(db: Session, *, dataset_id: int, checks: Collection[Check]) -> None:
    """Let the next run of these checks start at the first question. Results are kept until then."""
    states = load_states(db, dataset_id=dataset_id)
    restarted = [
        replace(states[check], checked_through=0, missing_needs={})
        for check in checks
        if states[check].checked_through
    ]
    save_states(db, dataset_id=dataset_id, states=restarted)


def lock_states(db: Session, *, dataset_id: int) -> None:
    """Wait for other transactions that change the states; SQLite has one writer at a time anyway."""
    db.execute(
        select(DatasetCheckRow.check_name).where(DatasetCheckRow.dataset_id == dataset_id).with_for_update()
    )


def _state_from_row(check: Check, row: DatasetCheckRow) -> CheckState:
    return CheckState(
        check=check,
        is_on=row.is_on,
        version=row.version,
        settings=from_json(row.settings),
        checked_through=row.checked_through,
        missing_needs={Need(need): count for need, count in from_json(row.missing_needs).items()},
        checked_at=row.checked_at,
    )
