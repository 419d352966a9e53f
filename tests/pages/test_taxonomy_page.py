"""The page Taxonomy: names to map, names of the taxonomy only, no names, and no dataset."""

import pytest

from domain.people import Role
from storage.quality.name_mappings import append_mapping
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from terminology.taxonomy import NamedField
from tests.pages.conftest import get_text
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

PAGE = "pages/taxonomy.py"


def import_categories(workspace, folder, *categories):
    importer = Importer(workspace, folder)
    importer.workspace = current_workspace()
    importer(
        to_json_lines(
            *(make_record(number, category=name or ...) for number, name in enumerate(categories, start=1))
        )
    )


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("cora", Role.COORDINATOR)


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def list_rows(page):
    rows = page.dataframe[0].value.to_dict("records")
    return [(row["Raw name"], row["Controlled name"], row["Mapped by"]) for row in rows]


def test_page_without_a_dataset_shows_a_message(workspace, coordinator, run_page):
    assert "No dataset yet" in get_text(run_page(PAGE))


def test_page_of_a_dataset_without_categories_shows_a_message(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, None)
    assert "No question of this dataset has a category." in get_text(run_page(PAGE))


def test_names_of_the_taxonomy_need_no_mapping(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, "Bones", "Heart")
    page = run_page(PAGE)
    assert "All these names have a controlled name." in get_text(page)
    assert list_rows(page) == [
        ("Bones", "Bone", "built-in taxonomy"),
        ("Heart", "Heart", "built-in taxonomy"),
    ]


def test_a_suggested_mapping_is_saved_and_undone(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, "Heart size", "Heart size", "Ribcage")
    page = run_page(PAGE)
    assert "Not mapped (2)" in get_text(page)
    page = click(page, "Heart")
    text = get_text(page)
    assert "Heart size is mapped to Heart." in text
    assert "Not mapped (1)" in text
    assert list_rows(page) == [("Heart size", "Heart", "cora"), ("Ribcage", "not mapped", "")]
    page = click(page, "Undo last mapping")
    assert "Not mapped (2)" in get_text(page)


def test_undoing_a_change_restores_the_previous_mapping(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, "Heart size", "Heart size", "Ribcage")
    page = click(run_page(PAGE), "Heart")
    page = next(box for box in page.selectbox if box.label == "Name").select("Heart size").run()
    page = next(box for box in page.selectbox if box.label == "Controlled name").select("Bone").run()
    page = click(click(page, "Save mapping"), "Undo last mapping")
    assert list_rows(page) == [("Heart size", "Heart", "cora"), ("Ribcage", "not mapped", "")]


@pytest.mark.slow
def test_a_stored_name_that_the_taxonomy_no_longer_has_can_be_changed(
    workspace, tmp_path, coordinator, run_page
):
    import_categories(workspace, tmp_path, "Heart size", "Ribcage")
    with unit_of_work(workspace) as db:
        append_mapping(
            db, dataset_id=1, named_field=NamedField.CATEGORY, raw_name="Heart size",
            controlled_name="Former name", person_id=None, now=NOW,
        )  # fmt: skip
    page = run_page(PAGE)
    page = next(box for box in page.selectbox if box.label == "Name").select("Heart size").run()
    assert not page.exception
    choice = next(box for box in page.selectbox if box.label == "Controlled name")
    assert choice.value is None


@pytest.mark.slow
def test_skipping_shows_the_next_name_and_any_name_can_be_chosen(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, "Heart size", "Heart size", "Ribcage")
    page = click(run_page(PAGE), "Skip")
    assert "**Ribcage** · 1 question" in get_text(page)
    choice = next(box for box in page.selectbox if box.label == "Another controlled name")
    page = click(choice.select("Rib").run(), "Map")
    assert "Ribcage is mapped to Rib." in get_text(page)
    assert "Not mapped (1)" in get_text(page)


def test_the_mapping_of_the_taxonomy_is_replaced_and_restored(workspace, tmp_path, coordinator, run_page):
    import_categories(workspace, tmp_path, "Shoulder")
    page = run_page(PAGE)
    page = next(box for box in page.selectbox if box.label == "Name").select("Shoulder").run()
    page = next(box for box in page.selectbox if box.label == "Controlled name").select("Humerus").run()
    page = click(page, "Save mapping")
    assert list_rows(page) == [("Shoulder", "Humerus", "cora")]
    page = click(page, "Remove mapping")
    assert list_rows(page) == [("Shoulder", "Joint", "built-in taxonomy")]
