"""What is kept of a DICOM header: the named list below, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydicom import Dataset

from domain.vocabulary import Sex, View
from imaging.pseudonyms import PseudonymKey

# Header attribute -> field of ImageFacts. Names, dates, numbers of the exam, institutions, devices and
# private elements are never read at all (imaging/dicom_file.py has the list of what is).
KEPT = {
    "PatientID": "patient, as a pseudonym made with the workspace's key",
    "PatientAge": "age; above 89 as 90 years where files are de-identified at the door",
    "PatientSex": "sex",
    "ViewPosition": "view; where it is empty, from Patient Orientation or Series Description",
}

# PS3.3 C.8.11.5.1.1 and what devices write besides.
_VIEWS = {
    "PA": View.PA, "AP": View.AP, "LL": View.LATERAL, "RL": View.LATERAL, "LAT": View.LATERAL,
    "LATERAL": View.LATERAL, "ML": View.LATERAL, "LM": View.LATERAL,
    "RLD": View.OTHER, "LLD": View.OTHER, "RLO": View.OTHER, "LLO": View.OTHER,
}  # fmt: skip
# A series description is free text in the language of the house; only words that leave no doubt are read.
_DESCRIBED = (
    (re.compile(r"\b(lateral|lat|latero-?lateral|profil|seitlich)\b", re.IGNORECASE), View.LATERAL),
    (re.compile(r"\b(pa|p\.a\.|postero-?anterior)(?!\w)", re.IGNORECASE), View.PA),
    (re.compile(r"\b(ap|a\.p\.|antero-?posterior)(?!\w)", re.IGNORECASE), View.AP),
)
_AGE = re.compile(r"\d{1,3}[DWMY]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptHeader:
    """The attributes of ``KEPT``, each None or UNKNOWN where the header has none that can be used."""

    patient: str | None
    age: str | None
    sex: Sex | None
    view: View


def kept_header(dataset: Dataset, *, key: PseudonymKey | None = None) -> KeptHeader:
    """What of the header goes into the database; the patient only where a ``key`` makes the pseudonym."""
    age = _text(dataset, "PatientAge").upper()
    sex = _text(dataset, "PatientSex").upper()
    return KeptHeader(
        patient=_pseudonym(dataset, key),
        age=age if _AGE.fullmatch(age) else None,
        sex=Sex(sex) if sex in set(Sex) else None,
        view=view_of(dataset),
    )


def view_of(dataset: Dataset) -> View:
    """The projection: from View Position, else the orientation of the rows, else the series' description.

    A row that runs from front to back or back to front (Patient Orientation A or P, PS3.3 C.7.6.1.1.1) is
    seen from the side. Left and right tell frontal views apart from lateral ones, but not PA from AP.
    """
    position = _text(dataset, "ViewPosition").upper()
    if position:
        return _VIEWS.get(position, View.OTHER)
    orientation = [str(part).upper() for part in dataset.get("PatientOrientation") or []]
    if len(orientation) == 2 and orientation[0][:1] in {"A", "P"} and orientation[1][:1] in {"F", "H"}:
        return View.LATERAL
    described = {view for pattern, view in _DESCRIBED if pattern.search(_text(dataset, "SeriesDescription"))}
    return described.pop() if len(described) == 1 else View.UNKNOWN


def age_at_most_90(age: str | None) -> str | None:
    """The age, "090Y" for all above 89: so few get so old that an age may tell who it is (45 CFR 164.514)."""
    old = age is not None and age[-1:] in "Y0123456789" and int(age.rstrip("Y")) > 89
    return "090Y" if old else age


def _pseudonym(dataset: Dataset, key: PseudonymKey | None) -> str | None:
    """Patient ID where the header says that it is de-identified (PS3.3 C.7.1.1), else a hash with the key.

    The hash keeps the images of one patient together without keeping the number. Whoever has the key and a
    list of all numbers can still find which is which: it is a pseudonym, not anonymous.
    """
    patient = _text(dataset, "PatientID")
    if not patient:
        return None
    if _text(dataset, "PatientIdentityRemoved").upper() == "YES":
        return patient
    return None if key is None else key.patient(patient)


def _text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip(" \0\t\r\n")
