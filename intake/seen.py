"""Remembers the ids of an import as 64-bit hashes, 8 bytes per id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Entries of a table that is indexed by the low bits of a hash. For most hashes the entry is not set, so they
# are new; only the others are searched for.
_TABLE = 1 << 23
# Merging longer arrays would briefly double their memory.
_LONGEST_RUN = 1 << 18


class SeenHashes:
    """A set of hashes in a few sorted arrays. Hashes may collide, so the caller must compare the ids."""

    def __init__(self, hashes: Sequence[int] = ()) -> None:
        """``hashes`` are those of ids that exist before the import."""
        self._fallen_on = np.zeros(_TABLE, dtype=bool)
        self._runs: list[NDArray[np.int64]] = []
        if len(hashes):
            self.met_before(hashes)

    def met_before(self, hashes: Sequence[int]) -> list[int]:
        """Add hashes, and return the sorted indices of those that were added before or occur twice."""
        new = np.array(hashes, dtype=np.int64)
        places = new & (_TABLE - 1)
        doubtful = np.flatnonzero(self._fallen_on[places])
        self._fallen_on[places] = True
        met = np.zeros(len(new), dtype=bool)
        if len(doubtful):
            met[doubtful] = self._among_runs(new[doubtful])
        ordered = np.sort(new)
        if (ordered[1:] == ordered[:-1]).any():
            _, back, times = np.unique(new, return_inverse=True, return_counts=True)
            met |= times[back] > 1
        self._add(ordered)
        return [int(place) for place in np.flatnonzero(met)]

    def _among_runs(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(hashes), dtype=bool)
        for run in self._runs:
            at = np.searchsorted(run, hashes)
            at[at == len(run)] = 0
            found |= run[at] == hashes
        return found

    def _add(self, run: NDArray[np.int64]) -> None:
        """Merge arrays of similar length, so that there are few and each hash is moved rarely."""
        while self._runs and len(self._runs[-1]) <= len(run) < _LONGEST_RUN:
            run = np.concatenate([self._runs.pop(), run])
            run.sort(kind="stable")
        if len(run):
            self._runs.append(run)
