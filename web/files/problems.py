"""GET /files/problems.csv: the problems that the checks reported in a dataset."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Action, Person, require
from quality import service as checks
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person


@json_errors
async def download_problems(request: Request) -> Response:
    """Return all problems as CSV. The query parameter ``dataset`` is the name of the dataset."""
    person = await require_person(request)
    require(person, Action.SEE_CHECKS)
    text = await run_in_threadpool(_load_csv, person, request.query_params.get("dataset", ""))
    headers = {
        "Content-Disposition": 'attachment; filename="problems.csv"',
        "Cache-Control": "no-store",
    }
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def _load_csv(person: Person, dataset: str) -> str:
    with read_only_session() as db:
        return "".join(checks.iterate_problems_csv(db, by=person, dataset=dataset, check=None))


ROUTES = [Route("/files/problems.csv", download_problems, methods=["GET"])]
