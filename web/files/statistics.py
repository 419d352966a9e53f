"""GET /files/statistics/…: a dataset's statistics as CSV and as JSON, and each figure as SVG."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from browsing.figures import figures_of
from browsing.service import dataset_statistics
from browsing.side_by_side import side_by_side_csv
from browsing.statistics_text import csv_text, json_text
from domain.errors import NotFound
from domain.people import Action, Person, require
from storage.unit_of_work import reading
from web.requests import json_errors, person_of

_TYPES = {"csv": "text/csv", "json": "application/json", "svg": "image/svg+xml"}


@json_errors
async def statistics_file(request: Request) -> Response:
    """The query names the dataset. Each request computes the statistics: seconds for a large dataset."""
    person = await person_of(request)
    require(person, Action.BROWSE)
    name = request.path_params["name"]
    datasets = list(dict.fromkeys(request.query_params.getlist("dataset"))) or [""]
    content = await run_in_threadpool(_content, person, datasets, name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    kind = _TYPES[name.rpartition(".")[2]]
    return Response(content, headers=headers, media_type=f"{kind}; charset=utf-8")


def _content(person: Person, datasets: list[str], name: str) -> str:
    if name == "side-by-side.csv":
        with reading() as db:
            return side_by_side_csv([dataset_statistics(db, by=person, dataset=each) for each in datasets])
    dataset = datasets[0]
    with reading() as db:
        found = dataset_statistics(db, by=person, dataset=dataset)
    if name == "statistics.csv":
        return csv_text(found)
    if name == "statistics.json":
        return json_text(found)
    figure = figures_of(found).get(name.removesuffix(".svg")) if name.endswith(".svg") else None
    if figure is None:
        raise NotFound(f"There is no file {name!r} of the statistics of {dataset!r}.")
    return figure


ROUTES = [Route("/files/statistics/{name}", statistics_file, methods=["GET"])]
