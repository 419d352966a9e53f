"""The page Import: a preview before any write, one import for a double click, and its result."""

import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import func, select

from domain.errors import InvalidValue, NotFound
from domain.jobs import JobStatus
from domain.people import Role
from intake.service import load_mapping, unpack_images
from jobs.service import list_jobs, start_job
from storage.intake.datasets import list_datasets
from storage.intake.questions import load_questions
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.golden.question_files import write_image
from tests.pages.conftest import COMMAND_LINE, get_text, wait_for_jobs
from tests.storage.import_worlds import make_record, to_json_lines
from tests.storage.worlds import NOW
from ui.imports import deliveries, import_job

PAGE = "pages/import_questions.py"
FOLDER_MAPPING = """\
format = "overread.mapping/1"
name = "ours"

[input]
files = "qa/*.json"

[fields]
id = "id"
images = "image"
stem = "question"
answer = "answer"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the machine with a question file and its image, from which the app may read files."""
    data_folder = tmp_path / "data"
    write_image(data_folder / "pa.png", 30, 20, "L")
    (data_folder / "set.jsonl").write_bytes(to_json_lines(make_record(1), make_record(2)))
    monkeypatch.setenv(deliveries.FOLDERS_SETTING, str(data_folder))
    return data_folder


@pytest.fixture
def page(folder, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PAGE)
    assert not page.exception
    return page


def click(page, label):
    return next(button for button in page.button if button.label.startswith(label)).click().run()


def preview_file(page, file, images=""):
    page.segmented_control[0].set_value("machine").run()
    page.text_input[0].set_value(str(file))
    page.text_input[1].set_value(str(images))
    return click(page, "Preview import")


def count_questions():
    with read_only_session() as db:
        return db.execute(select(func.count()).select_from(QuestionRow)).scalar_one()


def wait_for_import():
    """Wait until no job runs, and return the import that was started last."""
    wait_for_jobs()
    with read_only_session() as db:
        return next(job for job in list_jobs(db, by=COMMAND_LINE) if job.kind == "import")


@pytest.mark.slow
def test_preview_shows_the_file_and_writes_nothing(page, folder):
    preview_file(page, folder / "set.jsonl", folder)
    text = get_text(page)
    assert "**native** with 2 records" in text
    assert "All images of the first 2 records were found (1)." in text
    assert "Which finding is present on this radiograph?" in text
    assert count_questions() == 0


@pytest.mark.slow
def test_import_runs_in_the_background_and_shows_its_result(page, folder):
    preview_file(page, folder / "set.jsonl", folder)
    click(page, "Import 2 records")
    wait_for_import()
    page.run()
    assert "2 questions, 1 new exam and 1 new image imported into set from set.jsonl (native)." in get_text(
        page
    )
    assert count_questions() == 2
    with read_only_session() as db:
        assert [dataset.name for dataset in list_datasets(db)] == ["set"]


@pytest.mark.slow
def test_a_double_click_starts_one_import(page, folder):
    delivery = deliveries.locate_server_files(str(folder / "set.jsonl"), str(folder))
    request = import_job.ImportRequest(
        delivery=delivery,
        file_format="auto",
        dataset="d",
        skip_known=False,
        skip_bad=False,
        minimum_explanation=None,
    )
    with unit_of_work() as db:
        first_job, _ = start_job(db, by=COMMAND_LINE, kind=import_job.IMPORT, parameters=request, now=NOW)
    assert import_job.start_import(request, COMMAND_LINE).number == first_job.number
    wait_for_import()
    assert count_questions() == 2


@pytest.mark.slow
def test_list_of_refused_records_is_linked_and_the_other_records_can_be_imported(page, folder):
    bad_records = [make_record(number, answer=[9]) for number in range(2, 9)]
    (folder / "bad.jsonl").write_bytes(to_json_lines(make_record(1), *bad_records))
    preview_file(page, folder / "bad.jsonl", folder)
    assert "Invalid records: 7 of the first 8." in get_text(page)
    assert "**line 2, line 3, line 4, line 5, line 6 and 2 more** (answer): " in get_text(page)
    click(page, "Import 8 records")
    job = wait_for_import()
    page.run()
    assert "Nothing was imported from bad.jsonl: 7 invalid records." in get_text(page)
    assert f"/files/refusals/{import_job.decode_outcome(job).refusals_file}" in get_text(page)
    click(page, "Import without")
    wait_for_import()
    page.run()
    assert "Skipped: 7 invalid records." in get_text(page)
    assert page.session_state["overread-message"] is None  # the result of a job is not repeated as a message
    assert count_questions() == 1


def test_import_that_cannot_write_reports_the_reason(page, folder):
    refusals = current_workspace().refusals
    refusals.parent.mkdir(parents=True, exist_ok=True)
    refusals.write_text("a file where the folder should be")
    preview_file(page, folder / "set.jsonl", folder)
    click(page, "Import 2 records")
    job = wait_for_import()
    assert job.message.startswith(f"Nothing was imported. {refusals}")


def test_page_asks_for_the_columns_of_a_file_with_unknown_columns(page, folder):
    (folder / "other.json").write_text('[{"zz": 1}]')
    preview_file(page, folder / "other.json")
    assert "Choose the column for: Question, Answer, Image." in get_text(page)
    assert not [button for button in page.button if button.label.startswith("Import ")]


def test_for_a_file_that_is_no_table_the_page_says_what_to_do(page, folder):
    (folder / "other.bin").write_bytes(b"\xd0\xcf\x11\xe0")
    preview_file(page, folder / "other.bin")
    assert "save it as .xlsx" in get_text(page)


def write_table(path):
    rows = ["question;choices;correct;img", *(f"Which?;Effusion|Line;{n % 2 + 1};e{n}/a" for n in range(4))]
    path.write_text("\n".join(rows), encoding="utf-8")


@pytest.mark.slow
def test_table_with_unknown_columns_is_imported_with_the_offered_fixes(page, folder):
    write_table(folder / "ours.csv")
    preview_file(page, folder / "ours.csv")
    labels = " ".join(radio.label for radio in page.radio)
    for issue in ("are option numbers", "in one cell", "No column contains ids", "have no file extension"):
        assert issue in labels
    click(page, "Import 4 records")
    assert wait_for_import().status is JobStatus.DONE
    with read_only_session() as db:
        rows = db.execute(select(QuestionRow.key, QuestionRow.options, QuestionRow.answer)).all()
    assert [tuple(row) for row in rows[:2]] == [
        ("ours-2", '["Effusion","Line"]', "[0]"),
        ("ours-3", '["Effusion","Line"]', "[1]"),
    ]


@pytest.mark.slow
def test_choosing_another_fix_changes_the_previewed_questions(page, folder):
    write_table(folder / "ours.csv")
    preview_file(page, folder / "ours.csv")
    assert "✓ Effusion" in get_text(page)
    page.radio[0].set_value("index").run()
    assert "2 is not an option; there are 2, counted from 0" in get_text(page)


@pytest.mark.slow
def test_mapping_that_is_saved_can_be_chosen_for_the_next_table(page, folder):
    write_table(folder / "ours.csv")
    preview_file(page, folder / "ours.csv")
    click(page, "Save mapping file")
    saved_mapping = current_workspace().mappings / "ours.toml"
    assert "[ours.toml](/files/mappings/ours.toml)" in get_text(page)
    assert (
        load_mapping(saved_mapping.read_text(encoding="utf-8"), saved_mapping.name).content.fields.stem
        == "question"
    )
    page.segmented_control[0].set_value("Mapping file").run()
    next(box for box in page.selectbox if box.label == "Saved mapping file").set_value("ours.toml").run()
    assert "✓ Effusion" in get_text(page)


@pytest.mark.slow
def test_column_can_be_chosen_for_a_field(page, folder):
    (folder / "ours.csv").write_text("question,answer,wrong,image\nIs it?,no,yes,pa.png\n", encoding="utf-8")
    preview_file(page, folder / "ours.csv", folder)
    assert "Answer key: no" in get_text(page)
    next(box for box in page.selectbox if box.label == "Answer").set_value("wrong").run()
    assert "Answer key: yes" in get_text(page)


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.jsonl", "nowhere.jsonl", ""])
def test_path_outside_the_allowed_folders_is_not_found(folder, path):
    with pytest.raises(NotFound, match="was not found in an allowed folder"):
        deliveries.locate_server_files(path and str(folder / path), "")


def make_zip(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name", ["../out.png", "/out.png", "a/../../out.png", "C:/out.png", "a\\..\\out.png"]
)
def test_zip_with_names_outside_its_folder_is_refused(tmp_path, name):
    archive = make_zip(tmp_path / "a.zip", **{"good.png": b"1", name: b"2"})
    with pytest.raises(InvalidValue, match="outside its folder"):
        unpack_images(by=COMMAND_LINE, archive=archive, folder=tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_a_zip_with_a_link_is_refused(tmp_path):
    link = zipfile.ZipInfo("link.png")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidValue, match="a link or a device"):
        unpack_images(by=COMMAND_LINE, archive=tmp_path / "a.zip", folder=tmp_path / "into")


def test_zip_bomb_is_refused(tmp_path):
    archive = make_zip(tmp_path / "a.zip", **{"bomb.png": bytes(64 << 20)})
    with pytest.raises(InvalidValue, match="too large when unpacked"):
        unpack_images(by=COMMAND_LINE, archive=archive, folder=tmp_path / "into")


def test_file_that_is_not_a_zip_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(InvalidValue, match="cannot be unpacked"):
        unpack_images(by=COMMAND_LINE, archive=tmp_path / "a.zip", folder=tmp_path / "into")


@pytest.mark.slow
def test_upload_is_kept_in_the_workspace_until_it_is_imported(page, tmp_path):
    class Upload:
        def __init__(self, name, content):
            self.name, self.content = name, content

        def getbuffer(self):
            return memoryview(self.content)

    write_image(tmp_path / "pa.png", 30, 20, "L")
    images_zip = make_zip(tmp_path / "a.zip", **{"wrapping/pa.png": (tmp_path / "pa.png").read_bytes()})
    delivery = deliveries.save_upload(
        Upload("my set.jsonl", to_json_lines(make_record(1))),
        Upload("a.zip", images_zip.read_bytes()),
        by=COMMAND_LINE,
        in_memory=False,
    )
    assert isinstance(delivery.images, Path)
    assert (delivery.name, delivery.images.name) == ("my set.jsonl", "wrapping")
    request = import_job.ImportRequest(
        delivery=delivery,
        file_format="auto",
        dataset="d",
        skip_known=False,
        skip_bad=False,
        minimum_explanation=None,
    )
    import_job.start_import(request, COMMAND_LINE)
    assert wait_for_import().status is JobStatus.DONE
    assert not delivery.path.exists()


def test_page_is_not_found_for_a_reviewer(folder, sign_in_as, run_page):
    sign_in_as("rhea", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(PAGE))


@pytest.mark.slow
def test_coco_file_is_imported_by_a_mapping_chosen_on_the_page(page, folder):
    coco = {
        "images": [{"id": 1, "file_name": "pa.png", "width": 20, "height": 30}],
        "categories": [{"id": 1, "name": "Nodule"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    }
    (folder / "boxes.json").write_text(json.dumps(coco), encoding="utf-8")
    preview_file(page, folder / "boxes.json", folder)
    page.selectbox[0].set_value("mapping: coco").run()
    assert not page.exception
    assert "Is there Nodule on this radiograph?" in get_text(page)
    click(page, "Import 1 record")
    assert wait_for_import().status is JobStatus.DONE
    assert count_questions() == 1


@pytest.mark.slow
def test_folder_on_the_server_is_imported_by_a_mapping_of_its_files(page, folder):
    (folder / "qa").mkdir()
    for name in ("one", "two"):
        record = {"id": name, "image": "pa.png", "question": "Is there an effusion?", "answer": "no"}
        (folder / "qa" / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    workspace = current_workspace()
    workspace.mappings.mkdir(parents=True)
    (workspace.mappings / "ours.toml").write_text(FOLDER_MAPPING, encoding="utf-8")
    preview_file(page, folder, folder)
    assert "This is a folder. Choose the mapping file that reads it." in [
        notice.value for notice in page.info
    ]
    page.selectbox[0].set_value("mapping: ours.toml").run()
    assert not page.exception
    click(page, "Import")
    assert wait_for_import().status is JobStatus.DONE
    assert count_questions() == 2


@pytest.mark.slow
def test_boxes_of_an_annotation_file_are_shown_before_they_change_questions(page, folder, open_page):
    preview_file(page, folder / "set.jsonl", folder)
    click(page, "Import 2 records")
    wait_for_import()
    page = open_page(PAGE)
    value = {"rectanglelabels": ["Effusion"], "x": 10, "y": 20, "width": 30, "height": 40}
    tasks = [{"id": 1, "data": {"image": "pa.png"}, "annotations": [{"result": [{"value": value}]}]}]
    page.file_uploader[-1].set_value(("boxes.json", json.dumps(tasks).encode(), "application/json")).run()
    assert not page.exception
    plan = next(frame.value for frame in page.dataframe if "After" in frame.value)
    assert plan["Question"].tolist() == ["q-1", "q-2"]
    assert set(plan["Before"]) == {"no boxes"}
    assert next(button for button in page.button if button.label == "Change 2 questions").disabled
    next(field for field in page.text_input if field.label == "Reason").set_value("second reading").run()
    click(page, "Change 2 questions")
    assert "Changed the boxes of 2 questions in set." in get_text(page)
    with read_only_session() as db:
        assert {len(question.boxes) for _, question in load_questions(db, question_ids=[1, 2])} == {1}
