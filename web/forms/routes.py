"""The routes of the forms: their browser files, and the POST routes that save."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Person
from web.forms.files import MEDIA_TYPES, digest, form_files
from web.requests import json_answer, json_body, json_errors, person_of, same_origin, same_person
from web.thread_limits import SAVES

_FOR_A_YEAR = "private, max-age=31536000, immutable"

#: Handles a request: takes its body as plain JSON, the person and the time; returns the response body.
Work = Callable[[object, Person, datetime], dict[str, Any]]


async def _form_file(request: Request) -> Response:
    """A browser file of the forms. Its URL changes with its content, so it may be cached."""
    name = request.path_params["name"]
    content = form_files().get(name)
    if content is None or request.path_params["digest"] != digest():
        return Response(status_code=404)
    media_type = MEDIA_TYPES[PurePath(name).suffix]
    return Response(content, media_type=media_type, headers={"Cache-Control": _FOR_A_YEAR})


ROUTES = [Route("/frontend/{digest}/{name}", _form_file, methods=["GET"])]


def sending_route(path: str, work: Work) -> Route:
    """A POST route for a form, with a JSON response.

    It accepts requests only from the app's own pages, and only for the person for whom the page was opened.
    """

    @json_errors
    async def endpoint(request: Request) -> Response:
        same_origin(request)
        person = await person_of(request)
        same_person(request, person)
        plain = await json_body(request)
        return json_answer(await SAVES.run(work, plain, person, datetime.now(UTC)))

    return Route(path, endpoint, methods=["POST"])
