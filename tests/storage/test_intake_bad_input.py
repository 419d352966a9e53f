"""Each invalid input is refused with file, record, field and reason, and leaves the database unchanged."""

import csv
import json

import pytest

from tests.storage.import_worlds import Importer, make_record, to_json_lines

pytestmark = pytest.mark.slow

PA = {"id": "pa", "file": "pa.png"}
BOX = {"radiograph": "pa", "label": "lung", "box": [10, 10, 50, 60]}


@pytest.fixture
def importer(sqlite_engine, tmp_path):
    return Importer(sqlite_engine, tmp_path)


def make_record_with_exam(**changes):
    return make_record(exam={**make_record()["exam"], **changes})


def make_record_with_box(corners):
    return make_record(boxes=[{**BOX, "box": corners}])


def make_record_with_file(file):
    return make_record_with_exam(radiographs=[{"id": "pa", "file": file}])


def replace_in_json(old, new):
    """A record's JSON in which part of the text is replaced."""
    text = json.dumps(make_record())
    assert old in text
    return text.replace(old, new)


RECORDS = {
    "an answer that is not an option": (make_record(answer=[4]), "answer", "not an option"),
    "a negative answer": (make_record(answer=[-1]), "answer", "not an option"),
    "two answers of a single choice": (make_record(answer=[0, 1]), "answer", "one correct option"),
    "answers that fall": (make_record(format="multiple", answer=[2, 1]), "answer", "ascending order"),
    "no answer": (make_record(answer=[]), "answer", "must be one of the options"),
    "a closed answer of neither": (
        make_record(format="closed", options=[], answer="maybe"),
        "answer",
        '"yes" or "no"',
    ),
    "one option": (make_record(options=["Effusion"], answer=[0]), "options", "at least 2 options"),
    "an empty option": (make_record(options=["a", " "], answer=[0]), "options", "empty"),
    "options of an open question": (make_record(format="open", answer="x"), "options", "no options"),
    "27 options": (make_record(options=[f"o{n}" for n in range(27)]), "options", "the maximum is 26"),
    "an empty stem": (make_record(stem=" \n"), "stem", "is empty"),
    "a missing field": (make_record(stem=...), "stem", "is missing"),
    "a misspelt field": (make_record(dificulty="easy"), "dificulty", "check the spelling"),
    "a number for text": (make_record(stem=3), "stem", "must be text"),
    "a word of no list": (make_record(difficulty="impossible"), "difficulty", "one of the allowed values"),
    "an id with blanks": (make_record(id=" q"), "id", "a space"),
    "an id that is too long": (make_record(id="q" * 501), "id", "the maximum is 500"),
    "a box that sticks out": (
        make_record_with_box([10, 10, 82, 60]),
        "boxes",
        "extends 2 pixels beyond the image",
    ),
    "a box outside the image": (make_record_with_box([80.1, 10, 80.9, 60]), "boxes", "outside the image"),
    "a box turned round": (
        make_record(boxes=[{**BOX, "box": [50, 10, 10, 60]}]),
        "boxes",
        "reversed corners",
    ),
    "a box of three numbers": (make_record(boxes=[{**BOX, "box": [1, 2, 3]}]), "boxes[0].box", "list of 4"),
    "a box on another image": (
        make_record(boxes=[{**BOX, "radiograph": "x"}]),
        "boxes.radiograph",
        "not belong",
    ),
    "a box off its grid": (
        make_record(boxes=[{**BOX, "box": [10, 10, 226, 60]}], box_grid=[224, 224], box_fit="letterbox"),
        "boxes",
        "extends 24.4 pixels beyond the image",
    ),
    "a box in the padding": (
        make_record(boxes=[{**BOX, "box": [0, 10, 20, 60]}], box_grid=[224, 224], box_fit="letterbox"),
        "boxes",
        "extends 22.4 pixels beyond the image of 80 x 100 pixels (columns x rows) on its 224 x 224 grid",
    ),
    "a box partly in the padding": (
        # (224 - 0.8 x 224) / 2 = 22.4 columns of padding, of which the box covers 2.4
        make_record(boxes=[{**BOX, "box": [20, 10, 100, 60]}], box_grid=[224, 224], box_fit="letterbox"),
        "boxes",
        "extends 2.4 pixels beyond the image",
    ),
    "a grid without a fit": (
        make_record(boxes=[BOX], box_grid=[224, 224]),
        "box_grid",
        "together, or neither",
    ),
    "NaN": (replace_in_json('"answer": [2]', '"answer": [NaN]'), "record", "NaN"),
    "Infinity": (replace_in_json('"answer": [2]', '"answer": [-Infinity]'), "record", "Infinity"),
    "a number beyond all bounds": (
        json.dumps(make_record(boxes=[BOX])).replace("60]", "1e999]"),
        "boxes[0].box[3]",
        "out of range",
    ),
    "a key given twice": (replace_in_json('"stem":', '"stem": "Which?", "stem":'), "stem", "twice"),
    "a key given twice, inside": (replace_in_json('"file":', '"file": "a.png", "file":'), "file", "twice"),
    "an incomplete surrogate pair": (
        replace_in_json("Which finding", "Which \\ud83d finding"),
        "stem",
        "surrogate",
    ),
    "a control character": (
        replace_in_json("Which finding", "Which \\u0000 finding"),
        "stem",
        "control character",
    ),
    "Latin-1": (replace_in_json("Which", "Où").encode("latin-1"), "encoding", "not UTF-8"),
    "deep nesting": ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", "record", "nested too deep"),
    "half a record": (json.dumps(make_record())[:200], "record", "truncated"),
    "a list for a record": ("[1, 2]", "record", "must be an object"),
    "not valid JSON": ("id,stem,answer", "record", "not valid JSON"),
    "an absurd size": (json.dumps(make_record(stem="x" * 1_100_000)), "record", "longer than 1,000,000"),
    "a missing image": (
        make_record_with_file("nowhere.png"),
        "exam.radiographs.file",
        "not in the image folder",
    ),
    "an absolute path": (make_record_with_file("/etc/passwd"), "exam.radiographs.file", "must be relative"),
    "a path that leaves": (
        make_record_with_file("../secret.png"),
        "exam.radiographs.file",
        "outside the image folder",
    ),
    "a path that turns back": (
        make_record_with_file("a/../../secret.png"),
        "exam.radiographs.file",
        "contains “..”",
    ),
    "a Windows path": (
        make_record_with_file("C:\\images\\pa.png"),
        "exam.radiographs.file",
        "forward slashes",
    ),
    "a link that leaves the folder": (
        make_record_with_file("link.png"),
        "exam.radiographs.file",
        "outside the image",
    ),
    "a folder for a file": (
        make_record_with_file("folder"),
        "exam.radiographs.file",
        "not in the image folder",
    ),
    "an image that is none": (
        make_record_with_file("text.png"),
        "exam.radiographs.file",
        "not a DICOM, PNG or JPEG",
    ),
    "no radiographs": (make_record_with_exam(radiographs=[]), "exam.radiographs", "is empty"),
    "two radiographs of one id": (
        make_record_with_exam(radiographs=[PA, PA]),
        "exam.radiographs.id",
        "share",
    ),
    "a view of no list": (
        make_record_with_exam(radiographs=[{**PA, "view": "up"}]),
        "exam.radiographs.view",
        "one of",
    ),
    "a sex of no list": (make_record_with_exam(sex="?"), "exam.sex", "must be F, M or O, not '?'"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_bad_record_is_refused_with_its_reason(importer, name):
    bad_record, field, reason = RECORDS[name]
    (importer.folder / "secret.png").write_bytes((importer.images / "pa.png").read_bytes())
    (importer.images / "link.png").symlink_to(importer.folder / "secret.png")
    (importer.images / "folder").mkdir()
    (importer.images / "text.png").write_text("no image")
    # Only the cases about images import images: starting the process that reads them takes the longest.
    images = importer.images if field in ("boxes", "exam.radiographs.file") else None
    report = importer.refused(to_json_lines(make_record(7), bad_record, make_record(8)), images=images)
    assert [(refusal.file, refusal.record, refusal.field) for refusal in report.refusals] == [
        ("questions.jsonl", "line 2", field)
    ]
    assert reason in report.refusals[0].reason
    refusal_rows = list(csv.reader(report.refusals_file.read_text(encoding="utf-8").splitlines()))
    assert refusal_rows[0] == ["file", "record", "field", "reason"]
    assert len(refusal_rows) == 2


FILES = {
    "an empty file": (b"", "file", "is empty"),
    "a file of blanks": (b"\n \n\t\n", "file", "is empty"),
    "UTF-16": (json.dumps(make_record()).encode("utf-16"), "encoding", "UTF-16"),
    "UTF-16 without a mark": (json.dumps(make_record()).encode("utf-16-le"), "encoding", "UTF-16"),
    "a zip": (b"PK\x03\x04" + b"0" * 50, "file", "compressed"),
    "a table": (b"id,stem\n1,Which?\n", "file", "not valid JSON"),
    "an empty list": (b"[]", "format", "not recognised"),
    "another format": (b'[{"img_id": 1, "q_lang": "en"}]', "format", "img_id"),
    "numbers": (b"[1, 2, 3]", "format", "not recognised"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_file_is_refused_with_its_reason(importer, name):
    content, field, reason = FILES[name]
    report = importer.refused(content)
    assert report.refusals[0].field == field
    assert reason in report.refusals[0].reason


REX_QUESTION = {
    "question": "Which finding is present?",
    "options": ["A. a", "B. b", "C. c", "D. d"],
    "correct_answer": "A",
    "ImagePath": ["pa.png"],
    "StudyInstanceUid": "1.2",
}


@pytest.mark.parametrize(
    ("content", "record_name", "reason"),
    [
        (
            json.dumps({"q1": REX_QUESTION, "q2": {**REX_QUESTION, "correct_answer": "E"}}),
            "q2",
            "not an option",
        ),
        (
            json.dumps({"q1": REX_QUESTION, "q2": {**REX_QUESTION, "options": "['A. a', "}}),
            "q2",
            "not a valid list",
        ),
        (
            json.dumps({"q1": REX_QUESTION, "q2": {**REX_QUESTION, "ImageViewPosition": ["PA", "AP"]}}),
            "q2",
            "2 entries for 1",
        ),
        (json.dumps({"q1": REX_QUESTION, "q2": None}), "q2", "must be an object"),
        (
            json.dumps({"q1": REX_QUESTION, "q2": {**REX_QUESTION, "StudyInstanceUid": None}}),
            "q2",
            "is missing",
        ),
        (json.dumps({"q1": REX_QUESTION, "q2": REX_QUESTION})[:-1], "q2", "truncated"),
        (json.dumps({"q1": REX_QUESTION, "q2": REX_QUESTION})[:-30], "q2", "truncated"),
        (
            json.dumps({"q1": REX_QUESTION})[:-1] + ', "q1": ' + json.dumps(REX_QUESTION) + "}",
            "q1",
            "the same record",
        ),
        (json.dumps({"q1": REX_QUESTION}) + " {}", "after the end", "after the closing"),
        (
            json.dumps({"q1": REX_QUESTION})[:-1] + ',"q2":' + '{"a":' * 20 + "1" + "}" * 20 + "}",
            "q2",
            "nested more than 8",
        ),
    ],
)
def test_the_message_names_the_bad_member_of_an_object_by_its_key(importer, content, record_name, reason):
    refusals = importer.refused(content.encode(), "rex.json").refusals
    assert [refusal.record for refusal in refusals] == [record_name]
    assert reason in refusals[0].reason


def test_a_truncated_array_is_refused(importer):
    vqa_rad_records = [
        {"qid": n, "image_name": "pa.png", "question": "Is it?", "answer": "yes", "answer_type": "CLOSED"}
        for n in (1, 2)
    ]
    report = importer.refused(json.dumps(vqa_rad_records)[:-20].encode(), "rad.json")
    assert [refusal.record for refusal in report.refusals] == ["record 2"]
    assert "truncated" in report.refusals[0].reason


def test_records_that_disagree_about_their_exam_are_refused(importer):
    first = make_record_with_exam(age="058Y", patient="p")
    second = {**make_record_with_exam(age="061Y"), "id": "q-2"}
    report = importer.refused(to_json_lines(first, second))
    assert [(refusal.record, refusal.field) for refusal in report.refusals] == [("line 2", "exam.age")]
    assert "'061Y', but an earlier record of exam e-1 has '058Y'" in report.refusals[0].reason


def test_refusal_list_names_all_bad_records_and_escapes_formulas(importer):
    bad_records = {"=1+1": {**REX_QUESTION, "correct_answer": "Z"}, "@x": {**REX_QUESTION, "options": []}}
    report = importer.refused(json.dumps(bad_records).encode())
    cells = list(csv.reader(report.refusals_file.read_text(encoding="utf-8").splitlines()))
    assert [row[1] for row in cells[1:]] == ["'=1+1", "'@x"]


def test_byte_order_mark_and_windows_line_ends_are_accepted(importer):
    content = b"\xef\xbb\xbf" + to_json_lines(make_record(1), make_record(2)).replace(b"\n", b"\r\n")
    assert importer(content).questions == 2


def test_boxes_outside_by_less_than_a_pixel_are_clipped(importer):
    assert (
        importer(
            to_json_lines(make_record(boxes=[{**BOX, "box": [-0.5, 0, 80.9, 100.9]}])), images=importer.images
        ).questions
        == 1
    )


def test_missing_file_is_refused(importer):
    refusals = importer.refused(None, "nowhere.jsonl").refusals
    assert [(refusal.file, refusal.reason) for refusal in refusals] == [
        ("nowhere.jsonl", "cannot be read: No such file or directory")
    ]


def test_missing_image_folder_is_refused(importer):
    refusals = importer.refused(to_json_lines(make_record()), images=importer.folder / "nowhere").refusals
    assert refusals[0].field == "images"
