"""The demo's questions as a native file, `overread.question/1`, as any generator would write it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from demo.cases import Case
from domain.questions import Question


def write_native(
    path: Path,
    questions: Iterable[Question],
    *,
    exams: Mapping[str, tuple[Case, Mapping[str, str]]],
    reports: Mapping[str, str],
) -> None:
    """Write one question a line.

    Args:
        path: of the file.
        questions: in the order of the file.
        exams: exam id -> (case, radiograph id -> file, relative to the folder of images).
        reports: exam id -> text.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for question in questions:
            case, files = exams[question.exam_id]
            record = _record(question, case, files, reports[question.exam_id])
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _record(question: Question, case: Case, files: Mapping[str, str], report: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": question.id,
        "exam": {
            "id": case.exam_id,
            "patient": case.patient,
            "indication": case.indication,
            "age": f"{case.age:03d}Y",
            "sex": case.sex,
            "radiographs": [
                {"id": radiograph, "file": file, "view": radiograph.upper()}
                for radiograph, file in files.items()
            ],
        },
        "format": str(question.format),
        "stem": question.stem,
        "answer": question.answer if isinstance(question.answer, str) else list(question.answer),
        "explanation": question.explanation,
        "boxes": [
            {
                "radiograph": each.radiograph,
                "label": each.label,
                "box": [round(value, 1) for value in each.box.as_tuple()],
            }
            for each in question.boxes
        ],
        "task": question.task,
        "content_type": question.content_type,
        "category": question.category,
        "subcategory": question.subcategory,
        "difficulty": question.difficulty,
        "report": report,
        "source": {
            "generator": question.source.generator,
            "version": question.source.version,
            "prompt_version": question.source.prompt_version,
        },
    }
    if question.options:
        record["options"] = list(question.options)
    return record
