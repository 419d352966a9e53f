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

from accounts.audit_files import FORMATS, format_audit_lines
from accounts.service.audit_trail import AuditFilter, export_audit
from domain.errors import InvalidValue, NotFound
from domain.people import Action, Person, require
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person

_MAX_IN_MEMORY, _CHUNK_SIZE = 1 << 22, 1 << 18
_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


@json_errors
async def download_audit_trail(request: Request) -> Response:
    """Return the matching entries in order.

    The header X-Audit-Head has the latest hash of the whole trail.
    """
    person = await require_person(request)
    require(person, Action.SEE_AUDIT)
    file_format = request.path_params["file_format"]
    if file_format not in FORMATS:
        raise NotFound(f"The audit trail is not available as {file_format!r}. Formats: {', '.join(FORMATS)}.")
    audit_filter = parse_audit_filter(request.query_params.get)
    file, head, digest = await run_in_threadpool(_write_audit_file, person, audit_filter, file_format)
    headers = {
        "Content-Disposition": f'attachment; filename="audit.{file_format}"',
        "Cache-Control": "no-store",
        "X-Content-SHA256": digest,
        "X-Audit-Head": head,
    }
    return StreamingResponse(_read_chunks(file), media_type=_MEDIA_TYPES[file_format], headers=headers)


def parse_audit_filter(get: object) -> AuditFilter:
    """Parse the filter from query parameters.

    Args:
        get: a function that returns the value of a parameter, or None or "" if it is missing.

    Raises:
        InvalidValue: a time cannot be parsed.
    """

    def get_text(name: str) -> str | None:
        return get(name) or None  # type: ignore[operator]  # both callers pass a mapping's get

    def parse_time(name: str) -> datetime | None:
        try:
            parsed = datetime.fromisoformat(get_text(name) or "") if get_text(name) else None
        except ValueError as error:
            raise InvalidValue(name, "is not a time such as 2026-03-01T00:00:00+00:00") from error
        if parsed is not None and parsed.tzinfo is None:
            raise InvalidValue(name, "must have a time zone, such as 2026-03-01T00:00:00+00:00")
        return parsed

    return AuditFilter(
        person=get_text("person"),
        action=get_text("what"),
        subject=get_text("subject"),
        since=parse_time("since"),
        before=parse_time("before"),
    )


def _write_audit_file(
    person: Person, audit_filter: AuditFilter, file_format: str
) -> tuple[IO[bytes], str, str]:
    # A temporary file is written first: a slow download does not keep a database session open.
    file = tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115 - closed after its last block is sent
    digest = hashlib.sha256()
    with read_only_session() as db:
        head, entries = export_audit(db, by=person, entry_filter=audit_filter)
        for line in format_audit_lines(entries, file_format=file_format):
            content = line.encode()
            digest.update(content)
            file.write(content)
    file.seek(0)
    return file, head, digest.hexdigest()


def _read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(_CHUNK_SIZE):
            yield block


ROUTES = [Route("/files/audit.{file_format}", download_audit_trail, methods=["GET"])]
