"""The gate: nothing except the sign-in page and the health routes is served without a valid sign-in.

Of Streamlit's own routes, only those that its page needs are open. The others (metrics, agents, media files)
are closed to everybody, and uploads are closed to people without permission to import. A route of the app
that belongs to an action (web/routes.py) is closed to people without that permission; this is decided before
any of the request body is read.

The gate is a plain ASGI class because Starlette's BaseHTTPMiddleware does not handle websockets. It looks up
the sign-in in the database at each request and at each incoming websocket message, since a click inside a
fragment does not run ``ui/shell.py``. A person who is disabled, or signed out in another browser, therefore
loses access at the next click.

While the database is unavailable, no sign-in can be looked up. This is distinguished from "not signed in":
the response is 503 with Retry-After, and the page reopens its websocket by itself. Scripts, styles and fonts,
which are the same for everybody, are still served to browsers whose sign-in was valid at the last lookup, so
that an open page does not break.
"""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime
from time import monotonic

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from domain.access import Action
from domain.errors import NotNow
from domain.people import Person
from web.interrupted_clicks import note_interrupted
from web.routes import OPEN_PATHS, find_route
from web.sign_in.cookies import (
    delete_destination_cookie,
    drop_unprefixed_cookies,
    find_destination,
    find_sign_in_token,
    is_behind_tls,
    set_destination_cookie,
)
from web.sign_in.presence import find_present_person, idle_limit
from web.sign_in.recent_sign_ins import note_confirmed, note_ended, was_confirmed
from web.thread_limits import SAVES

SIGN_IN = "/sign-in"
#: The routes to the sign-in provider and back. The last two are Streamlit's own, used by ``st.login``.
OPEN_FOR_PROVIDER = frozenset(
    {"/sign-in/provider", "/sign-in/provider/sign-out", "/auth/login", "/oauth2callback"}
)
#: Open to everybody. Streamlit's two routes return "ok" and a few settings that are the same for everybody. A
#: page whose sign-in has ended requests them before it opens the websocket. The websocket then redirects the
#: page to the sign-in page.
OPEN_WITHOUT_SIGN_IN = frozenset({"/_stcore/health", "/_stcore/host-config"} | OPEN_PATHS - OPEN_FOR_PROVIDER)

#: The header that ties Streamlit's session to the sign-in, so that another sign-in cannot use the session. A
#: value from the client is dropped. The header is in trustedUserHeaders of .streamlit/config.toml.
SIGN_IN_HEADER = "x-overread-sign-in"
#: Close codes of websockets (RFC 6455, 7.4.1; IANA registry for 1013).
_POLICY_VIOLATION, _MESSAGE_TOO_BIG, _TRY_AGAIN_LATER = 1008, 1009, 1013
#: The maximum size of a websocket message in bytes (clicks and typed text). Files use the upload route.
MAX_FRAME_BYTES = 4 << 20
#: The seconds for which a click waits for an unavailable database, and the seconds between two attempts.
_RETRY_SECONDS, _RETRY_INTERVAL = 3.0, 0.5

#: Streamlit's routes under these prefixes are closed, except for those that its page needs.
CLOSED_PATHS = ("/_stcore/", "/media/", "/component/", "/app/static/", "/auth/")
NEEDED_PATHS = ("/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/bidi-components/")
UPLOAD_PATH = "/_stcore/upload_file/"
#: People with permission for one of these actions may upload files.
UPLOAD_ACTIONS = (Action.IMPORT_QUESTIONS, Action.RUN_STUDY, Action.SUBMIT_PREDICTIONS)
#: Files that are the same for everybody: the installed parts of Streamlit's page and of the forms.
PUBLIC_PATHS = (
    "/static/", "/favicon.png", "/manifest.json", "/_stcore/bidi-components/", "/frontend/",
)  # fmt: skip


class Gate:
    """ASGI middleware that checks every request and websocket message, in front of all other routes."""

    def __init__(self, app: ASGIApp, *, provider: bool = False) -> None:
        self._app = app
        self._open_paths = OPEN_WITHOUT_SIGN_IN | OPEN_FOR_PROVIDER if provider else OPEN_WITHOUT_SIGN_IN

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            drop_unprefixed_cookies(scope)
        if scope["type"] == "http":
            await self._handle_http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._handle_websocket(scope, receive, send)
        else:  # lifespan: start and stop of the server
            await self._app(scope, receive, send)

    async def _handle_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        path = scope["path"]
        if path in self._open_paths:
            await self._app(scope, receive, send)
            return
        token = find_sign_in_token(request.cookies)
        try:
            person = await _load_person(token)
        except NotNow:
            if not _is_served_during_outage(scope, token):
                raise
            await self._app(scope, receive, send)
            return
        if person is None:
            await _sign_in_response(request)(scope, receive, send)
            return
        destination = find_destination(request.cookies) if path == "/" else None
        if destination is not None:
            response = RedirectResponse(destination, status_code=303)
            delete_destination_cookie(response, tls=is_behind_tls(request))
            await response(scope, receive, send)
            return
        scope.setdefault("state", {}).update(person=person.id, signed_in=person)
        if _is_closed_path(path, person):
            await JSONResponse({"error": "There is no such page.", "kind": "NotFound"}, 404)(
                scope, receive, send
            )
            return
        missing_action = _find_missing_action(scope, person)
        if missing_action is not None:
            text = (
                f"{person.display_name} may not {missing_action}. Ask an admin for a role that permits this."
            )
            await JSONResponse({"error": text, "kind": "NotAllowed"}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _handle_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = find_sign_in_token(HTTPConnection(scope).cookies)
        try:
            person = await _load_person_with_retries(token)
        except NotNow:  # the page tries again by itself
            await receive()  # websocket.connect
            await _close_connection(send, _TRY_AGAIN_LATER)
            return
        if person is None or token is None:
            await _reject_websocket(scope, receive, send, had_token=token is not None)
            return
        scope.setdefault("state", {})["person"] = person.id
        headers = MutableHeaders(scope=scope)
        del headers[SIGN_IN_HEADER]
        headers[SIGN_IN_HEADER] = hashlib.sha256(f"streamlit:{token}".encode()).hexdigest()[:32]

        async def receive_checked() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if len(message.get("bytes") or message.get("text") or b"") > MAX_FRAME_BYTES:
                return await _close_connection(send, _MESSAGE_TOO_BIG)
            try:
                person_now = await _load_person_with_retries(token)
            except NotNow:  # no click is carried out unchecked; the page reconnects by itself
                note_interrupted(token, now=datetime.now(UTC))
                return await _close_connection(send, _TRY_AGAIN_LATER)
            if person_now is None:
                await send({"type": "websocket.send", "bytes": redirect_message()})
                return await _close_connection(send, _POLICY_VIOLATION)
            return message

        await self._app(scope, receive_checked, send)


def redirect_message() -> bytes:
    """Return the message that redirects Streamlit's page to the sign-in page."""
    message = ForwardMsg()
    message.auth_redirect.url = SIGN_IN
    content: bytes = message.SerializeToString()
    return content


def _is_closed_path(path: str, person: Person) -> bool:
    """Whether the path is a Streamlit route that this person's page does not need."""
    if path.startswith(UPLOAD_PATH):
        return not any(person.may(action) for action in UPLOAD_ACTIONS)
    return path.startswith(CLOSED_PATHS) and not path.startswith(NEEDED_PATHS)


def _find_missing_action(scope: Scope, person: Person) -> Action | None:
    """Return the action that the route requires if the person has no permission for it; otherwise None."""
    match = find_route(scope)
    action = match[0].action if match is not None else None
    return action if action is not None and not person.may(action) else None


def _is_served_during_outage(scope: Scope, token: str | None) -> bool:
    """Whether a request is served although the database cannot confirm its sign-in."""
    if scope["method"] not in {"GET", "HEAD"} or not scope["path"].startswith(PUBLIC_PATHS):
        return False
    return was_confirmed(token, within=idle_limit(), now=datetime.now(UTC))


async def _load_person(token: str | None) -> Person | None:
    if not token:
        return None
    person = await SAVES.run(find_present_person, token)
    if person is None:
        note_ended(token)
    else:
        note_confirmed(token, now=datetime.now(UTC))
    return person


async def _load_person_with_retries(token: str | None) -> Person | None:
    """Call :func:`_load_person`, with retries for some seconds while the database is unavailable."""
    deadline = monotonic() + _RETRY_SECONDS
    while True:
        try:
            return await _load_person(token)
        except NotNow:
            if monotonic() >= deadline:
                raise
        await asyncio.sleep(_RETRY_INTERVAL)


async def _close_connection(send: Send, code: int) -> Message:
    """Close the connection, and return the message that reports this to Streamlit."""
    await send({"type": "websocket.close", "code": code})
    return {"type": "websocket.disconnect", "code": code}


def _sign_in_response(request: Request) -> Response:
    """Return a redirect to the sign-in page for page requests, and status 401 for other requests.

    A cookie stores the requested page. After signing in, the start page redirects to it.
    """
    wants_page = request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    if request.method == "GET" and wants_page and "text/html" in request.headers.get("accept", ""):
        response = RedirectResponse(SIGN_IN, status_code=303)
        query = f"?{request.url.query}" if request.url.query else ""
        set_destination_cookie(response, request.url.path + query, tls=is_behind_tls(request))
        return response
    return JSONResponse({"error": "Sign in first.", "kind": "NotSignedIn"}, status_code=401)


async def _reject_websocket(scope: Scope, receive: Receive, send: Send, *, had_token: bool) -> None:
    """Reject the handshake. A page whose sign-in has ended is redirected to the sign-in page."""
    await receive()  # websocket.connect
    if had_token:
        subprotocol = next(iter(scope.get("subprotocols") or []), None)
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        await send({"type": "websocket.send", "bytes": redirect_message()})
    await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
