"""Mapping files: what they declare, and errors that name file, line and what to do."""

import json
import zipfile
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from accounts.service import command_line_person
from commands.import_ import _print_dry_run
from domain.errors import InvalidValue
from intake.mapping.declaration import (
    SCHEMA_PATH,
    list_builtin_mappings,
    load_builtin_mapping,
    load_mapping,
    render_schema,
    write_mapping,
)
from intake.parsing import parse_batches
from intake.preview import list_questions
from intake.recognition import recognise_file
from intake.service import dry_run

HEAD = 'format = "overread.mapping/1"\nname = "ours"\n'
FIELDS = '[fields]\nid = "id"\nimages = "image"\nstem = "question"\nanswer = "answer"\n'
RECORD = {"id": "q1", "image": "a/1.png", "question": "Is there an effusion?", "answer": "Yes."}


def load(text):
    return load_mapping(text, "ours.toml")


def read(tmp_path, mapping_text, content, name="set.json"):
    """Parse a file with this content: bytes, or records, which are written as JSON."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_path(path, load(mapping_text))


def read_path(path, mapping):
    file = recognise_file(path, "auto", mapping)
    batches = list(parse_batches(file, file_stem=path.stem, minimum_explanation=0, with_images=False))
    examples = [example for batch in batches for example in list_questions(batch, 5)]
    return SimpleNamespace(
        examples=examples,
        filtered=sum(batch.filtered for batch in batches),
        refusals=[refusal for batch in batches for refusal in batch.refusals],
    )


def read_one(tmp_path, mapping_text, record):
    """(question, exam) of the only record."""
    result = read(tmp_path, mapping_text, [record])
    assert result.refusals == []
    return result.examples[0]


# ------------------------------------------------------------------------------------------------ declaration
@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("format = overread", 1, "is not valid TOML"),
        ('name = "x"\n', 1, "format is missing; add it"),
        (HEAD + FIELDS + "[columns]\na = { from = '@b' }\nb = { from = '@a' }\n", 9, "itself: @a needs @b"),
        (HEAD + FIELDS + "[columns.a]\nfrom = '@a'\n", 8, "columns.a: refers to itself: @a needs @a"),
        ('format = "overread.mapping/2"\nname = "x"\n' + FIELDS, 1, "must be one of overread.mapping/1"),
        (HEAD + FIELDS + "stemm = 'x'\n", 8, "stemm: is not known; it may be id, exam"),
        (HEAD + FIELDS + "stemm = 'x'\n", 8, "Did you mean 'stem'?"),
        (HEAD + FIELDS + "category = 3\n", 8, "fields.category: must be a text in quotation marks or"),
        (HEAD + FIELDS + "category = { frm = 'c' }\n", 8, "Did you mean 'from'?"),
        (HEAD + FIELDS + "category = { from = 'c', value = 'x' }\n", 8, "needs one of from, template and"),
        (HEAD + FIELDS + "category = { from = 'c', values = 'x' }\n", 8, "category.values: must be a table"),
        (HEAD + FIELDS + "category = { from = 'c', values = {} }\n", 8, "values: is empty"),
        (HEAD + FIELDS + "category = { from = 'c', extract = '(' }\n", 8, "is not a regular expression"),
        (HEAD + FIELDS + "category = { from = '@c' }\n", 8, "'@c' is not declared under [columns] or [join]"),
        (HEAD + FIELDS + "category = '$line'\n", 8, "'$line' is not one of $file, $number, $key"),
        (HEAD + FIELDS + "[expects]\nfields = ['reason']\n", 9, "must be one of explanation, difficulty"),
        (HEAD + FIELDS + "[expects]\noptions = 'four'\n", 9, "expects.options: must be a whole number"),
        (
            HEAD
            + FIELDS
            + "[fields.task]\nfrom = 'k'\n[fields.task.values]\nP = 'presence'\nL = 'locaton'\n",
            12,
            "fields.task.values.L: 'locaton' must be one of presence, location",
        ),
        (
            HEAD + FIELDS + "difficulty = { from = 'd', values = { 1 = 'easy', 2 = 'simple' } }\n",
            8,
            "'simple' must be one of easy, medium, hard",
        ),
        (
            HEAD + FIELDS + "task = { from = 't', values = { Yes = 'presence', yes = 'location' } }\n",
            8,
            "occurs twice; case makes no difference",
        ),
    ],
)  # fmt: skip
def test_the_error_for_an_invalid_mapping_states_file_line_and_advice(text, line, reason):
    with pytest.raises(InvalidValue) as refusal:
        load(text)
    assert refusal.value.field == f"ours.toml, line {line}"
    assert reason in refusal.value.reason


@pytest.mark.parametrize("name", list_builtin_mappings())
def test_a_builtin_mapping_is_valid_and_matches_the_schema(name):
    import tomllib

    mapping = load_builtin_mapping(name)
    assert mapping.content.name == name
    Draft202012Validator(json.loads(render_schema())).validate(tomllib.loads(mapping.text))


@pytest.mark.parametrize("name", list_builtin_mappings())
def test_a_mapping_is_unchanged_by_writing_and_reading(name):
    content = load_builtin_mapping(name).content
    assert load(write_mapping(content)).content == content


def test_the_published_schema_equals_the_schema_of_the_declaration():
    assert SCHEMA_PATH.read_text(encoding="utf-8") == render_schema()


# ----------------------------------------------------------------------------------------- columns and values
def test_the_error_for_an_unknown_column_states_line_columns_and_the_nearest_column(tmp_path):
    text = HEAD + FIELDS.replace('"question"', '"qestion"')
    with pytest.raises(InvalidValue) as refusal:
        read(tmp_path, text, [RECORD])
    assert refusal.value.field == "ours.toml, line 6"
    assert refusal.value.reason == (
        "fields.stem: 'qestion' is not in the file; the columns are answer, id, image, question. "
        "Did you mean 'question'? Correct it, or write 'qestion?' if most records lack it"
    )


def test_text_in_place_of_a_column_is_explained(tmp_path):
    text = HEAD + FIELDS + 'category = "false premise"\n'
    with pytest.raises(InvalidValue, match=r'or \{ value = "false premise" \} for the same text in each'):
        read(tmp_path, text, [RECORD])


def test_a_column_marked_with_a_question_mark_may_be_missing(tmp_path):
    question, _ = read_one(tmp_path, HEAD + FIELDS + "explanation = 'reason?'\n", RECORD)
    assert question.explanation == ""


def test_a_value_outside_the_table_of_values_is_refused_with_the_known_values(tmp_path):
    text = HEAD + FIELDS + "task = { from = 'kind', values = { PRES = 'presence' } }\n"
    result = read(tmp_path, text, [{**RECORD, "kind": "pres"}, {**RECORD, "id": "q2", "kind": "POS"}])
    assert [question.task for question, _ in result.examples] == ["presence"]
    assert result.refusals == [
        (
            "record 2",
            "task",
            "'POS' is not in the values of ours.toml, line 8 (PRES); add it, or set otherwise",
        )
    ]


@pytest.mark.parametrize("column", ["Correct?", "Answer [A-D]", "a.b", "answer]"])
def test_a_column_name_may_contain_the_characters_of_a_path(tmp_path, column):
    text = HEAD + FIELDS.replace('"answer"', f'"{column}"')
    record = {key: value for key, value in RECORD.items() if key != "answer"} | {column: "no"}
    question, _ = read_one(tmp_path, text, record)
    assert question.answer == "no"


def test_empty_option_before_a_filled_one_is_refused(tmp_path):
    """Otherwise the key C would select the text of D."""
    text = HEAD + FIELDS + "options = { from = ['A', 'B', 'C', 'D'] }\n"
    options = {"A": "Nodule", "B": "Effusion", "C": "", "D": "Normal"}
    result = read(tmp_path, text, [{**RECORD, "answer": "C", **options}])
    assert result.refusals == [
        (
            "record 1",
            "options",
            "'C' is empty, but 'D' is not; the letters of the options would be wrong",
        )
    ]


@pytest.mark.parametrize(
    ("rule", "answer", "expected"),
    [
        ("'answer'", "B", (1,)),
        ("'answer'", "b) Effusion", (1,)),
        ("'answer'", "effusion", (1,)),
        ("'answer'", "A, C", (0, 2)),
        ("'answer'", ["A", "C"], (0, 2)),
        ("{ from = 'answer', as = 'index' }", 0, (0,)),
        ("{ from = 'answer', as = 'number' }", "1", (0,)),
        ("{ from = 'answer', as = 'letter' }", "(c)", (2,)),
        ("{ from = 'answer', as = 'text' }", "Line, central", (2,)),
    ],
)
def test_an_answer_key_selects_options(tmp_path, rule, answer, expected):
    fields = FIELDS.replace('"answer"', rule)
    record = {**RECORD, "answer": answer, "options": ["A. Nodule", "B. Effusion", "C. Line, central"]}
    question, _ = read_one(tmp_path, HEAD + fields + "options = 'options'\n", record)
    assert question.answer == expected
    assert question.options == ("Nodule", "Effusion", "Line, central")
    assert question.format == ("single" if len(expected) == 1 else "multiple")


@pytest.mark.parametrize(
    ("rule", "answer", "reason"),
    [
        ("'answer'", 1, "may count options from 0 or from 1; write as = 'index' or as = 'number'"),
        ("'answer'", "D", "'D' is not an option; the options are A, B, C"),
        ("{ from = 'answer', as = 'index' }", 3, "3 is not an option; there are 3, counted from 0"),
        ("{ from = 'answer', as = 'number' }", 0, "0 is not an option; there are 3, counted from 1"),
        ("{ from = 'answer', as = 'text' }", "Mass", "is not the text of exactly one option"),
        ("'answer'", "", "is empty"),
    ],
)
def test_answer_key_that_names_no_option_is_refused(tmp_path, rule, answer, reason):
    fields = FIELDS.replace('"answer"', rule)
    record = {**RECORD, "answer": answer, "options": ["Nodule", "Effusion", "Line"]}
    result = read(tmp_path, HEAD + fields + "options = 'options'\n", [record])
    assert reason in result.refusals[0][2]


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ("options = { from = 'o', split = '|' }", {"o": "A. Nodule|B. Effusion"}),
        ("options = { from = ['o1', 'o2', 'o3?'] }", {"o1": "Nodule", "o2": "Effusion"}),
        ("options = 'o'", {"o": {"B": "Effusion", "A": "Nodule"}}),
        ("options = 'o[*].text'", {"o": [{"text": "Nodule"}, {"text": "Effusion"}]}),
        ("options = 'o'", {"o": "['Nodule', 'Effusion']"}),
    ],
)
def test_options_may_be_in_a_cell_in_columns_or_in_an_object(tmp_path, options, columns):
    question, _ = read_one(tmp_path, f"{HEAD}{FIELDS}{options}\n", {**RECORD, "answer": "B", **columns})
    assert (question.options, question.answer) == (("Nodule", "Effusion"), (1,))


def test_filter_leaves_out_records_and_counts_them(tmp_path):
    text = HEAD + "[where]\norgan = ['chest', 'lung']\nview = { not = 'lateral', empty = false }\n" + FIELDS
    records = [
        {**RECORD, "id": f"q{number}", "organ": organ, "view": view}
        for number, (organ, view) in enumerate(
            [("CHEST", "PA"), ("head", "PA"), ("lung", "Lateral"), ("lung", "")]
        )
    ]
    result = read(tmp_path, text, records)
    assert (len(result.examples), result.filtered, result.refusals) == (1, 3, [])


def test_second_file_gives_further_columns(tmp_path):
    (tmp_path / "exams.csv").write_text("study,age,indication\na/1.png,61,Cough\n", encoding="utf-8")
    text = HEAD + "[join.exams]\nfile = 'exams.csv'\non = 'image'\nkey = 'study'\n" + FIELDS
    _, exam = read_one(tmp_path, text + "age = '@exams.age'\nindication = '@exams.indication'\n", RECORD)
    assert (exam.age, exam.indication) == ("61", "Cough")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("../secret.csv", "must be below the folder of the file that names it"),
        ("/etc/passwd", "must be below the folder of the file that names it"),
        ("nowhere.csv", "is not in the folder of the file that names it"),
    ],
)
def test_a_second_file_outside_the_folder_is_refused(tmp_path, file, reason):
    (tmp_path.parent / "secret.csv").write_text("study,age\nx,1\n", encoding="utf-8")
    text = HEAD + f"[join.exams]\nfile = '{file}'\non = 'image'\nkey = 'study'\n" + FIELDS
    with pytest.raises(InvalidValue) as refusal:
        read(tmp_path, text, [RECORD])
    assert refusal.value.field == "ours.toml, line 4"
    assert reason in refusal.value.reason


def test_boxes_are_read_with_labels_and_grid(tmp_path):
    boxes = "boxes = { from = 'b', labels = 'l', corners = 'xywh', grid = [224, 224] }\n"
    question, _ = read_one(
        tmp_path, HEAD + FIELDS + boxes, {**RECORD, "b": [[1, 2, 10, 20]], "l": ["left lung"]}
    )
    assert [(box.label, box.box.as_tuple()) for box in question.boxes] == [("left lung", (1, 2, 11, 22))]


# ------------------------------------------------------------------------- collections that are not public
def test_records_of_chexbench_become_questions_if_they_have_options(tmp_path):
    """As published: one list per task, the answer as an index; options and slices may be NaN."""
    multiple_choice = {
        "question": "Which finding is in this chest X-ray?", "option_0": "Edema", "option_1": "Pneumothorax",
        "option_2": "No finding", "option_3": float("nan"), "answer": 1, "image_path": "a/1.png",
        "data_source": "openi", "slice": "Single Disease Identification",
    }  # fmt: skip
    binary = {**multiple_choice, "option_2": float("nan"), "answer": 0, "slice": float("nan")}
    grounding = {
        "question": "Where is the opacity?", "answer": [[1, 2, 3, 4]], "image_path": "b/2.png",
        "option_0": float("nan"),
    }  # fmt: skip
    content = {"Single Disease": [multiple_choice, binary], "Phrase Grounding": [grounding]}
    path = tmp_path / "data.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    result = read_path(path, load_builtin_mapping("chexbench"))
    assert (result.refusals, result.filtered) == ([], 1)
    first, second = (question for question, _ in result.examples)
    assert (first.options, first.answer) == (("Edema", "Pneumothorax", "No finding"), (1,))
    assert (first.content_type, first.category) == ("Single Disease Identification", "openi")
    assert (second.options, second.answer, second.content_type) == (("Edema", "Pneumothorax"), (0,), None)


@pytest.mark.parametrize(
    ("kind", "answers", "expected"),
    [
        ("verify", ["yes"], ("closed", "yes")),
        ("choose", ["atelectasis"], ("open", "atelectasis")),
        ("query", ["edema", "pneumonia"], ("open", "edema, pneumonia")),
        ("query", [], ("open", "none")),
    ],
)
def test_records_of_mimic_cxr_vqa_become_questions(tmp_path, kind, answers, expected):
    """As published: the fields of train.json, with a list of answers."""
    record = {
        "split": "train", "idx": 7, "image_id": "02aa804e", "question": "Is there edema?", "answer": answers,
        "content_type": "presence", "semantic_type": kind, "template": "Is there ${attribute}?",
        "template_program": "program_5", "subject_id": 10000032, "study_id": 50414267,
        "template_arguments": {
            "object": {}, "attribute": {"0": "edema"}, "category": {"0": "disease", "1": "device"},
            "viewpos": {}, "gender": {},
        },
        "image_path": "p10/p10000032/s50414267/02aa804e.jpg",
    }  # fmt: skip
    path = tmp_path / "train.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    result = read_path(path, load_builtin_mapping("mimic-cxr-vqa"))
    assert result.refusals == []
    question, exam = result.examples[0]
    assert (question.format, question.answer) == expected
    assert (question.id, question.task, exam.id, exam.patient) == (
        "train-7", "presence", "50414267", "10000032",
    )  # fmt: skip
    assert (question.category, question.source.generator) == (
        "disease, device", "template: Is there ${attribute}?",
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------- kinds
ROWS = [
    ("id", "image", "question", "answer"),
    ("q1", "a.png", "Größe normal?", "no"),
    ("q2", "b.png", "Why?", "Fluid"),
]


def write_workbook(path, rows=ROWS):
    from openpyxl import Workbook

    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)


def write_parquet(path):
    import pyarrow as pa
    from pyarrow import parquet

    columns = list(zip(*ROWS, strict=True))
    parquet.write_table(pa.table({column[0]: column[1:] for column in columns}), path)


def write_text(path, separator):
    path.write_text("\n".join(separator.join(row) for row in ROWS) + "\n", encoding="utf-8-sig")


def write_json_lines(path):
    lines = [json.dumps(dict(zip(ROWS[0], row, strict=True))) for row in ROWS[1:]]
    path.write_text("\n".join(lines), encoding="utf-8")


KINDS = {
    "csv": lambda path: write_text(path, ","),
    "semicolons": lambda path: write_text(path, ";"),
    "tsv": lambda path: write_text(path, "\t"),
    "xlsx": write_workbook,
    "parquet": write_parquet,
    "json lines": write_json_lines,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_every_kind_of_table_gives_the_same_questions(tmp_path, kind):
    path = tmp_path / "table"
    KINDS[kind](path)
    result = dry_run(by=command_line_person(), path=path, mapping=load(HEAD + FIELDS), images=None)
    assert [
        (question.id, question.stem, question.answer, question.format) for question, _ in result.examples
    ] == [
        ("q1", "Größe normal?", "no", "closed"),
        ("q2", "Why?", "Fluid", "open"),
    ]


def test_the_error_for_a_row_with_another_number_of_cells_names_its_number(tmp_path):
    content = b"id,image,question,answer\nq1,a.png,Why,is it so?,yes\n\nq2,b.png,Why?,x\n"
    result = read(tmp_path, HEAD + FIELDS, content, "set.csv")
    assert [question.id for question, _ in result.examples] == ["q2"]
    assert result.refusals == [("row 2", "record", "has 5 cells, but there are 4 columns")]


def test_a_missing_quotation_mark_is_suspected_if_a_cell_contains_several_rows(tmp_path):
    content = b'id,image,question,answer\nq1,a.png,"Why?,x\nq2,b.png,Why?,x\n'
    [refusal] = read(tmp_path, HEAD + FIELDS, content, "set.csv").refusals
    assert refusal[2] == "has 3 cells, but there are 4 columns; is a quotation mark missing?"


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("#REF!", "is #REF!, an error of the spreadsheet; correct the cell"),
        ('="y"&"es"', 'has the formula \'="y"&"es"\' without its result; open the workbook in a'),
    ],
)
def test_errors_and_formulas_without_results_are_refused_only_in_columns_that_are_used(
    tmp_path, cell, reason
):
    header, first, second = ROWS
    path = tmp_path / "table"
    write_workbook(path, [(*header, "note"), (*first, cell), (*second[:3], cell)])
    result = read_path(path, load(HEAD + FIELDS))
    assert [question.id for question, _ in result.examples] == ["q1"]
    [(record, field, message)] = result.refusals
    assert (record, field) == ("row 3", "answer")
    assert message.startswith(reason)


def test_results_of_formulas_are_read(tmp_path):
    """A spreadsheet program stores them beside the formulas."""
    path, changed = tmp_path / "table", tmp_path / "changed"
    write_workbook(path, [*ROWS[:2], ("q2", "b.png", '="Why"&"?"', "Fluid")])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name).replace(b'<c r="C3">', b'<c r="C3" t="str">')
            new.writestr(name, content.replace(b"<v></v>", b"<v>Why?</v>").replace(b"<v />", b"<v>Why?</v>"))
    result = read_path(changed, load(HEAD + FIELDS))
    assert [question.stem for question, _ in result.examples] == ["Größe normal?", "Why?"]


def test_a_value_that_is_no_record_is_refused(tmp_path):
    result = read(tmp_path, HEAD + FIELDS, [RECORD, 3, None])
    assert result.refusals == [
        (f"record {number}", "record", "must be an object with a member for each column") for number in (2, 3)
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"id,image,id,answer\n", "'id' occurs twice"),
        (b"PK\x03\x04 no workbook", "is not a workbook that can be read"),
        (b"PAR1 no table", "is not a Parquet file that can be read"),
        (b"\xd0\xcf\x11\xe0 old", "save it as .xlsx"),
        ("id,image\nq1,a.png\n".encode("utf-16-le"), "is UTF-16 or UTF-32, not UTF-8"),
        (b"\x1f\x8b compressed", "is compressed; unpack it first"),
    ],
)
def test_file_that_is_no_table_is_refused(tmp_path, content, reason):
    with pytest.raises(InvalidValue, match=reason):
        read(tmp_path, HEAD + FIELDS, content, "set")


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match="encoding: is not UTF-8; save the file as “CSV UTF-8”"):
        read(tmp_path, HEAD + FIELDS, b"id,image,question,answer\nq1,a.png,Gr\xf6\xdfe?,x\n", "set.csv")


def test_a_dry_run_without_a_folder_states_that_images_were_not_checked(tmp_path, capsys):
    (tmp_path / "set.json").write_text(json.dumps([RECORD]), encoding="utf-8")
    mapping = load(HEAD + FIELDS)
    result = dry_run(by=command_line_person(), path=tmp_path / "set.json", mapping=mapping, images=None)
    assert result.missing is None
    _print_dry_run(result)
    assert "images referenced: 1; not in the folder: not checked without --images" in capsys.readouterr().out


def test_dry_run_counts_ids_that_occur_twice(tmp_path):
    (tmp_path / "set.json").write_text(json.dumps([RECORD, RECORD]), encoding="utf-8")
    result = dry_run(
        by=command_line_person(), path=tmp_path / "set.json", mapping=load(HEAD + FIELDS), images=tmp_path
    )
    assert (result.questions, result.refused_fields, result.missing) == (1, {"id": 1}, ("a/1.png",))
