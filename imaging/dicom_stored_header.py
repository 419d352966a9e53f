"""The attributes of a DICOM header that are stored: those in ``STORED_ATTRIBUTES`` and no others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.vocabulary import Sex, View
from imaging.pseudonyms import PseudonymKey

if TYPE_CHECKING:
    from pydicom import Dataset

# Header attribute -> field of ImageFacts. Names, dates, exam numbers, institutions, devices and private
# elements are not even parsed (imaging/dicom_file.py has the list of attributes that are).
STORED_ATTRIBUTES = {
    "PatientID": "patient, as a pseudonym made with the workspace's key",
    "PatientAge": "age; above 89 as 90 years where files are de-identified at the door",
    "PatientSex": "sex",
    "ViewPosition": "view; where it is empty, from Patient Orientation or Series Description",
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
        dataset: of :func:`imaging.dicom_file.parse`.
        key: makes the patient's pseudonym; without it the patient is None, unless Patient Identity Removed
            (0012,0062) is YES.

    Returns:
        Patient ID (0010,0020) as a pseudonym, Patient's Age (0010,1010) as written, Patient's Sex (0010,0040)
        and the view. An age or sex outside DICOM's form is None.
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
    """The projection of the radiograph.

    It is taken from View Position (0018,5101), else Patient Orientation (0020,0020), else Series Description
    (0008,103E). A row that runs along the anterior-posterior axis (PS3.3 C.7.6.1.1.1) means a lateral view;
    the orientation of a frontal view does not tell PA from AP.

    Args:
        dataset: of :func:`imaging.dicom_file.parse`.

    Returns:
        OTHER for an unknown View Position; UNKNOWN if no attribute gives the view.
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
    """The age, or "090Y" if it is above 89 years, which could identify a person (45 CFR 164.514(b)(2)).

    Args:
        age: 1 to 3 digits and a unit D, W, M or Y, as in Patient's Age (0010,1010); without a unit it is in
            years. None stays None.
    """
    is_over_89 = age is not None and age[-1:] in "Y0123456789" and int(age.rstrip("Y")) > 89
    return "090Y" if is_over_89 else age


def _patient_pseudonym(dataset: Dataset, key: PseudonymKey | None) -> str | None:
    """Patient ID if the header states that it is de-identified (PS3.3 C.7.1.1), else a hash with the key.

    The hash keeps the images of one patient together without storing the number. It is a pseudonym, not
    anonymous: somebody with the key and a list of all numbers can reverse it.
    """
    patient = _read_text(dataset, "PatientID")
    if not patient:
        return None
    if _read_text(dataset, "PatientIdentityRemoved").upper() == "YES":
        return patient
    return None if key is None else key.patient_pseudonym(patient)


def _read_text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip(" \0\t\r\n")
