"""Thread limits for each kind of work: a kind that hangs does not block the others.

Files, statistics and Streamlit's own routes have no limit here and use the server's default limit.
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
    """Runs blocking calls in at most ``threads`` threads; further calls wait."""

    def __init__(self, threads: int, *, queue: int | None = None) -> None:
        """``queue`` is the maximum number of waiting calls; None sets no limit, for calls that are short."""
        self.threads, self.queue = threads, queue
        self._limiter = CapacityLimiter(threads)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` in a thread and return its result.

        Raises:
            NotNow: the queue is full.
        """
        if self.queue is not None and self._limiter.statistics().tasks_waiting >= self.queue:
            raise NotNow("Too many radiographs are being loaded at the moment. Try again in a few seconds.")
        return await to_thread.run_sync(partial(work, *args, **kwargs), limiter=self._limiter)


#: Lookups of the signed-in person, signing in, and everything that a form saves: short transactions.
SAVES = ThreadLimit(40)
#: Access checks and cache lookups for radiographs: short as well, and without the image store.
PIXEL_LOOKUPS = ThreadLimit(8)
#: Fetching and decoding radiographs that are not in the cache.
PIXEL_FETCHES = ThreadLimit(8, queue=32)
#: Readiness checks and metrics; there are more threads than checks.
READINESS = ThreadLimit(8)
