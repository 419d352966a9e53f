"""The native record, `overread.question/1`: what every other format is mapped onto.

The fields are described in docs/formats/overread.question-1.schema.json. ``UNSET`` is "the record does not
have the field": written again it lacks it too, by which a key given twice is found (see `strictness`).
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

#: Text that may be null or missing; both mean "not known".
Text = str | None | UnsetType


class RadiographRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One image of the exam; ``file`` is relative to the folder of images."""

    id: str
    file: str
    view: Text = UNSET


class ExamRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The exam as one record states it."""

    id: str
    radiographs: list[RadiographRecord]
    patient: Text = UNSET
    indication: Text = UNSET
    age: Text = UNSET
    sex: Text = UNSET


class BoxRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A labelled box: x_min, y_min, x_max, y_max on the record's grid, or in pixels of the stored matrix."""

    radiograph: str
    label: str
    box: tuple[float, float, float, float]


class SourceRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What wrote the question."""

    generator: Text = UNSET
    version: Text = UNSET
    prompt_version: Text = UNSET


class QuestionRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One line of a native file."""

    id: str
    exam: ExamRecord
    format: Literal["closed", "single", "multiple", "open"]
    stem: str
    answer: list[int] | str
    options: list[str] | UnsetType | None = UNSET
    also_right: list[list[int]] | UnsetType | None = UNSET
    explanation: Text = UNSET
    boxes: list[BoxRecord] | UnsetType | None = UNSET
    box_grid: tuple[int, int] | UnsetType | None = UNSET
    box_fit: Literal["letterbox", "stretch"] | UnsetType | None = UNSET
    task: Literal["presence", "location", "negation", "differential", "geometric"] | UnsetType | None = UNSET
    content_type: Text = UNSET
    category: Text = UNSET
    subcategory: Text = UNSET
    difficulty: Literal["easy", "medium", "hard"] | UnsetType | None = UNSET
    report: Text = UNSET
    source: SourceRecord | UnsetType | None = UNSET
