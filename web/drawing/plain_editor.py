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
LONGEST = 1600
#: Line width of a box on the surface. A click without a drag leaves a box of that size; a very short drag
#: leaves one of up to twice that size.
STROKE = 5
FONT_SIZE = 30
#: The machine's boxes are amber and dashed, the reviewer's cyan and solid: distinguishable without colour.
MACHINE_COLOUR = "#ffb000"
OWN_COLOUR = "#22d3ee"
MACHINE_DASH = (18, 10)
#: Largest difference (matrix pixels) of an unchanged box after the round trip: fabric.js writes four
#: decimals.
UNTOUCHED = 0.02

_ORIGIN = {"left": 0.0, "top": 0.0, "center": 0.5, "right": 1.0, "bottom": 1.0}


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


def surface_for(*, rows: int, columns: int) -> Surface:
    """The surface for a matrix: same aspect ratio, longer side :data:`LONGEST`, whole pixels."""
    scale = LONGEST / max(rows, columns)
    return Surface(
        rows=rows,
        columns=columns,
        width=max(1, round(columns * scale)),
        height=max(1, round(rows * scale)),
    )


def drawn(
    boxes: Iterable[LabelledBox], *, surface: Surface, machine: Sequence[LabelledBox] = ()
) -> list[dict[str, Any]]:
    """Convert boxes to canvas objects; those that are in ``machine`` get the style of the machine's boxes."""
    return [_object(each, surface=surface, is_machines=each in machine) for each in boxes]


def read(
    objects: Iterable[Mapping[str, Any]], *, radiograph: str, surface: Surface
) -> tuple[LabelledBox, ...]:
    """Convert canvas objects to boxes: every labelled rectangle, in order, unclipped.

    The inverse of :func:`drawn`.

    Raises:
        InvalidValue: an object has no usable position or size.
    """
    return tuple(
        LabelledBox(radiograph=radiograph, label=str(each.get("label", "")), box=_box(each, surface=surface))
        for each in objects
        if each.get("type") == "LabeledRect"
    )


def kept(
    boxes: Iterable[LabelledBox], *, surface: Surface, machine: Sequence[LabelledBox] = ()
) -> tuple[LabelledBox, ...]:
    """Clean up drawn boxes: clip them to the matrix, drop specks, restore unchanged machine boxes exactly.

    A speck is a box no larger than a click or a very short drag leaves. A box with the size of a machine's
    box is not a speck: it was only moved. Coordinates of drawn boxes are rounded to a hundredth of a pixel.
    """
    result = []
    for each in boxes:
        untouched = _nearest(each.box, machine)
        if untouched is not None:
            result.append(LabelledBox(radiograph=each.radiograph, label=each.label, box=untouched))
            continue
        if _is_speck(each.box, surface) and not any(_same_size(each.box, other.box) for other in machine):
            continue
        try:
            box = each.box.clipped(rows=surface.rows, columns=surface.columns)
            box = Box(**{name: round(getattr(box, name), 2) for name in ("x_min", "y_min", "x_max", "y_max")})
        except InvalidValue:
            continue  # entirely outside the image, or thinner than a hundredth of a pixel: dropped
        result.append(LabelledBox(radiograph=each.radiograph, label=each.label, box=box))
    return tuple(result)


def _object(labelled: LabelledBox, *, surface: Surface, is_machines: bool) -> dict[str, Any]:
    box = labelled.box
    return {
        "type": "LabeledRect",
        "label": labelled.label,
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
        "stroke": MACHINE_COLOUR if is_machines else OWN_COLOUR,
        "strokeDashArray": list(MACHINE_DASH) if is_machines else None,
        "strokeWidth": STROKE,
        "strokeUniform": True,
        "fontSize": FONT_SIZE,
        "lockRotation": True,
    }


def _box(drawing: Mapping[str, Any], *, surface: Surface) -> Box:
    try:
        width = float(drawing["width"]) * float(drawing.get("scaleX", 1))
        height = float(drawing["height"]) * float(drawing.get("scaleY", 1))
        left = float(drawing["left"]) - _ORIGIN[drawing.get("originX", "left")] * width
        top = float(drawing["top"]) - _ORIGIN[drawing.get("originY", "top")] * height
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidValue("boxes", f"a drawn box has no place or size that can be read: {error}") from error
    return Box(
        x_min=left / surface.scale_x,
        y_min=top / surface.scale_y,
        x_max=(left + width) / surface.scale_x,
        y_max=(top + height) / surface.scale_y,
    )


def _nearest(box: Box, machine: Sequence[LabelledBox]) -> Box | None:
    """The machine's box with the same coordinates within :data:`UNTOUCHED`; None if there is none."""
    for other in machine:
        pairs = zip(box.as_tuple(), other.box.as_tuple(), strict=True)
        if all(abs(a - b) <= UNTOUCHED for a, b in pairs):
            return other.box
    return None


def _is_speck(box: Box, surface: Surface) -> bool:
    limit = 2 * STROKE + 0.01
    return box.width * surface.scale_x <= limit and box.height * surface.scale_y <= limit


def _same_size(box: Box, other: Box) -> bool:
    return abs(box.width - other.width) <= UNTOUCHED and abs(box.height - other.height) <= UNTOUCHED
