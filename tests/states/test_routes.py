"""Every route that pages use responds in every state, with content or with a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from accounts.service import command_line_person
from domain.errors import DomainError
from reader_study.service import load_report_digest
from storage.unit_of_work import read_only_session
from tests.declared_routes import CLOSED_ROUTES, OPEN_ROUTES
from tests.pages.conftest import Browser
from tests.states.workspaces import STATES, State, Subject, make_subject, to_parameters
from web.gate import Gate
from web.routes import ROUTES

pytestmark = pytest.mark.slow

#: For each tested route, the person who requests it and the requested URLs.
TESTED_URLS = {
    "GET /files/keys.json": ("cora", ["/files/keys.json"]),
    "GET /files/refusals/{name}": ("cora", ["/files/refusals/none.csv"]),
    "GET /files/mappings/{name}": ("cora", ["/files/mappings/none.toml"]),
    "GET /files/templates/questions.{kind}": (
        "cora",
        [
            "/files/templates/questions.csv",
            "/files/templates/questions.xlsx",
            "/files/templates/questions.doc",
        ],
    ),
    "GET /files/statistics/{name}": (
        "cora",
        [f"/files/statistics/{name}?dataset={{dataset}}" for name in ("task.svg", "statistics.csv")],
    ),
    "GET /files/prompt-bench/{name}": ("cora", ["/files/prompt-bench/none.csv"]),
    "GET /files/model-scores/{name}": (
        "cora",
        ["/files/model-scores/rexvqa-table-2.csv?release=1&split=public", "/files/model-scores/none.txt"],
    ),
    "GET /files/region-check/{name}": ("cora", ["/files/region-check/none.csv"]),
    "GET /files/problems.csv": ("cora", ["/files/problems.csv?dataset={dataset}"]),
    "GET /files/estimates.csv": (
        "cora",
        ["/files/estimates.csv?dataset={dataset}", "/files/estimates.csv?dataset={dataset}&batch={batch}"],
    ),
    "GET /files/releases/{release_id:int}.zip": ("cora", ["/files/releases/1.zip"]),
    "GET /files/releases/{release_id:int}/{name:path}": ("cora", ["/files/releases/1/gold.jsonl"]),
    "GET /files/training/{release_id:int}/{name}.zip": ("cora", ["/files/training/1/trl-gemex.zip"]),
    "GET /files/audit.{file_format}": ("ada", ["/files/audit.csv", "/files/audit.jsonl"]),
    "GET /files/roc-files.zip": ("cora", ["/files/roc-files.zip?study=first", "/files/roc-files.zip"]),
    "GET /files/study-reports/{digest}/report.zip": ("cora", ["/files/study-reports/{digest}/report.zip"]),
    "GET /files/study-reports/{digest}/{name:path}": (
        "cora",
        [f"/files/study-reports/{{digest}}/{name}" for name in ("report.html", "report.json")],
    ),
    "GET /connected": ("ruth", ["/connected"]),
    "GET /health": ("ruth", ["/health"]),
    "GET /first-admin": ("ruth", ["/first-admin"]),
    "GET /sign-in": ("ruth", ["/sign-in"]),
}
#: Routes that other tests cover: the app's own files, images, sign-in with a provider, health and metrics.
UNTESTED_ROUTES = {
    "GET /frontend/{digest}/{name}", "GET /pixels/{exam_number:int}/{anything:path}",
    "GET /radiographs/{exam_number:int}/{radiograph_key:path}", "GET /sign-in/provider",
    "GET /sign-in/provider/sign-out", "GET /sign-in/code", "GET /health/ready", "GET /metrics",
}  # fmt: skip


def test_every_get_route_is_tested_or_listed():
    routes = [*OPEN_ROUTES, *CLOSED_ROUTES]
    assert {*TESTED_URLS, *UNTESTED_ROUTES} == {route for route in routes if route.startswith("GET ")}


def read_report_digest(subject: Subject) -> str:
    """The digest of the current report of the study; zeros if there is no study."""
    try:
        with read_only_session() as db:
            return load_report_digest(db, by=command_line_person(), study=subject.study)
    except DomainError:
        return "0" * 64


def send_request(address: str, browser: Browser) -> httpx.Response:
    app = Starlette(routes=ROUTES, middleware=[Middleware(Gate)])

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            client.cookies.update(browser.cookies)
            return await client.get(address)

    return asyncio.run(send())


@pytest.mark.parametrize(
    "state",
    to_parameters([*(State(name=name) for name in STATES), State(name="drawn", second_dataset_state="read")]),
)
def test_every_url_answers_in_every_state(
    state: State, workspace_in: Callable[[State], Path], sign_in: Callable[[str], Browser]
):
    subject = make_subject(workspace_in(state))
    names = {"dataset": subject.dataset, "batch": subject.batch, "digest": read_report_digest(subject)}
    faults = {}
    for person_name, addresses in TESTED_URLS.values():
        browser = sign_in(person_name)
        for address in addresses:
            response = send_request(address.format(**names), browser)
            is_empty_or_redirect = response.status_code == 204 or response.is_redirect
            if response.is_server_error or not (is_empty_or_redirect or response.content.strip()):
                faults[address] = f"{response.status_code} {response.text}"
    assert faults == {}
