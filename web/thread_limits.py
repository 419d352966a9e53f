"""Thread limits: each kind of work has its own, so that one kind that hangs leaves the others their threads.

What has no limit here (files, statistics, Streamlit's own routes) shares the server's default one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from domain.errors import NotNow

P = ParamSpec("P")
T = TypeVar("T")


class ThreadLimit:
    """Runs blocking calls in threads, so many at once; the others wait for their turn."""

    def __init__(self, threads: int, *, queue: int | None = None) -> None:
        """``queue`` is how many may wait; None sets no limit, for calls that are known to be short."""
        self.threads, self.queue = threads, queue
        self._limiter = CapacityLimiter(threads)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``work`` returns or raises.

        Raises:
            NotNow: the queue is full.
        """
        if self.queue is not None and self._limiter.statistics().tasks_waiting >= self.queue:
            raise NotNow("Too many radiographs are being loaded at the moment. Try again in a few seconds.")
        return await to_thread.run_sync(partial(work, *args, **kwargs), limiter=self._limiter)


#: Who asks, signing in, and everything that a form saves: short transactions.
SAVES = ThreadLimit(40)
#: Whether somebody may see a radiograph, and what is in the cache: short too, and never the image store.
PIXEL_LOOKUPS = ThreadLimit(8)
#: Radiographs that are not in the cache: fetched from the image store and decoded.
PIXEL_FETCHES = ThreadLimit(8, queue=32)
#: The readiness checks; more threads than there are checks.
READINESS = ThreadLimit(8)
