"""The part Cases of the page Reader studies."""

from __future__ import annotations

import pytest

from domain.people import Role
from domain.protocols import Protocol
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.pages.conftest import get_text
from tests.storage.study_reports import import_model_answers, list_scored_cases
from tests.storage.study_worlds import make_design, make_study_world, read_all
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full


@pytest.fixture
def open_cases(workspace, sign_in_as, run_page):
    """Open the part as cora."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page("pages/studies.py")
        part = next(group for group in page.button_group if "Cases" in group.options)
        page.session_state[part.key] = "Cases"
        page.run()
        assert not page.exception
        return page

    return run


def test_cases_are_shown_once_the_study_is_closed_and_the_report_exists(workspace, open_cases, tmp_path):
    world = make_study_world(workspace, design=make_design(3), protocol=Protocol(bootstrap=0))
    read_all(world, "rea")
    cases = list_scored_cases(world)
    wrong_answers = {case.question.id: {"raw": "<b>no idea</b>"} for case in cases}
    import_model_answers(world, tmp_path, wrong_answers, model="m*x*")
    page = open_cases()
    assert "first is open: keys and answers of single cases stay hidden" in get_text(page)
    with unit_of_work() as db:
        studies.close_study(db, by=world.cora, study="first", now=NOW)
    assert "Create it in “Report” first" in get_text(page.run())
    with read_only_session() as db:
        report = studies.load_or_compute_report(
            db, by=world.cora, study="first", workspace=current_workspace()
        )
    page.run()
    assert not page.exception
    choice = next(box for box in page.selectbox if box.label == "Case")
    assert len(choice.options) == len(report.tables.case_differences)
    assert choice.options[0].startswith(
        f"Case {report.tables.case_differences[0].case}: readers 1 of 1 correct"
    )
    assert page.dataframe[-1].value["Rater"].tolist() == ["rea", "m*x*"]
    assert page.dataframe[-1].value["Result"].tolist() == ["correct", "wrong"]
