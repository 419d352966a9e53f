"""GET /health: the process is up. GET /health/ready: people can work, or not; only an admin sees the reason.

The first is for a supervisor that restarts a process that hangs: an unavailable database is no reason to
restart. The second is for a proxy and for monitoring. Neither needs a sign-in. The answer of /health/ready
may be a few seconds old, and simultaneous requests share one run of the checks, so that frequent requests put
no load on database and image store. The answer comes within three seconds: a check that has not finished by
then counts as not ready.
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
    """The latest results of the checks. The checks run in parallel; each runs at most once at a time."""

    def __init__(self) -> None:
        self._until, self._found = 0.0, list[HealthCheck]()
        self._looks, self._checks = SingleFlight[list[HealthCheck]](), SingleFlight[HealthCheck]()

    async def found(self) -> list[HealthCheck]:
        """The result of each check, within the deadline."""
        if time.monotonic() < self._until:
            return self._found
        return await self._looks.run("look", self._look)

    def forget(self) -> None:
        """Discard the results, so that the next request runs the checks again; for tests."""
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
        """Run one check. If it exceeds the deadline, its thread goes on and the next run waits for it."""
        running = self._checks.run(name, partial(READINESS.run, check, workspace, name))
        try:
            return await asyncio.wait_for(running, _DEADLINE)
        except TimeoutError:
            return HealthCheck(name=name, good=False, said=f"no answer within {_DEADLINE:.0f} seconds")


LAST_LOOK = _LastLook()
_PEOPLE = SingleFlight[Person | None]()


async def alive(request: Request) -> Response:  # noqa: ARG001 - Starlette passes it to every route
    """200 "ok" if the process responds at all."""
    return PlainTextResponse("ok")


async def ready(request: Request) -> Response:
    """200 "ready" or 503 "not ready"; an admin also gets the result of each check."""
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
    except (TimeoutError, DomainError):  # the database is unavailable: no sign-in can be looked up
        return False
    return person is not None and person.may(Action.MANAGE_PEOPLE)


ROUTES = [
    Route("/health", alive, methods=["GET"]),
    Route("/health/ready", ready, methods=["GET"]),
]
