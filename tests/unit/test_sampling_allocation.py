"""How many questions a draw takes from each stratum."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.batches import SamplingPlan
from domain.vocabulary import Difficulty
from sampling.allocation import allocate, allocate_to_cells, allocate_to_tiers, compute_target_count

EASY, MEDIUM, HARD = Difficulty
TIERS = (EASY, MEDIUM, HARD, None)
PLAN = SamplingPlan(seed=7)

sizes_of_tiers = st.dictionaries(st.sampled_from(TIERS), st.integers(1, 3000), min_size=1)
shares_of_tiers = st.dictionaries(
    st.sampled_from(TIERS), st.sampled_from([0.5, 1.0, 2.0, 3.7]), min_size=4, max_size=4
)


def tiers(*sizes):
    return dict(zip(TIERS, sizes, strict=False))


def test_of_1000_questions_100_are_drawn_and_the_odd_one_is_hard():
    assert allocate_to_tiers(100, sizes=tiers(400, 300, 300), plan=PLAN) == tiers(33, 33, 34)


def test_of_101_the_second_odd_one_is_medium():
    assert allocate_to_tiers(101, sizes=tiers(400, 300, 300), plan=PLAN) == tiers(33, 34, 34)


def test_a_half_is_rounded_up():
    # 1,005 x 100 / 1,000 = 100.5
    assert [compute_target_count(PLAN, size=size) for size in (1004, 1005, 1015, 4, 5)] == [
        100,
        101,
        102,
        0,
        1,
    ]


def test_a_fixed_number_counts_what_is_drawn_already_and_what_is_there():
    plan = SamplingPlan(seed=7, per_1000=None, n=200)
    assert [
        compute_target_count(plan, size=size, already_drawn=already)
        for size, already in [(1000, 0), (1000, 150), (30, 150)]
    ] == [
        200,
        50,
        30,
    ]


def test_what_a_short_tier_lacks_is_taken_evenly_from_the_others():
    # an even share is 33 or 34 each; easy has 10, so 90 are left for two
    assert allocate_to_tiers(100, sizes=tiers(10, 500, 490), plan=PLAN) == tiers(10, 45, 45)


def test_two_short_tiers_leave_the_rest_to_the_third():
    assert allocate_to_tiers(100, sizes=tiers(10, 20, 970), plan=PLAN) == tiers(10, 20, 70)


def test_questions_without_a_tier_are_a_tier_of_their_own():
    assert allocate_to_tiers(100, sizes=tiers(400, 300, 200, 100), plan=PLAN) == tiers(25, 25, 25, 25)


def test_without_any_tier_all_come_from_one():
    assert allocate_to_tiers(100, sizes={None: 1000}, plan=PLAN) == {None: 100}


def test_shares_are_kept():
    plan = SamplingPlan(seed=7, shares={HARD: 2.0})
    assert allocate_to_tiers(100, sizes=tiers(400, 300, 300), plan=plan) == tiers(25, 25, 50)


def test_a_share_of_zero_draws_none_even_where_others_are_short():
    plan = SamplingPlan(seed=7, shares={EASY: 0.0})
    assert allocate_to_tiers(100, sizes=tiers(900, 20, 30), plan=plan) == tiers(0, 20, 30)


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, part=st.floats(0, 1))
def test_the_tiers_add_up_and_none_gives_more_than_it_has(sizes, shares, part):
    n = round(part * sum(sizes.values()))
    taken = allocate_to_tiers(n, sizes=sizes, plan=SamplingPlan(seed=7, shares=shares))
    assert sum(taken.values()) == n
    assert all(0 <= taken[tier] <= sizes[tier] for tier in sizes)


@given(sizes=sizes_of_tiers, part=st.floats(0, 1))
def test_with_equal_shares_only_an_exhausted_tier_gives_less_than_another(sizes, part):
    n = round(part * sum(sizes.values()))
    taken = allocate_to_tiers(n, sizes=sizes, plan=PLAN)
    most = max(taken.values())
    assert all(taken[tier] >= most - 1 or taken[tier] == sizes[tier] for tier in sizes)


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, n=st.integers(0, 200))
def test_asking_for_one_more_takes_one_more_of_one_tier_and_no_fewer_of_any(sizes, shares, n):
    plan = SamplingPlan(seed=7, shares=shares)
    fewer, more = (allocate_to_tiers(each, sizes=sizes, plan=plan) for each in (n, n + 1))
    assert all(fewer[tier] <= more[tier] for tier in sizes)
    assert sum(more.values()) - sum(fewer.values()) == (n < sum(sizes.values()))


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, n=st.integers(0, 300))
def test_the_quick_start_gives_what_dealing_one_by_one_gives(sizes, shares, n):
    plan = SamplingPlan(seed=7, shares=shares)
    order = [tier for tier in (HARD, MEDIUM, EASY, None) if tier in sizes]
    taken = dict.fromkeys(sizes, 0)
    for _ in range(min(n, sum(sizes.values()))):
        open_ones = [tier for tier in order if taken[tier] < sizes[tier]]
        taken[min(open_ones, key=lambda tier: (taken[tier] + Fraction(1, 2)) / Fraction(shares[tier]))] += 1
    assert allocate_to_tiers(n, sizes=sizes, plan=plan) == taken


def test_within_a_tier_cells_are_in_proportion():
    # 10 x (50, 30, 20) / 100 = 5, 3, 2; 11 x = 5.5, 3.3, 2.2: the first has the largest remainder
    assert allocate_to_cells(10, sizes=[50, 30, 20]) == [5, 3, 2]
    assert allocate_to_cells(11, sizes=[50, 30, 20]) == [6, 3, 2]


@given(sizes=st.lists(st.integers(1, 500), min_size=1, max_size=30), part=st.floats(0, 1))
def test_cells_add_up_and_stay_within_one_of_their_proportion(sizes, part):
    n = round(part * sum(sizes))
    taken = allocate_to_cells(n, sizes=sizes)
    assert sum(taken) == n
    for got, size in zip(taken, sizes, strict=True):
        exact = n * size / sum(sizes)
        assert 0 <= got <= size
        assert abs(got - exact) < 1 + 1e-9


def test_strata_come_by_tier_and_then_by_their_further_values():
    counts: dict[Any, int] = {
        (HARD, ("location",)): 300,
        (EASY, ("presence",)): 300,
        (EASY, ("location",)): 400,
        (None, ("",)): 5,
    }
    strata = allocate(counts, plan=SamplingPlan(seed=7, strata=("task",)))
    assert [(each.name, each.size, each.drawn) for each in strata] == [
        ("easy / location", 400, 27),  # 101 of 1,005: 5 without a tier, 48 easy and 48 hard
        ("easy / presence", 300, 21),
        ("hard / location", 300, 48),
        ("no tier / none", 5, 5),
    ]


@given(st.permutations(list(range(8))))
def test_the_order_of_the_counts_changes_nothing(order):
    cells = [
        ((tier, (task,)), 10 + 7 * i)
        for i, (tier, task) in enumerate((t, s) for t in TIERS for s in ("a", "b"))
    ]
    plan = SamplingPlan(seed=7, strata=("task",))
    assert allocate(dict(cells[i] for i in order), plan=plan) == allocate(dict(cells), plan=plan)
