"""GET /health: whether the app is up and its database answers; open to everybody, says nothing else."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from domain.errors import NotNow
from storage.unit_of_work import reading


async def health(request: Request) -> Response:  # noqa: ARG001 - Starlette hands it to every route
    """200 "ok", or 503 when the database does not answer."""
    answers = await run_in_threadpool(_database_answers)
    return PlainTextResponse("ok" if answers else "database does not answer", 200 if answers else 503)


def _database_answers() -> bool:
    try:
        with reading() as db:
            db.execute(text("SELECT 1"))
    except (SQLAlchemyError, NotNow):
        return False
    return True


ROUTES = [Route("/health", health, methods=["GET"])]
