"""GET /files/study-reports/{digest}/…: the files of a computed report.

The digest identifies the answers and the protocol of the report, so a link always gives the same bytes. The
results are identical to those of `study report --out`.
"""

from __future__ import annotations

import io
import zipfile

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import NotFound
from domain.people import Action, Person, require
from reader_study.report.study_report import StudyReport
from reader_study.service import load_stored_report
from storage.workspace import current_workspace
from web.requests import json_errors, require_person

_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "tex": "text/x-tex; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


@json_errors
async def download_report_file(request: Request) -> Response:
    """Return one file of the report. The query's ``model`` is the model with which raters are compared."""
    person = await require_person(request)
    path = request.path_params["name"]
    report = await run_in_threadpool(_load_report, person, request)
    text = await run_in_threadpool(_report_file, report, path)
    name = path.rpartition("/")[2]
    return Response(text, headers=_headers(name), media_type=_MEDIA_TYPES[name.rpartition(".")[2]])


@json_errors
async def download_report(request: Request) -> Response:
    """Return all files of the report as a ZIP file."""
    person = await require_person(request)
    report = await run_in_threadpool(_load_report, person, request)
    content = await run_in_threadpool(_zip_report, report)
    return Response(content, headers=_headers("report.zip"), media_type="application/zip")


def _load_report(person: Person, request: Request) -> StudyReport:
    require(person, Action.RUN_STUDY)
    report = load_stored_report(
        by=person,
        workspace=current_workspace(),
        digest=request.path_params["digest"],
        model=request.query_params.get("model"),
    )
    if report is None:
        raise NotFound("This report is no longer stored. Open the study and create the report again.")
    return report


def _report_file(report: StudyReport, path: str) -> str:
    from reader_study.report.files import render_file  # noqa: PLC0415 - imports pandas, not needed at start

    return render_file(report, path)


def _zip_report(report: StudyReport) -> bytes:
    from reader_study.report.files import render_files  # noqa: PLC0415 - imports pandas, not needed at start

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in render_files(report).items():
            archive.writestr(zipfile.ZipInfo(f"report/{path}", date_time=(1980, 1, 1, 0, 0, 0)), text)
    return content.getvalue()


def _headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }


ROUTES = [
    Route("/files/study-reports/{digest}/report.zip", download_report, methods=["GET"]),
    Route("/files/study-reports/{digest}/{name:path}", download_report_file, methods=["GET"]),
]
