"""Splits the exams of a release into a public side and a private side, whose keys are not published.

Exams of the same patient, or with radiographs of identical bytes or pixels, form a cluster, and a cluster is
not divided. No patient and no image is therefore on both sides. The side depends on a hash of the seed and
the cluster, so it stays the same in a later release with the same seed and share, unless new exams connect
two clusters.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue, Refused


class Side(StrEnum):
    """The side of a question in a release."""

    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """The share of clusters that is private (above 0 and below 1), and the seed.

    Raises:
        InvalidValue: the share is not above 0 and below 1.
    """

    private_share: float
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.private_share < 1:
            raise InvalidValue("private", f"must be a share above 0 and below 1, not {self.private_share}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamLinks:
    """The properties by which exams are linked: the patient, and hashes of image files and pixels."""

    exam: str
    patient: str | None
    images: tuple[str, ...]


def link_exam(
    exam: str, *, patient: str | None, images: Iterable[str], pixel_hash: Mapping[str, str]
) -> ExamLinks:
    """Return the properties by which an exam is linked to others.

    Args:
        exam: the id of the exam.
        patient: the id of the patient; None if it is not known.
        images: the SHA-256 of each image file.
        pixel_hash: the hashes of the pixels by the SHA-256 of the file, without files that cannot be decoded.
    """
    hashes: dict[str, None] = {}
    for file_hash in images:
        hashes[file_hash] = None
        if file_hash in pixel_hash:
            hashes[pixel_hash[file_hash]] = None
    return ExamLinks(exam=exam, patient=patient, images=tuple(hashes))


def assign_linked_sides(links: Sequence[ExamLinks], plan: SplitPlan) -> dict[str, Side]:
    """Return the side of each exam, by exam id. Linked exams are on the same side.

    Raises:
        Refused: a patient or an image is on both sides, which would be a defect of the program.
    """
    side_by_exam = assign_sides(cluster_exams(links), plan)
    leak_messages = find_leaks(side_by_exam, links)
    if leak_messages:
        raise Refused(f"The private side would not be private: {'; '.join(leak_messages[:5])}.")
    return side_by_exam


def cluster_exams(exams: Iterable[ExamLinks]) -> dict[str, str]:
    """Return the cluster of each exam, by exam id. The id of a cluster is the first of its exam ids.

    Patients are compared without regard to case and surrounding spaces.
    """
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    names = []
    for exam in exams:
        names.append(exam.exam)
        link_keys = [f"image:{image}" for image in exam.images]
        if exam.patient and exam.patient.strip():
            link_keys.append(f"patient:{exam.patient.strip().casefold()}")
        for link_key in link_keys:
            parent[root(link_key)] = root(f"exam:{exam.exam}")
    members: dict[str, list[str]] = defaultdict(list)
    for name in names:
        members[root(f"exam:{name}")].append(name)
    return {name: min(group) for group in members.values() for name in group}


def assign_sides(cluster_of: Mapping[str, str], plan: SplitPlan) -> dict[str, Side]:
    """Return the side of each exam, by exam id. ``cluster_of`` is the result of :func:`cluster_exams`."""
    return {
        exam: Side.PRIVATE if _unit_hash(cluster, plan.seed) < plan.private_share else Side.PUBLIC
        for exam, cluster in cluster_of.items()
    }


def _unit_hash(cluster: str, seed: int) -> float:
    """Return a uniform number in [0, 1): the first 53 bits of the SHA-256 of seed and cluster."""
    digest = hashlib.sha256(f"overread.split/1\0{seed}\0{cluster}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / (1 << 53)


def find_leaks(side_by_exam: Mapping[str, Side], exams: Iterable[ExamLinks]) -> list[str]:
    """Return one sentence per patient or image that is on both sides.

    The function does not use the clusters, so it can detect defects of :func:`cluster_exams`.
    """
    exam_by_side: dict[tuple[str, str], dict[Side, str]] = defaultdict(dict)
    for exam in exams:
        side = side_by_exam[exam.exam]
        if exam.patient and exam.patient.strip():
            exam_by_side["patient", exam.patient.strip().casefold()].setdefault(side, exam.exam)
        for image in exam.images:
            exam_by_side["image", image].setdefault(side, exam.exam)
    return [
        f"{kind} {value} is public in exam {exam_on_side[Side.PUBLIC]} and private in exam"
        f" {exam_on_side[Side.PRIVATE]}"
        for (kind, value), exam_on_side in exam_by_side.items()
        if len(exam_on_side) > 1
    ]
