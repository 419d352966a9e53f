"""Writes the demo's questions as a native file, ``overread.question/1``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from demo.cases import Case
from domain.boxes import Box, LabelledBox
from domain.questions import Question
from records.questions import ExamRecord, RadiographRecord, question_to_record


def write_native(
    path: Path,
    questions: Iterable[Question],
    *,
    exams: Mapping[str, tuple[Case, Mapping[str, str]]],
    reports: Mapping[str, str],
) -> None:
    """Write one question per line.

    Args:
        path: the file to write.
        questions: the questions, in the order of the file.
        exams: the case and the image paths by radiograph id, by exam id; paths are relative to the image
            folder.
        reports: the report texts by exam id.
    """
    with path.open("wb") as file:
        for question in questions:
            case, files = exams[question.exam_id]
            record = question_to_record(
                replace(question, boxes=tuple(map(_round_box, question.boxes))),
                _exam_to_record(case, files),
                report=reports[question.exam_id],
            )
            file.write(msgspec.json.encode(record) + b"\n")


def _exam_to_record(case: Case, files: Mapping[str, str]) -> ExamRecord:
    return ExamRecord(
        id=case.exam_id,
        patient=case.patient,
        indication=case.indication,
        age=f"{case.age:03d}Y",
        sex=case.sex,
        radiographs=[
            RadiographRecord(id=radiograph, file=file, view=radiograph.upper())
            for radiograph, file in files.items()
        ],
    )


def _round_box(labelled: LabelledBox) -> LabelledBox:
    x_min, y_min, x_max, y_max = (round(value, 1) for value in labelled.box.as_tuple())
    return replace(labelled, box=Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max))
