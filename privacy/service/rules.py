"""Services for the workspace's rules on patient data: which image files are kept, what a release requires."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.patient_data import Originals, PatientDataRules, PixelCheckScope
from domain.people import Action, Person, require
from imaging.pseudonyms import PseudonymKey
from storage.privacy import patient_data

#: The consequences of each choice, as shown to the user.
CONSEQUENCES: dict[Originals | PixelCheckScope, str] = {
    Originals.WHOLE: (
        "Image files are stored unchanged, including all patient data in their headers. Choose this "
        "for files that are already de-identified, or if you are allowed to store the originals."
    ),
    Originals.DEIDENTIFIED: (
        "Image files are de-identified before they are written to disk, and the originals are never "
        "kept. Dates are removed; UIDs and patient numbers are replaced with values derived from this "
        "workspace's key. This cannot be undone. Files that are already stored do not change."
    ),
    PixelCheckScope.NONE: "Releases do not require a check for burned-in text.",
    PixelCheckScope.DICOM: (
        "A release requires that a person has checked each of its DICOM images for burned-in text. "
        "DICOM images come from hospitals, and some devices burn names into them."
    ),
    PixelCheckScope.ALL: (
        "A release requires that a person has checked each of its images for burned-in text, including "
        "PNG and JPEG files."
    ),
}


def load_rules(db: Session, *, by: Person) -> PatientDataRules:
    """Load the current rules."""
    require(by, Action.PROTECT_PATIENTS)
    return patient_data.load_rules(db)


def change_rules(
    db: Session,
    *,
    by: Person,
    originals: Originals | None = None,
    confirm_pixels: PixelCheckScope | None = None,
    revision: int,
    now: datetime,
) -> PatientDataRules:
    """Change the rules. Files that are already in the workspace do not change.

    Args:
        db: a session that can write.
        by: the acting person.
        originals: the version of imported image files that is kept; None for no change.
        confirm_pixels: the images that must be checked before a release; None for no change.
        revision: the revision of the rules that the user saw.
        now: the current time.

    Raises:
        StaleRevision: another person has changed the rules since then.
    """
    require(by, Action.PROTECT_PATIENTS)
    before = patient_data.load_rules(db)
    new_rules = replace(
        before,
        originals=originals or before.originals,
        confirm_pixels=confirm_pixels or before.confirm_pixels,
        revision=revision,
    )
    after = patient_data.change_rules(db, rules=new_rules)
    record_action(
        db,
        by=by,
        action="change the rules on patient data",
        subject="workspace",
        old=_rules_to_json(before),
        new=_rules_to_json(after),
        now=now,
    )
    return after


def load_import_rules(db: Session) -> tuple[Originals, PseudonymKey]:
    """Load the rule for imported image files and the key for pseudonyms, for services that import files."""
    secret = patient_data.load_pseudonym_secret(db)
    return patient_data.load_rules(db).originals, PseudonymKey(secret=secret)


def load_pseudonym_key(db: Session, *, by: Person) -> PseudonymKey:
    """Load the workspace's key for de-identifying files outside the workspace."""
    require(by, Action.PROTECT_PATIENTS)
    return PseudonymKey(secret=patient_data.load_pseudonym_secret(db))


def _rules_to_json(rules: PatientDataRules) -> dict[str, str]:
    return {"originals": rules.originals.value, "confirm_pixels": rules.confirm_pixels.value}
