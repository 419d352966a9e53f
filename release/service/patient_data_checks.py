"""Checks of a release against patient data in pixels: removed images, and images that must be checked."""

from __future__ import annotations

from collections.abc import Iterator

from sqlmodel import Session

from domain.errors import Refused
from domain.gold import Excluded, ExclusionReason, GoldItem
from domain.patient_data import PixelCheckScope
from storage.privacy import patient_data


def exclude_removed_images(
    db: Session, outcomes: Iterator[GoldItem | Excluded]
) -> Iterator[GoldItem | Excluded]:
    """The outcomes, with questions left out whose exam has an image that a person decided to remove."""
    removed = patient_data.load_removed_images(db)
    return (_exclude_if_removed(outcome, removed) for outcome in outcomes) if removed else outcomes


def _exclude_if_removed(outcome: GoldItem | Excluded, removed: set[str]) -> GoldItem | Excluded:
    if isinstance(outcome, GoldItem) and not removed.isdisjoint(image_hashes(outcome)):
        return Excluded(judged=outcome.judged, reason=ExclusionReason.PATIENT_DATA_IN_IMAGE)
    return outcome


def image_hashes(outcome: GoldItem | Excluded) -> set[str]:
    """The SHA-256 of the images of the question's exam."""
    return {
        radiograph.sha256 for radiograph in outcome.judged.exam.radiographs if radiograph.sha256 is not None
    }


def check_pixel_decisions(db: Session, *, images: set[str], dataset: str) -> None:
    """Check that a person has looked at the released images, if the workspace's rules require it.

    Args:
        db: a session that reads.
        images: SHA-256 of the released images.
        dataset: its name, for the error's text.

    Raises:
        Refused: images were not checked; the text states how many and what to do.
    """
    required = patient_data.load_rules(db).confirm_pixels
    if required is PixelCheckScope.NONE:
        return
    undecided = patient_data.filter_undecided(
        db, sha256=sorted(images), dicom_only=required is PixelCheckScope.DICOM
    )
    if undecided:
        kind = "DICOM images" if required is PixelCheckScope.DICOM else "images"
        raise Refused(
            f"{len(undecided):,} of the {kind} of this release have not been checked for burned-in text, as "
            f"this workspace requires. Check the images of {dataset!r} on the page Patient data, or change "
            "the requirement: cli.py workspace --confirm-pixels."
        )
