"""The page Patient data: rules with their consequences, the grid of images, the hits in texts."""

from __future__ import annotations

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import get_text
from tests.storage.import_worlds import Importer, make_record, to_json_lines

PAGE = "pages/patient_data.py"


@pytest.fixture
def page(workspace, tmp_path, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    importer = Importer(workspace, tmp_path)
    importer.workspace = current_workspace()
    importer(to_json_lines(make_record(1)), images=importer.images)
    page = run_page(PAGE)
    assert not page.exception
    return page


def find_button(page, beginning):
    return next(element for element in page.button if element.label.startswith(beginning))


@pytest.mark.slow
def test_message_after_saving_repeats_the_saved_rule(page):
    page = page.radio[0].set_value("deidentified").run()
    page = find_button(page, "Save rules").click().run()
    assert not page.exception
    assert "Saved. Image files: De-identified on import." in get_text(page)


@pytest.mark.slow
def test_marked_image_is_removed_and_can_be_restored(page):
    page = find_button(page, "No patient text").click().run()
    page = find_button(page, "Confirm: 0 without patient text, 1 to remove").click().run()
    assert "All images are checked." in get_text(page)
    page = find_button(page, "Restore").click().run()
    assert not page.exception
    assert not [element for element in page.button if element.label == "Restore"]
