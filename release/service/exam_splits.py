"""Assigns exams to the splits of a release; linked exams stay in the same split."""

from __future__ import annotations

from sqlmodel import Session

from domain.batches import Batch
from imaging.guarded_decoder import GuardedDecoder
from release.service.images import hash_pixels
from release.splits import Split, SplitPlan, assign_linked_splits, link_exam
from storage.release import gold
from storage.workspace import Workspace


def assign_exam_splits(
    db: Session, batches: list[Batch], plan: SplitPlan, *, workspace: Workspace, decoder: GuardedDecoder
) -> dict[str, Split]:
    """Return the split of every exam with a judged question.

    Exams with the same patient, the same image file or identical pixels are in the same split. To compare
    pixels, the function decodes every image.

    Args:
        db: a read-only session.
        batches: the batches whose verdicts count.
        plan: the shares and the seed.
        workspace: the workspace with the images.
        decoder: the process that decodes the images.

    Returns:
        The split of each exam, by exam id.

    Raises:
        Refused: a patient or an image is in two splits, which would be a defect of the program.
    """
    exam_rows = gold.load_exam_links(db, batches=batches)
    all_file_hashes = sorted({sha256 for _, _, file_hashes in exam_rows for sha256 in file_hashes})
    pixel_hash = hash_pixels(workspace, all_file_hashes, decoder=decoder)
    links = [
        link_exam(exam, patient=patient, images=file_hashes, pixel_hash=pixel_hash)
        for exam, patient, file_hashes in exam_rows
    ]
    return assign_linked_splits(links, plan)
