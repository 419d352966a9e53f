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

    With ``published`` the published models stand beside.
    """
    person = await require_person(request)
    require(person, Action.RUN_MODELS)
    name, _, kind = request.path_params["name"].rpartition(".")
    text = await run_in_threadpool(_render, person, request, name, kind)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{kind}"',
        "Cache-Control": "no-store",
    }
    return Response(text, headers=headers, media_type=_MEDIA_TYPES[kind])


def _render(person: Person, request: Request, name: str, kind: str) -> str:
    from evaluation.paper_tables import (  # noqa: PLC0415 - imports scipy, not needed at start
        build_paper_tables,
        table_to_csv,
        table_to_latex,
    )

    query = request.query_params
    release, split = query.get("release", ""), query.get("split", "")
    if kind not in _MEDIA_TYPES or not release.isdecimal():
        raise NotFound("There is no such table.")
    session = unit_of_work() if split == Split.PRIVATE else read_only_session()
    with session as db:
        scored = evaluations.open_scores(
            db, by=person, release_id=int(release), split=split, now=datetime.now(UTC)
        )
    names = query.getlist("model")
    models = [model for model in scored.models if not names or model.name in names]
    every_row = scored.questions.numbers >= 0
    for table in build_paper_tables(
        scored.questions, models, every_row, with_published=bool(query.get("published"))
    ):
        if table.name == name:
            return table_to_csv(table) if kind == "csv" else table_to_latex(table)
    raise NotFound("There is no such table.")


ROUTES = [Route("/files/model-scores/{name}", download_table, methods=["GET"])]
