"""The rule for imported image files: stored as they are, or de-identified."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import Refused
from domain.patient_data import Originals
from domain.people import Action, Person, require
from imaging.dicom_person import KEPT
from imaging.pseudonyms import PseudonymKey
from privacy.service import kept_how


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Whether image files are de-identified before they are stored, and the key of the pseudonyms."""

    deidentify: bool
    key: PseudonymKey


def kept_of_a_header() -> dict[str, str]:
    """All DICOM attributes that are stored in the database, with the form in which they are stored."""
    return dict(KEPT)


def door_of(db: Session, *, by: Person, deidentify: bool = False) -> Door:
    """Read the workspace's rule; ``deidentify`` de-identifies files even if the rule does not require it."""
    require(by, Action.IMPORT_QUESTIONS)
    originals, key = kept_how(db)
    return Door(deidentify=deidentify or originals is Originals.DEIDENTIFIED, key=key)


def check_door(db: Session, *, door: Door | None) -> None:
    """Check that the workspace's rule has not become stricter since it was read.

    Raises:
        Refused: it now requires that files are de-identified.
    """
    if door is not None and kept_how(db)[0] is Originals.DEIDENTIFIED and not door.deidentify:
        raise Refused(
            "Nothing was imported: meanwhile this workspace was set to de-identify files at the door. "
            "Start the import again."
        )
