"""DICOM's look-up tables, of the modality and of the VOI transform (PS3.3 C.11.1.1.1, C.11.2.1.1).

pydicom's own functions are not used for tables: up to 3.0, ``apply_voi`` counts the entries of a table of
8 bits in 8 bits, so that a 12-bit image wraps round, and neither function reads entries of one byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset


def look_up(
    values: NDArray[np.int32], item: Dataset, *, little_endian: bool
) -> tuple[NDArray[np.float32], int]:
    """The table's entry for each value; below the first and above the last, those two.

    Args:
        values: any shape.
        item: one item of the sequence, with LUT Descriptor and LUT Data.
        little_endian: of the file's transfer syntax.

    Returns:
        The entries, and the bits that the table says its entries have.

    Raises:
        ValueError, TypeError, AttributeError, KeyError: the table is damaged.
    """
    length, first, bits = (int(part) for part in item.LUTDescriptor)
    length = length or 1 << 16  # 0 stands for what 16 bits can't say
    if first >= 1 << 15 and values.min() < 0:
        first -= 1 << 16  # written as unsigned, though what is looked up is signed
    if not 8 <= bits <= 16:
        raise ValueError(f"a table of {bits} bits; there are 8 to 16")
    entries = _entries(item, length=length, little_endian=little_endian)
    return entries[np.clip(values - first, 0, length - 1)].astype(np.float32), bits


def _entries(item: Dataset, *, length: int, little_endian: bool) -> NDArray[np.uint16]:
    data = item.LUTData
    if not isinstance(data, bytes):
        entries = np.atleast_1d(np.asarray(data, np.int64)).astype(np.uint16)
    elif len(data) in {length, length + 1} and length > 1:
        entries = np.frombuffer(data, np.uint8).astype(np.uint16)  # one byte an entry, padded to be even
    else:
        entries = np.frombuffer(data, "<u2" if little_endian else ">u2").astype(np.uint16)
    if len(entries) < length:
        raise ValueError(f"a table of {len(entries)} entries that says it has {length}")
    return entries
