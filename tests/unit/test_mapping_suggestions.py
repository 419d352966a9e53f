"""Columns of a table are recognised by name and content, and frequent layout issues are offered as fixes."""

import csv
import io
import json

import pytest
from openpyxl import Workbook

from accounts.service import command_line_person
from domain.errors import InvalidValue
from intake.mapping.reader import MappingReader
from intake.mapping.sample import TableSample, list_columns
from intake.service import load_mapping
from intake.service.tables import (
    KINDS,
    build_template,
    create_mapping,
    find_builtin_mapping,
    find_layout_issues,
    guess_columns,
    load_sample,
    try_mapping,
)


def make_sample(*records):
    columns = dict.fromkeys(column for record in records for column in list_columns(record))
    return TableSample(names=tuple(range(1, len(records) + 1)), records=records, columns=tuple(columns))


def make_single_choice_record(number, **changes):
    fields = {
        "id": f"q{number}",
        "question": "Which finding is present?",
        "image": f"exam-{number}/pa.png",
        "options": ["Effusion", "Pneumothorax", "Nodule"],
        "answer": "B",
    }
    return {**fields, **changes}


def suggest(sample, image_names=frozenset()):
    """(mapping with the first fix of each issue, issues)."""
    columns = guess_columns(sample)
    issues = find_layout_issues(sample, columns, image_names)
    fixes = {issue.name: issue.fixes[0][0] for issue in issues}
    mapping = create_mapping("ours", columns, fixes, sample.input_settings)
    return mapping, {issue.name: issue for issue in issues}


def read_questions(sample, mapping):
    results = try_mapping(sample, mapping, file_stem="set", count=len(sample.records))
    assert [result.reason for result in results] == [""] * len(results)
    return [result.question for result in results]


def test_the_simplest_records_need_no_choice():
    sample = make_sample(
        {"id": 1, "question": "Is there an effusion?", "answer": "No", "image": "a.png"},
        {"id": 2, "question": "What is seen?", "answer": "A nodule", "image": "b.png"},
    )
    mapping, issues = suggest(sample)
    assert issues == {}
    questions = read_questions(sample, mapping)
    assert [(question.id, question.format, question.answer) for question in questions] == [
        ("1", "closed", "no"),
        ("2", "open", "A nodule"),
    ]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"QID": 1, "Img_Name": "a", "Question": "x?", "Label": "y"}, {"id": "QID", "images": "Img_Name"}),
        ({"foto": "a.jpg", "texto": "¿Sí?", "r": "yes"}, {"images": "foto", "stem": "texto", "answer": "r"}),
        ({"question": "x?", "options": [{"letter": "A", "text": "y"}]}, {"options": "options[*].text"}),
        ({"question": "x?", "task": "presence", "difficulty": "?"}, {"task": "task", "difficulty": None}),
    ],
)  # fmt: skip
def test_columns_are_recognised_by_name_and_content(record, expected):
    guessed = guess_columns(make_sample(record))
    assert {field: guessed.get(field, (None,))[0] for field in expected} == expected


def test_one_column_per_option_is_recognised():
    record = {"id": 1, "question": "x?", "image": "a.png", "A": "Effusion", "B": "Nodule", "answer": "B"}
    sample = make_sample(record)
    assert guess_columns(sample)["options"] == ("A", "B")
    mapping, _ = suggest(sample)
    assert read_questions(sample, mapping)[0].answer == (1,)


@pytest.mark.parametrize(
    ("answers", "first_way", "indices"),
    [
        ([0, 1, 2], "index", [(0,), (1,), (2,)]),
        ([1, 2, 3], "number", [(0,), (1,), (2,)]),
        (["1", "3"], "number", [(0,), (2,)]),
        ([1, 2], "index", [(1,), (2,)]),
    ],
)
def test_numeric_answers_are_offered_as_counted_from_0_or_from_1(answers, first_way, indices):
    sample = make_sample(
        *(make_single_choice_record(number, answer=answer) for number, answer in enumerate(answers))
    )
    mapping, issues = suggest(sample)
    assert issues["numbers"].fixes[0][0] == first_way
    assert {value for value, _ in issues["numbers"].fixes} == {"index", "number"}
    assert [question.answer for question in read_questions(sample, mapping)] == indices


@pytest.mark.parametrize(
    "cell",
    [
        "Effusion|Pneumothorax|Nodule",
        "Effusion; Pneumothorax; Nodule",
        "Effusion\nPneumothorax\nNodule",
        "A. Effusion B. Pneumothorax C. Nodule",
        "(A) Effusion (B) Pneumothorax (C) Nodule",
    ],
)
def test_options_in_one_cell_are_split(cell):
    sample = make_sample(
        make_single_choice_record(1, options=cell), make_single_choice_record(2, options=cell)
    )
    mapping, issues = suggest(sample)
    assert "cell" in issues
    question = read_questions(sample, mapping)[0]
    assert (question.options, question.answer) == (("Effusion", "Pneumothorax", "Nodule"), (1,))


def test_answers_that_are_texts_of_options_are_found():
    sample = make_sample(
        make_single_choice_record(1, answer="nodule"), make_single_choice_record(2, answer="Effusion")
    )
    mapping, issues = suggest(sample)
    assert issues["texts"].text == "The answers are the texts of options (2 of 2 match an option exactly)."
    assert [question.answer for question in read_questions(sample, mapping)] == [(2,), (0,)]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([..., ...], "No column contains ids of questions."),
        (["a", ""], "The column “id” is empty in 1 of the first 2 records."),
        ([0, 0], "The column “id” repeats in 1 of the first 2 records."),
    ],
)
def test_missing_ids_are_made_from_file_and_record(ids, text):
    records = [make_single_choice_record(number, id=value) for number, value in enumerate(ids)]
    sample = make_sample(
        *({name: value for name, value in record.items() if value is not ...} for record in records)
    )
    mapping, issues = suggest(sample)
    assert issues["ids"].text == text
    assert [question.id for question in read_questions(sample, mapping)] == ["set-1", "set-2"]


def test_missing_extension_is_taken_from_the_images():
    sample = make_sample(make_single_choice_record(1, image="exam-1/pa"))
    mapping, issues = suggest(sample, frozenset({"exam-1/pa.dcm", "other.png"}))
    assert issues["suffix"].fixes == ((".dcm", "Add .dcm"),)
    assert mapping.content.fields.images.value_template == "{}.dcm"


@pytest.mark.parametrize("names", [("image_1", "image_2"), ("Image PA", "Image lateral"), ("img1", "img2")])
def test_one_column_per_view_is_recognised(names):
    record = {"id": 1, "question": "x?", "answer": "yes", names[0]: "a", names[1]: "b"}
    single_view = {**record, "id": 2, names[1]: ""}
    sample = make_sample(record, single_view)
    assert guess_columns(sample)["images"] == names
    mapping, issues = suggest(sample, frozenset({"a.dcm", "b.dcm"}))
    assert list(issues) == ["suffix"]
    reader = MappingReader(mapping, "set", {})
    exams = [reader.read(1, json.dumps(item).encode()).exam for item in (record, single_view)]
    files = [[radiograph.file for radiograph in exam.radiographs] for exam in exams]
    assert files == [["a.dcm", "b.dcm"], ["a.dcm"]]


@pytest.mark.parametrize(
    ("images", "delivered", "expected"),
    [
        (("C:\\x\\a.png", "C:\\x\\b.png"), frozenset(), "a.png"),
        (("/data/x/a.png", "/data/x/b.png"), frozenset({"a.png", "b.png"}), "a.png"),
        (("x/a", "x/b"), frozenset({"a.png", "b.png"}), "a.png"),
        (("x/a.png", "x/b.png"), frozenset({"x/a.png", "x/b.png"}), "x/a.png"),
        (("x/a.png", "y/a.png"), frozenset({"a.png"}), "x/a.png"),
    ],
)
def test_folders_of_image_names_are_removed_if_the_images_have_none(images, delivered, expected):
    sample = make_sample(
        *(make_single_choice_record(number, image=image) for number, image in enumerate(images))
    )
    mapping, issues = suggest(sample, delivered)
    assert ("folders" in issues) == (expected not in images)
    [first, *_] = try_mapping(sample, mapping, file_stem="set", count=1)
    assert first.reason == ""
    assert (
        MappingReader(mapping, "set", {})
        .read(1, json.dumps(sample.records[0]).encode())
        .exam.radiographs[0]
        .file
        == expected
    )


@pytest.mark.parametrize(("yes", "no"), [(1, 0), ("TRUE", "FALSE"), ("y", "n"), ("Ja", "Nein")])
def test_other_words_for_yes_and_no_are_offered_as_yes_and_no(yes, no):
    records = [
        {"id": number, "question": "Is it?", "image": "a.png", "answer": answer}
        for number, answer in enumerate([yes, no, yes])
    ]
    sample = make_sample(*records)
    mapping, issues = suggest(sample)
    assert list(issues) == ["yes_no"]
    assert [question.answer for question in read_questions(sample, mapping)] == ["yes", "no", "yes"]


@pytest.mark.parametrize("names", [("Option 1", "Option 2"), ("Antwort A", "Antwort B"), ("opt_a", "opt_b")])
def test_answers_that_are_names_of_option_columns_are_found(names):
    records = [
        {"id": key, "question": "x?", "image": "a.png", names[0]: "Effusion", names[1]: "Nodule", "key": key}
        for key in names
    ]
    sample = make_sample(*records)
    mapping, issues = suggest(sample)
    assert list(issues) == ["names"]
    assert [question.answer for question in read_questions(sample, mapping)] == [(0,), (1,)]


def read_file(path):
    return load_sample(by=command_line_person(), path=path)


def read_ids(sample):
    mapping, _ = suggest(sample)
    return [question.id for question in read_questions(sample, mapping)]


@pytest.mark.parametrize("indent", [None, 1])
def test_questions_inside_an_object_are_found(tmp_path, indent):
    path = tmp_path / "set.json"
    path.write_text(
        json.dumps(
            {"version": 1, "data": [make_single_choice_record(1), make_single_choice_record(2)]},
            indent=indent,
        )
    )
    sample = read_file(path)
    assert sample.input_settings.records == "data[*]"
    assert read_ids(sample) == ["q1", "q2"]


@pytest.mark.parametrize("wrap", [lambda record: [record], lambda record: record])
def test_one_question_with_lists_is_not_read_as_a_file_of_questions(tmp_path, wrap):
    record = make_single_choice_record(
        1, options=[{"letter": "A", "text": "x", "n": 1}, {"letter": "B", "text": "y", "n": 2}]
    )
    path = tmp_path / "set.json"
    path.write_text(json.dumps(wrap(record)))
    sample = read_file(path)
    assert sample.input_settings.records is None
    assert read_ids(sample) == ["q1"]


def test_nan_of_pandas_is_a_missing_value(tmp_path):
    path = tmp_path / "set.json"
    path.write_text(
        json.dumps(
            [
                make_single_choice_record(1, explanation=float("nan")),
                make_single_choice_record(2, explanation="Seen."),
            ]
        )
    )
    sample = read_file(path)
    mapping, _ = suggest(sample)
    assert "nan = true" in mapping.text
    assert [question.explanation for question in read_questions(sample, mapping)] == ["", "Seen."]


def test_damaged_records_are_left_out_of_the_sample_unless_all_are_damaged(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(make_single_choice_record(1)) + '\n{"id": 2,,}\n')
    assert read_ids(read_file(path)) == ["q1"]
    path.write_text('[{"id": 2,,}]')
    with pytest.raises(InvalidValue, match="record: is not valid JSON"):
        read_file(path)


def test_titles_above_the_header_of_a_workbook_are_skipped_and_merged_cells_repeat(tmp_path):
    workbook = Workbook()
    sheet = workbook.active
    for row in [
        ["Questions of 2026, version 3"],
        [],
        ["id", "image", "question", "answer"],
        ["q1", "a.png", "Is it?", "yes"],
        ["q2", None, "Is it not?", "no"],
        ["q3", "b.png", "Is it?", "no"],
    ]:
        sheet.append(row)
    sheet.merge_cells("A1:D1")
    sheet.merge_cells("B4:B5")
    path = tmp_path / "set.xlsx"
    workbook.save(path)
    sample = read_file(path)
    assert [record["image"] for record in sample.records] == ["a.png", "a.png", "b.png"]
    assert sample.names == (4, 5, 6)
    assert read_ids(sample) == ["q1", "q2", "q3"]


def test_titles_above_the_header_of_a_csv_file_are_skipped(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("Our questions;;;\nid;image;question;answer\nq1;a.png;Is it?;yes\n")
    assert read_ids(read_file(path)) == ["q1"]


def test_column_that_no_path_can_name_is_not_offered():
    assert list_columns({"$": 1, "@x": 2, " ": 3, "Correct?": 4}) == ["Correct?"]


def test_no_layout_issue_is_reported_for_a_correct_table():
    sample = make_sample(make_single_choice_record(1), make_single_choice_record(2))
    assert find_layout_issues(sample, guess_columns(sample)) == ()


def test_a_created_mapping_is_unchanged_by_writing_and_reading():
    mapping, _ = suggest(
        make_sample(make_single_choice_record(1, answer=1), make_single_choice_record(2, answer=3))
    )
    assert load_mapping(mapping.text, mapping.file_name).content == mapping.content


def test_a_mapping_without_a_question_column_is_refused():
    with pytest.raises(InvalidValue, match="stem: has no column; choose the column that contains it"):
        create_mapping("ours", {"answer": ("a",)}, {})


def test_builtin_mapping_is_found_by_its_columns():
    columns = ("img_name", "question", "answer", "qid", "modality", "location", "content_type")
    record = dict.fromkeys(columns, "x")
    assert find_builtin_mapping(make_sample(record)).content.name == "slake"
    assert find_builtin_mapping(make_sample(make_single_choice_record(1))) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_is_read_without_a_choice(tmp_path, kind):
    path = tmp_path / f"questions.{kind}"
    path.write_bytes(build_template(kind))
    sample = load_sample(by=command_line_person(), path=path)
    mapping, issues = suggest(sample)
    assert issues == {}
    single, closed = read_questions(sample, mapping)
    assert (single.format, single.answer, closed.format, closed.answer) == ("single", (2,), "closed", "no")
    assert (single.task, single.difficulty, single.category) == ("presence", "easy", "Lung opacity")


def test_templates_have_the_same_columns():
    header = next(csv.reader(io.StringIO(build_template("csv").decode("utf-8-sig"))))
    assert list(json.loads(build_template("jsonl").splitlines()[0])) == header
