"""What an import says while it runs and when it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from domain.errors import DomainError
from domain.problems import Check, Refusal

#: So many refusals are kept in memory and shown; the list on the disk has them all.
SHOWN_REFUSALS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import has come: records read, image files read, and the part of all the work, 0 to 1."""

    records: int
    questions: int
    refused: int
    images: int
    part: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What came in and what did not.

    ``questions`` came in, ``known`` were there already, ``refused`` were refused for the reasons in
    ``refusals`` (the first thousand) and in ``refusals_file`` (all). ``exams`` and ``images`` are new ones.
    """

    dataset: str
    file_name: str
    file_format: str
    questions: int
    known: int
    refused: int
    exams: int
    images: int
    refusals: tuple[Refusal, ...] = ()
    refusals_file: Path | None = None
    problems: dict[Check, int] = field(default_factory=dict)


class ImportRefused(DomainError):
    """Records were refused, so nothing came in; ``report`` says which and why."""

    def __init__(self, report: ImportReport) -> None:
        first = report.refusals[0]
        where = " · ".join(part for part in (first.record, first.field) if part)
        more = f", and {report.refused - 1:,} more" if report.refused > 1 else ""
        super().__init__(f"Nothing was imported. {first.file}: {where}: {first.reason}{more}.")
        self.report = report
