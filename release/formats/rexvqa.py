"""``rexvqa.json``: one JSON object with the records by question id, like the metadata files of ReXVQA."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from domain.exams import Exam
from domain.gold import GoldItem
from domain.questions import option_letter
from domain.vocabulary import AnswerFormat, Task, View
from release.formats.format_writer import FormatLimitation, FormatWriter, JsonContainerWriter

#: The names of the tasks in Table 1 of the ReXVQA paper.
TASK_NAMES = {
    Task.PRESENCE: "Presence Assessment",
    Task.LOCATION: "Location & Distribution",
    Task.NEGATION: "Negation Assessment",
    Task.DIFFERENTIAL: "Differential Diagnosis",
    Task.GEOMETRIC: "Geometric Information",
}
_SECTIONS = ("Comparison", "Findings", "Impression")
_SECTION = re.compile(rf"(?:^|\n\n)({'|'.join(_SECTIONS)}): ")
_EMPTY_VALUES = {"", "none", "nan", "null", "n/a", "na"}


class RexvqaWriter(FormatWriter):
    """Writes single-choice questions. The format has no boxes."""

    name = "rexvqa"

    def __init__(self, folder: Path, *, files: Mapping[str, str], with_report: bool) -> None:
        """``files`` has the paths of copied images by SHA-256.

        Other images keep the path of the question file.
        """
        super().__init__(folder, "rexvqa.json")
        self._object = JsonContainerWriter(self._files["rexvqa.json"], brackets="{}")
        self._paths, self._with_report = files, with_report

    def add(self, gold: GoldItem) -> None:
        question, exam = gold.question, gold.judged.exam
        if question.format is not AnswerFormat.SINGLE:
            self.limitations[FormatLimitation.OTHER_FORMAT] += 1
            return
        if question.also_right:
            self.limitations[FormatLimitation.SEVERAL_CORRECT] += 1
            return
        if question.stem.strip() != question.stem or any(
            _changes_on_import(option) for option in question.options
        ):
            self.limitations[FormatLimitation.NOT_WRITABLE] += 1
            return
        if question.boxes:
            self.limitations[FormatLimitation.BOXES] += 1
        record = {
            "study_id": exam.id,
            "StudyInstanceUid": exam.id,
            "question": question.stem,
            "options": [f"{option_letter(index)}. {text}" for index, text in enumerate(question.options)],
            "correct_answer": option_letter(int(question.answer[0])),
            "correct_answer_explanation": question.explanation,
            # Questions without one of the five tasks keep the task name of their file.
            "task_name": TASK_NAMES[question.task] if question.task else question.content_type,
            "category": question.category,
            "subcategory": question.subcategory,
            "class": question.content_type if question.task else None,
            "difficulty": question.difficulty,
            **self._build_exam_fields(exam),
        }
        self._object.add(msgspec.json.encode(question.id) + b": " + msgspec.json.encode(record))

    def finish(self) -> None:
        self._object.close()

    def _build_exam_fields(self, exam: Exam) -> dict[str, Any]:
        return {
            "ImagePath": [
                self._paths.get(radiograph.sha256 or "", radiograph.file) for radiograph in exam.radiographs
            ],
            "ImageViewPosition": [
                None if radiograph.view is View.UNKNOWN else radiograph.view.value
                for radiograph in exam.radiographs
            ],
            "PatientID": exam.patient,
            "PatientAge": exam.age,
            "PatientSex": exam.sex,
            "Indication": exam.indication,
            **(_split_sections(exam.report) if self._with_report and exam.report else {}),
        }


def _changes_on_import(option: str) -> bool:
    """Whether an option would change on import, because spaces around it are removed."""
    return option.strip() != option


def _split_sections(report: str) -> dict[str, str]:
    """Return the sections of a report by heading. Text without a heading belongs to the findings."""
    parts = _SECTION.split(report)
    sections = {"Findings": parts[0].strip()} if parts[0].strip() else {}
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        if text.strip().casefold() not in _EMPTY_VALUES:
            sections[heading] = "\n\n".join(filter(None, (sections.get(heading), text.strip())))
    return sections
