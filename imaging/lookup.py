"""Applies DICOM's look-up tables for the modality and the VOI transform (PS3.3 C.11.1.1.1, C.11.2.1.1).

pydicom's functions are not used for tables. Up to version 3.0, ``apply_voi`` computes the indices of an 8-bit
table with 8 bits, so 12-bit values overflow, and no function reads tables with one byte per entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset

from imaging.errors import DamagedContent


def apply_lookup_table(
    values: NDArray[np.int32], item: Dataset, *, little_endian: bool
) -> tuple[NDArray[np.float32], int]:
    """Look up values in a table. Values outside the table get its first or last entry.

    Args:
        values: an array of any shape.
        item: an item of Modality LUT Sequence (0028,3000) or VOI LUT Sequence (0028,3010), with LUT
            Descriptor (0028,3002) and LUT Data (0028,3006).
        little_endian: whether the file's transfer syntax is little endian.

    Returns:
        The entries, in the shape of ``values``, and the number of bits per entry that the descriptor states,
        8 to 16.

    Raises:
        ValueError: the table is damaged.
        TypeError: the table is damaged.
        AttributeError: the table is damaged; its descriptor or data is missing.
        KeyError: the table is damaged.
    """
    length, first, bits = (int(part) for part in item.LUTDescriptor)
    length = length or 1 << 16  # 0 stands for 65,536
    if first >= 1 << 15 and values.min() < 0:
        first -= 1 << 16  # the file states a signed value as unsigned
    if not 8 <= bits <= 16:
        raise DamagedContent(f"a table with {bits} bits per entry; it must have 8 to 16")
    entries = _table_entries(item, length=length, little_endian=little_endian)
    return entries[np.clip(values - first, 0, length - 1)].astype(np.float32), bits


def _table_entries(item: Dataset, *, length: int, little_endian: bool) -> NDArray[np.uint16]:
    data = item.LUTData
    if not isinstance(data, bytes):
        entries = np.atleast_1d(np.asarray(data, np.int64)).astype(np.uint16)
    elif len(data) in {length, length + 1} and length > 1:
        entries = np.frombuffer(data, np.uint8).astype(np.uint16)  # one byte per entry, padded to even length
    else:
        entries = np.frombuffer(data, "<u2" if little_endian else ">u2").astype(np.uint16)
    if len(entries) < length:
        raise DamagedContent(f"a table with {len(entries)} entries instead of the stated {length}")
    return entries
