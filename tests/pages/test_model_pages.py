"""Endpoints and model runs on their pages, and to which endpoints a dataset may be sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.language_models import DataUse, Endpoint
from domain.people import Role
from language_models import service as models
from language_models.requests import ModelRequest
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, end_double_click_window, get_text, wait_for_jobs
from tests.storage.model_server import MODEL, make_body, running_model_server

ENDPOINTS, RUNS = "pages/endpoints.py", "pages/model_runs.py"
PLANTED = "sk-planted-0123456789abcdef"


@pytest.fixture
def server():
    with running_model_server() as running:
        yield running


def find_by_label(elements, label):
    return next(element for element in elements if element.label == label)


def press(page, label):
    return end_double_click_window(find_by_label(page.button, label).click().run())


def read_text(page) -> str:
    """The text without the sign that keeps addresses from becoming links."""
    return get_text(page).replace("\u2060", "")


def add_run(server, texts) -> None:
    now = datetime.now(UTC)
    endpoint = Endpoint(name="local", url=server.url, model=MODEL, data_use=DataUse.LOCAL)
    with unit_of_work() as db:
        stored = models.save_endpoint(db, by=COMMAND_LINE, endpoint=endpoint, now=now)
        requests = [
            ModelRequest(custom_id=f"r{number}", body=make_body(text)) for number, text in enumerate(texts)
        ]
        models.create_run(
            db, by=COMMAND_LINE, name="run", stage="test", endpoint=stored, dataset=None, requests=requests,
            now=now,
        )  # fmt: skip


def test_an_admin_adds_and_tests_an_endpoint(sign_in_as, run_page, server, monkeypatch):
    monkeypatch.setenv("OVERREAD_MODEL_KEY_PLANTED", PLANTED)
    sign_in_as("ada", Role.ADMIN)
    page = run_page(ENDPOINTS)
    assert "No endpoint yet" in read_text(page)
    for label, value in (
        ("Name", "local"), ("Model", MODEL), ("URL", server.url), ("Name of the key", "planted")
    ):  # fmt: skip
        find_by_label(page.text_input, label).set_value(value)
    page = press(page, "Save endpoint")
    assert "Saved local." in read_text(page)
    page = press(page, "Test")
    assert f"local answered as {MODEL}" in read_text(page)
    assert server.headers[0]["authorization"] == f"Bearer {PLANTED}"
    assert PLANTED not in str(page)


def test_a_wrong_field_is_named_below_the_form(sign_in_as, run_page):
    sign_in_as("ada", Role.ADMIN)
    page = run_page(ENDPOINTS)
    for label, value in (
        ("Name", "x"),
        ("Model", "m"),
        ("URL", "http://localhost/v1"),
        ("Input price (USD per million tokens)", "much"),
    ):
        find_by_label(page.text_input, label).set_value(value)
    page = press(page, "Save endpoint")
    assert "Input price (USD per million tokens): must be a number of dollars" in read_text(page)


def test_a_failed_test_shows_the_reason(sign_in_as, run_page, server):
    add_run(server, ["x"])
    with unit_of_work() as db:
        endpoint = Endpoint(name="local", url="http://127.0.0.1:9/v1", model=MODEL, data_use=DataUse.LOCAL)
        models.save_endpoint(db, by=COMMAND_LINE, endpoint=endpoint, now=datetime.now(UTC))
    sign_in_as("ada", Role.ADMIN)
    page = press(run_page(ENDPOINTS), "Test")
    assert "connection" in read_text(page)
    assert "127.0.0.1:9" in read_text(page)


def test_a_coordinator_starts_a_run_and_sees_a_request(sign_in_as, run_page, server):
    add_run(server, ["plain", "behave: refusal"])
    sign_in_as("cora", Role.COORDINATOR)
    page = press(run_page(RUNS), "Start")
    wait_for_jobs()
    page = page.run()
    text = read_text(page)
    assert "Requests without a usable reply" in text
    assert {metric.label: metric.value for metric in page.metric}["Calls"] == "2"
    assert any("plain" in code.value for code in page.code)
    page = press(page, "Call failed requests again")
    wait_for_jobs()
    assert server.seen["behave: refusal"] == 2


def test_a_run_that_the_server_cannot_make_says_why(sign_in_as, run_page, server):
    add_run(server, ["behave: unauthorised"])
    sign_in_as("cora", Role.COORDINATOR)
    page = press(run_page(RUNS), "Start")
    wait_for_jobs()
    page = page.run()
    assert "authentication: Status 401" in read_text(page)
    assert find_by_label(page.button, "Start")


def test_a_coordinator_cancels_a_run(sign_in_as, run_page, server):
    add_run(server, ["plain"])
    sign_in_as("cora", Role.COORDINATOR)
    page = press(run_page(RUNS), "Cancel run")
    assert "Cancelled run" in read_text(page)
    with read_only_session() as db:
        assert models.load_run(db, by=COMMAND_LINE, name="run").status == "cancelled"
    assert "Start" not in {button.label for button in page.button}
