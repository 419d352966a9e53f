"""Reads the few attributes of a DICOM header that are stored in the database: ``STORED_ATTRIBUTES``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.vocabulary import Sex, View
from imaging.pseudonyms import PseudonymKey

if TYPE_CHECKING:
    from pydicom import Dataset

# Header attribute -> field of ImageFacts. Names, dates, exam numbers, institutions, devices and private
# elements are not parsed at all; imaging/dicom_file.py lists the attributes that are parsed.
STORED_ATTRIBUTES = {
    "PatientID": "patient, as a pseudonym made with the workspace's key",
    "PatientAge": "age; above 89 as 90 years if files are de-identified on import",
    "PatientSex": "sex",
    "ViewPosition": "view; from Patient Orientation or Series Description if it is empty",
}

# View Position (0018,5101): PS3.3 C.8.11.5.1.1, and other values that devices write.
_VIEWS = {
    "PA": View.PA, "AP": View.AP, "LL": View.LATERAL, "RL": View.LATERAL, "LAT": View.LATERAL,
    "LATERAL": View.LATERAL, "ML": View.LATERAL, "LM": View.LATERAL,
    "RLD": View.OTHER, "LLD": View.OTHER, "RLO": View.OTHER, "LLO": View.OTHER,
}  # fmt: skip
# Series Description (0008,103E) is free text in any language; only unambiguous words are used.
_VIEW_PATTERNS = (
    (re.compile(r"\b(lateral|lat|latero-?lateral|profil|seitlich)\b", re.IGNORECASE), View.LATERAL),
    (re.compile(r"\b(pa|p\.a\.|postero-?anterior)(?!\w)", re.IGNORECASE), View.PA),
    (re.compile(r"\b(ap|a\.p\.|antero-?posterior)(?!\w)", re.IGNORECASE), View.AP),
)
_AGE = re.compile(r"\d{1,3}[DWMY]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHeader:
    """The values of ``STORED_ATTRIBUTES``; None or UNKNOWN if the header has no usable value."""

    patient: str | None
    age: str | None
    sex: Sex | None
    view: View


def read_stored_header(dataset: Dataset, *, key: PseudonymKey | None = None) -> StoredHeader:
    """Read the values that are stored in the database.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.
        key: the key for the patient's pseudonym. Without a key the patient is None, unless Patient Identity
            Removed (0012,0062) is YES.

    Returns:
        Patient ID (0010,0020) as a pseudonym, Patient's Age (0010,1010) unchanged, Patient's Sex (0010,0040)
        and the view. An age or sex in another format than DICOM's is None.
    """
    age = _read_text(dataset, "PatientAge").upper()
    sex = _read_text(dataset, "PatientSex").upper()
    return StoredHeader(
        patient=_patient_pseudonym(dataset, key),
        age=age if _AGE.fullmatch(age) else None,
        sex=Sex(sex) if sex in set(Sex) else None,
        view=read_view(dataset),
    )


def read_view(dataset: Dataset) -> View:
    """Determine the projection of the radiograph.

    The first of these attributes that gives a view is used: View Position (0018,5101), Patient Orientation
    (0020,0020), Series Description (0008,103E). Rows along the anterior-posterior axis (PS3.3 C.7.6.1.1.1)
    mean a lateral view. The orientation of a frontal view does not distinguish PA from AP.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.

    Returns:
        The view; OTHER if View Position has an unknown value, UNKNOWN if no attribute gives a view.
    """
    position = _read_text(dataset, "ViewPosition").upper()
    if position:
        return _VIEWS.get(position, View.OTHER)
    orientation = [str(part).upper() for part in dataset.get("PatientOrientation") or []]
    if len(orientation) == 2 and orientation[0][:1] in {"A", "P"} and orientation[1][:1] in {"F", "H"}:
        return View.LATERAL
    views = {
        view for pattern, view in _VIEW_PATTERNS if pattern.search(_read_text(dataset, "SeriesDescription"))
    }
    return views.pop() if len(views) == 1 else View.UNKNOWN


def cap_age(age: str | None) -> str | None:
    """Return the age, or "090Y" for an age above 89 years, which could identify a person.

    The rule is from 45 CFR 164.514(b)(2).

    Args:
        age: 1 to 3 digits with a unit D, W, M or Y, as in Patient's Age (0010,1010). An age without a unit is
            in years. None is returned unchanged.
    """
    is_over_89 = age is not None and age[-1:] in "Y0123456789" and int(age.rstrip("Y")) > 89
    return "090Y" if is_over_89 else age


def _patient_pseudonym(dataset: Dataset, key: PseudonymKey | None) -> str | None:
    """Return Patient ID if the header states its de-identification (PS3.3 C.7.1.1), else its keyed hash.

    The hash links the images of one patient without storing the Patient ID. It is a pseudonym, not anonymous:
    a person with the key and a list of all Patient IDs can reverse it.
    """
    patient_id = _read_text(dataset, "PatientID")
    if not patient_id:
        return None
    if _read_text(dataset, "PatientIdentityRemoved").upper() == "YES":
        return patient_id
    return None if key is None else key.pseudonymize_patient_id(patient_id)


def _read_text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip(" \0\t\r\n")
