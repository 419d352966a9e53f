"""GET /files/estimates.csv: all dataset estimates, overall and by group."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.people import Action, Person, require
from review.estimates_text import csv_lines
from review.service import BATCH, GROUPS, estimate_groups, estimate_whole
from storage.unit_of_work import reading
from web.requests import json_errors, person_of


@json_errors
async def estimates_file(request: Request) -> Response:
    """The query names the dataset, and optionally its batches, each as ``batch``."""
    person = await person_of(request)
    require(person, Action.SEE_PROGRESS)
    dataset = request.query_params.get("dataset", "")
    batches = request.query_params.getlist("batch")
    text = await run_in_threadpool(_text, person, dataset, batches)
    headers = {
        "Content-Disposition": 'attachment; filename="estimates.csv"',
        "Cache-Control": "no-store",
    }
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def _text(person: Person, dataset: str, batches: list[str]) -> str:
    with reading() as db:
        whole = estimate_whole(db, by=person, dataset=dataset, batches=batches or None)
        parts = [("whole", dataset, whole.estimates.every)]
        for group in (BATCH, *GROUPS):
            found = estimate_groups(db, by=person, dataset=dataset, group=group, batches=batches or None)
            parts += [(group, each.name, each.estimates.every) for each in found]
    return "".join(csv_lines(parts))


ROUTES = [Route("/files/estimates.csv", estimates_file, methods=["GET"])]
