"""What an import stores, on both databases: all or nothing, unique ids, records grouped by exam."""

import json

import msgspec
import pytest
from sqlalchemy import inspect, select, text

from domain.boxes import Box, BoxFit, BoxGrid
from domain.draw_hash import compute_draw_hash
from domain.errors import NotAllowed
from domain.people import Person, Role
from domain.vocabulary import View
from intake import parsing_process
from intake.service import ImportProgress, import_questions
from records.questions import question_to_record
from records.values import boxes_from_plain, boxes_to_plain
from storage.intake.bulk import REBUILD_INDEXES_BELOW
from storage.intake.datasets import list_imported_files
from storage.intake.exams import load_exam
from storage.intake.questions import load_questions
from storage.rows.all_tables import metadata
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.question_files import write_image
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def load_all_questions(importer):
    with read_only_session(importer.engine) as db:
        numbers = list(db.execute(select(QuestionRow.id).order_by(QuestionRow.id)).scalars())
        return [question for _, question in load_questions(db, question_ids=numbers)]


def load_one_exam(importer, number=1):
    with read_only_session(importer.engine) as db:
        return load_exam(db, exam_id=number, with_report=True)


@pytest.mark.slow
def test_questions_keep_file_order_and_get_their_draw_hash(importer):
    report = importer(to_json_lines(make_record(2), make_record(1), make_record(3)), images=importer.images)
    assert (report.questions, report.exams, report.images, report.refused) == (3, 1, 1, 0)
    assert [question.id for question in load_all_questions(importer)] == ["q-2", "q-1", "q-3"]
    with read_only_session(importer.engine) as db:
        assert dict(db.execute(select(QuestionRow.key, QuestionRow.draw_hash)).all())[
            "q-1"
        ] == compute_draw_hash("q-1")


def test_imported_file_is_recorded_with_hash_and_counts(importer):
    importer(to_json_lines(make_record(1)))
    importer(
        to_json_lines(make_record(1), make_record(2), make_record(3, answer=[9])),
        skip_known=True,
        skip_bad=True,
    )
    with read_only_session(importer.engine) as db:
        last, first = list_imported_files(db, dataset_id=1)
    assert (last.questions, last.known, last.refused, first.questions) == (1, 1, 1, 1)
    assert len(last.file_sha256) == 64


def test_existing_id_is_refused(importer):
    importer(to_json_lines(make_record(1)))
    same_record, other_record = importer.refused(
        to_json_lines(make_record(1), make_record(1, stem="Another stem of this id?"))
    ).refusals
    assert "the same record; --skip-known leaves it out" in same_record.reason
    assert "another record" in other_record.reason


@pytest.mark.slow
def test_known_records_are_skipped_only_if_identical(importer):
    importer(to_json_lines(make_record(1), make_record(2)))
    assert importer(to_json_lines(make_record(2), make_record(3)), skip_known=True).known == 1
    report = importer.refused(
        to_json_lines(make_record(3, difficulty="hard"), make_record(4)), skip_known=True
    )
    assert [refusal.record for refusal in report.refusals] == ["line 1"]


@pytest.mark.parametrize("records_between", [0, 2_500])
def test_duplicate_id_in_one_file_is_refused(importer, records_between):
    filler = [make_record(number) for number in range(10, 10 + records_between)]
    report = importer.refused(to_json_lines(make_record(1), *filler, make_record(1)))
    assert [(refusal.record, refusal.field) for refusal in report.refusals] == [
        (f"line {records_between + 2}", "id")
    ]


def test_skip_bad_imports_good_records_and_lists_the_others(importer):
    report = importer(
        to_json_lines(make_record(1), make_record(2, answer=[7]), make_record(3)), skip_bad=True
    )
    assert (report.questions, report.refused) == (2, 1)
    assert "line 2" in report.refusals_file.read_text()


@pytest.mark.slow
def test_exam_without_imported_questions_is_not_stored(importer):
    refused_record = make_record(
        1,
        exam={**make_record()["exam"], "id": "e-lost"},
        boxes=[{"radiograph": "pa", "label": "x", "box": [0, 0, 999, 9]}],
    )
    importer(to_json_lines(refused_record, make_record(2)), skip_bad=True, images=importer.images)
    assert importer.rows()["exam"] == 1


def test_exam_combines_the_data_of_its_records(importer):
    write_image(importer.images / "lat.png", 50, 40, "L")
    first = make_record(1)
    second = make_record(2, report="Findings: none.")
    second["exam"] = {
        "id": "e-1",
        "age": "058Y",
        "radiographs": [{"id": "lat", "file": "lat.png", "view": "LATERAL"}],
    }
    importer(to_json_lines(first, second))
    importer(to_json_lines(make_record(3, exam={**first["exam"], "sex": "F"})))
    merged_exam = load_one_exam(importer)
    assert (merged_exam.age, merged_exam.sex, merged_exam.report) == ("058Y", "F", "Findings: none.")
    assert [(radiograph.id, radiograph.view) for radiograph in merged_exam.radiographs] == [
        ("pa", View.PA),
        ("lat", View.LATERAL),
    ]
    assert importer.rows()["exam"] == 1


def test_later_file_that_contradicts_an_exam_is_refused(importer):
    importer(to_json_lines(make_record(1, exam={**make_record()["exam"], "patient": "p-1"})))
    report = importer.refused(to_json_lines(make_record(2, exam={**make_record()["exam"], "patient": "p-2"})))
    assert report.refusals[0].field == "exam.patient"


@pytest.mark.slow
def test_boxes_on_a_grid_are_stored_in_pixels_of_the_image(importer):
    box = {"radiograph": "pa", "label": "lung", "box": [0, 0, 50, 50]}
    importer(
        to_json_lines(make_record(boxes=[box], box_grid=[100, 100], box_fit="stretch")),
        images=importer.images,
    )
    assert load_all_questions(importer)[0].boxes[0].box == Box(x_min=0, y_min=0, x_max=40, y_max=50)


def make_record_on_grid(number, corners, **changes):
    box = {"radiograph": "pa", "label": "lung", "box": corners}
    return make_record(number, boxes=[box], box_grid=[224, 224], box_fit="letterbox", **changes)


def test_boxes_without_an_image_stay_on_their_grid(importer):
    importer(to_json_lines(make_record_on_grid(1, [0, 0, 50, 50.5])))
    box = load_all_questions(importer)[0].boxes[0]
    assert box.box == Box(x_min=0, y_min=0, x_max=50, y_max=50.5)
    assert box.grid == BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)


def test_box_on_its_grid_is_released_as_it_was_imported(importer):
    record = make_record_on_grid(1, [0, 0, 50, 50.5])
    importer(to_json_lines(record))
    released = question_to_record(load_all_questions(importer)[0], msgspec.Raw(b"{}"))
    plain = json.loads(msgspec.json.encode(released))
    names = ("boxes", "box_grid", "box_fit")
    assert [plain[name] for name in names] == [record[name] for name in names]


def test_boxes_keep_their_grid_in_their_plain_form(importer):
    importer(to_json_lines(make_record_on_grid(1, [0, 0, 50, 50])))
    boxes = load_all_questions(importer)[0].boxes
    assert boxes_from_plain(boxes_to_plain(boxes)) == boxes


def test_box_without_an_image_that_leaves_its_grid_is_refused(importer):
    report = importer.refused(to_json_lines(make_record_on_grid(1, [0, 0, 50, 226])))
    assert report.refusals[0].reason == "[0, 0, 50, 226] extends 2 pixels beyond its 224 x 224 grid"


@pytest.mark.slow
def test_identical_image_files_are_stored_once(importer):
    (importer.images / "copy.png").write_bytes((importer.images / "pa.png").read_bytes())
    second_exam = {"id": "e-2", "radiographs": [{"id": "pa", "file": "copy.png"}]}
    assert (
        importer(
            to_json_lines(make_record(1), make_record(2, exam=second_exam)), images=importer.images
        ).images
        == 1
    )


def test_imported_text_is_in_composed_unicode(importer):
    importer(to_json_lines(make_record(stem="E\u0301panchement visible sur ce cliche\u0301 ?")))
    assert load_all_questions(importer)[0].stem == "Épanchement visible sur ce cliché ?"


@pytest.mark.slow
def test_large_file_is_parsed_in_a_child_process_with_equal_result(importer, monkeypatch):
    records = [
        make_record(number, explanation=f"Opacity {number}, « à gauche », of the lower zone.")
        for number in range(3_000)
    ]
    records[2_000]["answer"] = [9]
    content = to_json_lines(*records)
    importer(content, skip_bad=True, dataset="here")
    monkeypatch.setattr(parsing_process, "LARGE_FILE_BYTES", 1)
    monkeypatch.setattr("intake.service.LARGE_FILE_BYTES", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    report = importer(content, skip_bad=True, dataset="there")
    assert [(refusal.record, refusal.field) for refusal in report.refusals] == [("line 2001", "answer")]
    imported = load_all_questions(importer)
    assert len(imported) == 2 * 2_999
    assert imported[:2_999] == imported[2_999:]


@pytest.mark.slow
def test_indexes_exist_after_large_and_refused_imports(importer, monkeypatch):
    monkeypatch.setattr("intake.service.LARGE_FILE_BYTES", 1)
    importer.refused(to_json_lines(make_record(1), make_record(1)))
    importer(to_json_lines(make_record(1), make_record(2)))
    expected = {index.name for index in metadata.tables["question"].indexes}
    assert {index["name"] for index in inspect(importer.engine).get_indexes("question")} == expected


def test_known_ids_of_a_large_dataset_are_found_by_index(importer, monkeypatch):
    importer(to_json_lines(*(make_record(number) for number in range(5))))
    monkeypatch.setattr("intake.service.batch_writer.REBUILD_INDEXES_BELOW", 3)
    report = importer.refused(to_json_lines(make_record(4), make_record(5)))
    assert [refusal.record for refusal in report.refusals] == ["line 1"]
    assert REBUILD_INDEXES_BELOW > 1_000


def test_import_needs_permission(importer):
    reviewer = Person(id=1, name="r", display_name="R", roles=frozenset({Role.REVIEWER}))
    with unit_of_work(importer.engine) as db, pytest.raises(NotAllowed):
        import_questions(
            db,
            by=reviewer,
            path=importer.folder / "x",
            dataset="d",
            images=None,
            workspace=importer.workspace,
            now=NOW,
        )


@pytest.mark.slow
def test_questions_of_all_insert_batches_are_read_back_unchanged(importer):
    importer(to_json_lines(*(make_record(n, answer=[n % 4]) for n in range(2_100))))
    assert [question.answer for question in load_all_questions(importer)] == [(n % 4,) for n in range(2_100)]


def test_imported_json_has_the_canonical_form_of_storage(importer):
    """Fields that an expert did not change must compare equal, byte for byte."""
    box = {"radiograph": "pa", "label": "l", "box": [1, 2.5, 30, 40]}
    importer(to_json_lines(make_record(boxes=[box], options=["a", "b", "ç", "d"])))
    with read_only_session(importer.engine) as db:
        row = db.execute(text("SELECT options, answer, boxes FROM question")).one()
    assert row.options == '["a","b","ç","d"]'
    assert row.answer == "[2]"
    assert row.boxes == '[{"box":[1.0,2.5,30.0,40.0],"label":"l","radiograph":"pa"}]'
    assert json.loads(row.boxes)[0]["box"] == box["box"]


@pytest.mark.slow
def test_progress_is_reported_after_each_image(sqlite_engine, tmp_path):
    importer = Importer(sqlite_engine, tmp_path)
    names = ["pa.png", "second.png", "third.png"]
    for number, name in enumerate(names[1:], start=1):
        write_image(importer.images / name, 100, 80 + number, "L")
    records = [
        make_record(number, exam={"id": name, "radiographs": [{"id": "pa", "file": name}]})
        for number, name in enumerate(names, start=1)
    ]
    reports: list[ImportProgress] = []
    importer(to_json_lines(*records), images=importer.images, progress=reports.append)
    assert [(report.images, round(report.fraction, 2)) for report in reports] == [
        (0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (3, 1.0),
    ]  # fmt: skip
