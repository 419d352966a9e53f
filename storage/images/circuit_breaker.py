"""A circuit breaker: after repeated failures a service is not called for a while, and then tried once.

Without a circuit breaker every caller waits for the full timeout and occupies a thread meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class CircuitOpen(Exception):
    """The service was not called, because its last calls failed. It is tried again after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not called for another {seconds:.0f} s")
        self.seconds = seconds


class CircuitBreaker:
    """Counts consecutive failures. It is thread-safe; calls run concurrently."""

    def __init__(
        self, *, max_failures: int = 3, pause: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """After ``max_failures`` consecutive failures nothing is called for ``pause`` seconds.

        After that, one call per ``pause`` seconds is tried, until one succeeds. A success resets the count.
        """
        self._max_failures, self._pause, self._clock = max_failures, pause, clock
        self._failures, self._next_call_at = 0, 0.0
        self._lock = threading.Lock()

    def call(self, work: Callable[[], T], *, expected_errors: tuple[type[Exception], ...] = ()) -> T:
        """Call ``work`` and raise its errors. ``expected_errors`` count as successes: the service answered.

        Raises:
            CircuitOpen: ``work`` was not called.
        """
        self._check()
        try:
            result = work()
        except expected_errors:
            self._note_success()
            raise
        except BaseException:
            self._note_failure()
            raise
        self._note_success()
        return result

    def _check(self) -> None:
        with self._lock:
            if self._failures < self._max_failures:
                return
            remaining = self._next_call_at - self._clock()
            if remaining > 0:
                raise CircuitOpen(remaining)
            self._next_call_at = self._clock() + self._pause  # this call is the only one until then

    def _note_success(self) -> None:
        with self._lock:
            self._failures = 0

    def _note_failure(self) -> None:
        with self._lock:
            self._failures += 1
            self._next_call_at = self._clock() + self._pause
