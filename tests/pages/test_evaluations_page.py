"""Evaluations on their page: plan, start, results, and the messages when something is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.evaluations import AnsweredBy, Condition
from domain.language_models import DataUse, Endpoint
from domain.people import Role
from evaluation import service as evaluations
from language_models import service as models
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, skip_double_click_time, wait_for_jobs
from tests.storage.evaluation_worlds import add_vision_endpoint, make_evaluation_world, make_settings
from tests.storage.local_model import LOCAL_MODEL
from tests.storage.vision_server import running_vision_server

PAGE = "pages/evaluations.py"


@pytest.fixture
def server():
    with running_vision_server() as running:
        yield running


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("dana", Role.COORDINATOR)


def press(page, label):
    button = next(element for element in page.button if element.label == label)
    return skip_double_click_time(button.click().run())


def list_button_labels(page) -> list[str]:
    return [element.label for element in page.button]


def test_in_an_empty_workspace_the_page_says_that_evaluations_and_releases_are_missing(coordinator, run_page):
    text = get_text(run_page(PAGE))
    assert "No evaluations yet" in text
    assert "No releases yet" in text


@pytest.mark.full
def test_an_evaluation_is_planned_started_and_reported(
    coordinator, run_page, workspace_engine, server, tmp_path
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", questions=4)
    add_vision_endpoint(workspace_engine, server.url)
    page = run_page(PAGE)
    page = press(page, "Plan evaluation")
    assert "name: must have 1 to 80 printable characters" in get_text(page)
    next(element for element in page.text_input if element.label == "Name").set_value("vision")
    page = press(page, "Plan evaluation")
    wait_for_jobs()
    page = page.run()
    assert "Planned vision. No request has been sent" in get_text(page)
    assert server.raw == []
    assert next(element for element in page.button if element.label == "Compute results").disabled
    page = press(page, "Start")
    wait_for_jobs(timeout=300)
    page = page.run()
    conditions = next(table.value for table in page.dataframe if "State" in table.value.columns)
    assert list(conditions["State"]) == ["finished"] * 4
    assert list(conditions["Answers"]) == [4] * 4
    page = press(page, "Compute results")
    tables = [table.value for table in page.dataframe]
    accuracy = next(table for table in tables if "Text only" in table.columns)
    assert list(accuracy["Condition"]) == ["as given", "no image", "other image", "options shuffled"]
    assert accuracy["Accuracy"][0] == "100.0 %"
    assert set(accuracy["Chance"]) == {"33.3 %"}
    assert "Start" not in list_button_labels(page)


@pytest.mark.full
def test_endpoint_and_run_of_the_small_test_model_have_a_note(
    coordinator, run_page, workspace_engine, server, tmp_path
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", questions=2)
    endpoint = Endpoint(name="small", url=server.url, model=LOCAL_MODEL, data_use=DataUse.LOCAL)
    now = datetime.now(UTC)
    settings = make_settings(conditions=(Condition.NO_IMAGE,))
    with unit_of_work(workspace_engine) as db:
        models.save_endpoint(db, by=COMMAND_LINE, endpoint=endpoint, now=now)
        evaluations.plan_with_endpoint(db, by=COMMAND_LINE, settings=settings, endpoint="small", now=now)
    note = "path tested, quality not measured"
    assert f"{LOCAL_MODEL} ({note})" in get_text(run_page(PAGE)).replace("\\", "")
    runs = run_page("pages/model_runs.py")
    assert list(runs.dataframe[0].value["Endpoint"]) == [f"small ({note})"]
    assert f"· {note}" in get_text(runs)


@pytest.mark.full
def test_a_reviewer_cannot_open_the_page(sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    assert "Evaluations" not in [title.value for title in run_page(PAGE).title]


@pytest.mark.slow
def test_calibration_is_shown_for_answers_with_probabilities_only(
    coordinator, run_page, workspace_engine, tmp_path
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", questions=4)
    now, settings = datetime.now(UTC), make_settings(conditions=(Condition.AS_GIVEN,))
    for name, fields in (("with", {"probability": 0.8}), ("without", {})):
        path = tmp_path / f"{name}.jsonl"
        lines = [{"question_id": f"Q{number}", "answer": "B", **fields} for number in range(1, 5)]
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        with unit_of_work(workspace_engine) as db:
            evaluations.plan_without_endpoint(
                db, by=COMMAND_LINE, settings=replace(settings, name=name), answered_by=AnsweredBy.FILE,
                model="M", now=now,
            )  # fmt: skip
            evaluations.import_answers(
                db, by=COMMAND_LINE, name=name, condition=Condition.AS_GIVEN, path=path, now=now
            )
    page = press(run_page(PAGE), "Compute results")
    assert "Calibration: no answers with a probability." in get_text(page)
    page = page.selectbox[0].set_value("with").run()
    page = press(page, "Compute results")
    calibration = next(table.value for table in page.dataframe if "ECE" in table.value.columns)
    assert list(calibration["n"]) == [4]
