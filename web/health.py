"""GET /health: whether the process runs. GET /health/ready: whether people can work; admins see the reasons.

The first is for a supervisor that restarts a hanging process. It does not depend on the database, which a
restart of the app cannot repair. The second is for a proxy and for monitoring. Neither needs a sign-in. The
answer of /health/ready may be a few seconds old, and simultaneous requests share one run of the checks, so
that frequent requests put no load on database and image store. The answer comes within three seconds: a check
that has not finished by then counts as failed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from domain.errors import DomainError
from domain.people import Action, Person
from domain.version import VERSION
from storage.health import CHECKS, HealthCheck, run_health_check
from storage.workspace import Workspace, current_workspace
from web.requests import json_response
from web.sign_in.cookies import find_sign_in_token
from web.sign_in.presence import find_present_person
from web.single_flight import SingleFlight
from web.thread_limits import READINESS, SAVES

_LOG = logging.getLogger(__name__)
_TIMEOUT, _CACHE_SECONDS = 3.0, 5.0  # seconds


class _HealthCache:
    """The cached results of the checks. The checks run in parallel, and each runs at most once at a time."""

    def __init__(self) -> None:
        self._valid_until, self._results = 0.0, list[HealthCheck]()
        self._check_rounds, self._checks = SingleFlight[list[HealthCheck]](), SingleFlight[HealthCheck]()

    async def load_results(self) -> list[HealthCheck]:
        """Return the result of each check, within the deadline."""
        if time.monotonic() < self._valid_until:
            return self._results
        return await self._check_rounds.run("look", self._run_checks)

    def clear(self) -> None:
        """Discard the results, so that the next request runs the checks again; for tests."""
        self._valid_until = 0.0

    async def _run_checks(self) -> list[HealthCheck]:
        workspace = current_workspace()
        self._results = await asyncio.gather(*(self._run_check(workspace, name) for name in CHECKS))
        self._valid_until = time.monotonic() + _CACHE_SECONDS
        for result in self._results:
            if not result.passed:
                _LOG.warning("not ready: %s: %s", result.name, result.detail)
        return self._results

    async def _run_check(self, workspace: Workspace, name: str) -> HealthCheck:
        """Run one check. If it exceeds the deadline, its thread continues and the next run waits for it."""
        running = self._checks.run(name, partial(READINESS.run, run_health_check, workspace, name))
        try:
            return await asyncio.wait_for(running, _TIMEOUT)
        except TimeoutError:
            return HealthCheck(name=name, passed=False, detail=f"no answer within {_TIMEOUT:.0f} seconds")


HEALTH_CACHE = _HealthCache()
_PERSON_LOOKUPS = SingleFlight[Person | None]()


async def report_alive(request: Request) -> Response:  # noqa: ARG001 - Starlette passes it to every route
    """Respond with 200 "ok"."""
    return PlainTextResponse("ok")


async def report_readiness(request: Request) -> Response:
    """Respond with 200 "ready" or 503 "not ready". Admins also get the result of each check."""
    results, may_see_checks = await asyncio.gather(HEALTH_CACHE.load_results(), _may_see_checks(request))
    is_ready = all(check.passed for check in results)
    status = 200 if is_ready else 503
    if may_see_checks:
        checks = [_check_to_plain(check) for check in results]
        return json_response({"version": VERSION, "ready": is_ready, "checks": checks}, status=status)
    return PlainTextResponse("ready" if is_ready else "not ready", status)


def _check_to_plain(check: HealthCheck) -> dict[str, object]:
    """Return a check as plain JSON values. Monitors of earlier versions read ``good`` and ``said``."""
    return {
        "name": check.name, "passed": check.passed, "detail": check.detail,
        "good": check.passed, "said": check.detail,
    }  # fmt: skip


async def _may_see_checks(request: Request) -> bool:
    token = find_sign_in_token(request.cookies)
    if token is None:
        return False
    lookup = _PERSON_LOOKUPS.run(token, partial(SAVES.run, find_present_person, token))
    try:
        person = await asyncio.wait_for(lookup, _TIMEOUT)
    except (TimeoutError, DomainError):  # the database is unavailable: no sign-in can be looked up
        return False
    return person is not None and person.may(Action.MANAGE_PEOPLE)


ROUTES = [
    Route("/health", report_alive, methods=["GET"]),
    Route("/health/ready", report_readiness, methods=["GET"]),
]
