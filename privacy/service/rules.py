"""The workspace's rules on patient data: which image files are kept, what a release requires."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.patient_data import Originals, PatientDataRules, PixelCheckScope
from domain.people import Action, Person, require
from imaging.pseudonyms import PseudonymKey
from storage.privacy import patient_data

#: The consequences of each choice, as shown to the user.
CONSEQUENCES: dict[Originals | PixelCheckScope, str] = {
    Originals.WHOLE: (
        "Image files are kept byte for byte, with all that their headers say of the patient. Choose this for "
        "files that are de-identified already, or where you may keep the originals."
    ),
    Originals.DEIDENTIFIED: (
        "Image files are de-identified before anything of them is written to the disk, and the original is "
        "never kept. Dates go, UIDs and patient numbers become others made with this workspace's key. It "
        "can't be undone: what was taken out is nowhere. Files that are here already stay as they are."
    ),
    PixelCheckScope.NONE: "A release does not ask whether a person has looked for text in the pixels.",
    PixelCheckScope.DICOM: (
        "A release is refused until a person has looked at each image of it that came as DICOM: that is what "
        "comes from hospitals, and devices burn names into it."
    ),
    PixelCheckScope.ALL: (
        "A release is refused until a person has looked at each image of it, PNG and JPEG files included."
    ),
}


def load_rules(db: Session, *, by: Person) -> PatientDataRules:
    """The current rules."""
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
    """Change the rules; files that are already in the workspace stay as they are.

    Args:
        db: a session that writes.
        by: who acts.
        originals: which version of an imported image file is kept; None for no change.
        confirm_pixels: which images must be checked before a release; None for no change.
        revision: of the rules that the user was shown.
        now: the time.

    Raises:
        StaleRevision: somebody else has changed the rules since.
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
    record(
        db,
        by=by,
        what="change the rules on patient data",
        subject="workspace",
        old=_rules_to_json(before),
        new=_rules_to_json(after),
        now=now,
    )
    return after


def load_import_rules(db: Session) -> tuple[Originals, PseudonymKey]:
    """The rule for imported image files, and the key of the pseudonyms; for services that import files."""
    secret = patient_data.load_pseudonym_secret(db)
    return patient_data.load_rules(db).originals, PseudonymKey(secret=secret)


def load_pseudonym_key(db: Session, *, by: Person) -> PseudonymKey:
    """The workspace's key, for de-identifying files outside the workspace."""
    require(by, Action.PROTECT_PATIENTS)
    return PseudonymKey(secret=patient_data.load_pseudonym_secret(db))


def _rules_to_json(rules: PatientDataRules) -> dict[str, str]:
    return {"originals": rules.originals.value, "confirm_pixels": rules.confirm_pixels.value}
