"""The radiograph viewer: the URLs of its image data, and the conversion of its boxes.

Its browser part is ``frontend/src/viewer/`` (docs/decisions/020-radiograph-viewer.md).

Boxes are sent in both directions in pixels of the stored matrix, as JSON numbers. This loses no precision: an
unchanged box comes back with equal coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue

#: The ``type`` of a box from the viewer. Objects from the drawable canvas have another type.
BOX_TYPE = "Box"


def pixels_url(exam_row_id: int, radiograph_id: str) -> str:
    """Return the URL of the stored matrix. The radiograph's id is encoded as one segment of the path."""
    return f"/pixels/{exam_row_id}/{quote(radiograph_id, safe='')}"


def metadata_url(exam_row_id: int, radiograph_id: str) -> str:
    """Return the URL of the data that the browser needs to display the matrix."""
    return f"{pixels_url(exam_row_id, radiograph_id)}/metadata"


def boxes_to_json(boxes: Iterable[LabelledBox]) -> list[dict[str, Any]]:
    """Convert the boxes of one radiograph to JSON for the viewer."""
    return [
        {"type": BOX_TYPE, "label": labelled_box.label, "box": list(labelled_box.box.as_tuple())}
        for labelled_box in boxes
    ]


def is_from_viewer(objects: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the drawn objects of a radiograph come from this viewer, not from the plain editor."""
    return any(drawing.get("type") == BOX_TYPE for drawing in objects)


def objects_to_boxes(
    objects: Iterable[Mapping[str, Any]], *, radiograph: str, rows: int, columns: int
) -> tuple[LabelledBox, ...]:
    """Convert objects from the viewer to boxes, as the inverse of :func:`boxes_to_json`.

    Boxes are clipped to the matrix.

    Raises:
        InvalidValue: a box does not have four finite coordinates, has its corners in the wrong order, or is
            entirely outside the matrix.
    """
    return tuple(
        LabelledBox(
            radiograph=radiograph,
            label=str(drawing.get("label", "")),
            box=_parse_box(drawing.get("box")).clip_to_matrix(rows=rows, columns=columns),
        )
        for drawing in objects
    )


def _parse_box(numbers: object) -> Box:
    if not isinstance(numbers, list) or len(numbers) != 4 or not all(_is_number(value) for value in numbers):
        raise InvalidValue("boxes", f"a box must be four numbers in image pixels, not {numbers!r}")
    x_min, y_min, x_max, y_max = numbers
    return Box(x_min=float(x_min), y_min=float(y_min), x_max=float(x_max), y_max=float(y_max))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
