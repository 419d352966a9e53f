"""The requests of a run for the drivers. One transaction stores finished calls and claims requests."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import Engine
from sqlmodel import Session

from domain.errors import Refused
from domain.language_models import (
    REPAIR_ROUNDS,
    REPAIRABLE_FAILURES,
    Budget,
    Call,
    ModelRun,
    Price,
    RequestStatus,
    RunStatus,
    Usage,
    format_cost,
)
from imaging.guarded_decoder import GuardedDecoder
from language_models.http_driver import Claim, ClaimedRequest, FinishedCall
from language_models.prices import find_price
from language_models.replies import read_reply
from language_models.requests import ImageFormat, ImageReference, decode_body
from language_models.service.data_use import check_data_use, list_sent_datasets
from storage.images.files import get_image_store
from storage.language_models import calls as ledger
from storage.language_models import requests as request_storage
from storage.language_models import runs
from storage.language_models.prompts import find_prompt
from storage.language_models.requests import StoredRequest
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace

#: After this time another process may claim the requests of a process that has stopped.
LEASE = timedelta(seconds=60)
#: Longest side in pixels of a radiograph that is sent. Providers reduce larger ones themselves.
IMAGE_SIDE = 1024
#: The most tokens of the message that asks for a corrected reply.
_REPAIR_TOKENS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class _RequestSelection:
    """Waiting requests, those without a reply in the ledger, and those that the budget allows."""

    waiting: list[StoredRequest]
    unanswered: list[StoredRequest]
    affordable: list[StoredRequest]
    calls_under_way: int


class RunQueue:
    """The requests of one run for one process.

    Args:
        run: the run.
        worker: a name that is unique among all processes.
        workspace: the workspace that has the radiographs.
        engine: the database; None for the database of the environment.
        lease: how long a claim is valid without renewal.
    """

    def __init__(
        self,
        run: ModelRun,
        *,
        worker: str,
        workspace: Workspace,
        engine: Engine | None = None,
        lease: timedelta = LEASE,
    ) -> None:
        self.run_id = run.id
        self._run, self._worker, self._workspace = run, worker, workspace
        self._engine, self._lease = engine, lease
        self._price = find_price(run.endpoint)
        self._decoder: GuardedDecoder | None = None
        # Successive requests often need the same images. Few are kept: a PNG may have several megabytes.
        self.find_image = lru_cache(maxsize=16)(self._render_image)

    def close(self) -> None:
        """End the processes that decode radiographs."""
        if self._decoder is not None:
            self._decoder.close()

    def exchange(
        self, *, finished: Sequence[FinishedCall], held: Sequence[int], wanted: int, now: datetime
    ) -> Claim:
        """Store finished calls, renew leases, and claim requests. The data use is checked with each claim."""
        with unit_of_work(self._engine) as db:
            run = runs.load_run(db, run_id=self.run_id, lock=True)
            store_finished_calls(db, run=run, finished=finished, worker=self._worker)
            lease_until = now + self._lease
            request_storage.lease_requests(
                db, run_id=run.id, positions=held, worker=self._worker, lease_until=lease_until
            )
            if run.status is not RunStatus.OPEN:
                return Claim(requests=(), is_over=True, is_halted=True)
            if not wanted:
                return Claim(requests=())
            try:
                check_permitted(db, run)
            except Refused as error:
                runs.set_status(db, run_id=run.id, status=RunStatus.PAUSED, reason=str(error))
                return Claim(requests=(), is_over=True, is_halted=True)
            return self._claim(
                db, runs.load_run(db, run_id=run.id), wanted=wanted, lease_until=lease_until, now=now
            )

    def give_back(self, positions: Sequence[int]) -> None:
        """End the leases of requests that were not called."""
        with unit_of_work(self._engine) as db:
            request_storage.return_requests(db, run_id=self.run_id, positions=positions, worker=self._worker)

    def pause(self, reason: str) -> None:
        """Pause the run for all processes, because calls fail."""
        with unit_of_work(self._engine) as db:
            runs.set_status(db, run_id=self.run_id, status=RunStatus.PAUSED, reason=reason)

    def cost_nanos(self, usage: Usage) -> tuple[int | None, str]:
        """The cost of a call in nano-dollars, None if the price is unknown, and where the price is from."""
        if self._price is None:
            return None, ""
        return (
            self._price.cost_nanos(
                prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens
            ),
            self._price.source,
        )

    def claim_for_batch(self, *, wanted: int) -> list[tuple[str, ClaimedRequest]]:
        """Claim waiting requests for a batch file, with their custom ids; empty if there are none.

        Raises:
            Refused: the run is not open, or the dataset does not permit the endpoint.
        """
        with unit_of_work(self._engine) as db:
            run = runs.load_run(db, run_id=self.run_id, lock=True)
            if run.status is not RunStatus.OPEN:
                raise Refused(f"Run {run.name} is {run.status.value}. {run.reason}".strip())
            check_permitted(db, run)
            while True:
                selection = self._select_requests(db, run, wanted=wanted)
                if selection.affordable or not selection.waiting or selection.unanswered:
                    break
            positions = [request.position for request in selection.affordable]
            request_storage.mark_as_in_batch(db, run_id=run.id, positions=positions)
            requests = self._build_claimed_requests(db, selection.affordable)
        return [
            (chosen.custom_id, request)
            for chosen, request in zip(selection.affordable, requests, strict=True)
        ]

    def _claim(
        self, db: Session, run: ModelRun, *, wanted: int, lease_until: datetime, now: datetime
    ) -> Claim:
        request_storage.end_expired_leases(db, run_id=run.id, now=now)
        selection = self._select_requests(db, run, wanted=wanted)
        if selection.unanswered and not selection.affordable and not selection.calls_under_way:
            reason = f"The budget is reached: {describe_budget(run.budget)}."
            runs.set_status(db, run_id=run.id, status=RunStatus.PAUSED, reason=reason)
            return Claim(requests=(), is_over=True, is_halted=True)
        positions = [request.position for request in selection.affordable]
        request_storage.lease_requests(
            db, run_id=run.id, positions=positions, worker=self._worker, lease_until=lease_until
        )
        counts = {} if selection.waiting else request_storage.count_by_status(db, run_id=run.id)
        is_over = not selection.waiting and not counts.get(RequestStatus.LEASED)
        return Claim(requests=self._build_claimed_requests(db, selection.affordable), is_over=is_over)

    def _select_requests(self, db: Session, run: ModelRun, *, wanted: int) -> _RequestSelection:
        """Select waiting requests. Those that have a reply in the ledger are marked as done."""
        waiting = request_storage.list_waiting_requests(db, run_id=run.id, limit=wanted)
        answered = ledger.find_answered_keys(db, keys=[request.key for request in waiting])
        request_storage.finish_requests(db, run_id=run.id, keys=sorted(answered), reused=True)
        unanswered = [request for request in waiting if request.key not in answered]
        calls_under_way, reserved_prompt, reserved_completion = request_storage.sum_reserved(
            db, run_id=run.id
        )
        affordable_count = count_affordable(
            unanswered,
            run=run,
            price=self._price,
            calls_under_way=calls_under_way,
            reserved_prompt=reserved_prompt,
            reserved_completion=reserved_completion,
        )
        return _RequestSelection(
            waiting=waiting,
            unanswered=unanswered,
            affordable=unanswered[:affordable_count],
            calls_under_way=calls_under_way,
        )

    def _build_claimed_requests(
        self, db: Session, claimed: Sequence[StoredRequest]
    ) -> tuple[ClaimedRequest, ...]:
        positions = [request.position for request in claimed if request.repairs]
        faulty = ledger.load_faulty_replies(db, run_id=self.run_id, positions=positions) if positions else {}
        return tuple(_build_claimed_request(request, faulty.get(request.position)) for request in claimed)

    def _render_image(self, image: ImageReference) -> str:
        if self._decoder is None:
            self._decoder = GuardedDecoder(workers=1)
            self._decoder.start()
        name, is_jpeg = image.sha256[:12], image.format is ImageFormat.JPEG
        is_quarter = image.format is ImageFormat.QUARTER_PNG
        with get_image_store(self._workspace).local_file(image.sha256) as path:
            if is_jpeg:
                content = self._decoder.render_jpeg(path, name=name, longest_side=IMAGE_SIDE)
            else:
                pngs = self._decoder.render_png(path, name=name, quarter=is_quarter)
                content = pngs.quarter or pngs.full
        media_type = "image/jpeg" if is_jpeg else "image/png"
        return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def _build_claimed_request(request: StoredRequest, faulty: Call | None) -> ClaimedRequest:
    body = decode_body(request.body)
    if faulty is None:
        return ClaimedRequest(position=request.position, key=request.key, body=body, round=0)
    content = read_reply(faulty.raw, schema=None, expected_models=()).content
    return ClaimedRequest(
        position=request.position,
        key=request.key,
        body=body,
        round=request.repairs,
        faulty_reply=content,
        error=faulty.error,
    )


def check_permitted(db: Session, run: ModelRun) -> None:
    """Check that the datasets of the run and of its prompt's examples still permit its endpoint.

    Raises:
        Refused: a dataset does not permit the endpoint.
    """
    prompt = find_prompt(db, label=run.prompt) if run.prompt is not None else None
    check_data_use(db, datasets=list_sent_datasets(run.dataset, prompt), endpoint=run.endpoint)


def store_finished_calls(
    db: Session, *, run: ModelRun, finished: Sequence[FinishedCall], worker: str | None
) -> None:
    """Append calls to the ledger and update the status of their requests."""
    calls = [finished_call.call for finished_call in finished]
    ledger.append_calls(db, calls=calls)
    runs.add_totals(db, run_id=run.id, calls=calls)
    succeeded = [call.key for call in calls if call.failure is None]
    request_storage.finish_requests(db, run_id=run.id, keys=succeeded, reused=False)
    for finished_call in finished:
        call, failure = finished_call.call, finished_call.call.failure
        if failure is None:
            continue
        if finished_call.gives_back:
            request_storage.return_requests(db, run_id=run.id, positions=[call.position], worker=worker)
        elif failure in REPAIRABLE_FAILURES and call.round < REPAIR_ROUNDS:
            request_storage.await_repair(
                db,
                run_id=run.id,
                position=call.position,
                repairs=call.round + 1,
                more_prompt=len(call.raw.encode()) + _REPAIR_TOKENS,  # a text has no more tokens than bytes
            )
        else:
            request_storage.fail_request(db, run_id=run.id, key=call.key, failure=failure)


def count_affordable(
    waiting: Sequence[StoredRequest],
    *,
    run: ModelRun,
    price: Price | None,
    calls_under_way: int,
    reserved_prompt: int,
    reserved_completion: int,
) -> int:
    """Count the first waiting requests that the budget allows if each takes its maximum number of tokens."""
    budget = run.budget
    if budget == Budget():
        return len(waiting)
    prompt = run.prompt_tokens + reserved_prompt
    completion = run.completion_tokens + reserved_completion
    extra_prompt = reserved_prompt
    extra_completion = reserved_completion
    for number, request in enumerate(waiting):
        prompt, completion = prompt + request.reserve_prompt, completion + request.reserve_completion
        extra_prompt += request.reserve_prompt
        extra_completion += request.reserve_completion
        if budget.max_calls is not None and run.calls + calls_under_way + number + 1 > budget.max_calls:
            return number
        if budget.max_tokens is not None and prompt + completion > budget.max_tokens:
            return number
        if budget.max_cost_nanos is not None and price is not None:
            reserved_cost = price.cost_nanos(prompt_tokens=extra_prompt, completion_tokens=extra_completion)
            if run.cost_nanos + reserved_cost > budget.max_cost_nanos:
                return number
    return len(waiting)


def describe_budget(budget: Budget) -> str:
    """Describe the limits of a run."""
    parts = []
    if budget.max_calls is not None:
        parts.append(f"{budget.max_calls:,} calls")
    if budget.max_tokens is not None:
        parts.append(f"{budget.max_tokens:,} tokens")
    if budget.max_cost_nanos is not None:
        parts.append(format_cost(budget.max_cost_nanos))
    return ", ".join(parts) or "no limit"
