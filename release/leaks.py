"""Finds patients, images and reports in more than one group of exams; groups are splits or datasets."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum


class LeakKind(StrEnum):
    """What two groups share."""

    PATIENT = "patient"
    IMAGE = "image"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamLinks:
    """The properties by which exams are linked: the patient, and the hashes of images and report.

    The hash of an image is that of its pixels; if they are not known, that of its file.
    """

    exam: str
    patient: str | None
    images: tuple[str, ...]
    report: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A patient, an image or a report that is in more than one group, with its exams by group."""

    kind: LeakKind
    value: str
    exams: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        places = " and ".join(f"in {group} (exam {exams[0]})" for group, exams in self.exams.items())
        return f"{self.kind} {self.value} is {places}"


def find_leaks(exams: Iterable[tuple[str, ExamLinks]]) -> list[Leak]:
    """Return what is in more than one group: patients first, then images, then reports.

    Patients are compared without regard to case and surrounding spaces.

    Args:
        exams: the group and the links of each exam.
    """
    exams_by_value = defaultdict[tuple[LeakKind, str], dict[str, list[str]]](dict)
    for group, links in exams:
        for link in _iterate_links(links):
            exams_by_value[link].setdefault(group, []).append(links.exam)
    leaks = [
        Leak(kind=kind, value=value, exams={group: tuple(ids) for group, ids in by_group.items()})
        for (kind, value), by_group in exams_by_value.items()
        if len(by_group) > 1
    ]
    order = list(LeakKind)
    return sorted(leaks, key=lambda leak: (order.index(leak.kind), leak.value))


def _iterate_links(links: ExamLinks) -> Iterator[tuple[LeakKind, str]]:
    if links.patient and links.patient.strip():
        yield LeakKind.PATIENT, links.patient.strip().casefold()
    for image in links.images:
        yield LeakKind.IMAGE, image
    if links.report:
        yield LeakKind.REPORT, links.report


def hash_report(report: str) -> str | None:
    """Return the SHA-256 of a report without regard to case and white space; None for an empty one."""
    words = report.casefold().split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest() if words else None
