"""Checks that the images of a release have been checked for burned-in patient data."""

from __future__ import annotations

from sqlmodel import Session

from domain.errors import Refused
from domain.patient_data import PixelCheckScope
from storage.privacy import patient_data


def check_pixel_decisions(db: Session, *, images: set[str], dataset: str) -> None:
    """Check that a person has looked at the released images, if the rules of the workspace require it.

    Args:
        db: a read-only session.
        images: the SHA-256 of the released images.
        dataset: the name of the dataset, used in the error message.

    Raises:
        Refused: some images have not been checked.
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
