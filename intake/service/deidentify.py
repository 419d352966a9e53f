"""Reads and checks the workspace's rule on whether imported image files are de-identified."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import Refused
from domain.patient_data import Originals
from domain.people import Action, Person, require
from imaging.dicom_stored_header import STORED_ATTRIBUTES
from imaging.pseudonyms import PseudonymKey
from privacy.service import load_import_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class DeidentificationSettings:
    """Whether image files are de-identified before they are stored, and the key for pseudonyms."""

    deidentify: bool
    key: PseudonymKey


def describe_stored_attributes() -> dict[str, str]:
    """Return {DICOM attribute: how its value is stored} for all attributes that the database stores."""
    return dict(STORED_ATTRIBUTES)


def load_deidentification(db: Session, *, by: Person, deidentify: bool = False) -> DeidentificationSettings:
    """Read the workspace's rule. If ``deidentify`` is true, files are de-identified whatever the rule is."""
    require(by, Action.IMPORT_QUESTIONS)
    originals, key = load_import_rules(db)
    return DeidentificationSettings(deidentify=deidentify or originals is Originals.DEIDENTIFIED, key=key)


def check_deidentification(db: Session, *, deidentification: DeidentificationSettings | None) -> None:
    """Check that the workspace's rule has not become stricter since it was read.

    Raises:
        Refused: the rule now requires that files are de-identified.
    """
    if (
        deidentification is not None
        and load_import_rules(db)[0] is Originals.DEIDENTIFIED
        and not deidentification.deidentify
    ):
        raise Refused(
            "Nothing was imported: this workspace was set to de-identify files on import in the "
            "meantime. Start the import again."
        )
