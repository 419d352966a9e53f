"""Exams and their radiographs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.vocabulary import Sex, View

_AGE_PATTERN = re.compile(r"0*(\d{1,3})\s*([YMWD]?)", re.IGNORECASE)
_AGE_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_UNITS_PER_YEAR = {"Y": 1, "M": 12, "W": 52, "D": 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class Radiograph:
    """One image of an exam.

    ``id`` is unique within the exam. ``file`` is the name of the image file in the imported file. ``rows``
    and ``columns`` are the size of the stored matrix in pixels, ``sha256`` is the SHA-256 of the original
    file in lower-case hex. These three are None until the image is in the workspace.

    Raises:
        InvalidValue: the id or the file is empty.
        ValueError: only some of rows, columns and sha256 are given.
    """

    id: str
    file: str
    view: View = View.UNKNOWN
    rows: int | None = None
    columns: int | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidValue("exam.radiographs.id", "is empty")
        if not self.file:
            raise InvalidValue("exam.radiographs.file", "is empty")
        if len({self.rows is None, self.columns is None, self.sha256 is None}) > 1:
            raise ValueError("give rows, columns and sha256 together, or none of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """One imaging study of one patient, with its clinical information.

    ``patient`` is a pseudonym. ``age`` is unchanged from the file ("058Y", "61"). ``report`` reveals the
    answer, so it is never fetched for a person who may not see it.

    Raises:
        InvalidValue: the id is empty, there is no radiograph, or two radiographs have the same id.
    """

    id: str
    radiographs: tuple[Radiograph, ...]
    patient: str | None = None
    indication: str | None = None
    age: str | None = None
    sex: Sex | None = None
    report: str | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidValue("exam.id", "is empty")
        if not self.radiographs:
            raise InvalidValue("exam.radiographs", "is empty; an exam must have at least one radiograph")
        ids = [radiograph.id for radiograph in self.radiographs]
        if len(set(ids)) != len(ids):
            raise InvalidValue("exam.radiographs.id", f"two radiographs of one exam share an id: {ids}")

    def find_radiograph(self, radiograph_id: str) -> Radiograph:
        """Return the radiograph with an id.

        Args:
            radiograph_id: the id of the radiograph within the exam.

        Raises:
            InvalidValue: the exam has no such radiograph.
        """
        for radiograph in self.radiographs:
            if radiograph.id == radiograph_id:
                return radiograph
        known_ids = ", ".join(image.id for image in self.radiographs)
        raise InvalidValue(
            "radiograph", f"{radiograph_id!r} does not belong to this exam (it has {known_ids})"
        )


def format_age(age: str) -> str:
    """Format an age: "061Y" (DICOM age string, PS3.5 6.2) and "61" become "61 years"."""
    match = _AGE_PATTERN.fullmatch(age.strip())
    if match is None:
        return age
    return count_text(int(match[1]), _AGE_UNITS[match[2].upper() or "Y"])


def compute_age_in_years(age: str) -> int | None:
    """Return the completed years of an age as in a file; None if it is not an age.

    >>> [compute_age_in_years(age) for age in ("058Y", "61", "240M", "011M", "unknown")]
    [58, 61, 20, 0, None]
    """
    match = _AGE_PATTERN.fullmatch(age.strip())
    return None if match is None else int(match[1]) // _UNITS_PER_YEAR[match[2].upper() or "Y"]
