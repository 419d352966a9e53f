"""The page Checks plans and starts a jury, and shows its progress and the votes on one question."""

from __future__ import annotations

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import get_text, skip_double_click_time, wait_for_jobs
from tests.storage.import_worlds import Importer, make_record, to_json_lines
from tests.storage.jury_replies import answer
from tests.storage.model_server import running_model_server
from tests.storage.test_model_runs import add_endpoint

PAGE = "pages/checks.py"


@pytest.fixture
def server():
    with running_model_server(answer=answer) as running:
        yield running


@pytest.fixture
def importer(workspace, tmp_path, sign_in_as):
    sign_in_as("cora", Role.COORDINATOR)
    importer = Importer(workspace, tmp_path)
    importer.workspace = current_workspace()
    importer(
        to_json_lines(
            make_record(1, stem="more_than_recall denied by qwen gpt. Is it there?"), make_record(2)
        )
    )
    return importer


def press(page, label):
    button = next(element for element in page.button if element.label == label)
    return skip_double_click_time(button.click().run())


def test_without_endpoints_the_section_names_what_is_missing(importer, run_page):
    assert "Endpoints of two model families are needed" in get_text(run_page(PAGE))


@pytest.mark.full
def test_a_jury_is_planned_started_and_its_votes_are_shown(importer, server, run_page):
    for family in ("qwen", "gpt"):
        add_endpoint(importer.engine, server.url, name=family, model=family)
    page = run_page(PAGE)
    page = press(page, "Plan jury")
    assert "a jury needs models of at least 2 families" in get_text(page)
    judges = next(element for element in page.multiselect if element.label == "Judges")
    judges.set_value(["qwen", "gpt"])
    page = press(page, "Plan jury")
    assert "Planned jury 1. No request has been sent" in get_text(page)
    assert server.bodies == []
    page = press(page, "Start jury")
    wait_for_jobs()
    page = page.run()
    assert "Start jury" not in [button.label for button in page.button]
    runs = next(table.value for table in page.dataframe if "Model run" in table.value.columns)
    assert list(runs["State"]) == ["finished"] * 8
    criterion_tables = [table.value for table in page.dataframe if "Criterion" in table.value.columns]
    assert [len(table) for table in criterion_tables] == [6, 6, 8, 2]
    assert "Cognitive depth (1)" in [tab.label for tab in page.tabs]
    chooser = next(element for element in page.selectbox if element.label == "View question")
    page = chooser.select_index(0).run()
    votes = next(table.value for table in page.dataframe if "Criteria" in table.value.columns)
    assert "qwen on more_than_recall" in list(votes["Reason"])
