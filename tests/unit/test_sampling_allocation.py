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


def make_tier_counts(*sizes):
    return dict(zip(TIERS, sizes, strict=False))


def test_the_remainder_of_100_questions_goes_to_the_hard_tier():
    assert allocate_to_tiers(100, sizes=make_tier_counts(400, 300, 300), plan=PLAN) == make_tier_counts(
        33, 33, 34
    )


def test_the_second_remainder_goes_to_the_medium_tier():
    assert allocate_to_tiers(101, sizes=make_tier_counts(400, 300, 300), plan=PLAN) == make_tier_counts(
        33, 34, 34
    )


def test_a_half_is_rounded_up():
    # 1,005 x 100 / 1,000 = 100.5
    assert [compute_target_count(PLAN, size=size) for size in (1004, 1005, 1015, 4, 5)] == [
        100,
        101,
        102,
        0,
        1,
    ]


def test_a_fixed_number_is_reduced_by_drawn_questions_and_limited_by_available_ones():
    plan = SamplingPlan(seed=7, per_1000=None, n=200)
    assert [
        compute_target_count(plan, size=size, already_drawn=already_drawn)
        for size, already_drawn in [(1000, 0), (1000, 150), (30, 150)]
    ] == [
        200,
        50,
        30,
    ]


def test_a_shortfall_in_one_difficulty_is_filled_evenly_from_the_others():
    # an even share is 33 or 34 each; easy has 10, so 90 are left for two
    assert allocate_to_tiers(100, sizes=make_tier_counts(10, 500, 490), plan=PLAN) == make_tier_counts(
        10, 45, 45
    )


def test_shortfalls_in_two_difficulties_are_filled_from_the_third():
    assert allocate_to_tiers(100, sizes=make_tier_counts(10, 20, 970), plan=PLAN) == make_tier_counts(
        10, 20, 70
    )


def test_questions_without_a_difficulty_are_a_group_of_their_own():
    assert allocate_to_tiers(100, sizes=make_tier_counts(400, 300, 200, 100), plan=PLAN) == make_tier_counts(
        25, 25, 25, 25
    )


def test_without_tiers_all_questions_come_from_one_group():
    assert allocate_to_tiers(100, sizes={None: 1000}, plan=PLAN) == {None: 100}


def test_tier_shares_are_applied():
    plan = SamplingPlan(seed=7, shares={HARD: 2.0})
    assert allocate_to_tiers(100, sizes=make_tier_counts(400, 300, 300), plan=plan) == make_tier_counts(
        25, 25, 50
    )


def test_a_share_of_zero_draws_none_even_if_others_are_short():
    plan = SamplingPlan(seed=7, shares={EASY: 0.0})
    assert allocate_to_tiers(100, sizes=make_tier_counts(900, 20, 30), plan=plan) == make_tier_counts(
        0, 20, 30
    )


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, drawn_share=st.floats(0, 1))
def test_tier_counts_add_up_and_stay_within_tier_sizes(sizes, shares, drawn_share):
    n = round(drawn_share * sum(sizes.values()))
    allocated = allocate_to_tiers(n, sizes=sizes, plan=SamplingPlan(seed=7, shares=shares))
    assert sum(allocated.values()) == n
    assert all(0 <= allocated[tier] <= sizes[tier] for tier in sizes)


@given(sizes=sizes_of_tiers, drawn_share=st.floats(0, 1))
def test_with_equal_shares_only_exhausted_tiers_get_less(sizes, drawn_share):
    n = round(drawn_share * sum(sizes.values()))
    allocated = allocate_to_tiers(n, sizes=sizes, plan=PLAN)
    maximum = max(allocated.values())
    assert all(allocated[tier] >= maximum - 1 or allocated[tier] == sizes[tier] for tier in sizes)


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, n=st.integers(0, 200))
def test_one_more_question_adds_one_to_a_single_tier(sizes, shares, n):
    plan = SamplingPlan(seed=7, shares=shares)
    allocated_n, allocated_n_plus_1 = (
        allocate_to_tiers(count, sizes=sizes, plan=plan) for count in (n, n + 1)
    )
    assert all(allocated_n[tier] <= allocated_n_plus_1[tier] for tier in sizes)
    assert sum(allocated_n_plus_1.values()) - sum(allocated_n.values()) == (n < sum(sizes.values()))


@given(sizes=sizes_of_tiers, shares=shares_of_tiers, n=st.integers(0, 300))
def test_the_allocation_equals_assigning_one_by_one(sizes, shares, n):
    plan = SamplingPlan(seed=7, shares=shares)
    order = [tier for tier in (HARD, MEDIUM, EASY, None) if tier in sizes]
    allocated = dict.fromkeys(sizes, 0)
    for _ in range(min(n, sum(sizes.values()))):
        open_tiers = [tier for tier in order if allocated[tier] < sizes[tier]]
        allocated[
            min(open_tiers, key=lambda tier: (allocated[tier] + Fraction(1, 2)) / Fraction(shares[tier]))
        ] += 1
    assert allocate_to_tiers(n, sizes=sizes, plan=plan) == allocated


def test_cells_within_a_difficulty_are_allocated_in_proportion():
    # 10 x (50, 30, 20) / 100 = 5, 3, 2; and for 11: 5.5, 3.3, 2.2; the first has the largest remainder
    assert allocate_to_cells(10, sizes=[50, 30, 20]) == [5, 3, 2]
    assert allocate_to_cells(11, sizes=[50, 30, 20]) == [6, 3, 2]


@given(sizes=st.lists(st.integers(1, 500), min_size=1, max_size=30), drawn_share=st.floats(0, 1))
def test_cell_counts_are_within_one_of_their_proportion(sizes, drawn_share):
    n = round(drawn_share * sum(sizes))
    allocated = allocate_to_cells(n, sizes=sizes)
    assert sum(allocated) == n
    for count, size in zip(allocated, sizes, strict=True):
        exact = n * size / sum(sizes)
        assert 0 <= count <= size
        assert abs(count - exact) < 1 + 1e-9


def test_strata_are_sorted_by_difficulty_and_then_by_other_values():
    counts: dict[Any, int] = {
        (HARD, ("location",)): 300,
        (EASY, ("presence",)): 300,
        (EASY, ("location",)): 400,
        (None, ("",)): 5,
    }
    strata = allocate(counts, plan=SamplingPlan(seed=7, strata=("task",)))
    assert [(stratum.name, stratum.size, stratum.drawn) for stratum in strata] == [
        ("easy / location", 400, 27),  # 101 of 1,005: 5 without a difficulty, 48 easy and 48 hard
        ("easy / presence", 300, 21),
        ("hard / location", 300, 48),
        ("no tier / none", 5, 5),
    ]


@given(st.permutations(list(range(8))))
def test_the_allocation_does_not_depend_on_the_order_of_counts(order):
    cells = [
        ((tier, (task,)), 10 + 7 * i)
        for i, (tier, task) in enumerate((t, s) for t in TIERS for s in ("a", "b"))
    ]
    plan = SamplingPlan(seed=7, strata=("task",))
    assert allocate(dict(cells[i] for i in order), plan=plan) == allocate(dict(cells), plan=plan)
