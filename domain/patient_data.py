"""The rules of a workspace for patient data, and patient data that was detected in texts and pixels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.errors import InvalidValue


class Originals(StrEnum):
    """The version of an imported image file that the workspace keeps."""

    WHOLE = "whole"
    DEIDENTIFIED = "deidentified"


class PixelCheckScope(StrEnum):
    """The images that a person must check for burned-in text before a release may contain them."""

    NONE = "none"
    DICOM = "dicom"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientDataRules:
    """The rules of a workspace; ``revision`` counts their changes, from 0."""

    originals: Originals = Originals.WHOLE
    confirm_pixels: PixelCheckScope = PixelCheckScope.NONE
    revision: int = 0


class PixelDecision(StrEnum):
    """A person's decision on the pixels of an image: no patient text, or the image must be removed."""

    NO_PATIENT_TEXT = "no patient text"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelCheck:
    """One image that a person checks for burned-in text.

    ``sha256`` is the hash of the image file. ``exam_row_id`` is the id of one exam that contains the image,
    and ``radiograph`` is the id of the image in this exam. ``score`` (0 or more) measures the amount of
    detected text and is comparable within one ``method``; it is None if the image was not ranked.
    ``decision`` is None until a person has checked the image.
    """

    sha256: str
    exam_row_id: int
    radiograph: str
    dicom: bool
    score: float | None = None
    words: int | None = None
    method: str | None = None
    decision: PixelDecision | None = None
    decided_at: datetime | None = None


class HitKind(StrEnum):
    """The type of a passage: what it looks like, or which value of an image header it repeats."""

    DATE = "date"
    PHONE = "phone number"
    RECORD_NUMBER = "record number"
    PERSON = "name"
    EMAIL = "e-mail address"
    URL = "web address"
    NATIONAL_NUMBER = "national number"
    ADDRESS = "address"
    AGE = "age above 89"
    HEADER_NAME = "name of a header"
    HEADER_NUMBER = "number of a header"
    HEADER_DATE = "date of a header"


#: Kinds that are detected by values of image headers, not by a pattern.
HEADER_HIT_KINDS = frozenset({HitKind.HEADER_NAME, HitKind.HEADER_NUMBER, HitKind.HEADER_DATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHit:
    """A passage that may identify a patient.

    ``field`` is stem, explanation, answer, indication or report, or numbered from 1: "options 2", "file 1",
    "provenance 1", or "comment 17" with the id of a comment. ``start`` and ``end`` are character offsets from
    0; the end is excluded.

    Raises:
        InvalidValue: the passage is empty.
    """

    field: str
    start: int
    end: int
    kind: HitKind

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InvalidValue("passage", f"must end after its start, not {self.start} to {self.end}")
