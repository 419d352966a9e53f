"""What is known of an image file, and its pixels: the two things that this room gives to others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.vocabulary import Sex, View

# Pixels of one radiograph at most. A digital plate has 7 to 16 million, a stitched spine 30 million.
MOST_PIXELS = 80_000_000

DICOM = "application/dicom"
PNG = "image/png"
JPEG = "image/jpeg"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What a file says of its radiograph.

    ``rows`` and ``columns`` are those of the stored matrix, which boxes refer to (of a JPEG with an
    orientation mark: as it is shown, which is what every other program shows). ``bits`` are those that
    carry the grey value. ``photometric`` is DICOM's Photometric Interpretation, for PNG and JPEG
    MONOCHROME2, RGB or PALETTE COLOR. ``patient`` is a pseudonym. ``notes`` are sentences on what is
    shown otherwise than stored.
    """

    media_type: str
    rows: int
    columns: int
    bits: int
    photometric: str
    view: View = View.UNKNOWN
    patient: str | None = None
    age: str | None = None
    sex: Sex | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stored or chosen window, in values after the modality transform (PS3.3 C.11.2.1.2).

    ``function`` is LINEAR, LINEAR_EXACT or SIGMOID (PS3.3 C.11.2.1.3).
    """

    center: float
    width: float
    name: str = ""
    function: str = "LINEAR"

    def __post_init__(self) -> None:
        least = 1.0 if self.function == "LINEAR" else 0.0
        if not (np.isfinite(self.center) and np.isfinite(self.width)):
            raise ValueError(f"a window's center and width are finite: {self}")
        if self.width < least or (self.function != "LINEAR" and self.width == 0):
            raise ValueError(f"a {self.function} window is wider: {self}")
        if self.function not in {"LINEAR", "LINEAR_EXACT", "SIGMOID"}:
            raise ValueError(f"no such window function: {self.function}")


# Grey values that are brightness already: PNG, JPEG, and 8 bits of DICOM without a window of their own.
AS_STORED = Window(center=128, width=256, name="As stored")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiTable:
    """A stored VOI look-up table: brightness, 0 to 1, of each value from ``lowest`` upwards."""

    name: str
    brightness: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedRadiograph:
    """The stored matrix and how it is to be shown.

    ``pixels``, shape (rows, columns), uint8, uint16 or int16, are the stored values, untouched.
    ``modality`` gives for each possible stored value, from ``lowest`` (0, or -32768 for int16) upwards,
    the value after the modality transform (PS3.3 C.11.1), in which windows are given.
    ``inverted``: the lowest value is white (MONOCHROME1, or Presentation LUT Shape INVERSE).
    ``padding``: stored values from first to second, both included, are no part of the image
    (PS3.3 C.7.5.1.1.2). ``aspect``: vertical by horizontal size of a pixel (PS3.3 C.7.6.3.1.7).
    """

    facts: ImageFacts
    pixels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int16]
    modality: NDArray[np.float32]
    lowest: int = 0
    inverted: bool = False
    padding: tuple[int, int] | None = None
    aspect: tuple[int, int] = (1, 1)
    windows: tuple[Window, ...] = ()
    tables: tuple[VoiTable, ...] = ()
