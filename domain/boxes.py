"""Boxes on a radiograph, and their conversion between the stored matrix and other pixel grids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from domain.errors import InvalidValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An axis-aligned rectangle; ``x`` is the column, ``y`` the row, in pixels of the stored matrix.

    (0, 0) is the outer corner of the top-left pixel (DICOM PS3.3 C.18.6), so a box that covers a matrix with
    R rows and C columns is (0, 0, C, R). A box may be outside the matrix.

    Raises:
        InvalidValue: a coordinate is not finite, or the box has no area (x_min < x_max and y_min < y_max must
            hold).
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
            return  # fast path for valid boxes; the code below determines the reason for invalid ones
        if not all(math.isfinite(value) for value in self.as_tuple()):
            raise InvalidValue(
                "box", (f"has a coordinate that is not a finite number: {list(self.as_tuple())}")
            )
        if not (self.x_min < self.x_max and self.y_min < self.y_max):
            raise InvalidValue("box", f"has no area or reversed corners: {list(self.as_tuple())}")

    def as_tuple(self) -> tuple[float, float, float, float]:
        """Return the box as (x_min, y_min, x_max, y_max)."""
        return (self.x_min, self.y_min, self.x_max, self.y_max)

    @property
    def width(self) -> float:
        """The distance from the left to the right edge in pixels."""
        return self.x_max - self.x_min

    @property
    def height(self) -> float:
        """The distance from the upper to the lower edge in pixels."""
        return self.y_max - self.y_min

    def lies_within(self, *, rows: int, columns: int) -> bool:
        """Whether the whole box is on the matrix.

        Args:
            rows: the number of rows of the matrix.
            columns: the number of columns of the matrix.
        """
        return self.x_min >= 0 and self.y_min >= 0 and self.x_max <= columns and self.y_max <= rows

    def clip_to_matrix(self, *, rows: int, columns: int) -> Box:
        """Return the part of the box that is on the matrix.

        Args:
            rows: the number of rows of the matrix.
            columns: the number of columns of the matrix.

        Raises:
            InvalidValue: no part of the box is on the matrix.
        """
        return Box(
            x_min=max(0.0, self.x_min),
            y_min=max(0.0, self.y_min),
            x_max=min(float(columns), self.x_max),
            y_max=min(float(rows), self.y_max),
        )


class BoxFit(StrEnum):
    """How the original image was resized to the grid that the boxes of a file refer to."""

    LETTERBOX = "letterbox"
    STRETCH = "stretch"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxGrid:
    """A pixel grid other than the stored matrix: its ``width`` and ``height``, and how the image was fitted.

    GEMeX uses a letterboxed grid of 224 x 224 pixels (Chest ImaGenome's resizing).
    """

    width: int
    height: int
    fit: BoxFit

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise InvalidValue("box_grid", f"must be two positive numbers, not {self.width} x {self.height}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledBox:
    """A box with its label; ``radiograph`` is the id of its radiograph within the exam.

    ``grid`` is None if the box is in pixels of the stored matrix. Otherwise the box is not converted yet,
    because its image is missing.
    """

    radiograph: str
    label: str
    box: Box
    grid: BoxGrid | None = None

    def __post_init__(self) -> None:
        if not self.radiograph:
            raise InvalidValue("boxes", "each box must have a radiograph")

    def describe(self) -> str:
        """Return label, size and upper left corner, which distinguishes a moved box from the original."""
        size = f"{self.box.width:.0f} × {self.box.height:.0f} px"
        return f"{self.label or 'no label'} {size} at {self.box.x_min:.0f}, {self.box.y_min:.0f}"


def unify_grids(boxes: Sequence[LabelledBox]) -> tuple[LabelledBox, ...]:
    """Convert the boxes of a question to the grid of the first box, because a file states one grid for all.

    Boxes on stretched grids are scaled. Letterboxed boxes cannot be scaled without the size of the image.

    Raises:
        InvalidValue: boxes are on different grids, and at least one is letterboxed or in pixels.

    >>> small, large = (BoxGrid(width=size, height=size, fit=BoxFit.STRETCH) for size in (100, 1000))
    >>> box = Box(x_min=1, y_min=2, x_max=30, y_max=40)
    >>> first = LabelledBox(radiograph="pa", label="lung", box=box, grid=large)
    >>> second = LabelledBox(radiograph="lateral", label="lung", box=box, grid=small)
    >>> unify_grids([first, second])[1].box.as_tuple()
    (10.0, 20.0, 300.0, 400.0)
    """
    if len({labelled_box.grid for labelled_box in boxes}) <= 1:
        return tuple(boxes)
    target = boxes[0].grid
    return tuple(_move_to_grid(labelled_box, target) for labelled_box in boxes)


def _move_to_grid(labelled_box: LabelledBox, target: BoxGrid | None) -> LabelledBox:
    if labelled_box.grid == target:
        return labelled_box
    if labelled_box.grid is None or target is None or {labelled_box.grid.fit, target.fit} != {BoxFit.STRETCH}:
        raise InvalidValue(
            "boxes",
            f"are on several grids ({_describe_grid(target)}, {_describe_grid(labelled_box.grid)}), which "
            "cannot be converted without the images; import the images first (--images DIR --skip-known)",
        )
    scale_x, scale_y = target.width / labelled_box.grid.width, target.height / labelled_box.grid.height
    box = labelled_box.box
    scaled = Box(
        x_min=box.x_min * scale_x,
        y_min=box.y_min * scale_y,
        x_max=box.x_max * scale_x,
        y_max=box.y_max * scale_y,
    )
    return replace(labelled_box, box=scaled, grid=target)


def _describe_grid(grid: BoxGrid | None) -> str:
    return f"{grid.width} x {grid.height} {grid.fit}" if grid else "pixels of the image"


def box_from_grid(box: Box, *, grid: BoxGrid, rows: int, columns: int) -> Box:
    """Convert a box from a grid to pixels of the stored matrix, and clip it to the matrix.

    A letterbox keeps the aspect ratio and centres the image: with s = min(width / columns, height / rows),
    x = (x_grid - (width - columns s) / 2) / s; the formula for y is the same with rows and height. The box is
    clipped because rounding to the grid can move an edge by up to one grid pixel into the padding.

    Args:
        box: the box in pixels of the grid.
        grid: the grid of the box.
        rows: the number of rows of the stored matrix.
        columns: the number of columns of the stored matrix.

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
    """Measure how far a box extends beyond its image; the result is 0 or less if it does not.

    The padding of a letterbox is not part of the image.

    Args:
        box: the box in pixels of the grid if there is one, otherwise of the stored matrix.
        grid: the grid of the box; None for the stored matrix.
        rows: the number of rows of the stored matrix.
        columns: the number of columns of the stored matrix.

    Returns:
        The largest distance of an edge of the box from the image, in pixels of the grid.

    >>> grid = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
    >>> box = Box(x_min=50, y_min=0, x_max=168, y_max=112)
    >>> measure_overhang(box, grid=grid, rows=896, columns=448)
    6.0
    """
    matrix_box = Box(x_min=0, y_min=0, x_max=columns, y_max=rows)
    image = box_to_grid(matrix_box, grid=grid, rows=rows, columns=columns) if grid else matrix_box
    return max(
        image.x_min - box.x_min, image.y_min - box.y_min, box.x_max - image.x_max, box.y_max - image.y_max
    )


def box_to_grid(box: Box, *, grid: BoxGrid, rows: int, columns: int) -> Box:
    """Convert a box within the stored matrix to a grid; the inverse of :func:`box_from_grid`.

    Args:
        box: the box in pixels of the stored matrix.
        grid: the grid to convert to.
        rows: the number of rows of the stored matrix.
        columns: the number of columns of the stored matrix.

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
