"""Functions that the app's own routes share: checks of person and origin, JSON bodies and responses."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from domain.errors import (
    AlreadyThere,
    DomainError,
    NotAllowed,
    NotFound,
    NotNow,
    NotSignedIn,
    StaleRevision,
)
from domain.people import Person
from web.sign_in.cookies import find_sign_in_token
from web.sign_in.presence import find_present_person
from web.thread_limits import SAVES

_STATUS_BY_ERROR: dict[type[DomainError], int] = {
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    StaleRevision: 409,
    AlreadyThere: 409,
    NotNow: 503,
}
#: Seconds in the header Retry-After: a database that restarts is rarely available sooner.
RETRY_AFTER_SECONDS = 5
_MAX_BODY_BYTES = 2 * 1024 * 1024
#: Largest id of an exam, question, batch or release: ids are signed 64-bit integers.
MAX_ID = 2**63 - 1

#: Matches an escaped U+0000 in JSON. PostgreSQL cannot store this character, and imports refuse it.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

Endpoint = Callable[[Request], Awaitable[Response]]


class UnreadableRequest(DomainError):
    """The route cannot read the body of a request."""


async def require_person(request: Request) -> Person:
    """Return the person who sends the request, looked up in the database.

    Raises:
        NotSignedIn: the request has no valid sign-in.
    """
    # The gate has just looked up the person for this request.
    person: Person | None = request.scope.get("state", {}).get("signed_in")
    if person is None:
        person = await SAVES.run(find_present_person, find_sign_in_token(request.cookies))
    if person is None:
        raise NotSignedIn("You are signed out. Sign in again; this action was not saved.")
    return person


def require_same_origin(request: Request) -> None:
    """Accept writes only from the app's own pages.

    A page of another site cannot set the header ``X-Overread`` without a CORS preflight, which the app does
    not answer. The origin that the browser states is checked as well.

    Raises:
        NotAllowed: the header is missing, or the request comes from another site.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    is_own_page = request.headers.get("x-overread") == "1" and is_from_own_page(request)
    if not is_own_page or (origin is None and site is None):
        raise NotAllowed("This request does not come from a page of this app.")


def require_same_person(request: Request, person: Person) -> None:
    """Let a page save only for the person for whom it was opened.

    Another person may have signed in with another tab of the same browser. The cookie then belongs to that
    person, while this page still shows what the first person entered.

    Raises:
        NotSignedIn: the page was opened for another person (the id in the header ``X-Overread-Person``).
    """
    if request.headers.get("x-overread-person") != str(person.id):
        raise NotSignedIn(
            f"{person.display_name} has since signed in in this browser. This page belongs to another "
            "user, so nothing was saved."
        )


def is_from_own_page(request: Request) -> bool:
    """Return whether a page of this host sent the request; True if the browser does not state an origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def read_json_body(request: Request) -> object:
    """Return the request's body as plain JSON: objects, lists, text, numbers, booleans, None.

    Raises:
        UnreadableRequest: the body is larger than 2 MiB, incomplete, not JSON, or contains U+0000.
    """
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > _MAX_BODY_BYTES:
                raise UnreadableRequest("The request is larger than 2 MiB.")
    except ClientDisconnect as error:  # the page was closed while it sent its draft
        raise UnreadableRequest("The browser disconnected before the request was complete.") from error
    if _ESCAPED_NUL.search(content):
        raise UnreadableRequest("A text contains the character U+0000, which cannot be stored. Remove it.")
    try:
        return msgspec.json.decode(bytes(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRequest(f"The request is not valid JSON: {error}") from error


def json_response(body: object, *, status: int = 200) -> Response:
    """Return a JSON response that is not cached."""
    content = msgspec.json.encode(body, enc_hook=_encode_value)
    return Response(content, status, media_type="application/json", headers={"Cache-Control": "no-store"})


def http_status(error: DomainError) -> int:
    """Return the HTTP status for the error; 422 for a valid request that is refused."""
    if isinstance(error, UnreadableRequest):
        return 400
    return next((status for kind, status in _STATUS_BY_ERROR.items() if isinstance(error, kind)), 422)


def json_errors(endpoint: Endpoint) -> Endpoint:
    """Wrap a route: a DomainError becomes ``{"error": text, "kind": class name}`` with its status.

    A ``NotNow`` is sent with ``Retry-After``.
    """

    @functools.wraps(endpoint)
    async def respond(request: Request) -> Response:
        try:
            if any(isinstance(value, int) and value > MAX_ID for value in request.path_params.values()):
                raise NotFound("Nothing with this number exists.")
            return await endpoint(request)
        except DomainError as error:
            body = {"error": str(error), "kind": type(error).__name__}
            response = json_response(body, status=http_status(error))
            if isinstance(error, NotNow):
                response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
            return response

    return respond


def _encode_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise NotImplementedError(f"{type(value).__name__} cannot be converted to JSON")
