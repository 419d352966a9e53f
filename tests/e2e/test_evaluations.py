"""Evaluations in the browser: all five conditions at an endpoint that decodes the images, and a real model.

The real model gets the questions without image; the test checks the path, not the quality of the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from domain.evaluations import Condition
from domain.language_models import TEST_MODEL_NOTE, DataUse, Endpoint
from domain.people import Role
from evaluation import service as evaluations
from language_models import service as models
from storage.unit_of_work import unit_of_work
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import choose_option, take_screenshot, wait_for_script
from tests.storage.evaluation_worlds import BY, add_vision_endpoint, key_of_exam, make_evaluation_world
from tests.storage.local_model import LOCAL_MODEL, running_local_model
from tests.storage.vision_server import FINDINGS, ReceivedRequests, running_vision_server

pytestmark = [pytest.mark.browser, pytest.mark.full]
#: Questions on 6 exams.
QUESTIONS = 12
#: Enough for the real model on a busy machine of two cores. A test ends as soon as the run has finished.
RUN_TIMEOUT_MS = 600_000
WARNING = f"{TEST_MODEL_NOTE.capitalize()}: the model is the small one of the tests."


@pytest.fixture(scope="module")
def vision() -> Iterator[ReceivedRequests]:
    with running_vision_server() as server:
        yield server


@pytest.fixture(scope="module", autouse=True)
def world(
    app: RunningApp, vision: ReceivedRequests, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A release of coded radiographs, the endpoint "vision", and the endpoint "text" with the real model."""
    make_evaluation_world(app.engine, app.home, questions=QUESTIONS)
    app.add_person("dana", Role.COORDINATOR)
    add_vision_endpoint(app.engine, vision.url)
    folder: Path = tmp_path_factory.mktemp("model")
    with running_local_model(folder) as url:
        endpoint = Endpoint(
            name="text", url=url, model=LOCAL_MODEL, data_use=DataUse.LOCAL, timeout_seconds=300,
            max_parallel=1,
        )  # fmt: skip
        with unit_of_work(app.engine) as db:
            models.save_endpoint(db, by=BY, endpoint=endpoint, now=datetime.now(UTC))
        yield


def plan(page: Page, name: str, endpoint: str) -> None:
    """Fill in name and endpoint, leave the chosen conditions, and plan the evaluation."""
    page.get_by_role("textbox", name="Name").fill(name)
    choose_option(page, page.get_by_role("combobox", name="Endpoint"), endpoint)
    page.get_by_role("button", name="Plan evaluation").click()


def start_and_compute(page: Page, name: str) -> None:
    page.get_by_role("button", name="Start", exact=True).wait_for(timeout=30_000)
    wait_for_script(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("· finished")).to_be_visible(timeout=RUN_TIMEOUT_MS)
    wait_for_script(page)
    page.get_by_role("button", name="Compute results").click()
    expect(page.get_by_text("Accuracy", exact=True)).to_be_visible(timeout=30_000)
    wait_for_script(page)
    take_screenshot(page, f"evaluation-{name}")


def test_all_five_conditions_are_planned_run_and_scored(app, vision, signed_in: Callable[[str], Page]):
    page = signed_in("dana")
    page.goto("/evaluations")
    page.get_by_role("button", name="Plan evaluation").wait_for(timeout=30_000)
    wait_for_script(page)
    choose_option(
        page, page.get_by_role("combobox", name="Conditions"), Condition.PARAPHRASED.value, several=True
    )
    choose_option(page, page.get_by_role("combobox", name="Paraphrases by"), "vision")
    plan(page, "five", "vision")
    start_and_compute(page, "five")
    sent = [images for images in vision.images if images]
    assert len(sent) == 3 * QUESTIONS + 4  # 4 of 12 paraphrases keep the meaning in other words
    assert all(
        [image.announced for image in images] == ["PA", "LATERAL"]
        and all(image.finding == FINDINGS[key_of_exam(image.exam)] for image in images)
        for images in sent
    )
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("Paraphrased: 4 questions not asked (the paraphrase differs in laterality).")
    expect(page.get_by_text(WARNING)).to_have_count(0)
    with unit_of_work(app.engine) as db:
        _, results = evaluations.open_results(db, by=BY, name="five", now=datetime.now(UTC))
    # The endpoint names the finding that the images show, also of another exam. Without images it answers A.
    assert {accuracy.condition: (accuracy.correct, accuracy.n) for accuracy in results.accuracies} == {
        Condition.AS_GIVEN: (12, 12),
        Condition.NO_IMAGE: (4, 12),
        Condition.OTHER_IMAGE: (1, 12),  # one other patient has the same finding
        Condition.SHUFFLED: (12, 12),
        Condition.PARAPHRASED: (4, 4),
    }


def test_page_warns_that_an_evaluation_used_the_small_model_of_the_tests(signed_in: Callable[[str], Page]):
    page = signed_in("dana")
    page.goto("/evaluations")
    page.get_by_text("Plan an evaluation").wait_for(timeout=30_000)
    wait_for_script(page)
    page.get_by_text("Plan an evaluation").click()
    page.get_by_role("button", name="Clear all").click()
    choose_option(
        page, page.get_by_role("combobox", name="Conditions"), Condition.NO_IMAGE.value, several=True
    )
    plan(page, "words", "text")
    start_and_compute(page, "words")
    expect(page.get_by_text(WARNING)).to_be_visible()
