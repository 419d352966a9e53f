"""Estimates when a batch will be finished at its current pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

#: The pace is computed from at most ``WINDOW`` latest first verdicts. With fewer than ``MIN_VERDICTS`` there
#: is no pace.
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
    """The expected finish.

    If it cannot be computed, ``expected_at`` is None and ``note`` gives the reason.
    """

    expected_at: datetime | None
    note: str = ""


def estimate_finish(verdict_times: Sequence[datetime], *, left: int, now: datetime) -> ExpectedFinish:
    """Estimate when ``left`` more judgements will be given at the current pace.

    Args:
        verdict_times: the times of the first verdicts, in any order.
        left: the number of open judgements, 0 or more.
        now: the current time, which ends the period of the pace; a pause therefore reduces the pace.
    """
    if left == 0:
        return ExpectedFinish(expected_at=None, note="nothing left")
    latest_times = sorted(verdict_times)[-WINDOW:]
    if len(latest_times) < MIN_VERDICTS:
        return ExpectedFinish(expected_at=None, note="not enough verdicts yet")
    # The period starts at the first of these verdicts, so it contains only the work on the later ones.
    elapsed = now - latest_times[0]
    if elapsed <= timedelta(0):
        return ExpectedFinish(expected_at=None, note="not enough verdicts yet")
    time_left = elapsed / (len(latest_times) - 1) * left
    if time_left > _MAX_WAIT:
        return ExpectedFinish(expected_at=None, note="more than ten years at this pace")
    return ExpectedFinish(expected_at=now + time_left)
