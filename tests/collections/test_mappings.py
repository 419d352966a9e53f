"""The built-in mapping files import five public collections; counts are compared with the source files."""

import json
import re
from collections import Counter

import pytest
from sqlalchemy import select

from accounts.service import command_line_person
from domain.checks import Check
from intake.service import dry_run, load_builtin_mapping
from quality.service import load_check_report
from storage.intake.questions import load_questions
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session
from tests.collections.folder import COLLECTIONS
from tests.storage.import_worlds import Importer

pytestmark = pytest.mark.slow

BY = command_line_person()
FILES = {
    "slake": "slake/slake_test_subset.json",
    "medxpertqa": "medxpertqa/medxpertqa_sampled_mm.jsonl",
    "rad-restruct": "rad-restruct",
    "vqa-med-2019": "vqa-med-2019/VQAMed2019_Test_QA.txt",
    "iu-vqa-cares": "iu-vqa-cares/iuxray_factuality.jsonl",
}


def read_lines(name):
    return (COLLECTIONS / FILES[name]).read_text(encoding="utf-8").splitlines()


def count_slake():
    """Count chest radiographs only. Closed answers are yes, no and Chinese answers of that meaning."""
    records = json.loads((COLLECTIONS / FILES["slake"]).read_text(encoding="utf-8"))
    kept = [record for record in records if record["modality"] == "X-Ray" and record["location"] == "Lung"]
    yes_no = {"yes", "no", "是的", "不是", "有", "没有", "可以", "不可以", "存在", "不存在"}
    closed = sum(record["answer"].strip().lower() in yes_no for record in kept)
    location_count = sum(record["content_type"] == "Position" for record in kept)
    return {
        "formats": {"closed": closed, "open": len(kept) - closed},
        "tasks": {"location": location_count, None: len(kept) - location_count},
        "filtered": len(records) - len(kept),
        "refused": {},
    }


def count_medxpertqa():
    records = [json.loads(line) for line in read_lines("medxpertqa")]
    assert all(len(record["label"]) == 1 for record in records)
    return {
        "formats": {"single": len(records)},
        "tasks": {None: len(records)},
        "filtered": 0,
        "refused": {},
    }


def count_rad_restruct():
    """Yes/no questions are closed; a question with a single option ("fixed_choice") is refused."""
    formats, tasks, refused = Counter[str](), Counter[str | None](), Counter[str]()
    for path in (COLLECTIONS / FILES["rad-restruct"] / "test_qa_pairs").glob("*.json"):
        for stem, _, _, details in json.loads(path.read_text(encoding="utf-8")):
            if len(details["options"]) < 2:
                refused["options"] += 1
                continue
            is_closed = details["options"] == ["yes", "no"]
            formats["closed" if is_closed else details["answer_type"].removesuffix("_choice")] += 1
            is_location = stem == "In which part of the body?"
            tasks["location" if is_location else "presence" if is_closed else None] += 1
    formats["multiple"] = formats.pop("multi")
    return {"formats": formats, "tasks": tasks, "filtered": 0, "refused": refused}


def count_vqa_med():
    answers = [line.split("|")[3] for line in read_lines("vqa-med-2019")]
    closed = sum(answer in ("yes", "no") for answer in answers)
    return {
        "formats": {"closed": closed, "open": len(answers) - closed},
        "tasks": {None: len(answers)},
        "filtered": 0,
        "refused": {},
    }


def count_cares():
    """An answer that begins with yes or no is closed, except "No mention of …" and "No information …"."""
    answers = [json.loads(line)["answer"] for line in read_lines("iu-vqa-cares")]
    beginnings = [re.findall(r"\w+", answer.lower())[:2] for answer in answers]
    closed = sum(
        bool(words) and words[0] in ("yes", "no") and words[1:] not in (["mention"], ["information"])
        for words in beginnings
    )
    return {
        "formats": {"closed": closed},
        "tasks": {None: closed},
        "filtered": 0,
        "refused": {"answer": len(answers) - closed},
    }


EXPECTED = {
    "slake": count_slake,
    "medxpertqa": count_medxpertqa,
    "rad-restruct": count_rad_restruct,
    "vqa-med-2019": count_vqa_med,
    "iu-vqa-cares": count_cares,
}

#: What is wrong in the files themselves: two explanations below 20 characters, and the question ")".
FLAGGED = {"iu-vqa-cares": {(Check.FORMAT, "explanation"): 2, (Check.TYPES, "stem"): 1}}


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_by_format_task_and_refusal_are_those_of_the_source(sqlite_engine, tmp_path, name):
    importer = Importer(sqlite_engine, tmp_path)
    expected = EXPECTED[name]()
    report = importer.from_path(COLLECTIONS / FILES[name], mapping=load_builtin_mapping(name), skip_bad=True)
    with read_only_session(sqlite_engine) as db:
        rows = db.execute(select(QuestionRow.format, QuestionRow.task)).all()
        flagged = load_check_report(db, by=BY, dataset="d")
    assert Counter(row.format for row in rows) == expected["formats"]
    assert Counter(row.task for row in rows) == expected["tasks"]
    assert report.filtered == expected["filtered"]
    assert Counter(refusal.field for refusal in report.refusals) == expected["refused"]
    assert report.questions == len(rows) == sum(expected["formats"].values())
    assert report.file_format == name
    assert {(count.check, count.field): count.questions for count in flagged.counts} == FLAGGED.get(name, {})


@pytest.mark.parametrize("name", EXPECTED)
def test_dry_run_has_the_counts_of_the_source(name):
    expected = EXPECTED[name]()
    result = dry_run(by=BY, path=COLLECTIONS / FILES[name], mapping=load_builtin_mapping(name), images=None)
    assert result.formats == expected["formats"]
    assert result.tasks == {task or "none": count for task, count in expected["tasks"].items()}
    assert (result.filtered, result.refused_fields) == (expected["filtered"], expected["refused"])
    assert len(result.examples) == 5


def test_one_mapping_imports_both_files_of_halt_medvqa(sqlite_engine, tmp_path):
    """The checks report the questions that have the same option twice."""
    importer = Importer(sqlite_engine, tmp_path)
    keys = {}
    for name, key_column in (("fake_qa_shuffle", "answer_id"), ("pmc_vqa_nota1K", "answer")):
        path = COLLECTIONS / "halt-medvqa" / f"{name}.json"
        records = json.loads(path.read_text(encoding="utf-8"))
        report = importer.from_path(path, mapping=load_builtin_mapping("halt-medvqa"))
        assert (report.questions, report.refused, report.filtered) == (len(records), 0, 0)
        for number, record in enumerate(records, start=1):
            options = record.get("option") or {letter: record[f"choice_{letter}"] for letter in "ABCD"}
            texts = [text.strip().removeprefix(f"{letter}:").strip() for letter, text in options.items()]
            keys[f"{name}-{number}"] = (texts, "ABCDEF".index(record[key_column]))
    with read_only_session(sqlite_engine) as db:
        questions = [question for _, question in load_questions(db, question_ids=range(1, len(keys) + 1))]
        flagged = load_check_report(db, by=BY, dataset="d")
    assert {question.id: (list(question.options), *question.answer) for question in questions} == keys
    assert {question.format for question in questions} == {"single"}
    repeated = sum(len({text.casefold() for text in texts}) < len(texts) for texts, _ in keys.values())
    assert {(count.check, count.field): count.questions for count in flagged.counts} == {
        (Check.FORMAT, "options"): repeated
    }


@pytest.mark.parametrize(
    "file",
    ["cxr-cohen-lungboxes-coco/annotations.json", "cxr-torchxrayvision/tbx11k/TBX11K_train.json"],
)
def test_boxes_of_coco_become_one_question_per_image_and_category(sqlite_engine, tmp_path, file):
    content = json.loads((COLLECTIONS / file).read_text(encoding="utf-8"))
    boxes = Counter((box["image_id"], box["category_id"]) for box in content["annotations"])
    importer = Importer(sqlite_engine, tmp_path)
    report = importer.from_path(COLLECTIONS / file, mapping=load_builtin_mapping("coco"), skip_bad=True)
    assert (report.questions, report.refused) == (len(boxes), 0)
    with read_only_session(sqlite_engine) as db:
        questions = [question for _, question in load_questions(db, question_ids=range(1, len(boxes) + 1))]
    assert sorted(len(question.boxes) for question in questions) == sorted(boxes.values())


def load_questions_by_id(name):
    result = dry_run(by=BY, path=COLLECTIONS / FILES[name], mapping=load_builtin_mapping(name), images=None)
    return {question.id: (question, exam) for question, exam in result.examples}


def test_record_of_medxpertqa_becomes_a_question_with_its_image():
    question, exam = load_questions_by_id("medxpertqa")["MM-179"]
    assert question.stem.endswith("the most probable diagnosis?")  # without the options
    assert question.options[1] == "Iron deficiency"
    assert question.answer == (1,)  # the record's label is B
    assert [radiograph.file for radiograph in exam.radiographs] == ["MM-179-a.jpeg"]


def test_record_of_cares_is_read_without_its_placeholders():
    question, exam = load_questions_by_id("iu-vqa-cares")["iuxray_factuality-1"]
    assert question.stem == "Does the cardiomediastinal silhouette appear normal in the chest X-ray?"
    assert (question.answer, exam.id) == ("yes", "CXR3030_IM-1405")
