"""The number of rows that are processed at a time."""

from __future__ import annotations

#: The rows of one step: few enough for the processor's cache, and a multiple of 4 for the quarter size.
ROWS_PER_BLOCK = 64
