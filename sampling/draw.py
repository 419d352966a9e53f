"""Selects the questions of a draw: in each stratum, those with the lowest hash of id and seed.

The stored 64-bit hash of the id is mixed with the seed by a bijection, so two questions only tie if their
stored hashes are equal. The id then decides. The mixed hash of a question depends
neither on other questions nor on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

#: Number of hashes that are mixed at a time, so that they fit into the processor's cache.
_BLOCK_SIZE = 32_768
_MASK = (1 << 64) - 1
_GOLDEN_GAMMA = 0x9E3779B97F4A7C15
_FIRST_MULTIPLIER, _SECOND_MULTIPLIER = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix_seed(seed: int) -> int:
    """Return SplitMix64's first output for a seed: 64 pseudorandom bits, unrelated for neighbouring seeds.

    Source: Steele GL, Lea D, Flood CH, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    state = (seed + _GOLDEN_GAMMA) & _MASK
    state = ((state ^ (state >> 30)) * _FIRST_MULTIPLIER) & _MASK
    state = ((state ^ (state >> 27)) * _SECOND_MULTIPLIER) & _MASK
    return state ^ (state >> 31)


def mix_hashes(hashes: NDArray[np.int64], *, seed: int) -> NDArray[np.uint64]:
    """Mix stored hashes with a seed. The results are uniform over 64 bits, and unrelated for different seeds.

    The hash is XORed with the mixed seed, multiplied, folded and multiplied again. This is a bijection in
    which each bit of hash and seed affects the upper half, which determines the order. This simple function
    is sufficient, because the stored hash is cryptographic and the seed was mixed by SplitMix64. It must only
    give different orders for different seeds, which tests/unit/test_sampling_draw.py checks.

    Args:
        hashes: stored hashes (:func:`domain.draw_hash.compute_draw_hash`), shape (n,).
        seed: the seed of the plan.

    Returns:
        The mixed hashes, shape (n,).
    """
    mixed_hashes = hashes.view(np.uint64) ^ np.uint64(mix_seed(seed))
    buffer = np.empty(min(_BLOCK_SIZE, len(mixed_hashes)), dtype=np.uint64)
    for start in range(0, len(mixed_hashes), _BLOCK_SIZE):
        block = mixed_hashes[start : start + _BLOCK_SIZE]
        _mix_block(block, buffer[: len(block)])
    return mixed_hashes


def _mix_block(block: NDArray[np.uint64], folded: NDArray[np.uint64]) -> None:
    """Mix a block in place with few array operations; ``folded`` is a buffer of equal size."""
    block *= np.uint64(_FIRST_MULTIPLIER)
    np.right_shift(block, np.uint64(32), out=folded)
    block ^= folded
    block *= np.uint64(_SECOND_MULTIPLIER)


def draw_questions(
    hashes: NDArray[np.int64],
    strata: NDArray[np.int32],
    *,
    counts_to_draw: Sequence[int],
    sizes: Sequence[int],
    seed: int,
    question_id_at: Callable[[int], str],
) -> NDArray[np.intp]:
    """Select the questions with the lowest mixed hashes of each stratum.

    Args:
        hashes: the stored hash of each question of the frame, shape (N,).
        strata: the stratum index of each question, 0 to len(counts_to_draw) - 1, shape (N,).
        counts_to_draw: the number of questions to draw from each stratum, at most its size.
        sizes: the number of questions of the frame in each stratum.
        seed: the seed of the plan.
        question_id_at: a function that returns the file id of the question at an index. It is only called
            if two stored hashes are equal.

    Returns:
        The indices of the drawn questions in ascending order, shape (sum(counts_to_draw),).
    """
    limits = _compute_limits(counts_to_draw, sizes)
    candidates, values = _select_candidates(hashes, strata, limits=limits, seed=seed)
    candidate_strata = strata[candidates]
    candidate_counts = np.bincount(candidate_strata, minlength=len(counts_to_draw))
    is_short = candidate_counts < np.asarray(counts_to_draw)
    if np.any(is_short):  # too few hashes are below a limit by chance: use all questions of these strata
        candidates, values = _select_candidates(
            hashes, strata, limits=np.where(is_short, np.uint64(_MASK), limits), seed=seed
        )
        candidate_strata = strata[candidates]
    is_chosen = np.zeros(len(candidates), dtype=np.bool_)
    for stratum, n in enumerate(counts_to_draw):
        if n:
            _mark_lowest(
                is_chosen,
                candidate_strata == stratum,
                values,
                n,
                question_id_at=lambda index: question_id_at(int(candidates[index])),
            )
    return candidates[is_chosen]


def _mark_lowest(
    is_chosen: NDArray[np.bool_],
    in_stratum: NDArray[np.bool_],
    values: NDArray[np.uint64],
    n: int,
    *,
    question_id_at: Callable[[int], str],
) -> None:
    """Mark the ``n`` lowest values where ``in_stratum`` is true; ties are resolved by the lowest ids."""
    stratum_values = values[in_stratum]
    stratum_values.partition(n - 1)
    threshold = stratum_values[n - 1]
    in_stratum &= values <= threshold
    is_chosen |= in_stratum
    surplus = int(np.count_nonzero(stratum_values == threshold)) - int(
        np.count_nonzero(stratum_values[:n] == threshold)
    )
    if surplus:
        tied_indices = np.flatnonzero(in_stratum & (values == threshold)).tolist()
        is_chosen[sorted(tied_indices, key=question_id_at)[-surplus:]] = False


def _compute_limits(counts_to_draw: Sequence[int], sizes: Sequence[int]) -> NDArray[np.uint64]:
    """Compute a limit for each stratum: its n lowest hashes are below the limit with near certainty.

    The limit is n divided by the size of the stratum, plus six standard deviations: fewer than n hashes are
    below it with a probability of one in a billion. Hashes above the limit need no sorting.
    """
    limits = []
    for n, size in zip(counts_to_draw, sizes, strict=True):
        share = (n + 6 * n**0.5 + 10) / max(1, size) if n else 0.0
        limits.append(min(_MASK, int(share * 2.0**64)))
    return np.array(limits, dtype=np.uint64)


def _select_candidates(
    hashes: NDArray[np.int64], strata: NDArray[np.int32], *, limits: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Select the questions whose mixed hash is at most the limit of their stratum; return indices and hashes.

    If the strata are drawn at similar rates, the highest limit is used for all of them: a few more candidates
    take less time than looking up the limit of each question.
    """
    highest_limit = limits.max(initial=np.uint64(0))
    uses_one_limit = bool(highest_limit // np.uint64(2) <= limits.min(initial=np.uint64(_MASK)))
    salt = np.uint64(mix_seed(seed))
    size = min(_BLOCK_SIZE, len(hashes))
    block, buffer = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    below_buffer = np.empty(size, dtype=np.bool_)
    unsigned = hashes.view(np.uint64)
    # The capacity is the expected number of hashes below the limit plus one block. The arrays are allocated
    # once, because allocation takes longer than the arithmetic.
    capacity = min(len(hashes), int(len(hashes) * (int(highest_limit) / 2.0**64) * 1.01) + _BLOCK_SIZE)
    indices, values, count = np.empty(capacity, dtype=np.intp), np.empty(capacity, dtype=np.uint64), 0
    for start in range(0, len(hashes), _BLOCK_SIZE):
        length = min(_BLOCK_SIZE, len(hashes) - start)
        mixed_block, scratch, is_below = block[:length], buffer[:length], below_buffer[:length]
        np.bitwise_xor(unsigned[start : start + length], salt, out=mixed_block)
        _mix_block(mixed_block, scratch)
        if uses_one_limit:
            np.less_equal(mixed_block, highest_limit, out=is_below)
        else:
            limits_of_block = np.take(limits, strata[start : start + length], out=scratch, mode="clip")
            np.less_equal(mixed_block, limits_of_block, out=is_below)
        positions = np.flatnonzero(is_below)
        end = count + len(positions)
        if end > len(indices):  # only for hashes that are not uniform, as in tests
            indices, values = np.resize(indices, len(hashes)), np.resize(values, len(hashes))
        np.add(positions, start, out=indices[count:end])
        np.take(mixed_block, positions, out=values[count:end], mode="clip")
        count = end
    return indices[:count], values[:count]


def sort_by_hash(
    indices: NDArray[np.intp], hashes: NDArray[np.int64], *, seed: int, question_id_at: Callable[[int], str]
) -> NDArray[np.intp]:
    """Sort drawn questions by their mixed hashes; ties are resolved by the ids.

    Args:
        indices: the indices that :func:`draw_questions` returned.
        hashes: the stored hash of each question of the frame.
        seed: the seed of the plan.
        question_id_at: a function that returns the file id of the question at an index. It is only called
            if two hashes are equal.

    Returns:
        The same indices in the order of review.
    """
    values = mix_hashes(hashes[indices], seed=seed)
    order = np.argsort(values)
    sorted_values = values[order]
    same_as_next = sorted_values[1:] == sorted_values[:-1]
    if not np.any(same_as_next):
        return indices[order]
    tied_positions = {*order[1:][same_as_next].tolist(), *order[:-1][same_as_next].tolist()}
    ids = {index: question_id_at(int(indices[index])) for index in tied_positions}
    by_id = sorted(order.tolist(), key=lambda position: (int(values[position]), ids.get(position, "")))
    return indices[by_id]
