"""Reads the identifying values of a DICOM header. Question and report texts are searched for them.

This is the only module that reads names, numbers and dates of a header. The values are never stored. They
stay in memory while the texts are searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class IdentityKind(StrEnum):
    """The kind of an identifying value."""

    NAME = "name"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityValue:
    """One value: a name with ``^`` between its parts, a number as written, or a date as YYYYMMDD."""

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


def read_identity(content: bytes, *, name: str) -> tuple[IdentityValue, ...]:
    """Read the identifying values of a DICOM header.

    If Patient Identity Removed (0012,0062) is YES, only names are read: the numbers and dates have been
    replaced, and file names may contain the replacements on purpose.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        The values without duplicates; empty for a PNG or JPEG file. Damaged values are left out.

    Raises:
        UnreadableImage: the header is damaged.
    """
    from imaging.dicom_file import DAMAGED_HEADER_ERRORS, is_dicom, parse_all  # noqa: PLC0415 - pydicom is slow to import

    if not is_dicom(content):
        return ()
    dataset = parse_all(content, name=name)
    # PS3.3 C.7.1.1
    is_deidentified = str(dataset.get("PatientIdentityRemoved") or "").strip().upper() == "YES"
    identity_values: dict[IdentityValue, None] = {}
    for kind, keywords in _ATTRIBUTES.items():
        if is_deidentified and kind is not IdentityKind.NAME:
            continue
        for keyword in keywords:
            try:
                value = dataset.get(keyword)
                values = value if isinstance(value, (list, tuple)) or hasattr(value, "append") else [value]
                texts = [str(item).strip(" \0") for item in values or [] if item is not None]
            except DAMAGED_HEADER_ERRORS:
                continue  # a damaged value can't be searched for
            identity_values.update(
                dict.fromkeys(IdentityValue(kind=kind, value=text) for text in texts if text)
            )
    return tuple(identity_values)
