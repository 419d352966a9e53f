"""Services for runs: creation, progress, pausing and cancelling, and replies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.language_models import (
    Budget,
    Call,
    Endpoint,
    FailureKind,
    ModelRun,
    RequestStatus,
    RunProgress,
    RunStatus,
)
from domain.people import Action, Person, require
from language_models.prices import find_price
from language_models.prompts import read_variables
from language_models.replies import read_reply
from language_models.requests import Body, ModelRequest, decode_body, encode_body
from language_models.service.data_use import check_data_use, check_images, list_sent_datasets
from language_models.service.work_queue import check_permitted, describe_budget
from storage.intake.datasets import load_dataset
from storage.language_models import calls as ledger
from storage.language_models import endpoints as endpoint_storage
from storage.language_models import requests as request_storage
from storage.language_models import runs
from storage.language_models.prompts import PromptVersion
from storage.language_models.requests import StoredRequest

_CHUNK_SIZE = 1000
_RATE_WINDOW = timedelta(minutes=1)
#: The number of latest calls from which the rate is computed: more than a process makes in a minute.
_LATEST_CALLS = 50_000
#: The minimum number of seconds over which a rate is computed.
_SHORTEST_SPAN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOverview:
    """The summary of a request of a run, for lists."""

    position: int
    custom_id: str
    status: RequestStatus
    failure: FailureKind | None
    repairs: int
    reused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDetails:
    """A request with its body and all its calls."""

    overview: RequestOverview
    body: Body
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReply:
    """The reply to a request of a run.

    ``output`` is the text without code fences; None if there is no usable reply, and ``failure`` states why
    if the request failed. ``key`` identifies the call in the ledger. ``model`` is the model that the server
    reported.
    """

    custom_id: str
    output: str | None
    failure: str
    key: str
    model: str | None


def create_run(
    db: Session,
    *,
    by: Person,
    name: str,
    stage: str,
    endpoint: Endpoint,
    dataset: str | None,
    requests: Iterable[ModelRequest],
    prompt: PromptVersion | None = None,
    budget: Budget | None = None,
    now: datetime,
) -> tuple[ModelRun, bool]:
    """Create a run, or return the run of that name if it has the same requests. Nothing is sent yet.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the name of the run.
        stage: what the replies are for, such as "generation"; part of the key of each call.
        endpoint: where the requests go.
        dataset: the dataset whose texts or images the requests contain; None if they contain none.
        requests: the requests, of which only some are in memory at a time.
        prompt: the version of the prompt from which they were made.
        budget: limits.
        now: the current time.

    Returns:
        The run, and whether it is new.

    Raises:
        Refused: the dataset, or one of the prompt's examples, does not permit the endpoint, or a radiograph
            is part of none of these datasets.
        AlreadyThere: a run of that name has other requests, or another endpoint.
        InvalidValue: a request, the name or the budget is not allowed, or a custom id occurs twice.
    """
    require(by, Action.RUN_MODELS)
    budget = budget or Budget()
    if not name.strip() or len(name) > 100:
        raise InvalidValue("name", "must have 1 to 100 characters")
    dataset_id = None if dataset is None else load_dataset(db, name=dataset).id
    sent_datasets = list_sent_datasets(dataset, prompt)
    check_data_use(db, datasets=sent_datasets, endpoint=endpoint)
    _check_budget(budget, endpoint)
    existing = runs.find_run(db, name=name)
    if existing is not None:
        _require_same_requests(existing, requests, endpoint, stage, prompt)
        return existing, False
    run_id = runs.add_run(
        db,
        name=name,
        stage=stage,
        endpoint=endpoint,
        dataset_id=dataset_id,
        prompt_id=prompt.id if prompt else None,
        budget=budget,
        person_id=by.id or None,
        now=now,
    )
    preparer = _RequestPreparer(
        stage=stage, model=endpoint.model, prompt_sha256=prompt.sha256 if prompt else None
    )
    needs_limit = budget.max_tokens is not None or budget.max_cost_nanos is not None
    remaining = iter(requests)
    while chunk := tuple(islice(remaining, _CHUNK_SIZE)):
        _check_requests(db, chunk, endpoint=endpoint, datasets=sent_datasets, needs_limit=needs_limit)
        request_storage.add_requests(
            db, run_id=run_id, requests=[preparer.prepare(request) for request in chunk]
        )
    if not preparer.count:
        raise InvalidValue("requests", "must have at least one request")
    runs.set_requests(db, run_id=run_id, requests=preparer.count, sha256=preparer.sha256)
    run = runs.load_run(db, run_id=run_id)
    record_action(
        db,
        by=by,
        action="create model run",
        subject=f"model run {run_id}",
        new={
            "name": name,
            "endpoint": endpoint.name,
            "url": endpoint.url,
            "dataset": dataset,
            "requests": preparer.count,
            "requests sha256": preparer.sha256,
        },
        now=now,
    )
    return run, True


def load_run(db: Session, *, by: Person, name: str) -> ModelRun:
    """Load a run.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    run = runs.find_run(db, name=name)
    if run is None:
        raise NotFound(f"There is no model run {name!r}. `cli.py run list` shows all.")
    return run


def list_runs(db: Session, *, by: Person, now: datetime, limit: int = 100) -> list[RunProgress]:
    """List the newest runs with their progress."""
    require(by, Action.RUN_MODELS)
    return [_load_progress(db, run, now) for run in runs.list_runs(db, limit=limit)]


def load_progress(db: Session, *, by: Person, name: str, now: datetime) -> RunProgress:
    """Load a run with its progress.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    return _load_progress(db, load_run(db, by=by, name=name), now)


def pause_run(  # allow writes-without-record: a pause changes nothing that a gold set depends on
    db: Session, *, by: Person, name: str
) -> ModelRun:
    """Pause a run. Running calls are finished and stored.

    Raises:
        NotFound: there is no such run.
        Refused: the run was cancelled.
    """
    require(by, Action.RUN_MODELS)
    run = _load_uncancelled_run(db, by, name)
    runs.set_status(db, run_id=run.id, status=RunStatus.PAUSED, reason=f"Paused by {by.display_name}.")
    return runs.load_run(db, run_id=run.id)


def resume_run(
    db: Session,
    *,
    by: Person,
    name: str,
    retry_failed: bool = False,
    requeue_batched: bool = False,
    budget: Budget | None = None,
    now: datetime,
) -> ModelRun:
    """Let a paused run continue. The caller then starts a process that works on it.

    If the endpoint was edited and has the same model, for example at another address, the remaining calls
    use the new address.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the name of the run.
        retry_failed: whether failed requests are called again.
        requeue_batched: whether requests in exported batch files are sent too, because their results
            will not be imported.
        budget: new limits; None to keep them.
        now: the current time.

    Raises:
        NotFound: there is no such run.
        Refused: the run was cancelled, or its dataset does not permit the endpoint any more.
        InvalidValue: the budget is not allowed.
    """
    require(by, Action.RUN_MODELS)
    run = _update_endpoint(db, by, _load_uncancelled_run(db, by, name), now)
    check_permitted(db, run)
    if budget is not None and budget != run.budget:
        _check_budget(budget, run.endpoint)
        runs.set_budget(db, run_id=run.id, budget=budget)
        record_action(
            db,
            by=by,
            action="change budget of model run",
            subject=f"model run {run.id}",
            old={"budget": describe_budget(run.budget)},
            new={"budget": describe_budget(budget)},
            now=now,
        )
    if retry_failed:
        request_storage.retry_failed(db, run_id=run.id)
    if requeue_batched:
        request_storage.return_batch(db, run_id=run.id)
    runs.set_status(db, run_id=run.id, status=RunStatus.OPEN, reason="")
    return runs.load_run(db, run_id=run.id)


def _update_endpoint(db: Session, by: Person, run: ModelRun, now: datetime) -> ModelRun:
    """Give a run the endpoint now in use with the same name and model, if it was edited, and record this."""
    current = endpoint_storage.find_endpoint(db, name=run.endpoint.name)
    if current is None or current.id == run.endpoint.id or not current.has_same_model(run.endpoint):
        return run
    runs.set_endpoint(db, run_id=run.id, endpoint_id=current.id)
    record_action(
        db,
        by=by,
        action="change endpoint of model run",
        subject=f"model run {run.id}",
        old={"endpoint": run.endpoint.id, "url": run.endpoint.url},
        new={"endpoint": current.id, "url": current.url},
        now=now,
    )
    return runs.load_run(db, run_id=run.id)


def cancel_run(db: Session, *, by: Person, name: str, now: datetime) -> ModelRun:
    """Cancel a run permanently. Running calls are still stored; replies so far stay.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    if run.status is not RunStatus.CANCELLED:
        reason = f"Cancelled by {by.display_name}."
        runs.set_status(db, run_id=run.id, status=RunStatus.CANCELLED, reason=reason)
        record_action(db, by=by, action="cancel model run", subject=f"model run {run.id}", now=now)
    return runs.load_run(db, run_id=run.id)


def list_requests(
    db: Session,
    *,
    by: Person,
    name: str,
    status: RequestStatus | None = None,
    failure: FailureKind | None = None,
    first: int = 0,
    limit: int = 50,
) -> list[RequestOverview]:
    """List requests of a run in order, skipping the ``first`` matches.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    requests = request_storage.list_requests(
        db, run_id=run.id, status=status, failure=failure, first=first, limit=limit
    )
    return [_to_overview(request) for request in requests]


def load_request(db: Session, *, by: Person, name: str, custom_id: str) -> RequestDetails:
    """Load a request of a run with its messages and calls.

    Raises:
        NotFound: there is no such run or request.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    request = request_storage.load_requests_by_custom_id(db, run_id=run.id, custom_ids=[custom_id]).get(
        custom_id
    )
    if request is None:
        raise NotFound(f"Run {name} has no request {custom_id!r}.")
    calls = ledger.list_request_calls(db, run_id=run.id, position=request.position, key=request.key)
    return RequestDetails(overview=_to_overview(request), body=decode_body(request.body), calls=tuple(calls))


def list_answered_requests(db: Session, *, by: Person, name: str) -> list[str]:
    """List the custom ids of the requests of a run that have a usable reply, in order.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    return request_storage.list_answered(db, run_id=load_run(db, by=by, name=name).id)


def load_exchange(
    db: Session, *, by: Person, name: str, custom_id: str, template: str
) -> tuple[dict[str, str], str]:
    """Load the values of a request's variables, and the text of its reply.

    Args:
        db: a session.
        by: the acting person.
        name: the name of the run.
        custom_id: the id of the request within the run.
        template: the text of the prompt from which the request was made.

    Raises:
        NotFound: there is no such run or request, or it has no usable reply.
        InvalidValue: the request was not made from this text.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    request = load_request(db, by=by, name=name, custom_id=custom_id)
    output = next(
        (read_output(call.raw, run.endpoint) for call in request.calls if call.failure is None), None
    )
    if output is None:
        raise NotFound(f"Run {name} has no usable reply to {custom_id}.")
    content = request.body["messages"][-1]["content"]
    message = content if isinstance(content, str) else content[0]["text"]
    return read_variables(template, message), output


def iterate_reply_texts(db: Session, *, by: Person, name: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield (custom id, reply, failure) of every request of a run, in order, from the ledger alone.

    The reply is the text without code fences; None for a request without a usable reply.

    Raises:
        NotFound: there is no such run.
    """
    for reply in iterate_replies(db, by=by, name=name):
        yield reply.custom_id, reply.output, reply.failure


def iterate_replies(db: Session, *, by: Person, name: str) -> Iterator[RunReply]:
    """Yield the reply to every request of a run, in order, from the ledger alone.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    for reply in ledger.iterate_replies(db, run_id=run.id):
        yield RunReply(
            custom_id=reply.custom_id,
            output=read_output(reply.raw, run.endpoint) if reply.raw is not None else None,
            failure=reply.failure,
            key=reply.key,
            model=reply.model,
        )


def find_reply(db: Session, *, by: Person, name: str, custom_id: str) -> str | None:
    """Return the usable reply to one request of a run, from the ledger; None if there is none.

    Raises:
        NotFound: there is no such run.
    """
    require(by, Action.RUN_MODELS)
    run = load_run(db, by=by, name=name)
    request = request_storage.load_requests_by_custom_id(db, run_id=run.id, custom_ids=[custom_id]).get(
        custom_id
    )
    call = ledger.find_success(db, key=request.key) if request is not None else None
    return read_output(call.raw, run.endpoint) if call is not None else None


def read_output(raw: str, endpoint: Endpoint) -> str | None:
    """Return the text of a successful call. It was validated when the call was made."""
    names = tuple(name for name in (endpoint.model, endpoint.reported_model) if name)
    return read_reply(raw, schema=None, expected_models=names).output


class _RequestPreparer:
    """Prepares requests for storage, and hashes all of them."""

    def __init__(self, *, stage: str, model: str, prompt_sha256: str | None) -> None:
        self._stage, self._model, self._prompt_sha256 = stage, model, prompt_sha256
        self._hash = hashlib.sha256()
        self._custom_ids: set[bytes] = set()
        self._keys: set[bytes] = set()
        self.count = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def prepare(self, request: ModelRequest) -> StoredRequest:
        """Add the request to the hash, and return it as it is stored.

        Raises:
            InvalidValue: the custom id occurred before.
        """
        short_id = hashlib.blake2b(request.custom_id.encode(), digest_size=16).digest()
        if short_id in self._custom_ids:
            raise InvalidValue("custom_id", f"{request.custom_id} occurs twice; each request needs its own")
        self._custom_ids.add(short_id)
        key = request.compute_key(stage=self._stage, model=self._model, prompt_sha256=self._prompt_sha256)
        self._hash.update(f"{request.custom_id}\n{key}\n".encode())
        short_key = bytes.fromhex(key[:32])
        is_copy = short_key in self._keys
        self._keys.add(short_key)
        prompt, completion = request.count_reserved_tokens()
        self.count += 1
        return StoredRequest(
            position=self.count - 1,
            custom_id=request.custom_id,
            key=key,
            body=encode_body(request.body),
            is_copy=is_copy,
            reserve_prompt=prompt,
            reserve_completion=completion,
        )


def _require_same_requests(
    run: ModelRun,
    requests: Iterable[ModelRequest],
    endpoint: Endpoint,
    stage: str,
    prompt: PromptVersion | None,
) -> None:
    preparer = _RequestPreparer(
        stage=stage, model=endpoint.model, prompt_sha256=prompt.sha256 if prompt else None
    )
    for request in requests:
        preparer.prepare(request)
    if preparer.sha256 != run.requests_sha256 or endpoint.name != run.endpoint.name:
        raise AlreadyThere(
            f"Run {run.name} exists with other requests or another endpoint. Give the new run another name, "
            f"or continue with `cli.py run resume {run.name}`."
        )


def _check_requests(
    db: Session,
    requests: tuple[ModelRequest, ...],
    *,
    endpoint: Endpoint,
    datasets: Sequence[str],
    needs_limit: bool,
) -> None:
    images = [image for request in requests for image in request.images]
    if images and not endpoint.accepts_images:
        raise Refused(f"Endpoint {endpoint.name} does not accept images. Choose one that does.")
    check_images(db, datasets=datasets, images=images)
    if needs_limit:
        for request in requests:
            if not request.count_reserved_tokens()[1]:
                raise InvalidValue(
                    f"{request.custom_id}: max_tokens",
                    "is needed for a budget of tokens or money, because a reply has no limit without it",
                )


def _check_budget(budget: Budget, endpoint: Endpoint) -> None:
    limits = {
        "calls": budget.max_calls,
        "tokens": budget.max_tokens,
        "dollars": budget.max_cost_nanos,
    }
    for name, limit in limits.items():
        if limit is not None and limit <= 0:
            raise InvalidValue("budget", f"of {name} must be above 0")
    if budget.max_cost_nanos is not None and find_price(endpoint) is None:
        raise InvalidValue(
            "budget",
            f"of dollars needs a price, and that of {endpoint.model} is unknown. Set it at the endpoint",
        )


def _load_uncancelled_run(db: Session, by: Person, name: str) -> ModelRun:
    run = load_run(db, by=by, name=name)
    if run.status is RunStatus.CANCELLED:
        raise Refused(f"Run {name} was cancelled. Create another run; replies in the ledger are reused.")
    return run


def _load_progress(db: Session, run: ModelRun, now: datetime) -> RunProgress:
    by_status = request_storage.count_by_status(db, run_id=run.id)
    failed = by_status.get(RequestStatus.FAILED, 0)
    ended = by_status.get(RequestStatus.DONE, 0) + failed
    is_finished = ended == run.requests
    rate = 0 if is_finished else _count_calls_per_minute(db, run, now)
    reused = request_storage.count_reused(db, run_id=run.id)
    called_count = ended - reused
    left_count = run.requests - ended
    calls_per_request = run.calls / called_count if called_count else 1.0
    cost_left = run.cost_nanos / called_count * left_count if called_count else 0.0
    return RunProgress(
        run=run,
        by_status=by_status,
        failures=request_storage.count_failures(db, run_id=run.id) if failed else {},
        reused=reused,
        calls_per_minute=rate,
        seconds_left=60 * left_count * calls_per_request / rate if rate else None,
        expected_cost_nanos=round(run.cost_nanos + cost_left) if called_count else None,
    )


def _count_calls_per_minute(db: Session, run: ModelRun, now: datetime) -> int:
    """Return the calls per minute, from the first call within the last minute until now."""
    highest = ledger.find_highest_call_id(db)
    call_count, first_at = ledger.count_calls_since(
        db, run_id=run.id, since=now - _RATE_WINDOW, after_id=highest - _LATEST_CALLS
    )
    if first_at is None:
        return 0
    seconds = max(_SHORTEST_SPAN, (now - first_at).total_seconds())
    return round(60 * call_count / seconds)


def _to_overview(request: StoredRequest) -> RequestOverview:
    return RequestOverview(
        position=request.position,
        custom_id=request.custom_id,
        status=request.status,
        failure=request.failure,
        repairs=request.repairs,
        reused=request.reused,
    )
