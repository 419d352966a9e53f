"""GET /health: the process is up. GET /health/ready: people can work, or not; only an admin learns why not.

The first is for what restarts a process that hangs: a database that is away is no reason for that. The
second is for a proxy and for whoever watches. Both are open. The answer of /health/ready may be a few seconds
old, and requests at the same moment share one look, so that nobody keeps database and bucket busy by asking.
It comes within three seconds: what has not answered by then is not ready.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import asdict
from functools import partial

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from domain.errors import DomainError
from domain.people import Action, Person
from domain.version import VERSION
from storage.health import CHECKS, HealthCheck, check
from storage.workspace import Workspace, current_workspace
from web.requests import json_answer
from web.sign_in.cookies import sign_in_token
from web.sign_in.presence import person_present
from web.single_flight import SingleFlight
from web.thread_limits import READINESS, SAVES

_LOG = logging.getLogger(__name__)
_DEADLINE, _GOOD_FOR = 3.0, 5.0  # seconds


class _LastLook:
    """The newest look at the workspace. The checks run side by side; each at most once at a time."""

    def __init__(self) -> None:
        self._until, self._found = 0.0, list[HealthCheck]()
        self._looks, self._checks = SingleFlight[list[HealthCheck]](), SingleFlight[HealthCheck]()

    async def found(self) -> list[HealthCheck]:
        """What each check found, within the deadline."""
        if time.monotonic() < self._until:
            return self._found
        return await self._looks.run("look", self._look)

    def forget(self) -> None:
        """Look anew at the next question; for tests."""
        self._until = 0.0

    async def _look(self) -> list[HealthCheck]:
        workspace = current_workspace()
        self._found = await asyncio.gather(*(self._checked(workspace, name) for name in CHECKS))
        self._until = time.monotonic() + _GOOD_FOR
        for bad in self._found:
            if not bad.good:
                _LOG.warning("not ready: %s: %s", bad.name, bad.said)
        return self._found

    async def _checked(self, workspace: Workspace, name: str) -> HealthCheck:
        """One check. One that hangs goes on in its thread, and the next look waits for the same one."""
        running = self._checks.run(name, partial(READINESS.run, check, workspace, name))
        try:
            return await asyncio.wait_for(running, _DEADLINE)
        except TimeoutError:
            return HealthCheck(name=name, good=False, said=f"no answer within {_DEADLINE:.0f} seconds")


LAST_LOOK = _LastLook()
_PEOPLE = SingleFlight[Person | None]()


async def alive(request: Request) -> Response:  # noqa: ARG001 - Starlette hands it to every route
    """200 "ok" from a process that answers at all."""
    return PlainTextResponse("ok")


async def ready(request: Request) -> Response:
    """200 "ready", or 503 "not ready"; for an admin each check with what it found."""
    found, may_know = await asyncio.gather(LAST_LOOK.found(), _may_know(request))
    good = all(check.good for check in found)
    status = 200 if good else 503
    if may_know:
        return json_answer(
            {"version": VERSION, "ready": good, "checks": list(map(asdict, found))}, status=status
        )
    return PlainTextResponse("ready" if good else "not ready", status)


async def _may_know(request: Request) -> bool:
    token = sign_in_token(request.cookies)
    if token is None:
        return False
    asked = _PEOPLE.run(token, partial(SAVES.run, person_present, token))
    try:
        person = await asyncio.wait_for(asked, _DEADLINE)
    except (TimeoutError, DomainError):  # the database is away: nobody can be known
        return False
    return person is not None and person.may(Action.MANAGE_PEOPLE)


ROUTES = [
    Route("/health", alive, methods=["GET"]),
    Route("/health/ready", ready, methods=["GET"]),
]
