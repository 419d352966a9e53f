"""Decodes the stored values that the viewer receives, as the browser does."""

from __future__ import annotations

import gzip

import numpy as np
from numpy.typing import NDArray


def decode_matrix(content: bytes, *, rows: int, columns: int, bits: int) -> NDArray[np.uint16]:
    """Return the values that `imaging.matrix.encode_matrix` encoded, decoded as the browser does.

    Raises:
        ValueError: the number of bytes does not match rows, columns and bits.
    """
    planes = np.frombuffer(gzip.decompress(content), np.uint8)
    if bits <= 8:
        return np.cumsum(planes.reshape(rows, columns), axis=1, dtype=np.uint8).astype(np.uint16)
    low, high = planes.reshape(2, rows, columns).astype(np.uint16)
    zigzag = low | high << 8
    differences = (zigzag >> 1) ^ (0 - (zigzag & 1))
    return np.cumsum(differences, axis=1, dtype=np.uint16)
