"""Question files of the published formats are imported with the right questions, keys, boxes and exams."""

import json

import pytest

from records.questions import QuestionRecord
from records.schema import SCHEMA_PATH, render_schema
from tests.golden.question_files import GOLDEN_FOLDER, SAMPLE_FOLDERS, import_sample

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("sample", SAMPLE_FOLDERS)
def test_a_file_in_a_published_format_is_imported_as_expected(sample, sqlite_engine, tmp_path):
    expected = json.loads((GOLDEN_FOLDER / sample / "expected.json").read_text(encoding="utf-8"))
    assert import_sample(sample, sqlite_engine, tmp_path / "files") == expected


def test_a_box_on_the_224_letterbox_is_mapped_to_the_original():
    """Chest ImaGenome publishes this box: [129, 65, 186, 89] on 224, [1500, 886, 2278, 1214] in the original.

    One pixel of the grid is 13.6 pixels of the image.
    """
    questions = json.loads((GOLDEN_FOLDER / "gemex" / "expected.json").read_text(encoding="utf-8"))[
        "questions"
    ]
    box = questions[0]["boxes"][0]["box"]
    corners = [box[name] for name in ("x_min", "y_min", "x_max", "y_max")]
    assert max(abs(a - b) for a, b in zip(corners, [1500, 886, 2278, 1214], strict=True)) < 14


def test_both_spellings_of_the_answer_tag_are_read():
    questions = json.loads((GOLDEN_FOLDER / "gemex_train" / "expected.json").read_text(encoding="utf-8"))[
        "questions"
    ]
    assert [question["answer"] for question in questions[:2]] == [[0, 2], [0, 2]]


def test_the_golden_native_file_fits_the_published_schema(native_schema):
    lines = (GOLDEN_FOLDER / "native" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line]
    assert len(questions) > 1
    assert [error.message for question in questions for error in native_schema.iter_errors(question)] == []


def test_the_schema_has_the_fields_of_the_record(native_schema):
    assert set(native_schema.schema["properties"]) == set(QuestionRecord.__struct_fields__)


def test_the_published_schema_is_up_to_date():
    assert SCHEMA_PATH.read_text(encoding="utf-8") == render_schema(), (
        "write it again: python -m records.schema"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"format": "essay"},
        {"difficulty": "impossible"},
        {"answer": 2},
        {"stem": ""},
        {"colour": "red"},
        {"exam": {"id": "e"}},
        {"format": "closed"},
        {"format": "open"},
        {"answer": [0, 1]},
        {"answer": [26]},
        {"options": ["one"]},
        {"boxes": [{"radiograph": "pa", "label": "", "box": [1, 2, 3]}]},
        {"box_grid": [224, 224]},
    ],
)
def test_the_schema_refuses_invalid_records(native_schema, change):
    record = json.loads(
        (GOLDEN_FOLDER / "native" / "questions.jsonl").read_text(encoding="utf-8").splitlines()[0]
    )
    assert native_schema.is_valid(record)
    assert not native_schema.is_valid({**record, **change})
