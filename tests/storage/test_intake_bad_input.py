"""Each invalid input is refused with file, record, field and reason, and leaves the database unchanged."""

import csv
import json

import pytest

from tests.storage.import_worlds import Importer, lines, record

pytestmark = pytest.mark.slow

PA = {"id": "pa", "file": "pa.png"}
BOX = {"radiograph": "pa", "label": "lung", "box": [10, 10, 50, 60]}


@pytest.fixture
def importer(sqlite_engine, tmp_path):
    return Importer(sqlite_engine, tmp_path)


def with_exam(**changes):
    return record(exam={**record()["exam"], **changes})


def with_box(corners):
    return record(boxes=[{**BOX, "box": corners}])


def with_file(file):
    return with_exam(radiographs=[{"id": "pa", "file": file}])


def raw(old, new):
    """A record's JSON in which part of the text is replaced."""
    text = json.dumps(record())
    assert old in text
    return text.replace(old, new)


RECORDS = {
    "an answer that is not an option": (record(answer=[4]), "answer", "not an option"),
    "a negative answer": (record(answer=[-1]), "answer", "not an option"),
    "two answers of a single choice": (record(answer=[0, 1]), "answer", "one right option"),
    "answers that fall": (record(format="multiple", answer=[2, 1]), "answer", "ascending order"),
    "no answer": (record(answer=[]), "answer", "does not name an option"),
    "a closed answer of neither": (
        record(format="closed", options=[], answer="maybe"),
        "answer",
        '"yes" or "no"',
    ),
    "one option": (record(options=["Effusion"], answer=[0]), "options", "two options or more"),
    "an empty option": (record(options=["a", " "], answer=[0]), "options", "empty"),
    "options of an open question": (record(format="open", answer="x"), "options", "no options"),
    "27 options": (record(options=[f"o{n}" for n in range(27)]), "options", "the maximum is 26"),
    "an empty stem": (record(stem=" \n"), "stem", "is empty"),
    "a missing field": (record(stem=...), "stem", "is missing"),
    "a misspelt field": (record(dificulty="easy"), "dificulty", "check the spelling"),
    "a number for text": (record(stem=3), "stem", "must be text"),
    "a word of no list": (record(difficulty="impossible"), "difficulty", "one of the allowed values"),
    "an id with blanks": (record(id=" q"), "id", "a space"),
    "an id that is too long": (record(id="q" * 501), "id", "the maximum is 500"),
    "a box that sticks out": (with_box([10, 10, 82, 60]), "boxes", "is outside the image"),
    "a box beside the image": (with_box([80.1, 10, 80.9, 60]), "boxes", "beside the image"),
    "a box turned round": (record(boxes=[{**BOX, "box": [50, 10, 10, 60]}]), "boxes", "reversed corners"),
    "a box of three numbers": (record(boxes=[{**BOX, "box": [1, 2, 3]}]), "boxes[0].box", "list of 4"),
    "a box on another image": (record(boxes=[{**BOX, "radiograph": "x"}]), "boxes.radiograph", "not belong"),
    "a box off its grid": (
        record(boxes=[{**BOX, "box": [10, 10, 226, 60]}], box_grid=[224, 224], box_fit="letterbox"),
        "boxes",
        "is outside the 224 x 224 grid",
    ),
    "a box in the padding": (
        record(boxes=[{**BOX, "box": [0, 10, 20, 60]}], box_grid=[224, 224], box_fit="letterbox"),
        "boxes",
        "in the padding",
    ),
    "a grid without a fit": (record(boxes=[BOX], box_grid=[224, 224]), "box_grid", "together, or neither"),
    "NaN": (raw('"answer": [2]', '"answer": [NaN]'), "record", "NaN"),
    "Infinity": (raw('"answer": [2]', '"answer": [-Infinity]'), "record", "Infinity"),
    "a number beyond all bounds": (
        json.dumps(record(boxes=[BOX])).replace("60]", "1e999]"),
        "boxes[0].box[3]",
        "out of range",
    ),
    "a key given twice": (raw('"stem":', '"stem": "Which?", "stem":'), "stem", "twice"),
    "a key given twice, inside": (raw('"file":', '"file": "a.png", "file":'), "file", "twice"),
    "an incomplete surrogate pair": (raw("Which finding", "Which \\ud83d finding"), "stem", "surrogate"),
    "a control character": (raw("Which finding", "Which \\u0000 finding"), "stem", "control character"),
    "Latin-1": (raw("Which", "Où").encode("latin-1"), "encoding", "not UTF-8"),
    "deep nesting": ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", "record", "nested too deep"),
    "half a record": (json.dumps(record())[:200], "record", "truncated"),
    "a list for a record": ("[1, 2]", "record", "must be an object"),
    "not valid JSON": ("id,stem,answer", "record", "not valid JSON"),
    "an absurd size": (json.dumps(record(stem="x" * 1_100_000)), "record", "longer than 1,000,000"),
    "a missing image": (with_file("nowhere.png"), "exam.radiographs.file", "not in the image folder"),
    "an absolute path": (with_file("/etc/passwd"), "exam.radiographs.file", "must be relative"),
    "a path that leaves": (with_file("../secret.png"), "exam.radiographs.file", "outside the image folder"),
    "a path that turns back": (with_file("a/../../secret.png"), "exam.radiographs.file", "contains “..”"),
    "a Windows path": (with_file("C:\\images\\pa.png"), "exam.radiographs.file", "forward slashes"),
    "a link that leaves the folder": (with_file("link.png"), "exam.radiographs.file", "outside the image"),
    "a folder for a file": (with_file("folder"), "exam.radiographs.file", "not in the image folder"),
    "an image that is none": (with_file("text.png"), "exam.radiographs.file", "no DICOM, PNG or JPEG"),
    "no radiographs": (with_exam(radiographs=[]), "exam.radiographs", "is empty"),
    "two radiographs of one id": (with_exam(radiographs=[PA, PA]), "exam.radiographs.id", "share"),
    "a view of no list": (with_exam(radiographs=[{**PA, "view": "up"}]), "exam.radiographs.view", "one of"),
    "a sex of no list": (with_exam(sex="?"), "exam.sex", "must be one of F, M, O"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_a_bad_record_is_refused_with_its_reason(importer, name):
    bad, field, reason = RECORDS[name]
    (importer.folder / "secret.png").write_bytes((importer.images / "pa.png").read_bytes())
    (importer.images / "link.png").symlink_to(importer.folder / "secret.png")
    (importer.images / "folder").mkdir()
    (importer.images / "text.png").write_text("no image")
    # Only the cases about images need them: starting the process that reads them takes the longest.
    images = importer.images if field in ("boxes", "exam.radiographs.file") else None
    report = importer.refused(lines(record(7), bad, record(8)), images=images)
    assert [(each.file, each.record, each.field) for each in report.refusals] == [
        ("questions.jsonl", "line 2", field)
    ]
    assert reason in report.refusals[0].reason
    listed = list(csv.reader(report.refusals_file.read_text(encoding="utf-8").splitlines()))
    assert listed[0] == ["file", "record", "field", "reason"]
    assert len(listed) == 2


FILES = {
    "an empty file": (b"", "file", "is empty"),
    "a file of blanks": (b"\n \n\t\n", "file", "is empty"),
    "UTF-16": (json.dumps(record()).encode("utf-16"), "encoding", "UTF-16"),
    "UTF-16 without a mark": (json.dumps(record()).encode("utf-16-le"), "encoding", "UTF-16"),
    "a zip": (b"PK\x03\x04" + b"0" * 50, "file", "compressed"),
    "a table": (b"id,stem\n1,Which?\n", "file", "not valid JSON"),
    "an empty list": (b"[]", "format", "not recognised"),
    "another format": (b'[{"img_id": 1, "q_lang": "en"}]', "format", "img_id"),
    "numbers": (b"[1, 2, 3]", "format", "not recognised"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_with_its_reason(importer, name):
    content, field, reason = FILES[name]
    report = importer.refused(content)
    assert report.refusals[0].field == field
    assert reason in report.refusals[0].reason


REX = {
    "question": "Which finding is present?",
    "options": ["A. a", "B. b", "C. c", "D. d"],
    "correct_answer": "A",
    "ImagePath": ["pa.png"],
    "StudyInstanceUid": "1.2",
}


@pytest.mark.parametrize(
    ("content", "record_name", "reason"),
    [
        (json.dumps({"q1": REX, "q2": {**REX, "correct_answer": "E"}}), "q2", "not an option"),
        (json.dumps({"q1": REX, "q2": {**REX, "options": "['A. a', "}}), "q2", "not a valid list"),
        (json.dumps({"q1": REX, "q2": {**REX, "ImageViewPosition": ["PA", "AP"]}}), "q2", "2 entries for 1"),
        (json.dumps({"q1": REX, "q2": None}), "q2", "must be an object"),
        (json.dumps({"q1": REX, "q2": {**REX, "StudyInstanceUid": None}}), "q2", "is missing"),
        (json.dumps({"q1": REX, "q2": REX})[:-1], "q2", "truncated"),
        (json.dumps({"q1": REX, "q2": REX})[:-30], "q2", "truncated"),
        (json.dumps({"q1": REX})[:-1] + ', "q1": ' + json.dumps(REX) + "}", "q1", "the same record"),
        (json.dumps({"q1": REX}) + " {}", "after the end", "after the closing"),
        (
            json.dumps({"q1": REX})[:-1] + ',"q2":' + '{"a":' * 20 + "1" + "}" * 20 + "}",
            "q2",
            "nested more than 8",
        ),
    ],
)
def test_a_bad_member_of_an_object_is_named_by_its_key(importer, content, record_name, reason):
    refusals = importer.refused(content.encode(), "rex.json").refusals
    assert [each.record for each in refusals] == [record_name]
    assert reason in refusals[0].reason


def test_a_truncated_array_is_refused(importer):
    rad = [
        {"qid": n, "image_name": "pa.png", "question": "Is it?", "answer": "yes", "answer_type": "CLOSED"}
        for n in (1, 2)
    ]
    report = importer.refused(json.dumps(rad)[:-20].encode(), "rad.json")
    assert [each.record for each in report.refusals] == ["record 2"]
    assert "truncated" in report.refusals[0].reason


def test_records_that_disagree_about_their_exam_are_refused(importer):
    first = with_exam(age="058Y", patient="p")
    second = {**with_exam(age="061Y"), "id": "q-2"}
    report = importer.refused(lines(first, second))
    assert [(each.record, each.field) for each in report.refusals] == [("line 2", "exam.age")]
    assert "'061Y', but an earlier record of exam e-1 has '058Y'" in report.refusals[0].reason


def test_all_records_of_a_bad_file_are_named_and_the_list_is_harmless_in_a_spreadsheet(importer):
    bad = {"=1+1": {**REX, "correct_answer": "Z"}, "@x": {**REX, "options": []}}
    report = importer.refused(json.dumps(bad).encode())
    cells = list(csv.reader(report.refusals_file.read_text(encoding="utf-8").splitlines()))
    assert [row[1] for row in cells[1:]] == ["'=1+1", "'@x"]


def test_a_byte_order_mark_and_line_ends_of_windows_are_welcome(importer):
    content = b"\xef\xbb\xbf" + lines(record(1), record(2)).replace(b"\n", b"\r\n")
    assert importer(content).questions == 2


def test_boxes_that_stick_out_by_a_pixel_are_clipped(importer):
    assert (
        importer(
            lines(record(boxes=[{**BOX, "box": [-0.5, 0, 80.9, 100.9]}])), images=importer.images
        ).questions
        == 1
    )


def test_a_file_that_is_not_there_is_refused(importer):
    refusals = importer.refused(None, "nowhere.jsonl").refusals
    assert [(each.file, each.reason) for each in refusals] == [
        ("nowhere.jsonl", "cannot be read: No such file or directory")
    ]


def test_a_folder_of_images_that_is_not_there_is_refused(importer):
    refusals = importer.refused(lines(record()), images=importer.folder / "nowhere").refusals
    assert refusals[0].field == "images"
