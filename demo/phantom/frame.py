"""The two projections and their pixel grids: where patient millimetres fall on the detector.

Patient axes, in mm: X to the patient's left, Y downwards (towards the feet) from the upper edge of the image,
Z to the front. The beam is parallel, except that the ribs are projected with the divergence of a real beam.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Field = NDArray[np.floating[Any]]  # the values are float32, but numpy declares wider types for many results
Points = NDArray[np.float64]

FIELD_WIDTH_MM = 350.0  # the short side of a 35 x 43 cm detector


class View(StrEnum):
    """The two projections of one exam, as DICOM View Position values."""

    PA = "PA"
    LATERAL = "LL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One detector matrix and one direction of the beam.

    Attributes:
        spacing: mm between pixel centres of the stored matrix, in both directions.
        turn: rotation of the patient about the long axis, radians; positive turns the left side forward.
        centre: patient coordinate (X in PA, Z in lateral) that falls on the middle column, in mm.
    """

    view: View
    rows: int
    columns: int
    spacing: float
    turn: float
    centre: float

    @property
    def across(self) -> Points:
        """Unit vector of increasing columns, in patient axes."""
        if self.view is View.PA:
            return np.array([math.cos(self.turn), 0.0, math.sin(self.turn)])
        return np.array([0.0, 0.0, -1.0])

    @property
    def beam(self) -> Points:
        """Unit vector along the beam, in patient axes."""
        if self.view is View.PA:
            return np.array([-math.sin(self.turn), 0.0, math.cos(self.turn)])
        return np.array([1.0, 0.0, 0.0])

    @property
    def width(self) -> float:
        """Width of the field in mm."""
        return self.columns * self.spacing

    def grid_step(self, wanted_mm: float) -> int:
        """Number of stored pixels per pixel of a coarser working grid of about ``wanted_mm``."""
        return max(1, round(wanted_mm / self.spacing))

    def shape(self, step: int) -> tuple[int, int]:
        """Rows and columns of the working grid. It may extend past the image by less than one step."""
        return -(-self.rows // step), -(-self.columns // step)

    def axes(self, step: int) -> tuple[Field, Field]:
        """Pixel centres of the working grid: u (1, columns) across and v (rows, 1) downwards, in mm.

        u runs along ``across``; on the middle column it is ``origin``.
        """
        rows, columns = self.shape(step)
        pitch = self.spacing * step
        u = (np.arange(columns, dtype=np.float32) + 0.5) * pitch - self.width / 2 + self.origin
        v = (np.arange(rows, dtype=np.float32) + 0.5) * pitch
        return u[None, :].astype(np.float32), v[:, None].astype(np.float32)

    @property
    def origin(self) -> float:
        """The projected coordinate of the middle column."""
        return self.centre if self.view is View.PA else -self.centre

    def project(self, points: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Patient points, shape (n, 3), in mm -> projected (u, v) in mm, shapes (n,)."""
        return points @ self.across, points[..., 1]

    def to_pixels(self, u: float, v: float) -> tuple[float, float]:
        """Projected mm -> (x, y) of the stored matrix, origin at the outer corner of the first pixel."""
        return (u - self.origin + self.width / 2) / self.spacing, v / self.spacing

    def upsample(self, field: Field, step: int) -> Field:
        """Interpolate a working grid to the stored matrix (bicubic)."""
        if step == 1:
            return field[: self.rows, : self.columns]
        rows, columns = field.shape
        full = Image.fromarray(np.ascontiguousarray(field, dtype=np.float32)).resize(
            (columns * step, rows * step), Image.Resampling.BICUBIC
        )
        return np.asarray(full, dtype=np.float32)[: self.rows, : self.columns]
