"""The routes that every form has: its browser part's files, and what it sends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Person
from ui.door.requests import json_answer, json_body, json_errors, person_of, same_origin, same_person
from ui.form_files import MEDIA_TYPES, FormFiles

_FOR_A_YEAR = "private, max-age=31536000, immutable"

#: What is done with a request: its body as plain JSON, who asks and when, to the answer's body.
Work = Callable[[object, Person, datetime], dict[str, Any]]


def files_route(form: FormFiles) -> Route:
    """GET a file of the form's browser part; its address changes with its content, so it may be kept."""

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        content = form.files.get(name)
        if content is None or request.path_params["digest"] != form.digest:
            return Response(status_code=404)
        media_type = MEDIA_TYPES[PurePath(name).suffix]
        return Response(content, media_type=media_type, headers={"Cache-Control": _FOR_A_YEAR})

    return Route(f"/{form.name}/assets/{{digest}}/{{name}}", asset, methods=["GET"])


def sending_route(path: str, work: Work) -> Route:
    """POST what a form sends: from a page of ours, for the person whom it was opened for; a JSON answer."""

    @json_errors
    async def endpoint(request: Request) -> Response:
        same_origin(request)
        person = await person_of(request)
        same_person(request, person)
        plain = await json_body(request)
        return json_answer(await run_in_threadpool(work, plain, person, datetime.now(UTC)))

    return Route(path, endpoint, methods=["POST"])
