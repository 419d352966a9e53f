"""Storage of the time spent on each question so far, as measured by the browser."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from storage.rows.verdicts import ViewingTimeRow


def save_viewing_times(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    person_id: int,
    seconds: float,
    seconds_looking: float,
    seconds_away: float,
    now: datetime,
) -> None:
    """Store the times, which :class:`domain.verdicts.Verdict` defines.

    The larger of the stored and the new time is kept, because requests may arrive out of order.
    """
    row = db.get(ViewingTimeRow, (batch_id, question_id, person_id))
    if row is None:
        row = ViewingTimeRow(
            batch_id=batch_id,
            question_id=question_id,
            person_id=person_id,
            first_opened_at=now,
            changed_at=now,
        )
    row.seconds = max(row.seconds, seconds)
    row.seconds_looking = max(row.seconds_looking, seconds_looking)
    row.seconds_away = max(row.seconds_away, seconds_away)
    row.changed_at = now
    db.add(row)
    db.flush()
