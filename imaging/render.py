"""Renders a radiograph as PNG files for models and datasets: full size and quarter size, 8 or 16 bits.

Low values are black, whatever the polarity of the file (as MONOCHROME2). A pixel of the full size is a pixel
of the stored matrix, so boxes fit without conversion; for the quarter size, divide their coordinates by 4.
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

_QUARTER_FACTOR = 4  # pixels of the full size per pixel of the quarter size, in each direction
_ROWS_PER_CHUNK = 64  # so that the rows fit into the processor's cache; a multiple of _SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPngs:
    """The PNG files of one radiograph; ``quarter`` is None unless requested."""

    full: bytes
    quarter: bytes | None


def render_pngs(
    decoded: DecodedRadiograph, *, bits: int = 8, window: Window | None = None, quarter: bool = False
) -> RenderedPngs:
    """Render the radiograph as PNG.

    Use 8 bits for what a person sees, 16 bits to keep all values: there the smallest possible value after the
    modality transform is black and the largest white, so no two values become one and all images of a device
    have the same scale.

    Args:
        decoded: the radiograph.
        bits: 8 or 16.
        window: values after the modality transform, spread over all grey levels; None for
            :func:`imaging.display.choose_first_window` with 8 bits and :func:`full_range_window` with 16
            bits.
        quarter: also make the PNG of a quarter of each side.

    Raises:
        ValueError: other bits.
    """
    if bits not in {8, 16}:
        raise ValueError(f"a PNG of {bits} bits; there are 8 and 16")
    used_window = window or (choose_first_window(decoded) if bits == 8 else full_range_window(decoded))
    levels = compute_grey_levels(decoded, window=used_window, bits=bits)
    quarter_png = encode_grey_png(reduce_to_quarter(levels), aspect=decoded.aspect) if quarter else None
    return RenderedPngs(full=encode_grey_png(levels, aspect=decoded.aspect), quarter=quarter_png)


def full_range_window(decoded: DecodedRadiograph) -> Window:
    """A window over all values that the file's bits can store, after the modality transform.

    Args:
        decoded: the radiograph.

    Returns:
        Function LINEAR_EXACT; it depends on the file's bits and modality transform, not on the pixels, unless
        they exceed the stated bits.
    """
    count = 1 << encoded_bits(decoded)
    signed = decoded.lowest < 0
    first_value = -count // 2 if signed else 0
    possible_values = decoded.modality[first_value - decoded.lowest :][:count]
    low, high = float(possible_values.min()), float(possible_values.max())
    return Window(
        center=(low + high) / 2, width=high - low or 1.0, name="Whole range", function="LINEAR_EXACT"
    )


def compute_grey_levels(
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
    table = build_grey_table(decoded, window=window, bits=bits)
    pixels = decoded.pixels.view(np.uint16) if decoded.pixels.dtype == np.int16 else decoded.pixels
    levels = np.empty(pixels.shape, table.dtype)
    for start in range(0, len(pixels), _ROWS_PER_CHUNK):
        chunk_rows = slice(start, start + _ROWS_PER_CHUNK)
        # the table has an entry for every value, so nothing wraps; with "wrap" numpy checks no index
        np.take(table, pixels[chunk_rows], mode="wrap", out=levels[chunk_rows])
    return levels


def reduce_to_quarter(
    levels: NDArray[np.uint8] | NDArray[np.uint16],
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """The rounded mean of each block of 4 x 4 pixels; of the remaining pixels at the right and lower edge.

    Args:
        levels: shape (rows, columns), uint8 or uint16.

    Returns:
        The same dtype, each side divided by 4 and rounded up.
    """
    if levels.dtype == np.uint8:
        return np.asarray(Image.fromarray(levels).reduce(_QUARTER_FACTOR))
    rows, columns = levels.shape
    padding = (-rows % _QUARTER_FACTOR, -columns % _QUARTER_FACTOR)
    padded = np.pad(levels, ((0, padding[0]), (0, padding[1]))) if any(padding) else levels
    counts = np.outer(_block_counts(rows), _block_counts(columns)).astype(np.uint32)
    sums = np.empty(counts.shape, np.uint32)
    for start in range(0, len(padded), _ROWS_PER_CHUNK):
        block_rows = padded[start : start + _ROWS_PER_CHUNK].astype(np.uint32)
        block_rows = block_rows[0::4] + block_rows[1::4] + block_rows[2::4] + block_rows[3::4]
        block_row = start // _QUARTER_FACTOR
        sums[block_row : block_row + len(block_rows)] = (
            block_rows[:, 0::4] + block_rows[:, 1::4] + block_rows[:, 2::4] + block_rows[:, 3::4]
        )
    return ((sums + counts // 2) // counts).astype(np.uint16)


def _block_counts(side: int) -> NDArray[np.int64]:
    """The number of pixels of a side in each block."""
    counts = np.full(-(-side // _QUARTER_FACTOR), _QUARTER_FACTOR)
    counts[-1] = side - _QUARTER_FACTOR * (len(counts) - 1)
    return counts
