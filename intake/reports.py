"""Progress and result of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from domain.checks import Check
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.problems import Refusal

#: The maximum number of refusals that are kept in memory and shown. The file has all refusals.
MAX_SHOWN_REFUSALS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """The progress of an import. ``fraction`` is the completed fraction, from 0 to 1."""

    records: int
    questions: int
    refused: int
    images: int
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import.

    Records are counted as imported (``questions``), skipped because they exist already (``known``), skipped
    by the mapping's filter (``filtered``) or invalid (``refused``). ``refusals`` has the first refusals,
    ``refusals_file`` has all. ``exams`` and ``images`` count only new exams and images.
    ``completed_exams`` counts the exams that were imported without images earlier and have them now,
    ``converted_questions`` their questions whose boxes were converted to pixels of the images.
    """

    dataset: str
    file_name: str
    file_format: str
    questions: int
    known: int
    refused: int
    filtered: int
    exams: int
    images: int
    completed_exams: int = 0
    converted_questions: int = 0
    refusals: tuple[Refusal, ...] = ()
    refusals_file: Path | None = None
    problems: dict[Check, int] = field(default_factory=dict)

    def describe_added_images(self) -> str:
        """State how many exams of earlier imports got images; empty if none did."""
        if not self.completed_exams:
            return ""
        sentence = f"Images added to {count_text(self.completed_exams, 'exam')} of earlier imports"
        if self.converted_questions:
            questions = count_text(self.converted_questions, "question")
            sentence += f"; boxes of {questions} converted to pixels of the images"
        return sentence + "."


class ImportRefused(DomainError):
    """Records were refused, so nothing was imported. ``report`` lists them with the reasons."""

    def __init__(self, report: ImportReport) -> None:
        first = report.refusals[0]
        location = " · ".join(part for part in (first.record, first.field) if part)
        others = f", and {report.refused - 1:,} more" if report.refused > 1 else ""
        super().__init__(f"Nothing was imported. {first.file}: {location}: {first.reason}{others}.")
        self.report = report
