"""GET /files/model-scores/{table}.csv and .tex: a table of a paper with the models of one split."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import NotFound
from domain.people import Action, Person, require
from evaluation import service as evaluations
from release.splits import Split
from storage.unit_of_work import read_only_session, unit_of_work
from web.requests import json_errors, require_person

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "tex": "text/x-tex; charset=utf-8"}


@json_errors
async def download_table(request: Request) -> Response:
    """Return the table. The query has ``release``, ``split``, and optionally ``model`` for each model.

    With ``published``, the table also has the published models.
    """
    person = await require_person(request)
    require(person, Action.RUN_MODELS)
    name, _, file_format = request.path_params["name"].rpartition(".")
    text = await run_in_threadpool(_render_table, person, request, name, file_format)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{file_format}"',
        "Cache-Control": "no-store",
    }
    return Response(text, headers=headers, media_type=_MEDIA_TYPES[file_format])


def _render_table(person: Person, request: Request, name: str, file_format: str) -> str:
    from evaluation.paper_tables import (  # noqa: PLC0415 - imports scipy, not needed at start
        build_paper_tables,
        table_to_csv,
        table_to_latex,
    )

    query = request.query_params
    release, split = query.get("release", ""), query.get("split", "")
    if file_format not in _MEDIA_TYPES or not release.isdecimal():
        raise NotFound("There is no such table.")
    session = unit_of_work() if split == Split.PRIVATE else read_only_session()
    with session as db:
        split_scores = evaluations.open_scores(
            db, by=person, release_id=int(release), split=split, now=datetime.now(UTC)
        )
    names = query.getlist("model")
    models = [model for model in split_scores.models if not names or model.name in names]
    all_rows = split_scores.questions.numbers >= 0
    for table in build_paper_tables(
        split_scores.questions, models, all_rows, with_published=bool(query.get("published"))
    ):
        if table.name == name:
            return table_to_csv(table) if file_format == "csv" else table_to_latex(table)
    raise NotFound("There is no such table.")


ROUTES = [Route("/files/model-scores/{name}", download_table, methods=["GET"])]
