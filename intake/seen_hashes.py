"""Stores the ids of an import as 64-bit hashes, which take 8 bytes per id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# The number of entries of a table that is indexed by the low bits of a hash. If the entry of a hash is not
# set, the hash is new. Only the other hashes are searched for.
_TABLE_SIZE = 1 << 23
# The length from which arrays are not merged, because merging briefly needs twice their memory.
_LONGEST_RUN = 1 << 18


class SeenHashes:
    """A set of hashes in a few sorted arrays. Hashes may collide, so the caller must compare the ids."""

    def __init__(self, hashes: Sequence[int] = ()) -> None:
        """``hashes`` are the hashes of ids that exist before the import."""
        self._occupied = np.zeros(_TABLE_SIZE, dtype=bool)
        self._runs: list[NDArray[np.int64]] = []
        if len(hashes):
            self.add_and_find_known(hashes)

    def add_and_find_known(self, hashes: Sequence[int]) -> list[int]:
        """Add hashes and return the sorted indices of hashes that were added before or occur twice."""
        new_hashes = np.array(hashes, dtype=np.int64)
        slots = new_hashes & (_TABLE_SIZE - 1)
        candidates = np.flatnonzero(self._occupied[slots])
        self._occupied[slots] = True
        is_known = np.zeros(len(new_hashes), dtype=bool)
        if len(candidates):
            is_known[candidates] = self._search_runs(new_hashes[candidates])
        sorted_hashes = np.sort(new_hashes)
        if (sorted_hashes[1:] == sorted_hashes[:-1]).any():
            _, inverse, counts = np.unique(new_hashes, return_inverse=True, return_counts=True)
            is_known |= counts[inverse] > 1
        self._add(sorted_hashes)
        return [int(index) for index in np.flatnonzero(is_known)]

    def _search_runs(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        is_found = np.zeros(len(hashes), dtype=bool)
        for run in self._runs:
            positions = np.searchsorted(run, hashes)
            positions[positions == len(run)] = 0
            is_found |= run[positions] == hashes
        return is_found

    def _add(self, run: NDArray[np.int64]) -> None:
        """Add a sorted array. Arrays of similar length are merged, so that there are only a few arrays."""
        while self._runs and len(self._runs[-1]) <= len(run) < _LONGEST_RUN:
            run = np.concatenate([self._runs.pop(), run])
            run.sort(kind="stable")
        if len(run):
            self._runs.append(run)
