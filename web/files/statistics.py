"""GET /files/statistics/…: the statistics of a dataset as CSV and JSON, and each figure as SVG."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from browsing import service as browsing
from domain.errors import NotFound
from domain.people import Action, Person, require
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person

_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "svg": "image/svg+xml"}


@json_errors
async def download_statistics(request: Request) -> Response:
    """Return one file of the statistics of the query's ``dataset``; side-by-side.csv accepts several.

    The statistics are computed at each request, which takes seconds for a large dataset.
    """
    person = await require_person(request)
    require(person, Action.BROWSE)
    file_name = request.path_params["name"]
    datasets = list(dict.fromkeys(request.query_params.getlist("dataset"))) or [""]
    content = await run_in_threadpool(_load_content, person, datasets, file_name)
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "no-store"}
    media_type = _MEDIA_TYPES[file_name.rpartition(".")[2]]
    return Response(content, headers=headers, media_type=f"{media_type}; charset=utf-8")


def _load_content(person: Person, datasets: list[str], file_name: str) -> str:
    from browsing.dataset_comparison import format_comparison_csv  # noqa: PLC0415 - imports all sources, not needed at start
    from browsing.figures import render_figures  # noqa: PLC0415 - as above
    from browsing.statistics_text import format_csv, format_json  # noqa: PLC0415 - as above

    is_comparison = file_name == "side-by-side.csv"
    with read_only_session() as db:
        all_statistics = [
            browsing.compute_dataset_statistics(db, by=person, dataset=dataset)
            for dataset in (datasets if is_comparison else datasets[:1])
        ]
    if is_comparison:
        return format_comparison_csv(all_statistics)
    statistics = all_statistics[0]
    if file_name == "statistics.csv":
        return format_csv(statistics)
    if file_name == "statistics.json":
        return format_json(statistics)
    figures = render_figures(statistics) if file_name.endswith(".svg") else {}
    figure = figures.get(file_name.removesuffix(".svg"))
    if figure is None:
        raise NotFound(f"The statistics of {datasets[0]!r} have no file named {file_name!r}.")
    return figure


ROUTES = [Route("/files/statistics/{name}", download_statistics, methods=["GET"])]
