"""The page Patient data: rules with their consequences, the grid of images, the hits in texts."""

from __future__ import annotations

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import texts
from tests.storage.import_worlds import Importer, lines, record

PAGE = "pages/patient_data.py"


@pytest.fixture
def page(workspace, tmp_path, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    importer = Importer(workspace, tmp_path)
    importer.workspace = current_workspace()
    importer(lines(record(1)), images=importer.images)
    found = run_page(PAGE)
    assert not found.exception
    return found


def button(page, begins):
    return next(each for each in page.button if each.label.startswith(begins))


def test_the_choice_is_made_with_its_consequences_in_sight(page):
    page = page.radio[0].set_value("deidentified").run()
    page = button(page, "Save rules").click().run()
    assert not page.exception
    assert "Saved. Image files: De-identified on import." in texts(page)


def test_a_marked_image_is_taken_out_and_can_be_put_back(page):
    page = button(page, "No patient text").click().run()
    page = button(page, "Confirm: 0 without patient text, 1 to remove").click().run()
    assert "All images are checked." in texts(page)
    page = button(page, "Restore").click().run()
    assert not page.exception
    assert not [each for each in page.button if each.label == "Restore"]
