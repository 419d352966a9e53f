"""Assigns exams to the sides of a split, keeping exams with a common patient or image together."""

from __future__ import annotations

from sqlmodel import Session

from domain.batches import Batch
from imaging.guarded_reader import GuardedReader
from release.service.images import hash_pixels
from release.splits import Side, SplitPlan, assign_linked_sides, link_exam
from storage.release import gold
from storage.workspace import Workspace


def assign_exam_sides(
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
    exam_images = gold.load_exam_links(db, batches=batches)
    files = sorted({sha256 for _, _, images in exam_images for sha256 in images})
    pixel_hash = hash_pixels(workspace, files, reader=reader)
    links = [
        link_exam(exam, patient=patient, images=images, pixel_hash=pixel_hash)
        for exam, patient, images in exam_images
    ]
    return assign_linked_sides(links, split)
