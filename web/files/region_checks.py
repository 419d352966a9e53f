"""GET /files/region-check/…: the results of a region check, and all its marks, as CSV."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import NotFound
from domain.people import Action, Person, require
from generation import service as generation
from generation.region_checks import format_marks_csv, format_region_report_csv
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person


@json_errors
async def download_region_file(request: Request) -> Response:
    """Return report.csv or marks.csv of the query's ``check``."""
    person = await require_person(request)
    require(person, Action.RUN_MODELS)
    file_name = request.path_params["name"]
    content = await run_in_threadpool(_load_content, person, request.query_params.get("check", ""), file_name)
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type="text/csv; charset=utf-8")


def _load_content(person: Person, check: str, file_name: str) -> str:
    with read_only_session() as db:
        if file_name == "report.csv":
            return format_region_report_csv(generation.load_region_report(db, by=person, name=check))
        if file_name == "marks.csv":
            return format_marks_csv(generation.list_region_marks(db, by=person, name=check))
    raise NotFound(f"A region check has no file named {file_name!r}.")


ROUTES = [Route("/files/region-check/{name}", download_region_file, methods=["GET"])]
