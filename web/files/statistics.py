"""GET /files/statistics/…: a dataset's statistics as CSV and as JSON, and each figure as SVG."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from browsing.dataset_comparison import format_comparison_csv
from browsing.figures import render_figures
from browsing.service import compute_dataset_statistics
from browsing.statistics_text import format_csv, format_json
from domain.errors import NotFound
from domain.people import Action, Person, require
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person

_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "svg": "image/svg+xml"}


@json_errors
async def download_statistics(request: Request) -> Response:
    """The query names the dataset. Each request computes the statistics: seconds for a large dataset."""
    person = await require_person(request)
    require(person, Action.BROWSE)
    name = request.path_params["name"]
    datasets = list(dict.fromkeys(request.query_params.getlist("dataset"))) or [""]
    content = await run_in_threadpool(_load_content, person, datasets, name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(content, headers=headers, media_type=f"{media_type}; charset=utf-8")


def _load_content(person: Person, datasets: list[str], name: str) -> str:
    if name == "side-by-side.csv":
        with read_only_session() as db:
            return format_comparison_csv(
                [compute_dataset_statistics(db, by=person, dataset=dataset_name) for dataset_name in datasets]
            )
    dataset = datasets[0]
    with read_only_session() as db:
        statistics = compute_dataset_statistics(db, by=person, dataset=dataset)
    if name == "statistics.csv":
        return format_csv(statistics)
    if name == "statistics.json":
        return format_json(statistics)
    figure = render_figures(statistics).get(name.removesuffix(".svg")) if name.endswith(".svg") else None
    if figure is None:
        raise NotFound(f"There is no file {name!r} of the statistics of {dataset!r}.")
    return figure


ROUTES = [Route("/files/statistics/{name}", download_statistics, methods=["GET"])]
