"""Boxes on a radiograph, and conversion between other pixel grids and the radiograph's own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Axis-aligned region; ``x`` column, ``y`` row, in pixels of the stored matrix.

    (0, 0) is the outer corner of the top-left pixel (DICOM PS3.3 C.18.6), so a box over the whole of a
    matrix with R rows and C columns is (0, 0, C, R). A box may lie off the matrix.

    Raises:
        InvalidValue: a corner that is not finite, or no extent (x_min < x_max and y_min < y_max must hold).
    """

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def __post_init__(self) -> None:
        if (
            self.x_min < self.x_max
            and self.y_min < self.y_max
            and math.isfinite(self.x_max - self.x_min + self.y_max - self.y_min)
        ):
            return  # the common case, checked in one expression; the rest finds the reason
        if not all(math.isfinite(value) for value in self.as_tuple()):
            raise InvalidValue(
                "box", (f"has a coordinate that is not a finite number: {list(self.as_tuple())}")
            )
        if not (self.x_min < self.x_max and self.y_min < self.y_max):
            raise InvalidValue("box", f"has no area or reversed corners: {list(self.as_tuple())}")

    def as_tuple(self) -> tuple[float, float, float, float]:
        """The corners as (x_min, y_min, x_max, y_max)."""
        return (self.x_min, self.y_min, self.x_max, self.y_max)

    @property
    def width(self) -> float:
        """Pixels from the left to the right edge."""
        return self.x_max - self.x_min

    @property
    def height(self) -> float:
        """Pixels from the upper to the lower edge."""
        return self.y_max - self.y_min

    def lies_within(self, *, rows: int, columns: int) -> bool:
        """Whether the whole box is on the matrix.

        Args:
            rows: of the matrix.
            columns: of the matrix.
        """
        return self.x_min >= 0 and self.y_min >= 0 and self.x_max <= columns and self.y_max <= rows

    def clip_to_matrix(self, *, rows: int, columns: int) -> Box:
        """The part of the box that is on the matrix.

        Args:
            rows: of the matrix.
            columns: of the matrix.

        Raises:
            InvalidValue: nothing of the box is on the matrix.
        """
        return Box(
            x_min=max(0.0, self.x_min),
            y_min=max(0.0, self.y_min),
            x_max=min(float(columns), self.x_max),
            y_max=min(float(rows), self.y_max),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledBox:
    """A box with its label, on the radiograph of that id within the exam."""

    radiograph: str
    label: str
    box: Box

    def __post_init__(self) -> None:
        if not self.radiograph:
            raise InvalidValue("boxes", "a box has no radiograph")


class BoxFit(StrEnum):
    """How the original image was resized to the grid that the boxes of a file refer to."""

    LETTERBOX = "letterbox"
    STRETCH = "stretch"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxGrid:
    """A grid other than the stored matrix: ``width`` x ``height`` pixels, and how the image is fitted to it.

    GEMeX's is 224 x 224, letterboxed (Chest ImaGenome's resizing).
    """

    width: int
    height: int
    fit: BoxFit

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise InvalidValue("box_grid", f"must be two positive numbers, not {self.width} x {self.height}")


def box_from_grid(box: Box, *, grid: BoxGrid, rows: int, columns: int) -> Box:
    """Convert a box from a grid to pixels of the stored matrix, clipped to it.

    A letterbox keeps the aspect ratio and centres the padding: with s = min(width / columns, height / rows),
    x = (x_grid - (width - columns s) / 2) / s, and y likewise. The box is clipped because rounding to the
    grid can move an edge by up to one grid pixel into the padding.

    Args:
        box: in pixels of the grid.
        grid: the grid that the box is on.
        rows: of the stored matrix.
        columns: of the stored matrix.

    Returns:
        The box in pixels of the stored matrix.

    Raises:
        InvalidValue: the whole box is in the padding.

    >>> grid = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
    >>> box = Box(x_min=56, y_min=0, x_max=168, y_max=112)
    >>> box_from_grid(box, grid=grid, rows=896, columns=448).as_tuple()
    (0.0, 0.0, 448.0, 448.0)
    """
    if grid.fit is BoxFit.STRETCH:
        scale_x, scale_y = columns / grid.width, rows / grid.height
        pad_x = pad_y = 0.0
    else:
        scale = min(grid.width / columns, grid.height / rows)
        scale_x = scale_y = 1 / scale
        pad_x, pad_y = (grid.width - columns * scale) / 2, (grid.height - rows * scale) / 2
    mapped = Box(
        x_min=(box.x_min - pad_x) * scale_x,
        y_min=(box.y_min - pad_y) * scale_y,
        x_max=(box.x_max - pad_x) * scale_x,
        y_max=(box.y_max - pad_y) * scale_y,
    )
    return mapped.clip_to_matrix(rows=rows, columns=columns)


def measure_overhang(box: Box, *, grid: BoxGrid | None, rows: int, columns: int) -> float:
    """How far a box extends beyond its image, in pixels of the grid; 0 or less if it is on the image.

    A letterbox's padding is beyond the image.

    Args:
        box: in pixels of the grid, or of the stored matrix.
        grid: None for the stored matrix.
        rows: of the stored matrix.
        columns: of the stored matrix.

    >>> grid = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
    >>> box = Box(x_min=50, y_min=0, x_max=168, y_max=112)
    >>> measure_overhang(box, grid=grid, rows=896, columns=448)
    6.0
    """
    whole = Box(x_min=0, y_min=0, x_max=columns, y_max=rows)
    image = box_to_grid(whole, grid=grid, rows=rows, columns=columns) if grid else whole
    return max(
        image.x_min - box.x_min, image.y_min - box.y_min, box.x_max - image.x_max, box.y_max - image.y_max
    )


def box_to_grid(box: Box, *, grid: BoxGrid, rows: int, columns: int) -> Box:
    """The inverse of :func:`box_from_grid` for a box that lies within the matrix.

    Args:
        box: in pixels of the stored matrix.
        grid: the other grid.
        rows: of the stored matrix.
        columns: of the stored matrix.

    Returns:
        The box in pixels of the grid.

    >>> grid = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
    >>> box_to_grid(Box(x_min=0, y_min=0, x_max=448, y_max=896), grid=grid, rows=896, columns=448).as_tuple()
    (56.0, 0.0, 168.0, 224.0)
    """
    if grid.fit is BoxFit.STRETCH:
        scale_x, scale_y = grid.width / columns, grid.height / rows
        pad_x = pad_y = 0.0
    else:
        scale_x = scale_y = min(grid.width / columns, grid.height / rows)
        pad_x, pad_y = (grid.width - columns * scale_x) / 2, (grid.height - rows * scale_y) / 2
    return Box(
        x_min=box.x_min * scale_x + pad_x,
        y_min=box.y_min * scale_y + pad_y,
        x_max=box.x_max * scale_x + pad_x,
        y_max=box.y_max * scale_y + pad_y,
    )
