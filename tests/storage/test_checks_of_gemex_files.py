"""The structural checks flag only what is wrong by GEMeX's own format, which has no tiers and categories."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from domain.checks import Check
from storage.rows.datasets import ProblemRow, QuestionRow
from storage.unit_of_work import read_only_session
from tests.storage.import_worlds import Importer

IMAGE = "p10/p10000032/s50414267/02aa804e-bde0afdd.jpg"
REASON = "The right costophrenic angle is blunted by fluid."
OPTIONS = ["Right lower lung zone", "Left lung", "Trachea", "Spine"]
#: What makes a question wrong, by answer format: the changed fields, the check and the field that it reports.
FAULTS: dict[str, list[tuple[dict[str, object], Check, str]]] = {
    "closed": [
        ({"reason": "Seen."}, Check.FORMAT, "explanation"),
        ({"reason": ""}, Check.COMPLETENESS, "explanation"),
        ({"question": "?!"}, Check.TYPES, "stem"),
        ({"visual_regions": [" "]}, Check.COMPLETENESS, "boxes.label"),
    ],
    "single": [
        ({"choices": ["Left", "left", "Trachea", "Spine"]}, Check.FORMAT, "options"),
        ({"choices": ["Left", "Right", "Trachea"]}, Check.SCHEMA, "options"),
        ({"question": "Where? A. left B. right"}, Check.FORMAT, "stem"),
    ],
    "multi": [({"choices": ["nan", "Right", "Trachea", "Spine"]}, Check.TYPES, "options")],
    "open": [({"answer": "['effusion', 'oedema']"}, Check.TYPES, "answer")],
}
ANSWERS = {"closed": "Yes.", "single": "A", "multi": ["A", "C"], "open": "A small pleural effusion"}


def make_test_record(name, number, **changes):
    """A record of GEMeX's test files."""
    fields = {
        "question": "What is seen at the right base of the lung?", "choices": OPTIONS,
        "answer": ANSWERS[name], "reason": REASON, "visual_regions": ["right lower lung zone"], **changes,
    }  # fmt: skip
    choices = [f"{letter}: {text}" for letter, text in zip("ABCD", fields["choices"], strict=False)]
    return fields | {
        "choices": choices if name in ("single", "multi") else [], "type": f"{name}_choice_questions",
        "visual_locations": [[129, 65, 186, 89]], "image_path": IMAGE, "q_id": number, "row_id": number,
        "ori_report": "FINDINGS: There is a small right effusion.\n IMPRESSION: Effusion.",
    }  # fmt: skip


def make_training_record(name, number, **changes):
    """The same question as a conversation of GEMeX's training files, whose boxes have no labels."""
    record = make_test_record(name, number, **changes)
    choices = f" <choices>: [{', '.join(record['choices'])}]" if record["choices"] else ""
    answer = record["answer"] if name in ("open", "closed") else str(list(record["answer"]))
    target = f"<answer> {answer} <reason> {record['reason']} <location> {record['visual_locations']}"
    return {
        "conversations": [
            {"from": "human", "value": f"<image>\n{record['question']}{choices}"},
            {"from": "gpt", "value": target},
        ],
        "row_id": number, "q_type": f"{name}_questions", "type_prompt": "", "image": IMAGE,
    }  # fmt: skip


def load_problems(engine):
    statement = select(QuestionRow.key, ProblemRow.check_name, ProblemRow.field).join(
        ProblemRow, ProblemRow.question_id == QuestionRow.id
    )
    with read_only_session(engine) as db:
        return {tuple(row) for row in db.execute(statement)}


@pytest.mark.parametrize("kind", ["test", "training"])
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.slow
def test_only_questions_with_a_fault_of_their_own_format_are_flagged(sqlite_engine, tmp_path, name, kind):
    make_record = make_test_record if kind == "test" else make_training_record
    faults = [
        fault for fault in FAULTS[name] if not (kind == "training" and fault[2] == "boxes.label")
    ]  # the training format has no labels
    records = [
        make_record(name, 0),
        *(make_record(name, number, **fault[0]) for number, fault in enumerate(faults, 1)),
    ]
    importer = Importer(sqlite_engine, tmp_path)
    content = "\n".join(json.dumps(record) for record in records).encode()
    report = importer(content, name=f"{name}_questions.jsonl")
    assert (report.questions, report.refused) == (len(records), 0)
    assert report.file_format == ("gemex" if kind == "test" else "gemex-train")
    assert load_problems(sqlite_engine) == {
        (f"{name}_questions-{number}", check.value, field)
        for number, (_, check, field) in enumerate(faults, 1)
    }
