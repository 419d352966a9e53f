"""Which ids an import has met: their 64-bit hashes only, 8 bytes an id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Recent batches are looked through one by one; more of them than this are joined.
_RECENT = 16


class SeenHashes:
    """Hashes in a few sorted arrays. A hash met before may be chance: the caller compares the ids."""

    def __init__(self, hashes: Sequence[int] = ()) -> None:
        """``hashes`` are those met before the import."""
        self._joined: NDArray[np.int64] = np.sort(np.asarray(hashes, dtype=np.int64))
        self._recent: list[NDArray[np.int64]] = []

    def met_before(self, hashes: Sequence[int]) -> list[int]:
        """Places, in rising order, whose hash was met before or is here more than once; all are then met."""
        new = np.asarray(hashes, dtype=np.int64)
        met = np.zeros(len(new), dtype=bool)
        for part in (self._joined, *self._recent):
            if len(part):
                at = np.searchsorted(part, new)
                at[at == len(part)] = 0
                met |= part[at] == new
        distinct, back, times = np.unique(new, return_inverse=True, return_counts=True)
        met |= times[back] > 1
        self._recent.append(distinct)
        if len(self._recent) > _RECENT:
            self._joined = np.sort(np.concatenate([self._joined, *self._recent]), kind="stable")
            self._recent = []
        return [int(place) for place in np.flatnonzero(met)]
