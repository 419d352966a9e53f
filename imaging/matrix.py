"""A radiograph's stored values as few bytes as can be made while somebody waits, for the browser.

A row's neighbours differ by little, so the differences along each row are sent: all their low bytes, then all
their high bytes, nearly all of which are 0; then gzip at its fastest. What is on the wire are stored
values, before every transform: the browser does window and level by itself (``imaging/facts.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from isal import igzip
from numpy.typing import NDArray

from imaging.radiograph import DecodedRadiograph

# Goes into the name of a kept matrix: count it up when the form on the wire changes.
WIRE_FORM = 1

#: Added to the values of signed pixels, so that all on the wire are unsigned.
SIGNED_OFFSET = 1 << 15

_ROWS_AT_ONCE = 64  # what is worked on stays in the processor's cache


def wire_bits(decoded: DecodedRadiograph) -> int:
    """Bits of a value on the wire: the file's, or more where its pixels need more. Up to 8: one plane.

    Signed values have at least 9, since with their offset they take two planes.
    """
    if decoded.pixels.dtype == np.int16:
        return max(9, decoded.facts.bits)
    return max(decoded.facts.bits, int(decoded.pixels.max()).bit_length())


def encode_matrix(decoded: DecodedRadiograph) -> bytes:
    """The stored values, gzip of one or two planes of rows x columns bytes.

    Up to 8 bits (``wire_bits``): each value less its left neighbour, modulo 256. Else the same modulo 65,536,
    read as a signed number d and folded to (d << 1) ^ (d >> 15), so that the high byte of a small difference
    of either sign is 0; the plane of the low bytes, then that of the high bytes. A row's first value is its
    difference from 0. Signed values have 32,768 added first. The same values give the same bytes, whatever
    file they come from.
    """
    planes = _one_plane(decoded.pixels) if wire_bits(decoded) <= 8 else _two_planes(decoded.pixels)
    return igzip.compress(planes, 1, mtime=0)


def decode_matrix(content: bytes, *, rows: int, columns: int, bits: int) -> NDArray[np.uint16]:
    """The values of ``encode_matrix``, as the browser has them.

    Raises:
        ValueError: it has not as many bytes as rows, columns and bits ask for.
    """
    unpacked: bytes = igzip.decompress(content)  # type: ignore[no-untyped-call]  # isal's own
    planes = np.frombuffer(unpacked, np.uint8)
    if bits <= 8:
        return np.cumsum(planes.reshape(rows, columns), axis=1, dtype=np.uint8).astype(np.uint16)
    low, high = planes.reshape(2, rows, columns).astype(np.uint16)
    folded = low | high << 8
    differences = (folded >> 1) ^ (0 - (folded & 1))
    return np.cumsum(differences, axis=1, dtype=np.uint16)


def _one_plane(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    values = pixels.astype(np.uint8, copy=False)
    plane = values.copy()
    np.subtract(values[:, 1:], values[:, :-1], out=plane[:, 1:])
    return plane


def _two_planes(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    first = SIGNED_OFFSET if pixels.dtype == np.int16 else 0  # it cancels in every further difference
    values = pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
    rows, columns = values.shape
    planes = np.empty((2, rows, columns), np.uint8)
    differences = np.empty((_ROWS_AT_ONCE, columns), np.uint16)
    signs = np.empty((_ROWS_AT_ONCE, columns), np.int16)
    for start in range(0, rows, _ROWS_AT_ONCE):
        part = values[start : start + _ROWS_AT_ONCE]
        count = len(part)
        folded, sign = differences[:count], signs[:count]
        folded[:, 0] = part[:, 0] ^ first
        np.subtract(part[:, 1:], part[:, :-1], out=folded[:, 1:])
        np.right_shift(folded.view(np.int16), 15, out=sign)
        folded <<= 1
        folded ^= sign.view(np.uint16)
        np.copyto(planes[0, start : start + count], folded, casting="unsafe")
        folded >>= 8
        np.copyto(planes[1, start : start + count], folded, casting="unsafe")
    return planes
