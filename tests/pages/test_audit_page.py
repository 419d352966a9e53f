"""The page Audit trail: a filter without results, one entry in full, and the verification."""

import pytest

from domain.people import Role
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import make_world

PAGE = "pages/audit.py"


@pytest.fixture
def page(workspace, sign_in_as, run_page):
    world = make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora", Role.COORDINATOR)
    save_verdict(world, make_acceptance(world, question=1))
    page = run_page(PAGE)
    assert not page.exception
    return page


def get_column_values(page, column):
    return page.dataframe[0].value[column].tolist()


def choose(page, label, value):
    return next(selectbox for selectbox in page.selectbox if selectbox.label == label).set_value(value).run()


def test_filter_without_matches_shows_a_message(page):
    page = next(field for field in page.text_input if field.label == "Subject").set_value("batch 999").run()
    assert "No entries match" in get_text(page)


def test_selected_entry_is_shown_in_full_with_its_hash(page):
    page = choose(page, "View entry", get_column_values(page, "No.")[0])
    assert "previous entry" in get_text(page)


def test_intact_trail_is_verified_with_its_counts(page):
    page = next(button for button in page.button if button.label == "Verify").click().run()
    assert "1 judgement compared with the trail" in get_text(page)


def test_rows_show_fields_and_no_json(page):
    details = get_column_values(page, "Details")
    assert "decision: accept" in details[0]
    assert not [text for text in details if "{" in text]


def test_json_of_an_entry_is_in_an_expander(page):
    page = choose(page, "View entry", get_column_values(page, "No.")[0])
    assert "decision" in page.dataframe[1].value["Field"].tolist()
    [expander] = page.expander
    assert '"decision": "accept"' in expander.code[0].value
