"""Divides the exams of a release into splits: public and private, or train, valid, test and private.

The keys of the private split are not published. Exams of the same patient, or with radiographs of identical
bytes or pixels, form a cluster, and a cluster is not divided. No patient and no image is therefore in two
splits. The split depends on a hash of the seed and the cluster, so it stays the same in a later release with
the same seed and shares, unless new exams connect two clusters.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue, Refused
from release.leaks import ExamLinks, find_leaks

#: The file with the split of each question, in releases with the splits train, valid and test.
SPLIT_TABLE = "splits.jsonl"


class Split(StrEnum):
    """The split of a question in a release."""

    PUBLIC = "public"
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """The shares of the clusters in each split, from 0 to 1, and the seed.

    The rest is the split train if ``valid_share`` or ``test_share`` is above 0; otherwise it is public.

    Raises:
        InvalidValue: a share is below 0, all shares are 0, or they leave nothing for the rest.
    """

    private_share: float = 0.0
    valid_share: float = 0.0
    test_share: float = 0.0
    seed: int

    def __post_init__(self) -> None:
        shares = {"private": self.private_share, "valid": self.valid_share, "test": self.test_share}
        for name, share in shares.items():
            if not 0 <= share < 1:
                raise InvalidValue(name, f"must be a share from 0 to below 1, not {share}")
        if not 0 < sum(shares.values()) < 1:
            raise InvalidValue(
                "splits",
                f"the shares of private, valid and test must be above 0 and below 1 together, not "
                f"{sum(shares.values()):g}",
            )

    @property
    def shares(self) -> dict[Split, float]:
        """The share of each split that the plan has, the rest first."""
        shares = {
            Split.VALID: self.valid_share,
            Split.TEST: self.test_share,
            Split.PRIVATE: self.private_share,
        }
        remaining_split = Split.TRAIN if self.valid_share or self.test_share else Split.PUBLIC
        return {
            remaining_split: 1 - sum(shares.values()),
            **{split: share for split, share in shares.items() if share},
        }


def link_exam(
    exam: str,
    *,
    patient: str | None,
    images: Iterable[str],
    pixel_hash: Mapping[str, str],
    report: str | None = None,
) -> ExamLinks:
    """Return the properties by which an exam is linked to others.

    Args:
        exam: the id of the exam.
        patient: the id of the patient; None if it is not known.
        images: the SHA-256 of each image file.
        pixel_hash: the hashes of the pixels by the SHA-256 of the file, without files that cannot be decoded.
        report: the hash of the report; None if there is none. Reports do not link exams of a release, since
            equal reports may be templates.
    """
    hashes = dict.fromkeys(pixel_hash.get(file_hash, file_hash) for file_hash in images)
    return ExamLinks(exam=exam, patient=patient, images=tuple(hashes), report=report)


def assign_linked_splits(links: Sequence[ExamLinks], plan: SplitPlan) -> dict[str, Split]:
    """Return the split of each exam, by exam id. Linked exams are in the same split.

    Raises:
        Refused: a patient or an image is in two splits, which would be a defect of the program.
    """
    split_by_exam = assign_splits(cluster_exams(links), plan)
    leaks = find_leaks((split_by_exam[exam.exam], exam) for exam in links)
    if leaks:
        raise Refused(f"The splits would share content: {'; '.join(map(str, leaks[:5]))}.")
    return split_by_exam


def cluster_exams(exams: Iterable[ExamLinks]) -> dict[str, str]:
    """Return the cluster of each exam, by exam id. The id of a cluster is the first of its exam ids.

    Patients are compared without regard to case and surrounding spaces.
    """
    parent: dict[str, str] = {}

    def find_root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    exam_ids = []
    for exam in exams:
        exam_ids.append(exam.exam)
        link_keys = [f"image:{image}" for image in exam.images]
        if exam.patient and exam.patient.strip():
            link_keys.append(f"patient:{exam.patient.strip().casefold()}")
        for link_key in link_keys:
            parent[find_root(link_key)] = find_root(f"exam:{exam.exam}")
    members: dict[str, list[str]] = defaultdict(list)
    for exam_id in exam_ids:
        members[find_root(f"exam:{exam_id}")].append(exam_id)
    return {exam_id: min(group) for group in members.values() for exam_id in group}


def assign_splits(cluster_of: Mapping[str, str], plan: SplitPlan) -> dict[str, Split]:
    """Return the split of each exam, by exam id. ``cluster_of`` is the result of :func:`cluster_exams`.

    The private split depends on the seed and its own share only.
    """
    return {
        exam: _choose_split(_compute_unit_hash(cluster, plan.seed), plan)
        for exam, cluster in cluster_of.items()
    }


def _choose_split(number: float, plan: SplitPlan) -> Split:
    limit = 0.0
    remaining_split, *other_splits = plan.shares
    for split in reversed(other_splits):  # private comes first
        limit += plan.shares[split]
        if number < limit:
            return split
    return remaining_split


def _compute_unit_hash(cluster: str, seed: int) -> float:
    """Return a uniform number in [0, 1): the first 53 bits of the SHA-256 of seed and cluster."""
    digest = hashlib.sha256(f"overread.split/1\0{seed}\0{cluster}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / (1 << 53)
