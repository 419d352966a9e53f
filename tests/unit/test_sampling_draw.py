"""Which questions a draw takes: those with the lowest seeded hash in each stratum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from domain.draw_hash import compute_draw_hash
from sampling.draw import draw_questions, mix_hashes, mix_seed, sort_by_hash

KEYS = [f"q{i}" for i in range(10_000)]
HASHES = np.array([compute_draw_hash(key) for key in KEYS], dtype=np.int64)


def draw_keys(keys, strata, counts_to_draw, seed, hashes=None):
    hashes = np.array([compute_draw_hash(key) for key in keys], dtype=np.int64) if hashes is None else hashes
    strata = np.array(strata, dtype=np.int32)
    sizes = np.bincount(strata, minlength=len(counts_to_draw)).tolist()
    indices = draw_questions(
        hashes, strata, counts_to_draw=counts_to_draw, sizes=sizes, seed=seed, question_id_at=keys.__getitem__
    )
    return [
        keys[index] for index in sort_by_hash(indices, hashes, seed=seed, question_id_at=keys.__getitem__)
    ]


def test_the_hash_of_an_id_is_the_same_on_every_machine():
    # printf q1 | b2sum --length 64, read as a signed integer
    assert [compute_draw_hash(key) for key in ("q1", "Überlauf", "")] == [
        -1764431779661184920,
        -6041851768559752856,
        -1970711489451281740,
    ]


def test_the_mixed_hash_is_the_same_on_every_machine():
    # computed by hand with Python's integers
    def mix_hash_by_hand(value, seed):
        state = (value ^ mix_seed(seed)) * 0xBF58476D1CE4E5B9 % 2**64
        return (state ^ (state >> 32)) * 0x94D049BB133111EB % 2**64

    values = [0, -1, 1, 2**63 - 1, -(2**63), compute_draw_hash("q1")]
    for seed in (0, 7, -7, 2**62):
        assert mix_hashes(np.array(values, dtype=np.int64), seed=seed).tolist() == [
            mix_hash_by_hand(value, seed) for value in values
        ]


def test_mixed_seeds_equal_the_published_splitmix64_output():
    # the first output of SplitMix64 started at 0, in the reference implementation by S. Vigna
    assert mix_seed(0) == 0xE220A8397B1DCDAF


@given(order=st.permutations(range(60)), seed=st.integers(-(2**63), 2**63 - 1))
def test_the_draw_does_not_depend_on_row_order(order, seed):
    strata = [i % 3 for i in range(60)]
    in_order = draw_keys(KEYS[:60], strata, [3, 5, 0], seed)
    shuffled = draw_keys([KEYS[i] for i in order], [strata[i] for i in order], [3, 5, 0], seed)
    assert shuffled == in_order


@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=5).filter(any),
    data=st.data(),
    seed=st.integers(0, 1000),
)
def test_each_stratum_gives_its_lowest_hashes(sizes, data, seed):
    strata = [stratum for stratum, size in enumerate(sizes) for _ in range(size)]
    counts_to_draw = [data.draw(st.integers(0, size)) for size in sizes]
    keys = KEYS[: len(strata)]
    mixed_hashes = dict(zip(keys, mix_hashes(HASHES[: len(keys)], seed=seed).tolist(), strict=True))
    expected = []
    for stratum, n in enumerate(counts_to_draw):
        stratum_keys = [key for key, key_stratum in zip(keys, strata, strict=True) if key_stratum == stratum]
        expected += sorted(stratum_keys, key=mixed_hashes.__getitem__)[:n]
    assert draw_keys(keys, strata, counts_to_draw, seed) == sorted(expected, key=mixed_hashes.__getitem__)


def test_a_larger_draw_contains_the_smaller():
    strata = [0] * 1000
    assert set(draw_keys(KEYS[:1000], strata, [100], 7)) <= set(draw_keys(KEYS[:1000], strata, [150], 7))


@given(hashes=st.lists(st.integers(-3, 3), min_size=2, max_size=40), n=st.integers(1, 40))
def test_equal_hashes_are_ordered_by_id(hashes, n):
    # the hashes are so close or so often equal that all lie on one side of the limit
    keys = [f"k{i:02d}" for i in range(len(hashes))][::-1]
    n = min(n, len(keys))
    stored = np.array(hashes, dtype=np.int64)
    mixed_hashes = mix_hashes(stored, seed=7).tolist()
    expected = sorted(range(len(keys)), key=lambda i: (mixed_hashes[i], keys[i]))[:n]
    assert draw_keys(keys, [0] * len(keys), [n], 7, hashes=stored) == [keys[i] for i in expected]


def test_ids_are_looked_up_only_for_equal_hashes():
    looked_up: list[int] = []
    one_stratum = np.zeros(10_000, dtype=np.int32)
    drawn_indices = draw_questions(
        HASHES, one_stratum, counts_to_draw=[1000], sizes=[10_000], seed=7, question_id_at=looked_up.append
    )
    assert len(drawn_indices) == 1000
    assert looked_up == []


def test_hashes_above_the_limit_are_drawn():
    stored = select_highest_hashes()
    assert len(draw_keys(KEYS[:100], [0] * 100, [10], 7, hashes=stored)) == 10


def select_highest_hashes():
    """The 100 hashes whose mixed values with seed 7 are the highest of the 10,000."""
    return HASHES[np.argsort(mix_hashes(HASHES, seed=7))[-100:]]


def test_mixed_hashes_are_uniform_for_every_seed():
    # 10,000 sequential ids into 128 bins; over 50 seeds the p-values themselves must look uniform
    p_values = []
    for seed in range(50):
        bins = np.bincount((mix_hashes(HASHES, seed=seed) >> np.uint64(57)).astype(int), minlength=128)
        p_values.append(stats.chisquare(bins).pvalue)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_draws_with_two_seeds_overlap_as_by_chance():
    # 1,000 of 10,000 twice: 100 in common on average, hypergeometric with variance 81.0
    drawn_sets = [set(np.argsort(mix_hashes(HASHES, seed=seed))[:1000].tolist()) for seed in range(40)]
    overlaps = [len(a & b) for i, a in enumerate(drawn_sets) for b in drawn_sets[:i]]
    z = (np.mean(overlaps) - 100) / np.sqrt(81.008 / len(overlaps))
    assert abs(z) < 4
    assert 0.7 * 81 < np.var(overlaps) < 1.3 * 81


def test_neighbouring_seeds_order_the_questions_independently():
    # ranks in 8 x 8 cells for seeds s and s + 1: a chi-square of independence, 49 degrees of freedom
    p_values = []
    for seed in range(0, 60, 2):
        cells = np.zeros((8, 8), dtype=int)
        first_bins, second_bins = (
            (mix_hashes(HASHES, seed=seed + i) >> np.uint64(61)).astype(int) for i in (0, 1)
        )
        np.add.at(cells, (first_bins, second_bins), 1)
        p_values.append(stats.chi2_contingency(cells).pvalue)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("bit", range(64))
def test_each_hash_bit_flips_half_of_the_upper_24_bits(bit):
    with_flipped_bit = HASHES ^ np.int64(np.uint64(1 << bit).view(np.int64))
    changed_bits = mix_hashes(HASHES, seed=7) ^ mix_hashes(with_flipped_bit, seed=7)
    upper = np.unpackbits(changed_bits.astype(">u8").view(np.uint8).reshape(-1, 8)[:, :3], axis=1)
    # Flipping bit 63 always flips bit 63; the other 23 flip at random.
    assert upper[:, 1:].mean() == pytest.approx(0.5, abs=0.03)
