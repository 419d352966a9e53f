"""GET /files/prompt-bench/…: the results of a prompt bench, and all its scores, as CSV."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import NotFound
from domain.people import Action, Person, require
from language_models import service as models
from language_models.bench_report import format_report_csv, format_scores_csv
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person


@json_errors
async def download_bench_file(request: Request) -> Response:
    """Return report.csv or scores.csv of the query's ``bench``."""
    person = await require_person(request)
    require(person, Action.RUN_MODELS)
    file_name = request.path_params["name"]
    content = await run_in_threadpool(_load_content, person, request.query_params.get("bench", ""), file_name)
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type="text/csv; charset=utf-8")


def _load_content(person: Person, bench: str, file_name: str) -> str:
    with read_only_session() as db:
        if file_name == "report.csv":
            return format_report_csv(models.load_bench_report(db, by=person, name=bench))
        if file_name == "scores.csv":
            return format_scores_csv(models.list_bench_scores(db, by=person, name=bench))
    raise NotFound(f"A prompt bench has no file named {file_name!r}.")


ROUTES = [Route("/files/prompt-bench/{name}", download_bench_file, methods=["GET"])]
