"""GET /files/estimates.csv: all dataset estimates, overall and by group."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Action, Person, require
from review import service as review
from review.estimates_text import format_csv_rows
from storage.unit_of_work import read_only_session
from web.requests import json_errors, require_person


@json_errors
async def download_estimates(request: Request) -> Response:
    """Return the estimates as CSV.

    The query has the ``dataset``, and optionally a ``batch`` for each batch.
    """
    person = await require_person(request)
    require(person, Action.SEE_PROGRESS)
    dataset = request.query_params.get("dataset", "")
    batches = request.query_params.getlist("batch")
    text = await run_in_threadpool(_load_csv, person, dataset, batches)
    headers = {
        "Content-Disposition": 'attachment; filename="estimates.csv"',
        "Cache-Control": "no-store",
    }
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def _load_csv(person: Person, dataset: str, batches: list[str]) -> str:
    with read_only_session() as db:
        dataset_estimates = review.estimate_dataset(db, by=person, dataset=dataset, batches=batches or None)
        parts = [("whole", dataset, dataset_estimates.estimates.all_estimates)]
        for grouping in (review.BATCH_GROUP, *review.GROUPS):
            groups = review.estimate_groups(
                db, by=person, dataset=dataset, group=grouping, batches=batches or None
            )
            parts += [(grouping, group.name, group.estimates.all_estimates) for group in groups]
    return "".join(format_csv_rows(parts))


ROUTES = [Route("/files/estimates.csv", download_estimates, methods=["GET"])]
