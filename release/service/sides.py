"""Which side each exam is on, from what the database and the images' pixels say ties them together."""

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
    """The side of every exam of which a question was judged in these batches.

    Every image is decoded for it: two files may hold the same pixels.

    Raises:
        Refused: something is on both sides all the same, which would be a fault of ours.
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
