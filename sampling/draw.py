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
    """SplitMix64's first output for the seed: 64 bits that look like chance, quite others for the next seed.

    Source: Steele GL, Lea D, Flood CH, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    state = (seed + _GOLDEN) & _MASK
    state = ((state ^ (state >> 30)) * _FIRST) & _MASK
    state = ((state ^ (state >> 27)) * _SECOND) & _MASK
    return state ^ (state >> 31)


def mixed(hashes: NDArray[np.int64], *, seed: int) -> NDArray[np.uint64]:
    """Each stored hash mixed with the seed: uniform over 64 bits, and unrelated for two seeds.

    The hash is XORed with the mixed seed, multiplied, folded upon itself and multiplied again: a bijection in
    which every bit of the hash and of the seed has its say in the upper half, by which questions are ordered.
    That is enough, since the stored hash is cryptographic and the mixed seed is SplitMix64's: what is left to
    do is to keep two seeds from ordering alike. tests/unit/test_sampling_draw.py holds it to that.
    """
    out = hashes.view(np.uint64) ^ np.uint64(mixed_seed(seed))
    buffer = np.empty(min(_BLOCK, len(out)), dtype=np.uint64)
    for start in range(0, len(out), _BLOCK):
        block = out[start : start + _BLOCK]
        _mix(block, buffer[: len(block)])
    return out


def _mix(block: NDArray[np.uint64], folded: NDArray[np.uint64]) -> None:
    """In place; ``folded`` is room for as many numbers. Each pass costs: there are four and no more."""
    block *= np.uint64(_FIRST)
    np.right_shift(block, np.uint64(32), out=folded)
    block ^= folded
    block *= np.uint64(_SECOND)


def draw(
    hashes: NDArray[np.int64],
    strata: NDArray[np.int32],
    *,
    take: Sequence[int],
    sizes: Sequence[int],
    seed: int,
    key_of: Callable[[int], str],
) -> NDArray[np.intp]:
    """The questions with the lowest mixed hashes of each stratum.

    Args:
        hashes: stored hash of each question of the frame, shape (N,).
        strata: each question's stratum, 0 to len(take) - 1, shape (N,).
        take: how many to take of each stratum; at most its size.
        sizes: how many questions of the frame are in each stratum.
        seed: of the plan.
        key_of: the id of the question at an index; asked only where two stored hashes are equal.

    Returns:
        The indices of the drawn questions in rising order, shape (sum(take),).
    """
    limits = _limits(take, sizes)
    candidates, values = _below(hashes, strata, limits=limits, seed=seed)
    of = strata[candidates]
    counts = np.bincount(of, minlength=len(take))
    short = counts < np.asarray(take)
    if np.any(short):  # chance left fewer than wanted below a limit: look at those strata whole
        candidates, values = _below(
            hashes, strata, limits=np.where(short, np.uint64(_MASK), limits), seed=seed
        )
        of = strata[candidates]
    chosen = np.zeros(len(candidates), dtype=np.bool_)
    for stratum, n in enumerate(take):
        if n:
            _choose(chosen, of == stratum, values, n, key_of=lambda place: key_of(int(candidates[place])))
    return candidates[chosen]


def _choose(
    chosen: NDArray[np.bool_],
    mine: NDArray[np.bool_],
    values: NDArray[np.uint64],
    n: int,
    *,
    key_of: Callable[[int], str],
) -> None:
    """Mark the ``n`` lowest of the values that are ``mine``; of equal ones those whose keys come first."""
    here = values[mine]
    here.partition(n - 1)
    last = here[n - 1]
    mine &= values <= last
    chosen |= mine
    surplus = int(np.count_nonzero(here == last)) - int(np.count_nonzero(here[:n] == last))
    if surplus:
        tied = np.flatnonzero(mine & (values == last)).tolist()
        chosen[sorted(tied, key=key_of)[-surplus:]] = False


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
    hashes: NDArray[np.int64], strata: NDArray[np.int32], *, limits: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Indices and mixed hashes of the questions whose hash is at most their stratum's limit.

    Where the strata are drawn at nearly the same rate, the widest limit does for all: looking up each
    question's own takes longer than the few candidates too many.
    """
    widest = limits.max(initial=np.uint64(0))
    one_for_all = bool(widest // np.uint64(2) <= limits.min(initial=np.uint64(_MASK)))
    salt = np.uint64(mixed_seed(seed))
    size = min(_BLOCK, len(hashes))
    block, buffer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    below = np.empty(size, dtype=np.bool_)
    unsigned = hashes.view(np.uint64)
    # Room for what uniform hashes leave and a block more: memory that is fresh costs more than arithmetic.
    room = min(len(hashes), int(len(hashes) * (int(widest) / 2.0**64) * 1.01) + _BLOCK)
    indices, values, count = np.empty(room, dtype=np.intp), np.empty(room, dtype=np.uint64), 0
    for start in range(0, len(hashes), _BLOCK):
        length = min(_BLOCK, len(hashes) - start)
        now, limit, is_below = block[:length], buffer[:length], below[:length]
        np.bitwise_xor(unsigned[start : start + length], salt, out=now)
        _mix(now, limit)
        if one_for_all:
            np.less_equal(now, widest, out=is_below)
        else:
            np.take(limits, strata[start : start + length], out=limit, mode="clip")
            np.less_equal(now, limit, out=is_below)
        found = np.flatnonzero(is_below)
        end = count + len(found)
        if end > len(indices):  # hashes that are not uniform, as only a test has them
            indices, values = np.resize(indices, len(hashes)), np.resize(values, len(hashes))
        np.add(found, start, out=indices[count:end])
        np.take(now, found, out=values[count:end], mode="clip")
        count = end
    return indices[:count], values[:count]


def in_order(
    indices: NDArray[np.intp], hashes: NDArray[np.int64], *, seed: int, key_of: Callable[[int], str]
) -> NDArray[np.intp]:
    """The indices of drawn questions in rising order of their mixed hashes, equal ones by their keys."""
    values = mixed(hashes[indices], seed=seed)
    order = np.argsort(values)
    ordered = values[order]
    same_as_next = ordered[1:] == ordered[:-1]
    if not np.any(same_as_next):
        return indices[order]
    tied = {*order[1:][same_as_next].tolist(), *order[:-1][same_as_next].tolist()}
    keys = {place: key_of(int(indices[place])) for place in tied}
    by_key = sorted(order.tolist(), key=lambda place: (int(values[place]), keys.get(place, "")))
    return indices[by_key]
