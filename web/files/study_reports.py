"""GET /files/study-reports/{digest}/…: a computed report. GET /files/roc-files.zip: files for ROC programs.

The digest identifies the answers and the protocol of the report, so a link always gives the same bytes (for a
PDF: the same drawing). The files have the same results as those of `study report --out`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import NotFound
from domain.people import Action, Person, require
from reader_study import service as studies
from reader_study.report.study_report import StudyReport
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace
from web.requests import json_errors, require_person

_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "tex": "text/x-tex; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


@json_errors
async def download_report_file(request: Request) -> Response:
    """Return one file of the report. The query's ``model`` is the model with which readers are compared."""
    person = await require_person(request)
    path = request.path_params["name"]
    report = await run_in_threadpool(_load_report, person, request)
    text = await run_in_threadpool(_render_report_file, report, path)
    name = path.rpartition("/")[2]
    return Response(text, headers=_headers(name), media_type=_MEDIA_TYPES[name.rpartition(".")[2]])


@json_errors
async def download_report(request: Request) -> Response:
    """Return all files of the report as a ZIP file."""
    person = await require_person(request)
    report = await run_in_threadpool(_load_report, person, request)
    content = await run_in_threadpool(_zip_report, report)
    return Response(content, headers=_headers("report.zip"), media_type="application/zip")


@json_errors
async def download_roc_files(request: Request) -> Response:
    """Return the files for iMRMC, RJafroc and ``cli.py measure`` of the query's ``study`` as a ZIP file."""
    person = await require_person(request)
    content = await run_in_threadpool(_zip_roc_files, person, request.query_params.get("study", ""))
    return Response(content, headers=_headers("roc-files.zip"), media_type="application/zip")


def _zip_roc_files(person: Person, study: str) -> bytes:
    from reader_study.roc_files import render_all, select_roc_ratings  # noqa: PLC0415 - imports pandas, not needed at start

    with read_only_session() as db:
        data = studies.load_report_data(db, by=person, study=study)
    return _zip_files(render_all(data, select_roc_ratings(data)), folder="roc-files")


def _load_report(person: Person, request: Request) -> StudyReport:
    require(person, Action.RUN_STUDY)
    report = studies.load_stored_report(
        by=person,
        workspace=current_workspace(),
        digest=request.path_params["digest"],
        model=request.query_params.get("model"),
    )
    if report is None:
        raise NotFound("This report is no longer stored. Open the study and create the report again.")
    return report


def _render_report_file(report: StudyReport, path: str) -> str | bytes:
    from reader_study.report.files import render_pdf, render_text_file  # noqa: PLC0415 - imports pandas, not needed at start

    return render_pdf(report, path) if path.endswith(".pdf") else render_text_file(report, path)


def _zip_report(report: StudyReport) -> bytes:
    from reader_study.report.files import render_pdfs, render_text_files  # noqa: PLC0415 - imports pandas, not needed at start

    return _zip_files({**render_text_files(report), **render_pdfs(report)}, folder="report")


def _zip_files(files: Mapping[str, str | bytes], *, folder: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text_or_bytes in files.items():
            archive.writestr(
                zipfile.ZipInfo(f"{folder}/{path}", date_time=(1980, 1, 1, 0, 0, 0)), text_or_bytes
            )
    return content.getvalue()


def _headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }


ROUTES = [
    Route("/files/roc-files.zip", download_roc_files, methods=["GET"]),
    Route("/files/study-reports/{digest}/report.zip", download_report, methods=["GET"]),
    Route("/files/study-reports/{digest}/{name:path}", download_report_file, methods=["GET"]),
]
