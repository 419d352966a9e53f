"""GET /metrics: who may read it, and what it counts; ids of requests in log, response and error page."""

from __future__ import annotations

import logging
import re
from contextlib import closing

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from accounts import service as accounts
from storage.unit_of_work import unit_of_work
from tests.storage.sign_ins import BY, NOON
from web import metrics
from web.errors import ErrorMiddleware
from web.metrics import count_logged_errors
from web.request_log import RequestLog

REQUEST = "0123456789abcdef" * 2


@pytest.fixture
def client_from(workspace_engine):
    """Return a function that makes a client with an IP address. One route of the app fails."""

    async def fail(_request):
        raise ZeroDivisionError

    app = Starlette(
        routes=[*metrics.ROUTES, Route("/fails", fail)],
        middleware=[Middleware(RequestLog, pages=[]), Middleware(ErrorMiddleware)],
    )
    return lambda address: TestClient(app, client=(address, 5000), raise_server_exceptions=False)


def read_metric(text: str, name: str) -> float:
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert match, f"{name} is not in the metrics"
    return float(match[1])


def test_without_a_token_only_direct_local_requests_are_allowed(client_from):
    assert client_from("127.0.0.1").get("/metrics").status_code == 200
    assert client_from("192.0.2.7").get("/metrics").status_code == 403
    forwarded = client_from("127.0.0.1").get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
    assert forwarded.status_code == 403


def test_with_a_token_every_request_needs_it(client_from, monkeypatch):
    monkeypatch.setenv("OVERREAD_METRICS_TOKEN", "secret")
    assert client_from("127.0.0.1").get("/metrics").status_code == 403
    wrong = client_from("192.0.2.7").get("/metrics", headers={"Authorization": "Bearer other"})
    right = client_from("192.0.2.7").get("/metrics", headers={"Authorization": "Bearer secret"})
    assert (wrong.status_code, right.status_code) == (403, 200)


def test_the_metrics_have_latency_connections_sign_ins_errors_and_the_age_of_the_backup(client_from):
    count_logged_errors()
    client = client_from("127.0.0.1")
    before = client.get("/metrics").text
    assert read_metric(before, "overread_database_up") == 1
    assert str(read_metric(before, "overread_backup_age_seconds")) == "nan"
    with unit_of_work() as db:
        accounts.record_backup(db, by=BY, file="a.backup", sha256="", rows=1, images=0, now=NOON)
    logging.getLogger("storage.unit_of_work").warning("the database could not be read")
    after = client.get("/metrics").text
    errors = 'overread_errors_total{source="database"}'
    assert read_metric(after, errors) == read_metric(before, errors) + 1
    assert read_metric(after, "overread_backup_age_seconds") > 0
    served = 'overread_request_seconds_count{method="GET",route="/metrics",status="200"}'
    assert read_metric(after, served) >= 1
    assert read_metric(after, 'overread_database_connections{state="in use"}') >= 0
    assert read_metric(after, "overread_sign_ins") == 0


def test_the_metrics_are_served_while_the_database_is_unavailable(client_from, workspace_engine):
    with closing(workspace_engine.raw_connection()) as connection:
        path = connection.execute("PRAGMA database_list").fetchone()[2]
    workspace_engine.dispose()
    with open(path, "wb") as file:  # noqa: PTH123 - overwrites the database with invalid content
        file.write(b"no database" * 100)
    text = client_from("127.0.0.1").get("/metrics").text
    assert read_metric(text, "overread_database_up") == 0


def test_the_id_of_a_request_is_in_response_log_and_error_page(client_from, caplog):
    caplog.set_level(logging.INFO)
    headers = {"X-Request-ID": REQUEST, "Accept": "text/html"}
    response = client_from("127.0.0.1").get("/fails", headers=headers)
    assert response.status_code == 500
    assert response.headers["x-request-id"] == REQUEST
    assert f"Request {REQUEST}" in response.text
    assert [record.request for record in caplog.records if hasattr(record, "request")] == [REQUEST, REQUEST]


def test_a_malformed_request_id_is_replaced(client_from):
    response = client_from("127.0.0.1").get("/metrics", headers={"X-Request-ID": "<script>"})
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["x-request-id"])
