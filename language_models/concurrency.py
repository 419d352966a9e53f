"""Limits the number of concurrent calls: raised after successes, lowered after refusals or slow replies."""

from __future__ import annotations

from statistics import median

#: Successes after which the limit is raised by one.
_SUCCESSES_PER_STEP = 25
_AFTER_RATE_LIMIT, _AFTER_SLOW_REPLIES = 0.75, 0.9
#: Replies are slow if their median time is this many times the lowest median so far.
_SLOW_FACTOR = 3.0
_INITIAL_LIMIT = 8


class ConcurrencyLimit:
    """Additive increase, multiplicative decrease.

    A rate limit (429) multiplies the limit by 0.75. Refusals of calls that were already running do not lower
    it again. Latency is a second signal, because a vLLM server queues calls instead of refusing them.

    Args:
        maximum: the highest limit.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._value = float(min(_INITIAL_LIMIT, maximum))
        self._successes = 0
        self._seconds: list[float] = []
        self._lowest_median: float | None = None
        self._refusals_to_ignore = 0

    @property
    def value(self) -> int:
        """The number of calls that may be made at a time, at least 1."""
        return max(1, int(self._value))

    def record_success(self, seconds: float) -> None:
        """Count a call that was answered after ``seconds``."""
        self._successes += 1
        self._seconds.append(seconds)
        self._refusals_to_ignore = max(0, self._refusals_to_ignore - 1)
        if self._successes % _SUCCESSES_PER_STEP:
            return
        median_seconds, self._seconds = median(self._seconds), []
        if self._lowest_median is not None and median_seconds > _SLOW_FACTOR * self._lowest_median:
            self._value = max(1.0, self._value * _AFTER_SLOW_REPLIES)
            return
        self._lowest_median = (
            median_seconds if self._lowest_median is None else min(self._lowest_median, median_seconds)
        )
        self._value = min(float(self._maximum), self._value + 1)

    def record_rate_limit(self) -> None:
        """Count a refusal because of too many calls."""
        if self._refusals_to_ignore:  # the call was already running when the limit was lowered
            self._refusals_to_ignore -= 1
            return
        self._refusals_to_ignore = self.value
        self._value = max(1.0, self._value * _AFTER_RATE_LIMIT)
