"""Columns of a table are recognised by name and content, and frequent mistakes are offered as fixes."""

import csv
import io
import json

import pytest

from accounts.service import command_line_person
from domain.errors import InvalidValue
from intake.mapping.sample import TableSample, list_columns
from intake.service import load_mapping
from intake.service.tables import (
    KINDS,
    build_template,
    create_mapping,
    find_mistakes,
    find_ready_mapping,
    guess_columns,
    load_sample,
    try_mapping,
)


def make_sample(*records):
    columns = dict.fromkeys(column for record in records for column in list_columns(record))
    return TableSample(names=tuple(range(1, len(records) + 1)), records=records, columns=tuple(columns))


def make_choice(number, **changes):
    fields = {
        "id": f"q{number}",
        "question": "Which finding is present?",
        "image": f"exam-{number}/pa.png",
        "options": ["Effusion", "Pneumothorax", "Nodule"],
        "answer": "B",
    }
    return {**fields, **changes}


def suggest(sample, image_names=frozenset()):
    """(mapping with the first fix of each mistake, mistakes)."""
    columns = guess_columns(sample)
    mistakes = find_mistakes(sample, columns, image_names)
    mapping = create_mapping("ours", columns, {mistake.name: mistake.fixes[0][0] for mistake in mistakes})
    return mapping, {mistake.name: mistake for mistake in mistakes}


def read_questions(sample, mapping):
    tried = try_mapping(sample, mapping, file_stem="set", count=len(sample.records))
    assert [item.reason for item in tried] == [""] * len(tried)
    return [item.question for item in tried]


def test_the_simplest_records_need_no_choice():
    sample = make_sample(
        {"id": 1, "question": "Is there an effusion?", "answer": "No", "image": "a.png"},
        {"id": 2, "question": "What is seen?", "answer": "A nodule", "image": "b.png"},
    )
    mapping, mistakes = suggest(sample)
    assert mistakes == {}
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
def test_numbers_of_options_are_offered_from_0_and_from_1(answers, first_way, indices):
    sample = make_sample(*(make_choice(number, answer=answer) for number, answer in enumerate(answers)))
    mapping, mistakes = suggest(sample)
    assert mistakes["numbers"].fixes[0][0] == first_way
    assert {value for value, _ in mistakes["numbers"].fixes} == {"index", "number"}
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
    sample = make_sample(make_choice(1, options=cell), make_choice(2, options=cell))
    mapping, mistakes = suggest(sample)
    assert "cell" in mistakes
    question = read_questions(sample, mapping)[0]
    assert (question.options, question.answer) == (("Effusion", "Pneumothorax", "Nodule"), (1,))


def test_answers_that_are_texts_of_options_are_found():
    sample = make_sample(make_choice(1, answer="nodule"), make_choice(2, answer="Effusion"))
    mapping, mistakes = suggest(sample)
    assert mistakes["texts"].text == "The answers are the texts of options (2 of 2 match one exactly)."
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
    records = [make_choice(number, id=value) for number, value in enumerate(ids)]
    sample = make_sample(
        *({name: value for name, value in record.items() if value is not ...} for record in records)
    )
    mapping, mistakes = suggest(sample)
    assert mistakes["ids"].text == text
    assert [question.id for question in read_questions(sample, mapping)] == ["set-1", "set-2"]


def test_image_names_get_the_ending_of_the_images_that_are_there():
    sample = make_sample(make_choice(1, image="exam-1/pa"))
    mapping, mistakes = suggest(sample, frozenset({"exam-1/pa.dcm", "other.png"}))
    assert mistakes["suffix"].fixes == ((".dcm", "Add .dcm"),)
    assert mapping.content.fields.images.value_template == "{}.dcm"


def test_no_mistake_is_reported_where_there_is_none():
    sample = make_sample(make_choice(1), make_choice(2))
    assert find_mistakes(sample, guess_columns(sample)) == ()


def test_mapping_of_columns_is_a_file_that_reads_the_same():
    mapping, _ = suggest(make_sample(make_choice(1, answer=1), make_choice(2, answer=3)))
    assert load_mapping(mapping.text, mapping.file_name).content == mapping.content


def test_table_without_a_question_needs_a_choice():
    with pytest.raises(InvalidValue, match="stem: has no column; choose the column that contains it"):
        create_mapping("ours", {"answer": ("a",)}, {})


def test_ready_mapping_is_found_by_its_columns():
    columns = ("img_name", "question", "answer", "qid", "modality", "location", "content_type")
    record = dict.fromkeys(columns, "x")
    assert find_ready_mapping(make_sample(record)).content.name == "slake"
    assert find_ready_mapping(make_sample(make_choice(1))) is None


@pytest.mark.parametrize("kind", KINDS)
def test_template_comes_in_without_a_choice(tmp_path, kind):
    path = tmp_path / f"questions.{kind}"
    path.write_bytes(build_template(kind))
    sample = load_sample(by=command_line_person(), path=path)
    mapping, mistakes = suggest(sample)
    assert mistakes == {}
    choice, closed = read_questions(sample, mapping)
    assert (choice.format, choice.answer, closed.format, closed.answer) == ("single", (2,), "closed", "no")
    assert (choice.task, choice.difficulty, choice.category) == ("presence", "easy", "Lung opacity")


def test_templates_have_the_same_columns():
    header = next(csv.reader(io.StringIO(build_template("csv").decode("utf-8-sig"))))
    assert list(json.loads(build_template("jsonl").splitlines()[0])) == header
