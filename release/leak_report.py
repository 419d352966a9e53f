"""The result of a leak check between datasets, as rows of a table, sentences and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.count_texts import count_text
from release.leaks import Leak, LeakKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetContent:
    """The content of a dataset: its exams, and how many of them have a patient, images and a report."""

    name: str
    exams: int
    with_patient: int
    with_images: int
    with_report: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWording:
    """Questions of several datasets with the same wording and key, or with two near-duplicate wordings.

    ``stems`` has one stem if the wordings are equal, two if they are near-duplicates; ``similarity`` is 1 for
    one stem. ``questions`` counts the questions by dataset.
    """

    stems: tuple[str, ...]
    similarity: float
    questions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuestions:
    """The wordings that datasets share, the most similar first, and the number of questions by dataset."""

    wordings: tuple[SharedWording, ...]
    questions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """What datasets share.

    ``affected`` has the numbers of exams and of their questions with shared content, by kind and dataset.
    ``pixels_compared`` is False if images were compared by their files only. ``shared_questions`` is None if
    questions were not compared.
    """

    datasets: tuple[DatasetContent, ...]
    leaks: tuple[Leak, ...]
    affected: Mapping[tuple[LeakKind, str], tuple[int, int]]
    pixels_compared: bool
    shared_questions: SharedQuestions | None = None

    def count(self, kind: LeakKind) -> int:
        """The number of patients, images or reports that are in more than one dataset."""
        return sum(leak.kind is kind for leak in self.leaks)

    @property
    def has_leaks(self) -> bool:
        """Whether a patient or an image is in more than one dataset.

        Equal reports may be templates, and equal questions may be about different exams.
        """
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
    if shared := report.shared_questions:
        rows.append(
            {
                "In more than one dataset": "Questions",
                "Number": f"{len(shared.wordings):,}",
                **{
                    dataset.name: count_text(shared.questions.get(dataset.name, 0), "question")
                    for dataset in report.datasets
                },
            }
        )
    return rows


def describe_content(report: LeakReport) -> list[str]:
    """Return one sentence per dataset on what could be compared, and one on how images were compared."""
    sentences = [
        f"{dataset.name}: {count_text(dataset.exams, 'exam')}; {dataset.with_patient:,} with a patient, "
        f"{dataset.with_images:,} with an image file, {dataset.with_report:,} with a report."
        for dataset in report.datasets
    ]
    basis = "pixels" if report.pixels_compared else "files: the same picture in another file is not detected"
    sentences.append(f"Images were compared by their {basis}.")
    if report.shared_questions is not None:
        sentences.append(
            "Questions are counted by wording: the same text and key, or near-duplicates of one. "
            "They may be about different exams."
        )
    return sentences


def iterate_records(report: LeakReport) -> Iterator[dict[str, Any]]:
    """Yield one record per patient, image or report in more than one dataset, and per shared wording."""
    for leak in report.leaks:
        yield {
            "kind": leak.kind.value,
            "value": leak.value,
            "exams": {dataset: list(exams) for dataset, exams in leak.exams.items()},
        }
    for wording in report.shared_questions.wordings if report.shared_questions else ():
        yield {
            "kind": "question",
            "stems": list(wording.stems),
            "similarity": round(wording.similarity, 4),
            "questions": dict(wording.questions),
        }
