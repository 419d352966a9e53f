"""GET /health: the process is up. GET /health/ready: people can work, or not; only an admin learns why not.

The first is for what restarts a process that hangs: a database that is away is no reason for that. The second
is for a proxy and for whoever watches. Both are open; a look that is a few seconds old will do, so that
nobody keeps database and bucket busy by asking.
"""

from __future__ import annotations

import threading
import time
from dataclasses import asdict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from domain.errors import DomainError
from domain.people import Action
from domain.version import VERSION
from storage.health import HealthCheck, health_of
from storage.workspace import current_workspace
from ui.door.cookies import sign_in_token
from ui.door.presence import person_present
from ui.door.requests import json_answer

_GOOD_FOR = 5.0  # seconds


class _LastLook:
    """The newest look at the workspace; threads share it, and one of them looks at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until, self._found = 0.0, list[HealthCheck]()

    def found(self) -> list[HealthCheck]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._found = health_of(current_workspace())
                self._until = time.monotonic() + _GOOD_FOR
            return self._found

    def forget(self) -> None:
        """Look anew at the next question; for tests."""
        with self._lock:
            self._until = 0.0


LAST_LOOK = _LastLook()


async def alive(request: Request) -> Response:  # noqa: ARG001 - Starlette hands it to every route
    """200 "ok" from a process that answers at all."""
    return PlainTextResponse("ok")


async def ready(request: Request) -> Response:
    """200 "ready", or 503 "not ready"; for an admin each check with what it found."""
    found = await run_in_threadpool(LAST_LOOK.found)
    good = all(check.good for check in found)
    status = 200 if good else 503
    if await run_in_threadpool(_may_know, request):
        return json_answer(
            {"version": VERSION, "ready": good, "checks": list(map(asdict, found))}, status=status
        )
    return PlainTextResponse("ready" if good else "not ready", status)


def _may_know(request: Request) -> bool:
    try:
        person = person_present(sign_in_token(request.cookies))
    except DomainError:  # the database is away: nobody can be known
        return False
    return person is not None and person.may(Action.MANAGE_PEOPLE)


ROUTES = [
    Route("/health", alive, methods=["GET"]),
    Route("/health/ready", ready, methods=["GET"]),
]
