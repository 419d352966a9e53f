"""Makes the calls of a run over HTTP: many at a time, with retries, until no request is left.

The event loop of one thread makes the calls. Another thread exchanges finished calls for new requests with
the database: everything that finished meanwhile is stored in one transaction. A call counts as made once it
is stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from zlib import crc32

from domain.errors import NotNow
from domain.language_models import PAUSING_FAILURES, RETRIED_FAILURES, Call, FailureKind, Usage
from language_models.client import CallFailed, ModelClient
from language_models.concurrency import ConcurrencyLimit
from language_models.replies import Reply, read_reply
from language_models.requests import Body, ImageReference, add_repair, build_wire_body, find_schema

_LOG = logging.getLogger(__name__)
#: Most attempts of a call that fails with one of RETRIED_FAILURES; a timeout is expensive and has fewer.
MAX_ATTEMPTS, MAX_TIMEOUTS = 6, 2
#: Seconds before the second attempt. Each further pause is twice as long, up to the longest pause.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
#: The run is paused after this many calls in a row with RETRIED_FAILURES, each after all its attempts.
MAX_FAILURES_IN_A_ROW = 5
#: Seconds between attempts to store finished calls, which are paid for, while the database does not answer.
STORE_PAUSES = (1.0, 5.0, 15.0)
#: Seconds between two checks if nothing finishes, and seconds that running calls get after a request to stop.
_IDLE_SECONDS, _STOP_SECONDS = 0.5, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRequest:
    """A request that this process holds. ``faulty_reply`` and ``error`` are of the reply to be corrected."""

    position: int
    key: str
    body: Body
    round: int
    faulty_reply: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCall:
    """A call and the request that it answers. ``gives_back``: the request may be claimed again."""

    request: ClaimedRequest
    call: Call
    gives_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an exchange with the database returns.

    Attributes:
        requests: the newly claimed requests.
        is_over: whether this process gets no further request.
        is_halted: whether the run is paused or cancelled, so that claimed requests are given back too.
    """

    requests: tuple[ClaimedRequest, ...]
    is_over: bool = False
    is_halted: bool = False


class WorkQueue(Protocol):
    """The requests of a run in the database."""

    run_id: int

    def exchange(
        self, *, finished: Sequence[FinishedCall], held: Sequence[int], wanted: int, now: datetime
    ) -> Claim:
        """Store finished calls, renew the leases of held requests, and claim up to ``wanted`` more."""

    def give_back(self, positions: Sequence[int]) -> None:
        """End the leases of requests that were not called."""

    def pause(self, reason: str) -> None:
        """Pause the run for all processes."""

    def cost_nanos(self, usage: Usage) -> tuple[int | None, str]:
        """The cost of a call, and where the price is from."""

    def find_image(self, image: ImageReference) -> str:
        """The data address of a radiograph."""


class HttpDriver:
    """Drives one run in one process.

    Args:
        work: the requests.
        client: the client of the run's endpoint.
        clock: returns the current time.
        report: called with the number of finished calls of this process, often.
        should_stop: whether the process is asked to stop; running calls are still stored.
        most: the largest number of calls; None for no limit.
    """

    def __init__(
        self,
        work: WorkQueue,
        client: ModelClient,
        *,
        clock: Callable[[], datetime],
        report: Callable[[int], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
        most: int | None = None,
    ) -> None:
        self._work, self._client, self._clock = work, client, clock
        self._report, self._should_stop, self._most = report, should_stop, most
        self._limit = ConcurrencyLimit(client.endpoint.max_parallel)
        self._waiting: deque[ClaimedRequest] = deque()
        self._tasks: dict[asyncio.Task[FinishedCall | None], ClaimedRequest] = {}
        self._finished: list[FinishedCall] = []
        self._positions_to_give_back: list[int] = []
        self._wake = asyncio.Event()
        self._resume_at = 0.0  # no call starts before, on time.monotonic()
        self._failures_in_a_row = 0
        self._call_count = self._claimed_count = 0
        self._is_over = self._is_stopping = self._was_last_claim_empty = False

    async def run(self) -> int:
        """Make calls until none is left for this process. Returns the number of calls.

        Raises:
            NotNow: the database does not answer, after several attempts; what was not stored is called again
                later.
        """
        exchange: asyncio.Task[Claim] | None = None
        last_exchange = 0.0
        stop_at = float("inf")
        try:
            while True:
                if not self._is_stopping and self._should_stop():
                    self._is_stopping, stop_at = True, time.monotonic() + _STOP_SECONDS
                self._start_calls()
                if exchange is None and self._needs_exchange(last_exchange):
                    last_exchange = time.monotonic()
                    exchange = self._start_exchange()
                elif exchange is not None and exchange.done():
                    self._apply_claim(exchange.result())
                    exchange = None
                    continue
                if time.monotonic() >= stop_at:
                    break
                if exchange is None and not self._tasks and not self._finished and self._has_nothing_to_do():
                    return self._call_count
                self._wake.clear()
                try:
                    await asyncio.wait_for(self._wake.wait(), _IDLE_SECONDS)
                except TimeoutError:
                    continue
            return self._call_count
        finally:
            await self._abandon(exchange)

    def _has_nothing_to_do(self) -> bool:
        return self._is_stopping or (self._is_over and not self._waiting)

    def _start_calls(self) -> None:
        if self._is_stopping:
            return
        while self._waiting and len(self._tasks) < self._limit.value and time.monotonic() >= self._resume_at:
            request = self._waiting.popleft()
            task = asyncio.create_task(self._call(request))
            self._tasks[task] = request
            task.add_done_callback(self._collect_result)

    def _collect_result(self, task: asyncio.Task[FinishedCall | None]) -> None:
        request = self._tasks.pop(task)
        self._wake.set()
        if task.cancelled():
            self._positions_to_give_back.append(request.position)
            return
        finished = task.result()
        if finished is None:
            self._positions_to_give_back.append(request.position)
            return
        self._finished.append(finished)
        self._call_count += 1

    def _needs_exchange(self, last: float) -> bool:
        if self._finished:
            return True
        pause = 10 * _IDLE_SECONDS  # often enough to renew leases and to notice that the run is paused
        if self._count_wanted() > self._limit.value:
            pause = _IDLE_SECONDS if self._was_last_claim_empty else 0.0
        return time.monotonic() - last >= pause

    def _count_wanted(self) -> int:
        """Return how many requests to claim, so that calls can start while the database is busy."""
        if self._is_stopping or self._is_over:
            return 0
        wanted = 2 * self._limit.value + 8 - len(self._waiting) - len(self._tasks)
        return max(0, wanted if self._most is None else min(wanted, self._most - self._claimed_count))

    def _start_exchange(self) -> asyncio.Task[Claim]:
        finished, self._finished = self._finished, []
        held = [request.position for request in (*self._waiting, *self._tasks.values())]
        wanted = self._count_wanted()

        def exchange_with_retries() -> Claim:
            for pause in STORE_PAUSES:
                try:
                    return self._work.exchange(finished=finished, held=held, wanted=wanted, now=self._clock())
                except NotNow as error:
                    _LOG.warning(
                        "%d calls are not stored yet, next attempt in %g s: %s",
                        len(finished), pause, error,
                    )  # fmt: skip
                    time.sleep(pause)
            return self._work.exchange(finished=finished, held=held, wanted=wanted, now=self._clock())

        task = asyncio.create_task(asyncio.to_thread(exchange_with_retries))
        task.add_done_callback(lambda _: self._wake.set())
        return task

    def _apply_claim(self, claim: Claim) -> None:
        self._waiting.extend(claim.requests)
        self._claimed_count += len(claim.requests)
        self._was_last_claim_empty = not claim.requests
        if claim.is_halted:
            self._positions_to_give_back.extend(request.position for request in self._waiting)
            self._waiting.clear()
        self._is_over = claim.is_over or (self._most is not None and self._claimed_count >= self._most)
        self._report(self._call_count)

    async def _abandon(self, exchange: asyncio.Task[Claim] | None) -> None:
        """Cancel running calls, store finished ones, and give the other requests back."""
        if exchange is not None:
            result = (await asyncio.gather(exchange, return_exceptions=True))[0]
            if isinstance(result, Claim):
                self._waiting.extend(result.requests)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # lets the callbacks of the tasks run
        finished, self._finished = self._finished, []
        positions = [*self._positions_to_give_back, *(request.position for request in self._waiting)]
        if finished:
            await asyncio.to_thread(
                self._work.exchange, finished=finished, held=(), wanted=0, now=self._clock()
            )
        if positions:
            await asyncio.to_thread(self._work.give_back, positions)

    async def _call(self, request: ClaimedRequest) -> FinishedCall | None:
        """Call until there is an outcome; return None if the process is asked to stop first."""
        body = request.body
        if request.round:
            body = add_repair(body, reply=request.faulty_reply, error=request.error)
        wire_body = (
            await asyncio.to_thread(
                build_wire_body, body, model=self._client.endpoint.model, find_image=self._work.find_image
            )
            if _has_images(body)
            else build_wire_body(body, model=self._client.endpoint.model, find_image=self._work.find_image)
        )
        attempts = 0
        while True:
            attempts += 1
            failure: CallFailed | None = None
            try:
                response = await self._client.send(wire_body)
                reply = self._read(request, response.raw)
                if reply.failure is FailureKind.BAD_RESPONSE:
                    failure = CallFailed(
                        reply.failure, reply.error, raw=response.raw, seconds=response.seconds
                    )
                else:
                    self._failures_in_a_row = 0
                    self._limit.record_success(response.seconds)
                    return self._finish(
                        request, reply, raw=response.raw, seconds=response.seconds, attempts=attempts
                    )
            except CallFailed as error:
                failure = error
            pause = self._choose_pause(request, failure, attempts)
            if pause is None:
                return await self._give_up(request, failure, attempts)
            if not await self._wait(pause):
                return None

    def _choose_pause(self, request: ClaimedRequest, failure: CallFailed, attempts: int) -> float | None:
        """Return the seconds until the next attempt; None if there is none."""
        if failure.kind is FailureKind.RATE_LIMIT:
            self._limit.record_rate_limit()
        max_attempts = MAX_TIMEOUTS if failure.kind is FailureKind.TIMEOUT else MAX_ATTEMPTS
        if failure.kind not in RETRIED_FAILURES or not failure.is_retryable or attempts >= max_attempts:
            return None
        # The pause differs between requests, so that they do not all return at the same moment.
        spread = 0.5 + (crc32(f"{request.key}{attempts}".encode()) % 1000) / 1000
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempts - 1)) * spread
        if failure.retry_after is not None:
            self._resume_at = max(self._resume_at, time.monotonic() + failure.retry_after)
            return failure.retry_after + min(pause, 1.0)
        return pause

    async def _wait(self, seconds: float) -> bool:
        """Wait; return False if the process was asked to stop meanwhile."""
        end = time.monotonic() + seconds
        while (remaining := end - time.monotonic()) > 0:
            if self._is_stopping:
                return False
            await asyncio.sleep(min(remaining, _IDLE_SECONDS))
        return True

    async def _give_up(self, request: ClaimedRequest, failure: CallFailed, attempts: int) -> FinishedCall:
        reply = Reply(output=None, content="", failure=failure.kind, error=failure.error)
        pauses_run = failure.kind in PAUSING_FAILURES
        if failure.kind in RETRIED_FAILURES:
            self._failures_in_a_row += 1
        if pauses_run or self._failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            reason = f"{failure.kind.value}: {failure.error}"
            _LOG.warning("run %s is paused: %s", self._work.run_id, failure.kind.value)
            await asyncio.to_thread(self._work.pause, reason)
        else:
            self._failures_in_a_row = self._failures_in_a_row if failure.kind in RETRIED_FAILURES else 0
        return self._finish(
            request, reply, raw=failure.raw, seconds=failure.seconds, attempts=attempts, gives_back=pauses_run
        )

    def _read(self, request: ClaimedRequest, raw: str) -> Reply:
        endpoint = self._client.endpoint
        names = tuple(name for name in (endpoint.model, endpoint.reported_model) if name)
        return read_reply(raw, schema=find_schema(request.body), expected_models=names)

    def _finish(
        self,
        request: ClaimedRequest,
        reply: Reply,
        *,
        raw: str,
        seconds: float,
        attempts: int,
        gives_back: bool = False,
    ) -> FinishedCall:
        cost, source = self._work.cost_nanos(reply.usage)
        call = Call(
            key=request.key,
            run_id=self._work.run_id,
            position=request.position,
            endpoint_id=self._client.endpoint.id,
            round=request.round,
            failure=reply.failure,
            error=reply.error,
            raw=raw,
            model=reply.model,
            fingerprint=reply.fingerprint,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            cost_nanos=cost,
            price_source=source,
            attempts=attempts,
            seconds=seconds,
            called_at=self._clock(),
        )
        return FinishedCall(request=request, call=call, gives_back=gives_back)


def _has_images(body: Body) -> bool:
    return any(not isinstance(message["content"], str) for message in body["messages"])
