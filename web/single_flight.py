"""Single flight: simultaneous requests for the same result share one computation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Shares running work by key. Work is completed even if all waiting requests are cancelled."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the work that is running for ``key``; if none is running, start ``work``.

        An error of the work is raised in every request that waits for it.
        """
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.ensure_future(work())
            task.add_done_callback(lambda finished: self._finish(key, finished))
        return await asyncio.shield(task)

    def _finish(self, key: Hashable, task: asyncio.Task[T]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # marks the error as retrieved, in case no request waits for it
