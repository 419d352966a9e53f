"""The facts of an image file, and its decoded pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.vocabulary import Sex, View

# Maximum size of a radiograph in pixels. A detector has 7 to 16 million, a stitched spine image 30 million.
MAX_PIXELS = 80_000_000

DICOM = "application/dicom"
PNG = "image/png"
JPEG = "image/jpeg"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """The facts of a radiograph from its file's headers.

    ``rows`` and ``columns`` are the size of the stored matrix in pixels, which boxes refer to. For a JPEG
    with an EXIF orientation, they are the size as shown. ``bits`` is the number of bits of a grey value:
    DICOM's Bits Stored (0028,0101), the depth of a PNG, 8 for a JPEG. ``photometric`` is DICOM's Photometric
    Interpretation (0028,0004); for PNG and JPEG it is MONOCHROME2, RGB or PALETTE COLOR. ``patient`` is a
    pseudonym, ``age`` a DICOM age string ("058Y"). ``notes`` are sentences for the user about differences
    between file and display.
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

    ``function`` is LINEAR, LINEAR_EXACT or SIGMOID (VOI LUT Function (0028,1056), PS3.3 C.11.2.1.3).

    Raises:
        ValueError: a value is not finite, the function is unknown, or the width is too small: below 1 for
            LINEAR, 0 or less for the others.
    """

    center: float
    width: float
    name: str = ""
    function: str = "LINEAR"

    def __post_init__(self) -> None:
        min_width = 1.0 if self.function == "LINEAR" else 0.0
        if not (np.isfinite(self.center) and np.isfinite(self.width)):
            raise ValueError(f"center and width of a window must be finite: {self}")
        if self.width < min_width or (self.function != "LINEAR" and self.width == 0):
            minimum = "at least 1" if self.function == "LINEAR" else "greater than 0"
            raise ValueError(f"the width of a {self.function} window must be {minimum}: {self}")
        if self.function not in {"LINEAR", "LINEAR_EXACT", "SIGMOID"}:
            raise ValueError(f"unknown window function: {self.function}")


# The window for values that are already brightness: PNG, JPEG, and 8-bit DICOM without a window.
AS_STORED = Window(center=128, width=256, name="As stored")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiTable:
    """A stored VOI look-up table.

    ``brightness`` has a value from 0 to 1 for each stored value from the radiograph's ``lowest`` upwards.
    """

    name: str
    brightness: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedRadiograph:
    """The stored pixels of a radiograph and everything needed to show them.

    ``pixels``, shape (rows, columns), contains the stored values as uint8, uint16 or int16. ``modality_lut``
    contains the value after the modality transform (PS3.3 C.11.1) for each possible stored value, from
    ``lowest`` (0, or -32768 for int16) upwards. Windows refer to these values. ``inverted`` states that the
    lowest value is white (MONOCHROME1, or Presentation LUT Shape (2050,0020) INVERSE). ``padding`` is the
    range of stored values, both ends included, that are not part of the image (PS3.3 C.7.5.1.1.2). ``aspect``
    is the vertical : horizontal size of a pixel (PS3.3 C.7.6.3.1.7). ``windows`` and ``tables`` are in the
    order of the file.
    """

    facts: ImageFacts
    pixels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int16]
    modality_lut: NDArray[np.float32]
    lowest: int = 0
    inverted: bool = False
    padding: tuple[int, int] | None = None
    aspect: tuple[int, int] = (1, 1)
    windows: tuple[Window, ...] = ()
    tables: tuple[VoiTable, ...] = ()
