"""Checks of a release against patient data in pixels: removed images, and images that must be checked."""

from __future__ import annotations

from collections.abc import Iterator

from sqlmodel import Session

from domain.errors import Refused
from domain.gold import GoldItem, LeaveOut, LeftOut
from domain.patient_data import ConfirmPixels
from storage.privacy import patient_data


def without_removed_images(
    db: Session, settled: Iterator[GoldItem | LeftOut]
) -> Iterator[GoldItem | LeftOut]:
    """The outcomes, with questions left out whose exam has an image that a person decided to remove."""
    removed = patient_data.removed_everywhere(db)
    return (_unless_removed(each, removed) for each in settled) if removed else settled


def _unless_removed(settled: GoldItem | LeftOut, removed: set[str]) -> GoldItem | LeftOut:
    if isinstance(settled, GoldItem) and not removed.isdisjoint(images_of(settled)):
        return LeftOut(judged=settled.judged, reason=LeaveOut.PATIENT_IN_IMAGE)
    return settled


def images_of(settled: GoldItem | LeftOut) -> set[str]:
    """The SHA-256 of the images of the question's exam."""
    return {each.sha256 for each in settled.judged.exam.radiographs if each.sha256 is not None}


def check_looks(db: Session, *, images: set[str], dataset: str) -> None:
    """Check that a person has looked at the released images, if the workspace's rules require it.

    Args:
        db: a session that reads.
        images: SHA-256 of the released images.
        dataset: its name, for the error's text.

    Raises:
        Refused: images were not checked; the text says how many and what to do.
    """
    asked = patient_data.rules_of(db).confirm_pixels
    if asked is ConfirmPixels.NONE:
        return
    left = patient_data.undecided(db, sha256=sorted(images), dicom_only=asked is ConfirmPixels.DICOM)
    if left:
        kind = "DICOM images" if asked is ConfirmPixels.DICOM else "images"
        raise Refused(
            f"Nobody has looked for text in {len(left):,} of the {kind} of this release, as this workspace "
            f"asks. Look at those of {dataset!r} on the page Patient data, or ask for fewer: "
            "cli.py workspace --confirm-pixels."
        )
