"""What an import stores, on both databases: all or nothing, unique ids, records grouped by exam."""

import json

import pytest
from sqlalchemy import inspect, select, text

from domain.boxes import Box
from domain.draw_hash import compute_draw_hash
from domain.errors import NotAllowed
from domain.people import Person, Role
from domain.vocabulary import View
from intake import parsing_process
from intake.service import import_questions
from storage.intake.bulk import REBUILD_INDEXES_BELOW
from storage.intake.datasets import list_imported_files
from storage.intake.exams import load_exam
from storage.intake.questions import load_questions
from storage.rows import QuestionRow, metadata
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.question_files import write_image
from tests.storage.import_worlds import NOW, Importer, lines, record


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def questions(importer):
    with read_only_session(importer.engine) as db:
        numbers = list(db.execute(select(QuestionRow.id).order_by(QuestionRow.id)).scalars())
        return [question for _, question in load_questions(db, question_ids=numbers)]


def exam(importer, number=1):
    with read_only_session(importer.engine) as db:
        return load_exam(db, exam_id=number, with_report=True)


def test_questions_keep_the_order_of_the_file_and_the_hash_they_are_drawn_by(importer):
    report = importer(lines(record(2), record(1), record(3)), images=importer.images)
    assert (report.questions, report.exams, report.images, report.refused) == (3, 1, 1, 0)
    assert [each.id for each in questions(importer)] == ["q-2", "q-1", "q-3"]
    with read_only_session(importer.engine) as db:
        assert dict(db.execute(select(QuestionRow.key, QuestionRow.draw_hash)).all())[
            "q-1"
        ] == compute_draw_hash("q-1")


def test_the_file_is_written_down_with_its_hash_and_counts(importer):
    importer(lines(record(1)))
    importer(lines(record(1), record(2), record(3, answer=[9])), skip_known=True, skip_bad=True)
    with read_only_session(importer.engine) as db:
        last, first = list_imported_files(db, dataset_id=1)
    assert (last.questions, last.known, last.refused, first.questions) == (1, 1, 1, 1)
    assert len(last.file_sha256) == 64


def test_an_id_that_is_there_is_refused(importer):
    importer(lines(record(1)))
    same, other = importer.refused(lines(record(1), record(1, stem="Another stem of this id?"))).refusals
    assert "the same record; --skip-known leaves it out" in same.reason
    assert "another record" in other.reason


def test_known_records_are_left_out_only_when_they_are_the_same_to_the_byte(importer):
    importer(lines(record(1), record(2)))
    assert importer(lines(record(2), record(3)), skip_known=True).known == 1
    report = importer.refused(lines(record(3, difficulty="hard"), record(4)), skip_known=True)
    assert [each.record for each in report.refusals] == ["line 1"]


@pytest.mark.parametrize("apart", [0, 2_500])
def test_an_id_twice_in_one_file_is_refused_in_one_batch_and_across_batches(importer, apart):
    between = [record(number) for number in range(10, 10 + apart)]
    report = importer.refused(lines(record(1), *between, record(1)))
    assert [(each.record, each.field) for each in report.refusals] == [(f"line {apart + 2}", "id")]


def test_with_skip_bad_the_good_records_land_and_the_list_names_the_others(importer):
    report = importer(lines(record(1), record(2, answer=[7]), record(3)), skip_bad=True)
    assert (report.questions, report.refused) == (2, 1)
    assert "line 2" in report.refusals_file.read_text()


def test_an_exam_none_of_whose_questions_could_come_in_is_not_there(importer):
    lost = record(
        1,
        exam={**record()["exam"], "id": "e-lost"},
        boxes=[{"radiograph": "pa", "label": "x", "box": [0, 0, 999, 9]}],
    )
    importer(lines(lost, record(2)), skip_bad=True, images=importer.images)
    assert importer.rows()["exam"] == 1


def test_what_records_say_of_an_exam_adds_up(importer):
    write_image(importer.images / "lat.png", 50, 40, "L")
    first = record(1)
    second = record(2, report="Findings: none.")
    second["exam"] = {
        "id": "e-1",
        "age": "058Y",
        "radiographs": [{"id": "lat", "file": "lat.png", "view": "LATERAL"}],
    }
    importer(lines(first, second))
    importer(lines(record(3, exam={**first["exam"], "sex": "F"})))
    found = exam(importer)
    assert (found.age, found.sex, found.report) == ("058Y", "F", "Findings: none.")
    assert [(each.id, each.view) for each in found.radiographs] == [("pa", View.PA), ("lat", View.LATERAL)]
    assert importer.rows()["exam"] == 1


def test_a_later_file_that_disagrees_about_an_exam_is_refused(importer):
    importer(lines(record(1, exam={**record()["exam"], "patient": "p-1"})))
    report = importer.refused(lines(record(2, exam={**record()["exam"], "patient": "p-2"})))
    assert report.refusals[0].field == "exam.patient"


def test_boxes_on_a_grid_are_stored_in_pixels_of_the_image(importer):
    box = {"radiograph": "pa", "label": "lung", "box": [0, 0, 50, 50]}
    importer(lines(record(boxes=[box], box_grid=[100, 100], box_fit="stretch")), images=importer.images)
    assert questions(importer)[0].boxes[0].box == Box(x_min=0, y_min=0, x_max=40, y_max=50)


def test_without_images_questions_come_in_and_boxes_on_a_grid_do_not(importer):
    box = {"radiograph": "pa", "label": "lung", "box": [0, 0, 50, 50]}
    assert importer(lines(record(boxes=[box]))).images == 0
    report = importer.refused(lines(record(2, boxes=[box], box_grid=[224, 224], box_fit="stretch")))
    assert "the images are needed" in report.refusals[0].reason


def test_each_distinct_file_is_kept_once(importer):
    (importer.images / "copy.png").write_bytes((importer.images / "pa.png").read_bytes())
    other = {"id": "e-2", "radiographs": [{"id": "pa", "file": "copy.png"}]}
    assert importer(lines(record(1), record(2, exam=other)), images=importer.images).images == 1


def test_text_comes_in_composed(importer):
    importer(lines(record(stem="E\u0301panchement visible sur ce cliche\u0301 ?")))
    assert questions(importer)[0].stem == "Épanchement visible sur ce cliché ?"


def test_a_large_file_is_parsed_by_a_process_of_its_own_with_the_same_result(importer, monkeypatch):
    records = [
        record(number, explanation=f"Opacity {number}, « à gauche », of the lower zone.")
        for number in range(3_000)
    ]
    records[2_000]["answer"] = [9]
    content = lines(*records)
    importer(content, skip_bad=True, dataset="here")
    monkeypatch.setattr(parsing_process, "LARGE_FILE_BYTES", 1)
    monkeypatch.setattr("intake.service.LARGE_FILE_BYTES", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    report = importer(content, skip_bad=True, dataset="there")
    assert [(each.record, each.field) for each in report.refusals] == [("line 2001", "answer")]
    found = questions(importer)
    assert len(found) == 2 * 2_999
    assert found[:2_999] == found[2_999:]


def test_the_indexes_are_there_after_a_large_import_and_after_a_refused_one(importer, monkeypatch):
    monkeypatch.setattr("intake.service.LARGE_FILE_BYTES", 1)
    importer.refused(lines(record(1), record(1)))
    importer(lines(record(1), record(2)))
    wanted = {index.name for index in metadata.tables["question"].indexes}
    assert {index["name"] for index in inspect(importer.engine).get_indexes("question")} == wanted


def test_a_dataset_of_many_questions_is_asked_by_its_index(importer, monkeypatch):
    importer(lines(*(record(number) for number in range(5))))
    monkeypatch.setattr("intake.service.batch_writer.REBUILD_INDEXES_BELOW", 3)
    report = importer.refused(lines(record(4), record(5)))
    assert [each.record for each in report.refusals] == ["line 1"]
    assert REBUILD_INDEXES_BELOW > 1_000


def test_only_those_who_may_import_do(importer):
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


def test_a_question_of_each_batch_is_read_back_as_it_was_written(importer):
    importer(lines(*(record(n, answer=[n % 4]) for n in range(2_100))))
    assert [each.answer for each in questions(importer)] == [(n % 4,) for n in range(2_100)]


def test_the_stored_json_is_spelt_as_storage_spells_it(importer):
    """Fields that an expert did not change must compare equal, byte for byte."""
    box = {"radiograph": "pa", "label": "l", "box": [1, 2.5, 30, 40]}
    importer(lines(record(boxes=[box], options=["a", "b", "ç", "d"])))
    with read_only_session(importer.engine) as db:
        row = db.execute(text("SELECT options, answer, boxes FROM question")).one()
    assert row.options == '["a","b","ç","d"]'
    assert row.answer == "[2]"
    assert row.boxes == '[{"box":[1.0,2.5,30.0,40.0],"label":"l","radiograph":"pa"}]'
    assert json.loads(row.boxes)[0]["box"] == box["box"]
