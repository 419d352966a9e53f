"""What a DICOM header says of who it is: looked for in question and report texts, and never kept.

This is the one place that reads names, numbers and dates of a header. They stay in memory, for as long as
the texts are searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from imaging.dicom_file import DAMAGE, is_dicom, parse_whole


class IdentityKind(StrEnum):
    """What a value of a header is."""

    NAME = "name"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityValue:
    """One value: a name with ``^`` between its parts, a number as it is written, or a date as YYYYMMDD."""

    kind: IdentityKind
    value: str


_ATTRIBUTES = {
    IdentityKind.NAME: (
        "PatientName", "OtherPatientNames", "PatientBirthName", "PatientMotherBirthName",
        "ReferringPhysicianName", "PerformingPhysicianName", "NameOfPhysiciansReadingStudy",
        "PhysiciansOfRecord", "RequestingPhysician", "OperatorsName", "ResponsiblePerson", "InstitutionName",
        "PatientAddress",
    ),
    IdentityKind.NUMBER: (
        "PatientID", "OtherPatientIDs", "AccessionNumber", "StudyID", "AdmissionID",
        "MedicalRecordLocator",
        "RequestedProcedureID", "PatientTelephoneNumbers",
    ),
    IdentityKind.DATE: ("PatientBirthDate", "StudyDate", "SeriesDate", "AcquisitionDate", "ContentDate"),
}  # fmt: skip


def identity_of(content: bytes, *, name: str) -> tuple[IdentityValue, ...]:
    """The values of the header that tell who it is; none of a PNG or JPEG file.

    Raises:
        UnreadableImage: the header is damaged.
    """
    if not is_dicom(content):
        return ()
    dataset = parse_whole(content, name=name)
    # PS3.3 C.7.1.1: then its numbers and dates are others already, and stand in file names by intent.
    is_removed = str(dataset.get("PatientIdentityRemoved") or "").strip().upper() == "YES"
    found: dict[IdentityValue, None] = {}
    for kind, keywords in _ATTRIBUTES.items():
        if is_removed and kind is not IdentityKind.NAME:
            continue
        for keyword in keywords:
            try:
                stated = dataset.get(keyword)
                values = (
                    stated if isinstance(stated, (list, tuple)) or hasattr(stated, "append") else [stated]
                )
                texts = [str(each).strip(" \0") for each in values or [] if each is not None]
            except DAMAGE:
                continue  # a value that can't be read can't be looked for
            found.update(dict.fromkeys(IdentityValue(kind=kind, value=text) for text in texts if text))
    return tuple(found)
