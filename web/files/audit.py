"""GET /files/audit.csv and /files/audit.jsonl: the audit trail as a file, with the filters of the page."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import IO

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from accounts.audit_files import FORMATS, audit_lines
from accounts.service.audit_trail import AuditFilter, export_audit
from domain.errors import InvalidValue, NotFound
from domain.people import Action, Person, require
from storage.unit_of_work import reading
from web.requests import json_errors, person_of

_IN_MEMORY, _BLOCK = 1 << 22, 1 << 18
_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


@json_errors
async def audit_file(request: Request) -> Response:
    """The entries in order. A response header carries the latest hash of the whole trail."""
    person = await person_of(request)
    require(person, Action.SEE_AUDIT)
    file_format = request.path_params["file_format"]
    if file_format not in FORMATS:
        raise NotFound(f"There is no audit trail as {file_format!r}: ask for {' or '.join(FORMATS)}.")
    wanted = wanted_of(request.query_params.get)
    file, head, digest = await run_in_threadpool(_written, person, wanted, file_format)
    headers = {
        "Content-Disposition": f'attachment; filename="audit.{file_format}"',
        "Cache-Control": "no-store",
        "X-Content-SHA256": digest,
        "X-Audit-Head": head,
    }
    return StreamingResponse(_blocks(file), media_type=_MEDIA_TYPES[file_format], headers=headers)


def wanted_of(get: object) -> AuditFilter:
    """Parse the filter from query parameters.

    Args:
        get: returns a parameter's value, or None or "" if it is missing.

    Raises:
        InvalidValue: a time cannot be parsed.
    """

    def text(name: str) -> str | None:
        return get(name) or None  # type: ignore[operator]  # both callers pass a mapping's get

    def moment(name: str) -> datetime | None:
        try:
            found = datetime.fromisoformat(text(name) or "") if text(name) else None
        except ValueError as error:
            raise InvalidValue(name, "is no time, such as 2026-03-01T00:00:00+00:00") from error
        if found is not None and found.tzinfo is None:
            raise InvalidValue(name, "needs its zone, such as 2026-03-01T00:00:00+00:00")
        return found

    return AuditFilter(
        person=text("person"),
        what=text("what"),
        subject=text("subject"),
        since=moment("since"),
        before=moment("before"),
    )


def _written(person: Person, wanted: AuditFilter, file_format: str) -> tuple[IO[bytes], str, str]:
    # A temporary file, so that a slow download keeps no database reader open.
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed after its last block is sent
    digest = hashlib.sha256()
    with reading() as db:
        head, entries = export_audit(db, by=person, wanted=wanted)
        for line in audit_lines(entries, file_format=file_format):
            content = line.encode()
            digest.update(content)
            file.write(content)
    file.seek(0)
    return file, head, digest.hexdigest()


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK):
            yield block


ROUTES = [Route("/files/audit.{file_format}", audit_file, methods=["GET"])]
