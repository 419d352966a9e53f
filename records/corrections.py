"""A correction, written down: only the fields that are corrected."""

from __future__ import annotations

from typing import Any

import msgspec

from domain.corrections import CORRECTABLE, Correction
from domain.questions import Answer
from domain.vocabulary import Difficulty, Task
from records.values import StoredBox, box_from_record, to_plain


class CorrectionRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """New values of the fields that were wrong; None leaves a field as it is."""

    stem: str | None = None
    options: tuple[str, ...] | None = None
    answer: Answer | None = None
    explanation: str | None = None
    task: Task | None = None
    category: str | None = None
    difficulty: Difficulty | None = None
    boxes: tuple[StoredBox, ...] | None = None
    also_right: tuple[tuple[int, ...], ...] | None = None


def correction_to_plain(correction: Correction) -> dict[str, Any]:
    """The corrected fields as plain JSON."""
    return {name: to_plain(value) for name in CORRECTABLE if (value := getattr(correction, name)) is not None}


def correction_from_plain(plain: object) -> Correction:
    """The inverse of :func:`correction_to_plain`.

    Raises:
        ValueError: a task, difficulty or box that can't be.
    """
    if plain == {}:  # as most are
        return _NOTHING
    try:
        record = msgspec.convert(plain, CorrectionRecord)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    values = {name: getattr(record, name) for name in CORRECTABLE}
    if record.boxes is not None:
        values["boxes"] = tuple([box_from_record(each) for each in record.boxes])
    return Correction(**values)


_NOTHING = Correction()
