"""Images that arrive in a later import: exams get them, and boxes are converted to their pixels."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

import cli
from accounts.service import command_line_person
from browsing.service import describe_event, load_history
from domain.batches import SamplingPlan
from domain.checks import CHECKS, Check
from domain.vocabulary import View
from intake.service import ImportRefused
from sampling.service import draw_batch
from storage.audit.checkpoints import AccountedChanges
from storage.audit.entries import iterate_entries
from storage.audit.table_digests import find_row_differences, write_digests
from storage.intake.exams import load_exam
from storage.intake.questions import load_question
from storage.quality.check_states import CheckState, load_states, save_states
from storage.rows.audit import AuditRow
from storage.rows.datasets import RadiographRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.question_files import write_image
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

pytestmark = pytest.mark.full  # each import starts the process that reads images

#: The images have 100 rows and 80 columns: scale 2.24, padding (224 - 179.2) / 2 = 22.4 at the left.
ON_GRID = [44.8, 22.4, 134.4, 112]
IN_PIXELS = pytest.approx((10, 10, 50, 50))


def make_importer(engine, folder):
    importer = Importer(engine, folder)
    write_image(importer.images / "b.png", 100, 80, "L")
    return importer


@pytest.fixture
def importer(sqlite_engine, tmp_path):
    return make_importer(sqlite_engine, tmp_path)


@pytest.fixture
def importer_of_both_databases(engine, tmp_path):
    return make_importer(engine, tmp_path)


def make_boxes(*corners, radiographs=("pa",), grid=True, **changes):
    boxes = [
        {"radiograph": name, "label": "lung", "box": box}
        for name, box in zip(radiographs, corners, strict=True)
    ]
    grid_fields = {"box_grid": [224, 224], "box_fit": "letterbox"} if grid else {}
    return {"boxes": boxes, **grid_fields, **changes}


def make_exam(key, *files, **fields):
    names = ("pa", "lateral")
    radiographs = [{"id": name, "file": file} for name, file in zip(names, files, strict=False)]
    return {"exam": {"id": key, "radiographs": radiographs, **fields}}


def load_boxes(importer, number):
    with read_only_session(importer.engine) as db:
        boxes = load_question(db, question_id=number).boxes
    return [(box.box.as_tuple(), box.grid and box.grid.width) for box in boxes]


def load_images(importer, number=1):
    """The files of the exam's radiographs that have an image."""
    statement = select(RadiographRow.file).where(
        RadiographRow.exam_id == number, RadiographRow.image_sha256.is_not(None)
    )
    with read_only_session(importer.engine) as db:
        return list(db.execute(statement.order_by(RadiographRow.position)).scalars())


def test_the_same_file_with_images_completes_exams_and_converts_boxes(importer_of_both_databases):
    importer = importer_of_both_databases
    content = to_json_lines(make_record(1, **make_boxes(ON_GRID)), make_record(2))
    importer(content)
    assert load_boxes(importer, 1) == [(tuple(ON_GRID), 224)]
    report = importer(content, images=importer.images, skip_known=True)
    assert (report.questions, report.known, report.images) == (0, 2, 1)
    assert report.describe_added_images() == (
        "Images added to 1 exam of earlier imports; boxes of 1 question converted to pixels of the images."
    )
    assert load_boxes(importer, 1) == [(IN_PIXELS, None)]
    assert load_images(importer) == ["pa.png"]
    second_report = importer(content, images=importer.images, skip_known=True)
    assert (
        second_report.completed_exams,
        second_report.converted_questions,
        second_report.describe_added_images(),
    ) == (0, 0, "")


def test_a_new_question_with_images_completes_its_exam(importer):
    importer(to_json_lines(make_record(1, **make_boxes(ON_GRID))))
    report = importer(to_json_lines(make_record(2, **make_boxes(ON_GRID))), images=importer.images)
    assert (report.questions, report.exams, report.completed_exams) == (1, 0, 1)
    assert load_boxes(importer, 1) == load_boxes(importer, 2) == [(IN_PIXELS, None)]


def test_a_new_question_without_images_uses_the_image_that_is_there(importer):
    importer(to_json_lines(make_record(1)), images=importer.images)
    importer(to_json_lines(make_record(2, **make_boxes(ON_GRID))))
    assert load_boxes(importer, 2) == [(IN_PIXELS, None)]


def test_boxes_in_pixels_are_clipped_to_the_image_that_arrives(importer):
    content = to_json_lines(make_record(1, **make_boxes([10, 20, 80.5, 100.5], grid=False)))
    importer(content)
    importer(content, images=importer.images, skip_known=True)
    assert load_boxes(importer, 1) == [((10, 20, 80, 100), None)]


def test_a_box_beyond_the_image_that_arrives_is_refused_with_its_question(importer):
    content = to_json_lines(make_record(1, **make_boxes([0, 0, 50, 50])))  # 22.4 pixels are padding
    importer(content)
    report = importer.refused(content, images=importer.images, skip_known=True)
    [refusal] = report.refusals
    assert (refusal.record, refusal.field) == ("line 1", "boxes")
    assert refusal.reason.startswith("of question 'q-1': [0, 0, 50, 50] extends 22.4 pixels beyond the image")
    assert load_boxes(importer, 1) == [((0, 0, 50, 50), 224)]


def test_boxes_on_two_radiographs_need_both_images(importer):
    record = make_boxes(
        ON_GRID, ON_GRID, radiographs=("pa", "lateral"), **make_exam("e-1", "pa.png", "b.png")
    )
    content = to_json_lines(make_record(1, **record))
    importer(content)
    frontal_only = to_json_lines(make_record(2, **make_exam("e-1", "pa.png")))
    [refusal] = importer.refused(frontal_only, images=importer.images).refusals
    assert refusal.reason == (
        "of question 'q-1': some are on a radiograph without an image; import all images"
    )
    importer(content, images=importer.images, skip_known=True)
    assert load_boxes(importer, 1) == [(IN_PIXELS, None)] * 2
    assert load_images(importer) == ["pa.png", "b.png"]


def test_an_exam_with_a_drawn_question_gets_no_images(importer):
    content = to_json_lines(
        make_record(1, **make_boxes(ON_GRID)), make_record(2, **make_exam("e-2", "b.png"))
    )
    importer(content)
    with unit_of_work(importer.engine) as db:
        plan = SamplingPlan(seed=7, per_1000=None, n=2)
        draw_batch(db, by=command_line_person(), dataset="d", plan=plan, batch_name="b", now=NOW)
    report = importer.refused(content, images=importer.images, skip_known=True)
    assert [(refusal.record, refusal.field) for refusal in report.refusals] == [
        ("line 1", "exam.radiographs.file"),
        ("line 2", "exam.radiographs.file"),
    ]
    assert report.refusals[0].reason == (
        "exam e-1 was imported without images, and its question 'q-1' is in a batch, a study or a release; "
        "import the file with its images into another dataset"
    )
    third_exam = to_json_lines(make_record(3, **make_exam("e-3", "pa.png")))
    importer(third_exam)
    completed = importer(
        content + third_exam, name="both.jsonl", images=importer.images, skip_known=True, skip_bad=True
    )
    assert (completed.completed_exams, completed.refused, completed.known) == (1, 2, 3)
    assert (load_images(importer, 1), load_images(importer, 3)) == ([], ["pa.png"])
    assert load_boxes(importer, 1) == [(tuple(ON_GRID), 224)]


def test_exams_without_an_image_in_the_folder_are_refused_and_the_others_completed(importer):
    content = to_json_lines(make_record(1), make_record(2, **make_exam("e-2", "missing.png")))
    importer(content)
    with pytest.raises(ImportRefused, match=r"line 2 · exam.radiographs.file: 'missing.png' is not in"):
        importer(content, images=importer.images, skip_known=True)
    report = importer(content, images=importer.images, skip_known=True, skip_bad=True)
    assert (report.completed_exams, report.refused) == (1, 1)


def test_the_view_of_a_later_record_is_used_where_none_was_stated(importer):
    radiographs = [{"id": "pa", "file": "pa.png"}]
    importer(to_json_lines(make_record(1, exam={"id": "e-1", "radiographs": radiographs})))
    importer(to_json_lines(make_record(2)), images=importer.images)  # states PA
    with read_only_session(importer.engine) as db:
        assert load_exam(db, exam_id=1, with_report=False).radiographs[0].view == View.PA


def test_audit_trail_and_history_name_the_exam_and_the_boxes(importer):
    content = to_json_lines(make_record(1, **make_boxes(ON_GRID)))
    importer(content)
    importer(content, images=importer.images, skip_known=True)
    with read_only_session(importer.engine) as db:
        entries = {
            row.what: (row.subject, json.loads(row.new))
            for row in db.execute(select(AuditRow).where(AuditRow.what.in_(("add images", "convert boxes"))))
            .scalars()
            .all()
        }
        history = load_history(db, by=command_line_person(), question_row_id=1)
    subject, new = entries["add images"]
    assert (subject, new["exam"], new["radiographs"]) == ("exam 1", "e-1", {"pa": "pa.png"})
    assert entries["convert boxes"][0] == "question 1"
    event = next(event for event in history.events if event.kind == "boxes converted")
    title, details = describe_event(event, history.question)
    assert title == f"boxes converted to pixels of the images from {new['file']}"
    assert details == ["boxes: lung 90 × 90 px at 45, 22 on pa → lung 40 × 40 px at 10, 10 on pa"]


def test_images_of_a_later_import_make_the_checks_of_boxes_run_again(importer):
    content = to_json_lines(make_record(1, **make_boxes(ON_GRID)))
    importer(content)
    with unit_of_work(importer.engine) as db:
        saved = [
            CheckState(check=check, is_on=True, version=CHECKS[check].version, checked_through=1)
            for check in (Check.SIDE_OR_LEVEL, Check.SCHEMA)
        ]
        save_states(db, dataset_id=1, states=saved)
    importer(content, images=importer.images, skip_known=True)
    with read_only_session(importer.engine) as db:
        states = load_states(db, dataset_id=1)
    assert (states[Check.SIDE_OR_LEVEL].checked_through, states[Check.SCHEMA].checked_through) == (0, 1)


def test_a_checkpoint_accepts_added_images_that_the_audit_trail_records(importer):
    content = to_json_lines(make_record(1, **make_boxes(ON_GRID)))
    importer(content)
    with read_only_session(importer.engine) as db:
        digests = write_digests(db.connection(), importer.workspace).sha256
        earlier_numbers = set(db.execute(select(AuditRow.number)).scalars())
    importer(content, images=importer.images, skip_known=True)
    with read_only_session(importer.engine) as db:
        entries = [entry for entry in iterate_entries(db) if entry.number not in earlier_numbers]
        assert {entry.action for entry in entries} >= {"import questions", "add images"}
        changes, changes_without_images = AccountedChanges(), AccountedChanges()
        for entry in entries:
            changes.add(entry)
            if entry.action not in {"add images", "convert boxes"}:
                changes_without_images.add(entry)
        differences = list(find_row_differences(db.connection(), importer.workspace, sha256=digests))
    assert [row for row in differences if not changes.account_for(row)] == []
    assert sorted(row.table for row in differences if not changes_without_images.account_for(row)) == [
        "question",
        "radiograph",
    ]


def test_the_command_states_which_exams_were_completed(workspace_engine, tmp_path, capsys):
    importer = Importer(workspace_engine, tmp_path)
    file = tmp_path / "questions.jsonl"
    file.write_bytes(to_json_lines(make_record(1, **make_boxes(ON_GRID))))
    arguments = ["import", "questions", str(file), "--dataset", "d"]
    assert cli.main([*arguments, "--without-images"]) == 0
    capsys.readouterr()
    assert cli.main([*arguments, "--images", str(importer.images), "--skip-known"]) == 0
    assert "Images added to 1 exam of earlier imports; boxes of 1 question" in capsys.readouterr().out
