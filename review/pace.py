"""The pace of a batch, and its expected end at that pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

#: The number of latest first verdicts that the pace is computed from; with fewer than ``ENOUGH`` there is
#: none.
WINDOW, ENOUGH = 50, 5

RULE = (
    f"Finish at this pace: what is left, at the rate of the last {WINDOW} questions judged, counted up to "
    "now with nights and pauses in between. A batch is finished when the slowest of its reviewers is. "
    "Weekends, holidays and people who start later are not foreseen. "
    f"Fewer than {ENOUGH} verdicts give no pace."
)
_FARTHEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The expected end; ``at`` is None if it can't be computed, and ``note`` gives the reason."""

    at: datetime | None
    note: str = ""


def finish(given_at: Sequence[datetime], *, left: int, now: datetime) -> Finish:
    """Compute when ``left`` more questions will be judged at the current pace.

    Args:
        given_at: times of the first verdicts, in any order.
        left: number of open judgements, 0 or more.
        now: the end of the time that the pace is computed over, so a pause slows it down.
    """
    if left == 0:
        return Finish(at=None, note="nothing left")
    latest = sorted(given_at)[-WINDOW:]
    if len(latest) < ENOUGH:
        return Finish(at=None, note="not enough verdicts yet")
    # The window starts at its first verdict, so only the others count as judged in it.
    spent = now - latest[0]
    if spent <= timedelta(0):
        return Finish(at=None, note="not enough verdicts yet")
    wait = spent / (len(latest) - 1) * left
    if wait > _FARTHEST:
        return Finish(at=None, note="more than ten years at this pace")
    return Finish(at=now + wait)
