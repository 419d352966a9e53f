"""The pace of a batch, and its expected end at that pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

#: The number of latest first verdicts that the pace is computed from; with fewer than ``MIN_VERDICTS`` there
#: is
#: none.
WINDOW, MIN_VERDICTS = 50, 5

PACE_RULE = (
    f"Estimated finish: the remaining judgements at the rate of the last {WINDOW} judged questions, "
    "counted up to now, nights and pauses included. A batch is finished when its slowest reviewer is. "
    "Weekends, holidays and reviewers who start later are not taken into account. "
    f"Fewer than {MIN_VERDICTS} verdicts give no estimate."
)
_MAX_WAIT = timedelta(days=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFinish:
    """The expected end; ``expected_at`` is None if it can't be computed, and ``note`` gives the reason."""

    expected_at: datetime | None
    note: str = ""


def estimate_finish(verdict_times: Sequence[datetime], *, left: int, now: datetime) -> ExpectedFinish:
    """Compute when ``left`` more questions will be judged at the current pace.

    Args:
        verdict_times: times of the first verdicts, in any order.
        left: number of open judgements, 0 or more.
        now: the end of the time that the pace is computed over, so a pause slows it down.
    """
    if left == 0:
        return ExpectedFinish(expected_at=None, note="nothing left")
    latest = sorted(verdict_times)[-WINDOW:]
    if len(latest) < MIN_VERDICTS:
        return ExpectedFinish(expected_at=None, note="not enough verdicts yet")
    # The window starts at its first verdict, so only the others count as judged in it.
    elapsed = now - latest[0]
    if elapsed <= timedelta(0):
        return ExpectedFinish(expected_at=None, note="not enough verdicts yet")
    remaining = elapsed / (len(latest) - 1) * left
    if remaining > _MAX_WAIT:
        return ExpectedFinish(expected_at=None, note="more than ten years at this pace")
    return ExpectedFinish(expected_at=now + remaining)
