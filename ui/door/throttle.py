"""A growing wait after wrong passwords, per name, in this process's memory.

In memory on purpose: a wrong guess then costs no write, and a restart forgives. With several processes
each counts for itself; argon2's own cost bounds what that is worth to a guesser.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

from domain.errors import Refused

#: Wrong passwords in a row before the first wait.
FREE = 5
#: The longest wait; longer ones would let anybody keep somebody else out by guessing.
LONGEST = timedelta(minutes=1)
_FORGOTTEN_AFTER = timedelta(hours=1)
_NAMES_AT_MOST = 10_000


class TooManyWrong(Refused):
    """Wrong passwords came too fast; the text says how long to wait."""


class Throttle:
    """Counts wrong passwords by name: after five in a row each further one doubles the wait, 2 s to 60 s."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong: OrderedDict[str, tuple[int, datetime]] = OrderedDict()

    def check(self, name: str, *, now: datetime) -> None:
        """Let an attempt through.

        Raises:
            TooManyWrong: the wait after the last wrong one is not over.
        """
        with self._lock:
            count, last = self._wrong.get(_key(name), (0, now))
        wait = last + _wait(count) - now
        if wait > timedelta(0):
            seconds = int(wait.total_seconds()) + 1
            raise TooManyWrong(f"Too many wrong passwords for this name. Try again in {seconds} seconds.")

    def wrong(self, name: str, *, now: datetime) -> None:
        """Count one wrong password."""
        with self._lock:
            count, last = self._wrong.pop(_key(name), (0, now))
            fresh = now - last > _FORGOTTEN_AFTER
            self._wrong[_key(name)] = (1 if fresh else count + 1, now)
            while len(self._wrong) > _NAMES_AT_MOST:
                self._wrong.popitem(last=False)

    def right(self, name: str) -> None:
        """Forget the wrong ones."""
        with self._lock:
            self._wrong.pop(_key(name), None)


def _wait(count: int) -> timedelta:
    return min(LONGEST, timedelta(seconds=2 ** min(count - FREE + 1, 10))) if count >= FREE else timedelta(0)


def _key(name: str) -> str:
    return name.strip().lower()[:64]
