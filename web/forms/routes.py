"""The routes of the forms: GET for their browser files, and POST for their requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Person
from web.forms.files import MEDIA_TYPES, form_files_digest, load_form_files
from web.requests import (
    json_errors,
    json_response,
    read_json_body,
    require_person,
    require_same_origin,
    require_same_person,
)
from web.thread_limits import SAVES

_CACHE_FOR_A_YEAR = "private, max-age=31536000, immutable"

#: A function that handles a request. It takes the body as JSON values, the person and the current time, and
#: returns the response body.
FormHandler = Callable[[object, Person, datetime], dict[str, Any]]


async def _serve_form_file(request: Request) -> Response:
    """Return a browser file of the forms. Its URL changes with its content, so it may be cached."""
    name = request.path_params["name"]
    content = load_form_files().get(name)
    if content is None or request.path_params["digest"] != form_files_digest():
        return Response(status_code=404)
    media_type = MEDIA_TYPES[PurePath(name).suffix]
    return Response(content, media_type=media_type, headers={"Cache-Control": _CACHE_FOR_A_YEAR})


ROUTES = [Route("/frontend/{digest}/{name}", _serve_form_file, methods=["GET"])]


def form_route(path: str, handler: FormHandler) -> Route:
    """Create a POST route for a form, with a JSON response.

    The route accepts requests only from the app's own pages, and only for the person who opened the page.
    """

    @json_errors
    async def endpoint(request: Request) -> Response:
        require_same_origin(request)
        person = await require_person(request)
        require_same_person(request, person)
        payload = await read_json_body(request)
        return json_response(await SAVES.run(handler, payload, person, datetime.now(UTC)))

    return Route(path, endpoint, methods=["POST"])
