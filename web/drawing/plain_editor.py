"""Converts boxes in pixels of the stored matrix to objects of streamlit-drawable-canvas 0.13 and back.

The canvas draws on a surface of its own size. It receives and sends fabric.js objects of type
``LabeledRect``: top-left corner, width and height in pixels of the surface, multiplied by ``scaleX`` and
``scaleY`` after a box was resized. The functions here are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue

#: Pixels of the longer side of a surface: sharp at twice the usual size on screen.
MAX_SIDE = 1600
#: The line width of a box on the surface. A click without a drag draws a box of this size. A very short drag
#: draws a box of up to twice this size.
STROKE = 5
FONT_SIZE = 30
#: The machine's boxes are amber and dashed; the reviewer's boxes are cyan and solid. People who cannot see
#: the colours can distinguish the lines.
MACHINE_COLOUR = "#ffb000"
OWN_COLOUR = "#22d3ee"
MACHINE_DASH = (18, 10)
#: A box counts as unchanged if its coordinates differ by at most this many matrix pixels after the round
#: trip; fabric.js writes four decimals.
UNCHANGED_TOLERANCE = 0.02

_ORIGIN_SHARES = {"left": 0.0, "top": 0.0, "center": 0.5, "right": 1.0, "bottom": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The pixel grid for drawing: ``width`` x ``height`` for a matrix of ``columns`` x ``rows``."""

    rows: int
    columns: int
    width: int
    height: int

    def __post_init__(self) -> None:
        if min(self.rows, self.columns, self.width, self.height) < 1:
            raise ValueError(f"empty surface: {self}")

    @property
    def scale_x(self) -> float:
        """Surface pixels per column of the matrix."""
        return self.width / self.columns

    @property
    def scale_y(self) -> float:
        """Surface pixels per row of the matrix."""
        return self.height / self.rows


def create_surface(*, rows: int, columns: int) -> Surface:
    """Create the surface for a matrix: same aspect ratio, longer side :data:`MAX_SIDE`, whole pixels."""
    scale = MAX_SIDE / max(rows, columns)
    return Surface(
        rows=rows,
        columns=columns,
        width=max(1, round(columns * scale)),
        height=max(1, round(rows * scale)),
    )


def boxes_to_objects(
    boxes: Iterable[LabelledBox], *, surface: Surface, machine: Sequence[LabelledBox] = ()
) -> list[dict[str, Any]]:
    """Convert boxes to canvas objects. Boxes that are in ``machine`` get the style of the machine's boxes."""
    return [
        _box_to_object(labelled_box, surface=surface, is_machine_box=labelled_box in machine)
        for labelled_box in boxes
    ]


def objects_to_boxes(
    objects: Iterable[Mapping[str, Any]], *, radiograph: str, surface: Surface
) -> tuple[LabelledBox, ...]:
    """Convert canvas objects to boxes: every labelled rectangle, in order, unclipped.

    The inverse of :func:`boxes_to_objects`.

    Raises:
        InvalidValue: an object has no usable position or size.
    """
    return tuple(
        LabelledBox(
            radiograph=radiograph,
            label=str(drawing.get("label", "")),
            box=_parse_box(drawing, surface=surface),
        )
        for drawing in objects
        if drawing.get("type") == "LabeledRect"
    )


def clean_boxes(
    boxes: Iterable[LabelledBox], *, surface: Surface, machine: Sequence[LabelledBox] = ()
) -> tuple[LabelledBox, ...]:
    """Clean up drawn boxes: clip them to the matrix, drop specks, restore unchanged machine boxes exactly.

    A speck is a box that is no larger than the result of a click or a very short drag. A box of the same size
    as a machine's box is not a speck, because it was moved. Coordinates of drawn boxes are rounded to a
    hundredth of a pixel.
    """
    result = []
    for labelled_box in boxes:
        unchanged_box = _find_unchanged(labelled_box.box, machine)
        if unchanged_box is not None:
            result.append(
                LabelledBox(radiograph=labelled_box.radiograph, label=labelled_box.label, box=unchanged_box)
            )
            continue
        if _is_speck(labelled_box.box, surface) and not any(
            _have_same_size(labelled_box.box, machine_box.box) for machine_box in machine
        ):
            continue
        try:
            box = labelled_box.box.clip_to_matrix(rows=surface.rows, columns=surface.columns)
            box = Box(**{name: round(getattr(box, name), 2) for name in ("x_min", "y_min", "x_max", "y_max")})
        except InvalidValue:
            continue  # dropped: outside the image, or thinner than a hundredth of a pixel
        result.append(LabelledBox(radiograph=labelled_box.radiograph, label=labelled_box.label, box=box))
    return tuple(result)


def _box_to_object(labelled_box: LabelledBox, *, surface: Surface, is_machine_box: bool) -> dict[str, Any]:
    box = labelled_box.box
    return {
        "type": "LabeledRect",
        "label": labelled_box.label,
        "left": box.x_min * surface.scale_x,
        "top": box.y_min * surface.scale_y,
        "width": box.width * surface.scale_x,
        "height": box.height * surface.scale_y,
        "originX": "left",
        "originY": "top",
        "scaleX": 1,
        "scaleY": 1,
        "angle": 0,
        "fill": "rgba(0, 0, 0, 0)",
        "stroke": MACHINE_COLOUR if is_machine_box else OWN_COLOUR,
        "strokeDashArray": list(MACHINE_DASH) if is_machine_box else None,
        "strokeWidth": STROKE,
        "strokeUniform": True,
        "fontSize": FONT_SIZE,
        "lockRotation": True,
    }


def _parse_box(drawing: Mapping[str, Any], *, surface: Surface) -> Box:
    try:
        width = float(drawing["width"]) * float(drawing.get("scaleX", 1))
        height = float(drawing["height"]) * float(drawing.get("scaleY", 1))
        left = float(drawing["left"]) - _ORIGIN_SHARES[drawing.get("originX", "left")] * width
        top = float(drawing["top"]) - _ORIGIN_SHARES[drawing.get("originY", "top")] * height
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidValue("boxes", f"a drawn box has no valid position or size: {error}") from error
    return Box(
        x_min=left / surface.scale_x,
        y_min=top / surface.scale_y,
        x_max=(left + width) / surface.scale_x,
        y_max=(top + height) / surface.scale_y,
    )


def _find_unchanged(box: Box, machine: Sequence[LabelledBox]) -> Box | None:
    """Return the machine's box with the same coordinates within :data:`UNCHANGED_TOLERANCE`, or None."""
    for machine_box in machine:
        pairs = zip(box.as_tuple(), machine_box.box.as_tuple(), strict=True)
        if all(abs(a - b) <= UNCHANGED_TOLERANCE for a, b in pairs):
            return machine_box.box
    return None


def _is_speck(box: Box, surface: Surface) -> bool:
    max_side = 2 * STROKE + 0.01
    return box.width * surface.scale_x <= max_side and box.height * surface.scale_y <= max_side


def _have_same_size(box: Box, other: Box) -> bool:
    return (
        abs(box.width - other.width) <= UNCHANGED_TOLERANCE
        and abs(box.height - other.height) <= UNCHANGED_TOLERANCE
    )
