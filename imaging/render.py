"""Renders a radiograph as PNG files for models and datasets: full size and quarter size, 8 or 16 bits.

Low values are black (as in MONOCHROME2), whatever the polarity of the file. A pixel of the full size is a
pixel of the stored matrix, so box coordinates need no conversion. Divide them by 4 for the quarter size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imaging.display import build_grey_table, choose_first_window
from imaging.matrix import encoded_bits
from imaging.png import encode_grey_png
from imaging.radiograph import DecodedRadiograph, VoiTable, Window
from imaging.row_blocks import ROWS_PER_BLOCK

_QUARTER_FACTOR = 4  # pixels of the full size per pixel of the quarter size, in each direction


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPngs:
    """The PNG files of one radiograph; ``quarter`` is None unless requested."""

    full: bytes
    quarter: bytes | None


def render_pngs(
    decoded: DecodedRadiograph, *, bits: int = 8, window: Window | None = None, quarter: bool = False
) -> RenderedPngs:
    """Render the radiograph as PNG.

    Use 8 bits for images that people look at. Use 16 bits to keep all values: the smallest possible value
    after the modality transform is black and the largest is white, so different values stay different and all
    images of a device have the same scale.

    Args:
        decoded: the radiograph.
        bits: the bit depth, 8 or 16.
        window: a window in values after the modality transform; its range is spread over all grey levels.
            None for :func:`imaging.display.choose_first_window` with 8 bits and
            :func:`make_full_range_window` with 16 bits.
        quarter: whether to also render a PNG with a quarter of the side lengths.

    Raises:
        ValueError: ``bits`` is not 8 or 16.
    """
    if bits not in {8, 16}:
        raise ValueError(f"bits must be 8 or 16, not {bits}")
    used_window = window or (choose_first_window(decoded) if bits == 8 else make_full_range_window(decoded))
    levels = compute_grey_levels(decoded, window=used_window, bits=bits)
    quarter_png = encode_grey_png(reduce_to_quarter(levels), aspect=decoded.aspect) if quarter else None
    return RenderedPngs(full=encode_grey_png(levels, aspect=decoded.aspect), quarter=quarter_png)


def make_full_range_window(decoded: DecodedRadiograph) -> Window:
    """Make a window that covers, after the modality transform, all values that the file's bits can store.

    Args:
        decoded: the radiograph.

    Returns:
        A window with the function LINEAR_EXACT. It depends on the file's bits and modality transform, and on
        the pixels only if they exceed Bits Stored.
    """
    value_count = 1 << encoded_bits(decoded)
    signed = decoded.lowest < 0
    first_value = -value_count // 2 if signed else 0
    possible_values = decoded.modality_lut[first_value - decoded.lowest :][:value_count]
    low, high = float(possible_values.min()), float(possible_values.max())
    return Window(
        center=(low + high) / 2, width=high - low or 1.0, name="Whole range", function="LINEAR_EXACT"
    )


def compute_grey_levels(
    decoded: DecodedRadiograph, *, window: Window | VoiTable, bits: int
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Compute the grey level of each pixel of the stored matrix.

    Args:
        decoded: the radiograph.
        window: a window in values after the modality transform, or a stored table.
        bits: the number of bits of a grey level, 8 or 16.

    Returns:
        Shape (rows, columns), uint8 or uint16; 0 is black.
    """
    table = build_grey_table(decoded, window=window, bits=bits)
    pixels = decoded.pixels.view(np.uint16) if decoded.pixels.dtype == np.int16 else decoded.pixels
    levels = np.empty(pixels.shape, table.dtype)
    for start in range(0, len(pixels), ROWS_PER_BLOCK):
        block_rows = slice(start, start + ROWS_PER_BLOCK)
        # the table has an entry for each value, so no index wraps; numpy is faster with this mode
        np.take(table, pixels[block_rows], mode="wrap", out=levels[block_rows])
    return levels


def reduce_to_quarter(
    levels: NDArray[np.uint8] | NDArray[np.uint16],
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Compute the rounded mean of each block of 4 x 4 pixels.

    Blocks at the right and lower edge may be smaller.

    Args:
        levels: shape (rows, columns), uint8 or uint16.

    Returns:
        An array of the same dtype; each side is divided by 4 and rounded up.
    """
    if levels.dtype == np.uint8:
        return np.asarray(Image.fromarray(levels).reduce(_QUARTER_FACTOR))
    rows, columns = levels.shape
    padding = (-rows % _QUARTER_FACTOR, -columns % _QUARTER_FACTOR)
    padded = np.pad(levels, ((0, padding[0]), (0, padding[1]))) if any(padding) else levels
    counts = np.outer(_block_counts(rows), _block_counts(columns)).astype(np.uint32)
    sums = np.empty(counts.shape, np.uint32)
    for start in range(0, len(padded), ROWS_PER_BLOCK):
        pixel_rows = padded[start : start + ROWS_PER_BLOCK].astype(np.uint32)
        row_sums = pixel_rows[0::4] + pixel_rows[1::4] + pixel_rows[2::4] + pixel_rows[3::4]
        first_row = start // _QUARTER_FACTOR
        sums[first_row : first_row + len(row_sums)] = (
            row_sums[:, 0::4] + row_sums[:, 1::4] + row_sums[:, 2::4] + row_sums[:, 3::4]
        )
    return ((sums + counts // 2) // counts).astype(np.uint16)


def _block_counts(side: int) -> NDArray[np.int64]:
    """Return the number of pixels of a side in each block."""
    counts = np.full(-(-side // _QUARTER_FACTOR), _QUARTER_FACTOR)
    counts[-1] = side - _QUARTER_FACTOR * (len(counts) - 1)
    return counts
