"""The pages Endpoints, Model runs and Prompts: what a person enters, starts, cancels and compares."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.language_models import DataUse, Endpoint
from domain.people import Role
from language_models import service as models
from language_models.requests import ModelRequest
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, skip_double_click_time, wait_for_jobs
from tests.storage.model_server import MODEL, make_body, running_model_server
from tests.storage.worlds import SECRETS, make_world

ENDPOINTS, RUNS, PROMPTS = "pages/endpoints.py", "pages/model_runs.py", "pages/prompts.py"
PLANTED_API_KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def server():
    with running_model_server() as running:
        yield running


def find_by_label(elements, label):
    return next(element for element in elements if element.label == label)


def press(page, label):
    return skip_double_click_time(find_by_label(page.button, label).click().run())


def read_text(page) -> str:
    """Return the text without the invisible characters that keep addresses from becoming links."""
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
    monkeypatch.setenv("OVERREAD_MODEL_KEY_PLANTED", PLANTED_API_KEY)
    sign_in_as("ada", Role.ADMIN)
    page = run_page(ENDPOINTS)
    assert "No language model yet" in read_text(page)
    for label, value in (
        ("Name", "local"), ("Model", MODEL), ("URL", server.url), ("Name of the API key", "planted")
    ):  # fmt: skip
        find_by_label(page.text_input, label).set_value(value)
    page = press(page, "Save endpoint")
    assert "Saved local." in read_text(page)
    page = press(page, "Test")
    assert f"local answered as {MODEL}" in read_text(page)
    assert server.headers[0]["authorization"] == f"Bearer {PLANTED_API_KEY}"
    assert PLANTED_API_KEY not in str(page)


def test_the_message_for_an_invalid_price_names_its_field(sign_in_as, run_page):
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


def test_a_failed_test_of_an_endpoint_shows_the_reason(sign_in_as, run_page, server):
    add_run(server, ["x"])
    with unit_of_work() as db:
        endpoint = Endpoint(name="local", url="http://127.0.0.1:9/v1", model=MODEL, data_use=DataUse.LOCAL)
        models.save_endpoint(db, by=COMMAND_LINE, endpoint=endpoint, now=datetime.now(UTC))
    sign_in_as("ada", Role.ADMIN)
    page = press(run_page(ENDPOINTS), "Test")
    assert "connection" in read_text(page)
    assert "127.0.0.1:9" in read_text(page)


@pytest.mark.slow
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


def test_a_run_that_the_endpoint_refuses_shows_the_reason(sign_in_as, run_page, server):
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


def save_prompt(content, note="First version"):
    with unit_of_work() as db:
        return models.save_prompt(db, by=COMMAND_LINE, content=content, note=note, now=datetime.now(UTC))[0]


def choose_part(page, label):
    return page.segmented_control[0].set_value(label).run() if page.segmented_control else page


def test_the_first_prompt_is_saved_and_the_next_version_compared(workspace, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PROMPTS)
    assert "No prompt yet" in read_text(page)
    page = press(page, "Save prompt")
    assert "note: must state what changed" in read_text(page)
    find_by_label(page.text_input, "Note on this version").set_value("First version")
    page = press(page, "Save prompt")
    assert "Saved mcq-from-report@1." in read_text(page.run())
    page = choose_part(page.run(), "New version")
    editor = find_by_label(page.text_area, "Prompt file (TOML)")
    editor.set_value(editor.value.replace("max_tokens = 600", "max_tokens = 900"))
    find_by_label(page.text_input, "Note on this version").set_value("Longer replies")
    page = press(page, "Save as next version")
    assert "Saved mcq-from-report@2." in read_text(page)
    page = choose_part(page, "Compare")
    difference = "".join(code.value for code in page.code)
    assert "-max_tokens = 600" in difference
    assert "+max_tokens = 900" in difference


def test_an_example_is_written_from_a_report_and_saved_as_the_next_version(workspace, sign_in_as, run_page):
    make_world(workspace)
    save_prompt('name = "mcq"\nuser = "Report: ${report}"\n')
    sign_in_as("cora", Role.COORDINATOR)
    page = choose_part(run_page(PROMPTS), "Examples")
    page = press(page, "Add corrected replies of mcq@1")
    assert "Added 0 examples, 0 stored before." in read_text(page)  # no model wrote these questions
    find_by_label(page.text_input, "Exam").set_value("E404").run()
    assert "Dataset demo has no exam 'E404'." in read_text(page)
    page = press(page, "Draw at random")
    assert find_by_label(page.text_area, "report").value == SECRETS["report"]
    find_by_label(page.text_area, "Reply").set_value("What is seen? An effusion.")
    page = press(page, "Add example")
    assert "Added example 1." in read_text(page)
    page = press(page, "Save as next version")
    assert "Saved mcq@2." in read_text(page)
    with read_only_session() as db:
        newest = models.load_prompt(db, by=COMMAND_LINE, label="mcq")
    assert (newest.note, "An effusion" in newest.content) == ("Add 1 example", True)
    page = press(page, "Remove example")
    assert "Removed example 1." in read_text(page)
