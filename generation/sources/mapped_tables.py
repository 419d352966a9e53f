"""Reads any table of reports by a mapping file, which names the table beside it (docs/generation.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View
from generation.source_exams import CodedFinding, CodeSystem, ReportSections, SourceExam, SourceImage
from generation.sources.sections import join_lines, split_report
from intake.mapping.opening import open_report_table
from intake.mapping.reader import MappedReport


def read_mapped_table(path: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of a table of reports, one per record. Records that the mapping leaves out are missing.

    Args:
        path: the mapping file; its ``input.table`` names the table.

    Raises:
        InvalidValue: the mapping or the table is missing or not valid, or a column is missing.
    """
    if not path.is_file():
        raise InvalidValue("source", f"{path} is not a mapping file")
    table, records, reader = open_report_table(path)
    for name, raw in records:
        record = f"record {name}"
        try:
            if isinstance(raw, InvalidValue):
                raise raw
            report = reader.read_report(name, raw)
            if report is not None:
                yield _build_exam(report, file=table.name, record=record)
        except InvalidValue as error:
            yield Refusal(file=table.name, record=record, field=error.field, reason=error.reason)


def _build_exam(report: MappedReport, *, file: str, record: str) -> SourceExam:
    exam = report.exam
    return SourceExam(
        id=exam.id,
        file=file,
        record=record,
        patient=exam.patient or None,
        age=exam.age or None,
        sex=exam.sex or None,
        images=tuple(
            SourceImage(id=image.id, file=image.file, view=View(image.view) if image.view else View.UNKNOWN)
            for image in exam.radiographs
        ),
        report=_split_text(report.text, indication=exam.indication or ""),
        codes=tuple(CodedFinding(system=CodeSystem.LABEL, code=label) for label in report.labels),
    )


def _split_text(text: str, *, indication: str) -> ReportSections:
    """Split a report at its headings; without headings, the whole text is findings."""
    sections = split_report(text)
    if sections == ReportSections():
        sections = ReportSections(findings=join_lines(text))
    return sections if sections.indication else replace(sections, indication=join_lines(indication))
