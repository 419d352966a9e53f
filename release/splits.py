"""Splits the exams of a release into a public side and a private side, whose keys are kept back.

No patient and no image is on both sides. Exams with a common patient, or with radiographs of identical bytes
or pixels, form a cluster, which is on one side as a whole. The side depends on a hash of the seed and the
cluster, so it is the same in a later release with the same seed and share, unless new exams join two
clusters.
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
    """The share of clusters that is private, above 0 and below 1, and the seed.

    Raises:
        InvalidValue: a value outside its range.
    """

    private_share: float
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.private_share < 1:
            raise InvalidValue("private", f"must be a share above 0 and below 1, not {self.private_share}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamLinks:
    """The properties that connect exams: the patient, and hashes of the radiographs' bytes and pixels."""

    exam: str
    patient: str | None
    images: tuple[str, ...]


def link_exam(
    exam: str, *, patient: str | None, images: Iterable[str], pixel_hash: Mapping[str, str]
) -> ExamLinks:
    """The properties that connect an exam to others.

    Args:
        exam: its id.
        patient: its patient, None if not known.
        images: SHA-256 of its image files.
        pixel_hash: hash of the pixels by SHA-256 of the file; files that could not be decoded are missing.
    """
    hashes = (image_hash for image in images for image_hash in (image, pixel_hash.get(image, image)))
    return ExamLinks(exam=exam, patient=patient, images=tuple(dict.fromkeys(hashes)))


def assign_linked_sides(links: Sequence[ExamLinks], plan: SplitPlan) -> dict[str, Side]:
    """The side of each exam, by its id; linked exams are on the same side.

    Raises:
        Refused: a patient or image is on both sides, which would be a bug.
    """
    side_by_exam = assign_sides(cluster_exams(links), plan)
    leak_messages = find_leaks(side_by_exam, links)
    if leak_messages:
        raise Refused(f"The split would leak: {'; '.join(leak_messages[:5])}.")
    return side_by_exam


def cluster_exams(exams: Iterable[ExamLinks]) -> dict[str, str]:
    """The cluster of each exam, by the exam's id; a cluster has the id of its alphabetically first exam.

    Patients are compared without regard to case and spaces around them.
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
    """The side of each exam, by its id; ``cluster_of`` is that of :func:`cluster_exams`."""
    return {
        exam: Side.PRIVATE if _unit_hash(cluster, plan.seed) < plan.private_share else Side.PUBLIC
        for exam, cluster in cluster_of.items()
    }


def _unit_hash(cluster: str, seed: int) -> float:
    """A uniform number in [0, 1): the first 53 bits of SHA-256 of seed and cluster."""
    digest = hashlib.sha256(f"overread.split/1\0{seed}\0{cluster}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / (1 << 53)


def find_leaks(side_by_exam: Mapping[str, Side], exams: Iterable[ExamLinks]) -> list[str]:
    """Sentences about patients and images that are on both sides; empty if there are none.

    It does not use the clusters, so it can detect errors in :func:`cluster_exams`.
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
