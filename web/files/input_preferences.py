"""GET /files/keys.json: exports a person's own keys and mouse button, for import elsewhere."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accounts.service import export_input_preferences
from domain.people import Person
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person


@json_errors
async def download_input_preferences(request: Request) -> Response:
    """Return the preferences of the signed-in person."""
    person = await require_person(request)
    content = await run_in_threadpool(_load_content, person)
    headers = {"Content-Disposition": 'attachment; filename="keys.json"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type="application/json")


def _load_content(person: Person) -> bytes:
    with read_only_session() as db:
        return export_input_preferences(db, person=person)


ROUTES = [Route("/files/keys.json", download_input_preferences, methods=["GET"])]
