"""The part Extraction check of the page Reader studies."""

from __future__ import annotations

import pytest

from domain.people import Role
from domain.protocols import Protocol
from reader_study import service as studies
from storage.unit_of_work import read_only_session
from tests.pages.conftest import get_text, skip_double_click_time
from tests.storage.study_reports import import_model_answers, list_scored_cases
from tests.storage.study_worlds import make_design, make_study_world


@pytest.fixture
def open_check(workspace, sign_in_as, run_page):
    """The part for a study, as cora sees it."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page("pages/studies.py")
        part = next(group for group in page.button_group if "Extraction check" in group.options)
        page.session_state[part.key] = "Extraction check"
        page.run()
        assert not page.exception
        return page

    return run


def click(page, label: str):
    next(button for button in skip_double_click_time(page).button if button.label == label).click().run()
    assert not page.exception
    return page


def test_page_of_a_study_without_replies_says_what_to_do(workspace, open_check):
    make_study_world(workspace)
    assert "Import predictions with the field raw" in get_text(open_check())


@pytest.mark.slow
def test_sample_is_marked_and_its_error_rates_are_computed(workspace, open_check, tmp_path):
    study_world = make_study_world(workspace, design=make_design(3), protocol=Protocol(bootstrap=0))
    replies = [{"raw": "The answer is B"}, {"raw": "The answer is C"}, {"raw": "<img src=x> *no idea*"}]
    keys = [case.question.id for case in list_scored_cases(study_world)]
    import_model_answers(study_world, tmp_path, dict(zip(keys, replies, strict=True)))
    page = open_check()
    assert "0 of 2 replies marked" in get_text(page)
    click(page, "Read correctly")
    click(page, "Read wrongly")
    assert "Every reply of this sample is marked" in get_text(page)
    click(page, "Undo last mark")
    assert "1 of 2 replies marked" in get_text(page)
    click(page, "Read wrongly")
    with read_only_session() as db:
        check = studies.load_extraction_check(db, by=study_world.cora, study="first")
    assert [(rate.rule, rate.marked, rate.wrong) for rate in check.rates] == [
        ("explicit", 2, 1), ("failed", 0, 0),
    ]  # fmt: skip
    next(box for box in page.selectbox if box.label == "Rule").set_value("failed").run()
    assert "Wrong: it states one that was not read" in get_text(page)
    assert page.text[0].value == "<img src=x> *no idea*"
