"""Selects the questions of a draw: in each stratum those with the lowest hash of id and seed.

The stored 64-bit hash of the id is mixed with the seed by a bijection, so two questions tie only if their
stored hashes are equal; the id decides then. Other rows and their order have no influence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

#: Hashes that are mixed at a time, so that they fit into the processor's cache.
_BLOCK = 32_768
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed_seed(seed: int) -> int:
    """SplitMix64's first output for a seed: 64 pseudorandom bits, unrelated for neighbouring seeds.

    Source: Steele GL, Lea D, Flood CH, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    state = (seed + _GOLDEN) & _MASK
    state = ((state ^ (state >> 30)) * _FIRST) & _MASK
    state = ((state ^ (state >> 27)) * _SECOND) & _MASK
    return state ^ (state >> 31)


def mixed(hashes: NDArray[np.int64], *, seed: int) -> NDArray[np.uint64]:
    """Mix stored hashes with a seed: uniform over 64 bits, and unrelated for two seeds.

    The hash is XORed with the mixed seed, multiplied, folded and multiplied again. This is a bijection in
    which every bit of hash and seed affects the upper half, which orders the questions. It suffices because
    the stored hash is cryptographic and the seed was mixed by SplitMix64; it only has to give two seeds
    different orders, which tests/unit/test_sampling_draw.py checks.

    Args:
        hashes: stored hashes (:func:`domain.draw_hash.draw_hash`), shape (n,).
        seed: of the plan.

    Returns:
        Shape (n,).
    """
    out = hashes.view(np.uint64) ^ np.uint64(mixed_seed(seed))
    buffer = np.empty(min(_BLOCK, len(out)), dtype=np.uint64)
    for start in range(0, len(out), _BLOCK):
        block = out[start : start + _BLOCK]
        _mix(block, buffer[: len(block)])
    return out


def _mix(block: NDArray[np.uint64], folded: NDArray[np.uint64]) -> None:
    """Mix in place; ``folded`` is a buffer of the same size. Each pass takes time, so there are only four."""
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
    """Select the questions with the lowest mixed hashes of each stratum.

    Args:
        hashes: stored hash of each question of the frame, shape (N,).
        strata: each question's stratum, 0 to len(take) - 1, shape (N,).
        take: number of questions to take from each stratum, at most its size.
        sizes: number of questions of the frame in each stratum.
        seed: of the plan.
        key_of: returns the id of the question at an index; called only if two stored hashes are equal.

    Returns:
        The indices of the drawn questions in rising order, shape (sum(take),).
    """
    limits = _limits(take, sizes)
    candidates, values = _below(hashes, strata, limits=limits, seed=seed)
    of = strata[candidates]
    counts = np.bincount(of, minlength=len(take))
    short = counts < np.asarray(take)
    if np.any(short):  # by chance too few are below a limit: use all questions of these strata
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
    """Mark the ``n`` lowest values where ``mine`` is true; among equal ones, those with the lowest keys."""
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
    """A limit for each stratum below which its n lowest hashes lie, except with a chance of one in a billion.

    It is the share n / N of uniform hashes plus six standard deviations; the other hashes need no sorting.
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

    If the strata are drawn at nearly the same rate, the widest limit is used for all: a few more candidates
    take less time than looking up each question's own limit.
    """
    widest = limits.max(initial=np.uint64(0))
    one_for_all = bool(widest // np.uint64(2) <= limits.min(initial=np.uint64(_MASK)))
    salt = np.uint64(mixed_seed(seed))
    size = min(_BLOCK, len(hashes))
    block, buffer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    below = np.empty(size, dtype=np.bool_)
    unsigned = hashes.view(np.uint64)
    # Room for the expected number of uniform hashes and one more block. It is allocated once, because
    # allocation takes longer than the arithmetic.
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
        if end > len(indices):  # only for hashes that are not uniform, as in tests
            indices, values = np.resize(indices, len(hashes)), np.resize(values, len(hashes))
        np.add(found, start, out=indices[count:end])
        np.take(now, found, out=values[count:end], mode="clip")
        count = end
    return indices[:count], values[:count]


def in_order(
    indices: NDArray[np.intp], hashes: NDArray[np.int64], *, seed: int, key_of: Callable[[int], str]
) -> NDArray[np.intp]:
    """Sort drawn questions by their mixed hashes, equal ones by their ids.

    Args:
        indices: of :func:`draw`.
        hashes: stored hash of each question of the frame.
        seed: of the plan.
        key_of: returns the id of the question at an index; called only if two hashes are equal.

    Returns:
        The same indices in the order of review.
    """
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
