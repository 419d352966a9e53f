"""Compresses a radiograph's stored values for the browser, quickly and losslessly.

Neighbouring pixels in a row have similar values, so differences along each row are sent: all low bytes, then
all high bytes, most of which are 0. They are compressed with gzip at level 1. No transform is applied;
the browser applies modality transform, window and level (``imaging/viewer_facts.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from isal import igzip
from numpy.typing import NDArray

from imaging.radiograph import DecodedRadiograph
from imaging.row_blocks import ROWS_PER_BLOCK

# Part of the name of a cached matrix. Increase it when the encoding changes.
MATRIX_VERSION = 1

#: Offset added to the values of signed pixels, so that all encoded values are unsigned.
SIGNED_OFFSET = 1 << 15


def encoded_bits(decoded: DecodedRadiograph) -> int:
    """Return the number of bits of a stored value: that of the file, or more if unsigned pixels need more.

    Args:
        decoded: the radiograph.

    Returns:
        1 to 16. Values with up to 8 bits are encoded as one plane, others as two. For signed values, at least
        9 is returned: with :data:`SIGNED_OFFSET` added, they always need two planes.
    """
    if decoded.pixels.dtype == np.int16:
        return max(9, decoded.facts.bits)
    return max(decoded.facts.bits, int(decoded.pixels.max()).bit_length())


def encode_matrix(decoded: DecodedRadiograph) -> bytes:
    """Encode the stored values as gzip of one or two planes of rows x columns bytes.

    With up to 8 bits (:func:`encoded_bits`), the plane contains each value minus its left neighbour, modulo
    256. With more bits, the difference d is computed modulo 65,536, read as a signed integer and encoded as
    (d << 1) ^ (d >> 15), so that the high byte of a small difference of either sign is 0. The plane of low
    bytes comes first, then the plane of high bytes. The left neighbour of the first value of a row counts as
    0. Before the differences are computed, 32,768 is added to signed values.

    Args:
        decoded: the radiograph.

    Returns:
        The gzip stream. It depends on the values only: equal values give equal bytes.
    """
    planes = (
        _encode_one_plane(decoded.pixels)
        if encoded_bits(decoded) <= 8
        else _encode_two_planes(decoded.pixels)
    )
    return igzip.compress(planes, 1, mtime=0)


def _encode_one_plane(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    values = pixels.astype(np.uint8, copy=False)
    plane = values.copy()
    np.subtract(values[:, 1:], values[:, :-1], out=plane[:, 1:])
    return plane


def _encode_two_planes(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    # The offset of signed values cancels out in differences, so it matters only for the first column.
    first_column_offset = SIGNED_OFFSET if pixels.dtype == np.int16 else 0
    values = pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
    rows, columns = values.shape
    planes = np.empty((2, rows, columns), np.uint8)
    code_buffer = np.empty((ROWS_PER_BLOCK, columns), np.uint16)
    sign_buffer = np.empty((ROWS_PER_BLOCK, columns), np.int16)
    for start in range(0, rows, ROWS_PER_BLOCK):
        block = values[start : start + ROWS_PER_BLOCK]
        row_count = len(block)
        codes, sign = code_buffer[:row_count], sign_buffer[:row_count]
        codes[:, 0] = block[:, 0] ^ first_column_offset
        np.subtract(block[:, 1:], block[:, :-1], out=codes[:, 1:])
        np.right_shift(codes.view(np.int16), 15, out=sign)
        codes <<= 1
        codes ^= sign.view(np.uint16)
        np.copyto(planes[0, start : start + row_count], codes, casting="unsafe")
        codes >>= 8
        np.copyto(planes[1, start : start + row_count], codes, casting="unsafe")
    return planes
