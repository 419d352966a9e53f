"""Services for batch files: writing waiting requests, and reading results in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine
from sqlmodel import Session

from domain.errors import InvalidValue, Refused
from domain.language_models import (
    RETRIED_FAILURES,
    Call,
    Endpoint,
    FailureKind,
    ModelRun,
    RequestStatus,
    RunStatus,
)
from domain.people import Action, Person, require
from language_models.batch_files import (
    MAX_BYTES,
    MAX_LINES,
    BatchFormat,
    BatchResult,
    decode_batch_line,
    encode_batch_line,
)
from language_models.http_driver import ClaimedRequest, FinishedCall
from language_models.replies import Reply, read_reply
from language_models.requests import add_repair, build_wire_body, decode_body, find_schema
from language_models.service.runs import load_run
from language_models.service.work_queue import RunQueue, store_finished_calls
from storage.language_models import requests as request_storage
from storage.language_models import runs
from storage.language_models.requests import StoredRequest
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace

_PAGE_SIZE = 500
#: Failures that are not the outcome of a request: it is called again.
_CALLED_AGAIN = RETRIED_FAILURES | {FailureKind.EXPIRED, FailureKind.AUTHENTICATION, FailureKind.NOT_FOUND}


@dataclass(kw_only=True)
class BatchReading:
    """What a file of results contained, by number of lines.

    ``ended`` includes requests that failed permanently. ``waiting`` are called again: for a correction, or
    because the provider did not process them. ``known`` had their outcome before. ``unknown`` lists custom
    ids, ``unreadable`` line numbers. ``left`` is the number of requests without a result.
    """

    ended: int = 0
    waiting: int = 0
    known: int = 0
    unknown: list[str] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    left: int = 0


def write_batch_files(
    *,
    by: Person,
    name: str,
    folder: Path,
    batch_format: BatchFormat,
    engine: Engine | None = None,
) -> list[tuple[Path, int]]:
    """Write the waiting requests of a run to batch files. Their results are then awaited.

    Args:
        by: the acting person.
        name: the name of the run.
        folder: where the files are written, as ``<run>-001.jsonl`` and so on.
        batch_format: the provider or program that processes the files.
        engine: the database; None for that of the environment.

    Returns:
        The files with their numbers of requests; empty if none waits or the budget is reached.

    Raises:
        NotFound: there is no such run.
        Refused: the run is paused or cancelled, the dataset does not permit the endpoint, or a file exists.
        OSError: a file cannot be written; its requests wait again.
    """
    require(by, Action.RUN_MODELS)
    with read_only_session(engine) as db:
        run = load_run(db, by=by, name=name)
    if run.status is not RunStatus.OPEN:
        raise Refused(f"Run {name} is {run.status.value}. {run.reason}".strip())
    queue = RunQueue(run, worker="", workspace=current_workspace(), engine=engine)
    claimed_positions: list[int] = []
    try:
        with _BatchWriter(folder, run) as writer:
            while claimed := queue.claim_for_batch(wanted=_PAGE_SIZE):
                claimed_positions.extend(request.position for _, request in claimed)
                for custom_id, request in claimed:
                    body = request.body
                    if request.round:
                        body = add_repair(body, reply=request.faulty_reply, error=request.error)
                    wire_body = build_wire_body(body, model=run.endpoint.model, find_image=queue.find_image)
                    writer.write(
                        encode_batch_line(custom_id=custom_id, body=wire_body, batch_format=batch_format)
                    )
            return writer.finish()
    except BaseException:
        for start in range(0, len(claimed_positions), _PAGE_SIZE):
            with unit_of_work(engine) as db:
                positions = claimed_positions[start : start + _PAGE_SIZE]
                request_storage.return_requests(db, run_id=run.id, positions=positions)
        raise
    finally:
        queue.close()


def read_batch_file(
    *, by: Person, name: str, path: Path, now: datetime, engine: Engine | None = None
) -> BatchReading:
    """Read a file of results or errors of a batch. Reading it again changes nothing.

    Args:
        by: the acting person.
        name: the name of the run.
        path: the file.
        now: the current time.
        engine: the database; None for that of the environment.

    Raises:
        NotFound: there is no such run.
        OSError: the file cannot be read.
    """
    require(by, Action.RUN_MODELS)
    reading = BatchReading()
    with read_only_session(engine) as db:
        run = load_run(db, by=by, name=name)
    queue = RunQueue(run, worker="", workspace=current_workspace(), engine=engine)
    with path.open("rb") as file:
        results = _iterate_results(file, reading)
        while page := list(islice(results, _PAGE_SIZE)):
            with unit_of_work(engine) as db:
                locked = runs.load_run(db, run_id=run.id, lock=True)
                _store_results(db, locked, page, reading, now=now, queue=queue)
    with read_only_session(engine) as db:
        reading.left = request_storage.count_by_status(db, run_id=run.id).get(RequestStatus.IN_BATCH, 0)
    return reading


def _iterate_results(file: BinaryIO, reading: BatchReading) -> Iterator[BatchResult]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            yield decode_batch_line(line)
        except InvalidValue:
            reading.unreadable.append(number)


def _store_results(
    db: Session,
    run: ModelRun,
    page: list[BatchResult],
    reading: BatchReading,
    *,
    now: datetime,
    queue: RunQueue,
) -> None:
    requests = request_storage.load_requests_by_custom_id(
        db, run_id=run.id, custom_ids=[result.custom_id for result in page]
    )
    finished: list[FinishedCall] = []
    seen: set[str] = set()
    for result in page:
        request = requests.get(result.custom_id)
        if request is None:
            reading.unknown.append(result.custom_id)
        elif request.status is not RequestStatus.IN_BATCH or result.custom_id in seen:
            reading.known += 1
        else:
            seen.add(result.custom_id)
            finished.append(_build_finished_call(run.endpoint, run.id, request, result, now=now, queue=queue))
    store_finished_calls(db, run=run, finished=finished, worker=None)
    after = request_storage.load_requests_by_custom_id(db, run_id=run.id, custom_ids=sorted(seen))
    waiting = sum(request.status is RequestStatus.WAITING for request in after.values())
    reading.waiting += waiting
    reading.ended += len(after) - waiting


def _build_finished_call(
    endpoint: Endpoint,
    run_id: int,
    request: StoredRequest,
    result: BatchResult,
    *,
    now: datetime,
    queue: RunQueue,
) -> FinishedCall:
    body = decode_body(request.body)
    if result.failure is None:
        names = tuple(name for name in (endpoint.model, endpoint.reported_model) if name)
        reply = read_reply(result.raw, schema=find_schema(body), expected_models=names)
    else:
        reply = Reply(output=None, content="", failure=result.failure, error=result.error)
    cost, source = queue.cost_nanos(reply.usage)
    call = Call(
        key=request.key,
        run_id=run_id,
        position=request.position,
        endpoint_id=endpoint.id,
        round=request.repairs,
        failure=reply.failure,
        error=reply.error,
        raw=result.raw,
        model=reply.model,
        fingerprint=reply.fingerprint,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        cost_nanos=cost,
        price_source=source,
        attempts=1,
        seconds=0.0,
        called_at=now,
    )
    claimed = ClaimedRequest(position=request.position, key=request.key, body=body, round=request.repairs)
    return FinishedCall(request=claimed, call=call, gives_back=reply.failure in _CALLED_AGAIN)


class _BatchWriter:
    """Writes lines to files of limited size, which get their final names when all are complete."""

    def __init__(self, folder: Path, run: ModelRun) -> None:
        self._folder = folder
        self._stem = "".join(char if char.isalnum() or char in "-_" else "-" for char in run.name)
        self._files: list[tuple[Path, int]] = []
        self._file: BinaryIO | None = None
        self._lines = self._bytes = 0

    def __enter__(self) -> _BatchWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        existing = sorted(self._folder.glob(f"{self._stem}-*.jsonl"))
        if existing:
            raise Refused(f"{existing[0]} exists. Choose an empty folder, so that no file is sent twice.")
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        for path, _lines in self._files:
            _partial_path(path).unlink(missing_ok=True)

    def write(self, line: bytes) -> None:
        if self._file is None or self._lines >= MAX_LINES or self._bytes + len(line) + 1 > MAX_BYTES:
            self._close()
            path = self._folder / f"{self._stem}-{len(self._files) + 1:03}.jsonl"
            self._file = _partial_path(path).open("wb")
            self._files.append((path, 0))
            self._lines = self._bytes = 0
        self._file.write(line + b"\n")
        self._lines += 1
        self._bytes += len(line) + 1
        self._files[-1] = (self._files[-1][0], self._lines)

    def finish(self) -> list[tuple[Path, int]]:
        self._close()
        for path, _ in self._files:
            _partial_path(path).replace(path)
        return self._files

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _partial_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
