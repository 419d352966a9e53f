"""Renders a radiograph as PNG files for models and datasets: full size and quarter size, 8 or 16 bits.

Low values are black, whatever the polarity of the file (as MONOCHROME2). A pixel of the full size is a pixel
of the stored matrix, so boxes fit without conversion; for the quarter size, divide their coordinates by 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imaging.display import first_window, grey_table
from imaging.matrix import wire_bits
from imaging.png import grey_png
from imaging.radiograph import DecodedRadiograph, VoiTable, Window

_SIDE = 4  # pixels of the full size per pixel of the quarter size, in each direction
_ROWS_AT_ONCE = 64  # so that the rows fit into the processor's cache; a multiple of _SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The PNG files of one radiograph; ``quarter`` is None unless requested."""

    full: bytes
    quarter: bytes | None


def render(
    decoded: DecodedRadiograph, *, bits: int = 8, window: Window | None = None, quarter: bool = False
) -> Rendered:
    """Render the radiograph as PNG.

    Use 8 bits for what a person sees, 16 bits to keep all values: there the smallest possible value after the
    modality transform is black and the largest white, so no two values become one and all images of a device
    have the same scale.

    Args:
        decoded: the radiograph.
        bits: 8 or 16.
        window: values after the modality transform, spread over all grey levels; None for
            :func:`imaging.display.first_window` with 8 bits and :func:`whole_range` with 16 bits.
        quarter: also make the PNG of a quarter of each side.

    Raises:
        ValueError: other bits.
    """
    if bits not in {8, 16}:
        raise ValueError(f"a PNG of {bits} bits; there are 8 and 16")
    chosen = window or (first_window(decoded) if bits == 8 else whole_range(decoded))
    levels = rendered_levels(decoded, window=chosen, bits=bits)
    small = grey_png(quarter_size(levels), aspect=decoded.aspect) if quarter else None
    return Rendered(full=grey_png(levels, aspect=decoded.aspect), quarter=small)


def whole_range(decoded: DecodedRadiograph) -> Window:
    """A window over all values that the file's bits can store, after the modality transform.

    Args:
        decoded: the radiograph.

    Returns:
        Function LINEAR_EXACT; it depends on the file's bits and modality transform, not on the pixels, unless
        they exceed the stated bits.
    """
    count = 1 << wire_bits(decoded)
    signed = decoded.lowest < 0
    first = -count // 2 if signed else 0
    possible = decoded.modality[first - decoded.lowest :][:count]
    low, high = float(possible.min()), float(possible.max())
    return Window(
        center=(low + high) / 2, width=high - low or 1.0, name="Whole range", function="LINEAR_EXACT"
    )


def rendered_levels(
    decoded: DecodedRadiograph, *, window: Window | VoiTable, bits: int
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """The grey level of each pixel of the stored matrix.

    Args:
        decoded: the radiograph.
        window: values after the modality transform, or a stored table.
        bits: 8 or 16.

    Returns:
        Shape (rows, columns), uint8 or uint16; 0 is black.
    """
    table = grey_table(decoded, window=window, bits=bits)
    pixels = decoded.pixels.view(np.uint16) if decoded.pixels.dtype == np.int16 else decoded.pixels
    levels = np.empty(pixels.shape, table.dtype)
    for start in range(0, len(pixels), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        # the table has an entry for every value, so nothing wraps; with "wrap" numpy checks no index
        np.take(table, pixels[part], mode="wrap", out=levels[part])
    return levels


def quarter_size(levels: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """The rounded mean of each block of 4 x 4 pixels; of the remaining pixels at the right and lower edge.

    Args:
        levels: shape (rows, columns), uint8 or uint16.

    Returns:
        The same dtype, each side divided by 4 and rounded up.
    """
    if levels.dtype == np.uint8:
        return np.asarray(Image.fromarray(levels).reduce(_SIDE))
    rows, columns = levels.shape
    missing = (-rows % _SIDE, -columns % _SIDE)
    whole = np.pad(levels, ((0, missing[0]), (0, missing[1]))) if any(missing) else levels
    counts = np.outer(_counts(rows), _counts(columns)).astype(np.uint32)
    sums = np.empty(counts.shape, np.uint32)
    for start in range(0, len(whole), _ROWS_AT_ONCE):
        part = whole[start : start + _ROWS_AT_ONCE].astype(np.uint32)
        part = part[0::4] + part[1::4] + part[2::4] + part[3::4]
        at = start // _SIDE
        sums[at : at + len(part)] = part[:, 0::4] + part[:, 1::4] + part[:, 2::4] + part[:, 3::4]
    return ((sums + counts // 2) // counts).astype(np.uint16)


def _counts(side: int) -> NDArray[np.int64]:
    """The number of pixels of a side in each block."""
    counts = np.full(-(-side // _SIDE), _SIDE)
    counts[-1] = side - _SIDE * (len(counts) - 1)
    return counts
