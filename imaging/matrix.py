"""Compresses a radiograph's stored values for the browser, quickly and losslessly.

Neighbouring pixels in a row have similar values, so differences along each row are sent: all low bytes, then
all high bytes, most of which are 0. They are compressed with gzip at its fastest level. No transform is
applied; the browser applies modality transform, window and level (``imaging/viewer_facts.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from isal import igzip
from numpy.typing import NDArray

from imaging.radiograph import DecodedRadiograph

# Part of the name of a cached matrix. Increase it when the encoding changes.
MATRIX_VERSION = 1

#: Offset added to the values of signed pixels, so that all encoded values are unsigned.
SIGNED_OFFSET = 1 << 15

_ROWS_PER_CHUNK = 64  # so that the rows fit into the processor's cache


def encoded_bits(decoded: DecodedRadiograph) -> int:
    """Return the number of bits of an encoded value: that of the file, or more if its pixels need more.

    Args:
        decoded: the radiograph.

    Returns:
        1 to 16. Values with up to 8 bits are encoded as one plane, others as two. Signed values have at least
        9 bits, because they need two planes with the offset.
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
    first_offset = SIGNED_OFFSET if pixels.dtype == np.int16 else 0  # cancels out in all other differences
    values = pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
    rows, columns = values.shape
    planes = np.empty((2, rows, columns), np.uint8)
    differences = np.empty((_ROWS_PER_CHUNK, columns), np.uint16)
    signs = np.empty((_ROWS_PER_CHUNK, columns), np.int16)
    for start in range(0, rows, _ROWS_PER_CHUNK):
        chunk = values[start : start + _ROWS_PER_CHUNK]
        count = len(chunk)
        codes, sign = differences[:count], signs[:count]
        codes[:, 0] = chunk[:, 0] ^ first_offset
        np.subtract(chunk[:, 1:], chunk[:, :-1], out=codes[:, 1:])
        np.right_shift(codes.view(np.int16), 15, out=sign)
        codes <<= 1
        codes ^= sign.view(np.uint16)
        np.copyto(planes[0, start : start + count], codes, casting="unsafe")
        codes >>= 8
        np.copyto(planes[1, start : start + count], codes, casting="unsafe")
    return planes
