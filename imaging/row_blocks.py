"""The number of rows that are processed at a time."""

from __future__ import annotations

#: Small enough for the processor's cache, and a multiple of 4, so that each side of a block can be quartered.
ROWS_PER_BLOCK = 64
