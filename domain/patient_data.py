"""How a workspace keeps its patients' data, and what was found of them in texts and pixels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.errors import InvalidValue


class Originals(StrEnum):
    """What a workspace keeps of an image file that comes in."""

    WHOLE = "whole"
    DEIDENTIFIED = "deidentified"


class ConfirmPixels(StrEnum):
    """Which images a person must have looked at for burned-in text before a release may name them."""

    NONE = "none"
    DICOM = "dicom"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientDataRules:
    """The rules of one workspace. ``revision`` counts their changes, from 0."""

    originals: Originals = Originals.WHOLE
    confirm_pixels: ConfirmPixels = ConfirmPixels.NONE
    revision: int = 0


class PixelDecision(StrEnum):
    """What a person saw in the pixels: nothing of a patient, or something, so that the image must go."""

    NO_PATIENT_TEXT = "no patient text"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelLook:
    """One image on its way past a person's eyes.

    ``exam_number`` and ``radiograph`` name one place where it is shown. ``score`` says how much text was
    found in it, 0 or more, comparable within one ``method``; None where it was not ranked. ``decision`` is
    None until somebody has looked.
    """

    sha256: str
    exam_number: int
    radiograph: str
    dicom: bool
    score: float | None = None
    words: int | None = None
    method: str | None = None
    decision: PixelDecision | None = None
    decided_at: datetime | None = None


class HitKind(StrEnum):
    """What a passage of a text looks like, or what of a header stands in it."""

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


#: Kinds that were found by the values of headers rather than by a pattern.
FROM_HEADERS = frozenset({HitKind.HEADER_NAME, HitKind.HEADER_NUMBER, HitKind.HEADER_DATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHit:
    """A passage that may tell who a patient is: ``field`` of the question, from ``start`` to ``end``.

    ``field`` is stem, explanation, answer, indication or report, or "options 2" or "file 1", counted from 1.
    Places are in characters from 0, the end excluded.
    """

    field: str
    start: int
    end: int
    kind: HitKind

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InvalidValue("hit", f"from {self.start} to {self.end} is no passage")
