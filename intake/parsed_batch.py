"""The result of parsing a question file: batches of plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from records.questions import QUESTION_COLUMNS

#: The columns of a question that depend only on its record, in the order of ``ParsedBatch.questions``.
COLUMNS = (*QUESTION_COLUMNS, "record_hash")
KEY, BOXES, RECORD_HASH = (COLUMNS.index(name) for name in ("key", "boxes", "record_hash"))

#: (key, patient, indication, age, sex, report, ((radiograph, file, view), …))
ExamFacts = tuple[
    str, str | None, str | None, str | None, str | None, str | None, tuple[tuple[str, str, str], ...]
]
#: (grid as (width, height, fit) or None, [(radiograph, label, (x_min, y_min, x_max, y_max)), …])
UnmappedBoxes = tuple[tuple[int, int, str] | None, list[tuple[str, str, tuple[float, float, float, float]]]]


@dataclass(slots=True)
class ParsedBatch:
    """Questions in the order of the file, as plain values that another process can send.

    ``record_names[i]``, ``exam_indices[i]`` (an index into ``exams``) and item i of each column in
    ``questions`` (see :data:`COLUMNS`) belong to question i. ``boxes`` has the key i if the boxes of question
    i must be compared with its images. ``provenance`` contains the origin of question i as JSON, if the
    question has one. ``problems`` are (i, check, field, reason), ``refusals`` are (record, field, reason).
    ``records`` is the number of records read; a mapping's filter skipped ``filtered`` of them. ``error`` is
    (field, reason) if no record can be read.
    """

    record_names: list[int | str] = field(default_factory=list)
    exams: list[ExamFacts] = field(default_factory=list)
    exam_indices: list[int] = field(default_factory=list)
    questions: tuple[list[Any], ...] = field(default_factory=lambda: tuple([] for _ in COLUMNS))
    boxes: dict[int, UnmappedBoxes] = field(default_factory=dict)
    provenance: dict[int, str] = field(default_factory=dict)
    problems: list[tuple[int, str, str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    records: int = 0
    filtered: int = 0
    bytes_read: int = 0
    error: tuple[str, str] | None = None

    def to_plain(self) -> tuple[Any, ...]:
        """Return the fields in their order; ``ParsedBatch(*fields)`` creates an equal batch."""
        return tuple(getattr(self, name) for name in ParsedBatch.__slots__)
