"""Assigns exams to the sides of a split, keeping exams with a common patient or image together."""

from __future__ import annotations

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import Refused
from imaging.guarded import GuardedReader
from release.service.pictures import pixel_hashes
from release.splits import ExamTies, Side, SplitPlan, clusters, leaks, sides
from storage.release import gold
from storage.workspace import Workspace


def sides_of(
    db: Session, batches: list[Batch], split: SplitPlan, *, workspace: Workspace, reader: GuardedReader
) -> dict[str, Side]:
    """The side of every exam with a judged question.

    Exams with the same patient, image file or pixels are on the same side; every image is decoded for that.

    Args:
        db: a session that reads.
        batches: whose verdicts count.
        split: the plan of the split.
        workspace: where the images are.
        reader: decodes them.

    Returns:
        The side by the exam's id.

    Raises:
        Refused: a patient or image is on both sides, which would be a bug.
    """
    found = gold.exam_ties(db, batches=batches)
    files = sorted({sha256 for _, _, images in found for sha256 in images})
    pixels = pixel_hashes(workspace, files, reader=reader)
    ties = [
        ExamTies(
            exam=exam,
            patient=patient,
            images=tuple(
                dict.fromkeys(each for image in images for each in (image, pixels.get(image, image)))
            ),
        )
        for exam, patient, images in found
    ]
    side_of = sides(clusters(ties), split)
    leaking = leaks(side_of, ties)
    if leaking:
        raise Refused(f"The split would leak: {'; '.join(leaking[:5])}.")
    return side_of
