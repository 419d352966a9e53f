"""Which questions a draw takes: in each stratum those with the lowest hash of id and seed.

The stored 64-bit hash of the id is mixed with the seed by a bijection, so two questions tie only when
their stored hashes do; then the id decides. Which rows there are besides, and in which order, changes
nothing: a stratum's n lowest stay its n lowest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

#: Questions that are mixed at a time: their hashes stay in the processor's nearest caches.
_BLOCK = 32_768
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed_seed(seed: int) -> int:
    """SplitMix64's output for the seed: 64 bits that look like chance, and another set for the next seed."""
    state = (seed + _GOLDEN) & _MASK
    state = ((state ^ (state >> 30)) * _FIRST) & _MASK
    state = ((state ^ (state >> 27)) * _SECOND) & _MASK
    return state ^ (state >> 31)


def mixed(hashes: NDArray[np.int64], *, seed: int) -> NDArray[np.uint64]:
    """Each stored hash mixed with the seed: uniform over 64 bits, and unrelated for two seeds.

    The hash is XORed with the mixed seed and sent through SplitMix64's finalizer (D. Stafford's variant 13),
    a bijection in which each bit of the input turns half of the output's bits.

    Source: Steele GL, Lea D, Flood CH, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    out = hashes.view(np.uint64) ^ np.uint64(mixed_seed(seed))
    buffer = np.empty(min(_BLOCK, len(out)), dtype=np.uint64)
    for start in range(0, len(out), _BLOCK):
        block = out[start : start + _BLOCK]
        _finalize(block, buffer[: len(block)])
    return out


def _finalize(block: NDArray[np.uint64], shifted: NDArray[np.uint64]) -> None:
    np.right_shift(block, np.uint64(30), out=shifted)
    block ^= shifted
    block *= np.uint64(_FIRST)
    np.right_shift(block, np.uint64(27), out=shifted)
    block ^= shifted
    block *= np.uint64(_SECOND)
    np.right_shift(block, np.uint64(31), out=shifted)
    block ^= shifted


def draw(
    hashes: NDArray[np.int64],
    strata: NDArray[np.intp],
    *,
    take: Sequence[int],
    sizes: Sequence[int],
    seed: int,
    key_of: Callable[[int], str],
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """The questions with the lowest mixed hashes of each stratum.

    Args:
        hashes: stored hash of each question of the frame, shape (N,).
        strata: each question's stratum, 0 to len(take) - 1, shape (N,).
        take: how many to take of each stratum; at most its size.
        sizes: how many questions of the frame are in each stratum.
        seed: of the plan.
        key_of: the id of the question at an index; asked only where two stored hashes are equal.

    Returns:
        The indices of the drawn questions, in rising order of their mixed hash within each stratum, strata
        one after the other, shape (sum(take),); and their mixed hashes.
    """
    candidates, candidate_hashes = _below(hashes, strata, limits=_limits(take, sizes), seed=seed)
    candidate_strata = strata[candidates]
    drawn: list[NDArray[np.intp]] = []
    drawn_hashes: list[NDArray[np.uint64]] = []
    for stratum, n in enumerate(take):
        if not n:
            continue
        here = np.flatnonzero(candidate_strata == stratum)
        indices, values = candidates[here], candidate_hashes[here]
        if len(indices) < n:  # chance left fewer below the limit: look at the whole stratum
            indices = np.flatnonzero(strata == stratum)
            values = mixed(hashes[indices], seed=seed)
        chosen = _lowest(values, indices, n, key_of=key_of)
        drawn.append(indices[chosen])
        drawn_hashes.append(values[chosen])
    if not drawn:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.uint64)
    return np.concatenate(drawn), np.concatenate(drawn_hashes)


def _limits(take: Sequence[int], sizes: Sequence[int]) -> NDArray[np.uint64]:
    """A value for each stratum that its n lowest hashes lie below, but for a chance of one in a billion.

    The share n / N of uniform hashes and six standard deviations; saves sorting the other nine tenths.
    """
    limits = []
    for n, size in zip(take, sizes, strict=True):
        share = (n + 6 * n**0.5 + 10) / max(1, size) if n else 0.0
        limits.append(min(_MASK, int(share * 2.0**64)))
    return np.array(limits, dtype=np.uint64)


def _below(
    hashes: NDArray[np.int64], strata: NDArray[np.intp], *, limits: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Indices and mixed hashes of the questions whose hash is at most their stratum's limit."""
    salt = np.uint64(mixed_seed(seed))
    size = min(_BLOCK, len(hashes))
    block, buffer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    below = np.empty(size, dtype=np.bool_)
    unsigned = hashes.view(np.uint64)
    indices, values = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.uint64)]
    for start in range(0, len(hashes), _BLOCK):
        length = min(_BLOCK, len(hashes) - start)
        now, limit, is_below = block[:length], buffer[:length], below[:length]
        np.bitwise_xor(unsigned[start : start + length], salt, out=now)
        _finalize(now, limit)
        np.take(limits, strata[start : start + length], out=limit, mode="clip")
        np.less_equal(now, limit, out=is_below)
        found = np.flatnonzero(is_below)
        values.append(now[found])
        indices.append(found + start)
    return np.concatenate(indices), np.concatenate(values)


def _lowest(
    values: NDArray[np.uint64], indices: NDArray[np.intp], n: int, *, key_of: Callable[[int], str]
) -> NDArray[np.intp]:
    """Places of the ``n`` lowest values in rising order; equal values in the order of their keys."""
    last = np.partition(values, n - 1)[n - 1]
    places = np.flatnonzero(values <= last)
    # Needn't be a stable sort, which takes five times as long: equal values are put in order by key.
    places = places[np.argsort(values[places])]
    ordered = values[places]
    same_as_next = ordered[1:] == ordered[:-1]
    if np.any(same_as_next):
        tied = np.zeros(len(places), dtype=np.bool_)
        tied[1:] |= same_as_next
        tied[:-1] |= same_as_next
        keys = {place: key_of(int(indices[place])) for place in places[tied].tolist()}
        by_key = sorted(places.tolist(), key=lambda place: (int(values[place]), keys.get(place, "")))
        places = np.array(by_key, dtype=np.intp)
    return places[:n]
