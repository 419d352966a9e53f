"""GET /metrics: metrics of this process and its workspace for Prometheus.

If ``OVERREAD_METRICS_TOKEN`` is set, the request must send it (``Authorization: Bearer …``). Otherwise, the
route answers only requests that come from the same machine and did not pass a proxy. No label contains the
name, the address or a text of a person.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
from datetime import UTC, datetime, timedelta

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from domain.errors import DomainError
from storage.engine import current_engine
from storage.metrics import count_connections, load_workspace_figures
from web.sign_in.browsers import client_address
from web.thread_limits import READINESS

_REGISTRY = CollectorRegistry()
ProcessCollector(registry=_REGISTRY)  # memory, CPU time, open files
_LATENCY = Histogram(
    "overread_request_seconds",
    "Duration of requests",
    ["method", "route", "status"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=_REGISTRY,
)
_WEBSOCKETS = Gauge("overread_websockets", "Open pages of browsers", registry=_REGISTRY)
_ERRORS = Counter("overread_errors", "Errors since the start, by source", ["source"], registry=_REGISTRY)
_CONNECTIONS = Gauge("overread_database_connections", "Connections", ["state"], registry=_REGISTRY)
_DATABASE_UP = Gauge("overread_database_up", "1 if the database answers", registry=_REGISTRY)
_SIGN_INS = Gauge("overread_sign_ins", "Sign-ins in use in the last 15 minutes", registry=_REGISTRY)
_BACKUP_AGE = Gauge(
    "overread_backup_age_seconds", "Time since the last backup; NaN if there was none", registry=_REGISTRY
)
#: Loggers whose warnings and errors are counted, and the label of each.
_COUNTED_LOGGERS = {
    "storage.unit_of_work": "database",
    "storage.images.bucket": "image store",
    "overread.errors": "unexpected",
}
_LOCAL_ADDRESSES = ("127.0.0.1", "::1")
_TIMEOUT_SECONDS = 3.0
_IN_USE_WINDOW = timedelta(minutes=15)


def note_request(*, method: str, route: str, status: int, seconds: float) -> None:
    """Count a finished request by its route pattern."""
    _LATENCY.labels(method=method, route=route, status=str(status)).observe(seconds)


def note_websocket(change: int) -> None:
    """Count an opened (1) or closed (-1) websocket."""
    _WEBSOCKETS.inc(change)


class _ErrorCounter(logging.Handler):
    def __init__(self, source: str) -> None:
        super().__init__(logging.WARNING)
        self._source = source

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - records are only counted
        _ERRORS.labels(source=self._source).inc()


def count_logged_errors() -> None:
    """Count warnings and errors of ``_COUNTED_LOGGERS`` from now on. Further calls change nothing."""
    for name, source in _COUNTED_LOGGERS.items():
        _ERRORS.labels(source=source)  # shown as 0 before the first error
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _ErrorCounter) for handler in logger.handlers):
            logger.addHandler(_ErrorCounter(source))


async def serve_metrics(request: Request) -> Response:
    """Return the metrics in Prometheus' text format; 403 without the token."""
    if not _may_read_metrics(request):
        return PlainTextResponse("The metrics need a token: OVERREAD_METRICS_TOKEN.\n", status_code=403)
    engine, now = current_engine(), datetime.now(UTC)
    in_use, idle = count_connections(engine)
    _CONNECTIONS.labels(state="in use").set(in_use)
    _CONNECTIONS.labels(state="idle").set(idle)
    try:
        figures = await asyncio.wait_for(
            READINESS.run(load_workspace_figures, engine, used_since=now - _IN_USE_WINDOW), _TIMEOUT_SECONDS
        )
    except (TimeoutError, DomainError):
        _DATABASE_UP.set(0)
    else:
        _DATABASE_UP.set(1)
        _SIGN_INS.set(figures.sign_ins)
        last_backup_at = figures.last_backup_at
        _BACKUP_AGE.set(float("nan") if last_backup_at is None else (now - last_backup_at).total_seconds())
    return Response(generate_latest(_REGISTRY), media_type=CONTENT_TYPE_LATEST)


def _may_read_metrics(request: Request) -> bool:
    token = os.environ.get("OVERREAD_METRICS_TOKEN", "").strip()
    if token:
        authorization = request.headers.get("authorization", "")
        return hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())
    return client_address(request) in _LOCAL_ADDRESSES and "x-forwarded-for" not in request.headers


ROUTES = [Route("/metrics", serve_metrics, methods=["GET"])]
