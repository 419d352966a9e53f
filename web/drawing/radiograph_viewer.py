"""The reading-room viewer: addresses of its radiographs, and what it is told and says of boxes.

Its browser part is ``frontend/src/viewer/`` (docs/decisions/020-radiograph-viewer.md).

Boxes go to it and come back in pixels of the stored matrix, as JSON numbers, which lose nothing: a box that
nobody touched comes back as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue

#: The ``type`` of a box in what the viewer says; the drawable canvas' objects have another.
BOX = "Box"


def pixels_address(exam_number: int, radiograph_id: str) -> str:
    """Where the stored matrix is fetched from; the radiograph's id is one segment, whatever signs it has."""
    return f"/pixels/{exam_number}/{quote(radiograph_id, safe='')}"


def facts_address(exam_number: int, radiograph_id: str) -> str:
    """Where the browser learns how the matrix is to be shown."""
    return f"{pixels_address(exam_number, radiograph_id)}/facts"


def told(boxes: Iterable[LabelledBox]) -> list[dict[str, Any]]:
    """The boxes of one radiograph as the viewer takes them."""
    return [{"type": BOX, "label": each.label, "box": list(each.box.as_tuple())} for each in boxes]


def is_viewers(objects: Iterable[Mapping[str, Any]]) -> bool:
    """Whether what was drawn on a radiograph comes from this viewer, not from the plain editor."""
    return any(each.get("type") == BOX for each in objects)


def read(
    objects: Iterable[Mapping[str, Any]], *, radiograph: str, rows: int, columns: int
) -> tuple[LabelledBox, ...]:
    """The inverse of :func:`told`; what is off the matrix is cut away.

    Raises:
        InvalidValue: a box without four finite corners, turned round, or wholly off the matrix.
    """
    return tuple(
        LabelledBox(
            radiograph=radiograph,
            label=str(each.get("label", "")),
            box=_box(each.get("box")).clipped(rows=rows, columns=columns),
        )
        for each in objects
    )


def _box(plain: object) -> Box:
    if not isinstance(plain, list) or len(plain) != 4 or not all(_is_number(value) for value in plain):
        raise InvalidValue("boxes", f"a box is four numbers in pixels of the matrix, not {plain!r}")
    x_min, y_min, x_max, y_max = plain
    return Box(x_min=float(x_min), y_min=float(y_min), x_max=float(x_max), y_max=float(y_max))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
