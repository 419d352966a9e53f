"""What the door does with an image file: keeps it as it came, or without its patient."""

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
    """Whether image files are de-identified before they are kept, and the key of the pseudonyms."""

    deidentify: bool
    key: PseudonymKey


def kept_of_a_header() -> dict[str, str]:
    """DICOM attribute -> what it is kept as: the whole of what a header leaves in the database."""
    return dict(KEPT)


def door_of(db: Session, *, by: Person, deidentify: bool = False) -> Door:
    """The door as the workspace's rules have it; ``deidentify`` asks for it even where the rules do not."""
    require(by, Action.IMPORT_QUESTIONS)
    originals, key = kept_how(db)
    return Door(deidentify=deidentify or originals is Originals.DEIDENTIFIED, key=key)


def check_door(db: Session, *, door: Door | None) -> None:
    """See that the rules still are what the door, if there is one, was opened by.

    Raises:
        Refused: they have been made stricter meanwhile.
    """
    if door is not None and kept_how(db)[0] is Originals.DEIDENTIFIED and not door.deidentify:
        raise Refused(
            "Nothing was imported: meanwhile this workspace was set to de-identify files at the door. "
            "Start the import again."
        )
