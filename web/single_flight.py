"""Single flight: several simultaneous requests for the same result share one computation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Shares running work by key. Work is completed even if all requests that wait for it are cancelled."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """The result, or the error, of the work for that key: the running one, or otherwise of ``work``."""
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.ensure_future(work())
            task.add_done_callback(lambda finished: self._finish(key, finished))
        return await asyncio.shield(task)

    def _finish(self, key: Hashable, task: asyncio.Task[T]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # marks the error as retrieved, in case no request waits for it
