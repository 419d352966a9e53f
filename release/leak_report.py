"""The result of a leak check between datasets, as rows of a table, sentences and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.count_texts import count_text
from release.leaks import Leak, LeakKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetContent:
    """What of a dataset can be compared: its exams, and how many of them have patient, images and report."""

    name: str
    exams: int
    with_patient: int
    with_images: int
    with_report: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """What datasets share.

    ``affected`` has the numbers of exams and of their questions with shared content, by kind and dataset.
    ``pixels_compared`` is False if images were compared by their files only.
    """

    datasets: tuple[DatasetContent, ...]
    leaks: tuple[Leak, ...]
    affected: Mapping[tuple[LeakKind, str], tuple[int, int]]
    pixels_compared: bool

    def count(self, kind: LeakKind) -> int:
        """The number of patients, images or reports that are in more than one dataset."""
        return sum(leak.kind is kind for leak in self.leaks)

    @property
    def has_leaks(self) -> bool:
        """Whether a patient or an image is in more than one dataset. Equal reports may be templates."""
        return bool(self.count(LeakKind.PATIENT) or self.count(LeakKind.IMAGE))


_LABELS = {
    LeakKind.PATIENT: "Patients",
    LeakKind.IMAGE: "Images",
    LeakKind.REPORT: "Equal reports",
}


def build_rows(report: LeakReport) -> list[dict[str, object]]:
    """Return one row per kind: how many are shared, and the exams and questions of each dataset with them."""
    rows: list[dict[str, object]] = []
    for kind, label in _LABELS.items():
        row: dict[str, object] = {"In more than one dataset": label, "Number": f"{report.count(kind):,}"}
        for dataset in report.datasets:
            exams, questions = report.affected.get((kind, dataset.name), (0, 0))
            row[dataset.name] = f"{count_text(exams, 'exam')}, {count_text(questions, 'question')}"
        rows.append(row)
    return rows


def describe_content(report: LeakReport) -> list[str]:
    """Return one sentence per dataset on what could be compared, and one on how images were compared."""
    sentences = [
        f"{dataset.name}: {count_text(dataset.exams, 'exam')}; {dataset.with_patient:,} with a patient, "
        f"{dataset.with_images:,} with an image file, {dataset.with_report:,} with a report."
        for dataset in report.datasets
    ]
    how = "pixels" if report.pixels_compared else "files: the same picture in another file is not detected"
    return [*sentences, f"Images were compared by their {how}."]


def iterate_records(report: LeakReport) -> Iterator[dict[str, Any]]:
    """Yield one record per patient, image or report in more than one dataset, with its exams."""
    for leak in report.leaks:
        yield {
            "kind": leak.kind.value,
            "value": leak.value,
            "exams": {dataset: list(exams) for dataset, exams in leak.exams.items()},
        }
