"""Orders of reader studies: counterbalanced, with wash-out, overlap and spaced repeats, fixed by the seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest

from domain.batches import SamplingPlan
from domain.errors import Refused
from domain.studies import Arm, BlindCase, CaseKind, Crossing, StudyDesign
from domain.vocabulary import AnswerFormat
from reader_study.design import compute_option_order, compute_orders
from reader_study.permutations import latin_square, shuffle_items

WITH_INFORMATION, WITHOUT_INFORMATION = Arm(name="with"), Arm(name="without", clinical_info_shown=False)


def make_cases(scored, training=0, options=("one", "two", "three", "four")):
    return [
        BlindCase(
            id=100 + number,
            study_id=1,
            number=number,
            kind=CaseKind.TRAINING if number > scored else CaseKind.SCORED,
            question_row_id=number,
            exam_row_id=number,
            question_id=f"q{number}",
            format=AnswerFormat.SINGLE,
            stem="What is shown?",
            options=options,
            sha256="0" * 64,
        )
        for number in range(1, scored + training + 1)
    ]


def make_design(**changes):
    return StudyDesign(plan=SamplingPlan(seed=changes.pop("seed", 7), per_1000=None, n=20), **changes)


def make_crossover(**changes):
    return make_design(
        crossing=Crossing.CROSSOVER, arms=(WITH_INFORMATION, WITHOUT_INFORMATION), washout_days=14, **changes
    )


def compute_slots_by_reader(design, *, readers=4, scored=20, training=0, shuffle_options=True):
    slots = compute_orders(
        design,
        readers=list(range(1, readers + 1)),
        cases=make_cases(scored, training),
        shuffle_options=shuffle_options,
    )
    return {reader: [slot for slot in slots if slot.reader_id == reader] for reader in range(1, readers + 1)}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 9])
def test_each_value_of_a_latin_square_is_equally_often_in_each_column(size):
    square = latin_square(size)
    for column in zip(*square, strict=True):
        assert set(Counter(column).values()) == {len(square) // size}


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 9])
def test_each_value_of_a_latin_square_follows_every_other_equally_often(size):
    adjacent_pairs = Counter(pair for row in latin_square(size) for pair in pairwise(row))
    assert len(adjacent_pairs) == size * (size - 1)
    assert len(set(adjacent_pairs.values())) == 1


def test_fully_crossed_readers_read_every_case_once():
    for slots in compute_slots_by_reader(make_design()).values():
        assert sorted(slot.case_id for slot in slots) == list(range(101, 121))
        assert [slot.position for slot in slots] == list(range(1, 21))


def test_four_blocks_place_a_case_in_each_quarter_once():
    by_reader = compute_slots_by_reader(make_design(blocks=4))
    for case in range(101, 121):
        quarters = [
            next(slot.position - 1 for slot in slots if slot.case_id == case) // 5
            for slots in by_reader.values()
        ]
        assert sorted(quarters) == [0, 1, 2, 3]


def test_no_two_readers_have_the_same_order():
    case_orders = [
        tuple(slot.case_id for slot in slots)
        for slots in compute_slots_by_reader(make_design(), readers=8).values()
    ]
    assert len(set(case_orders)) == 8


def test_the_orders_depend_only_on_the_seed():
    assert compute_slots_by_reader(make_design(seed=3)) == compute_slots_by_reader(make_design(seed=3))
    assert compute_slots_by_reader(make_design(seed=3)) != compute_slots_by_reader(make_design(seed=4))


def test_the_orders_do_not_depend_on_database_ids():
    renumbered_cases = [replace(case, id=case.id + 5000) for case in make_cases(20)]
    slots = compute_orders(make_design(), readers=[1, 2], cases=make_cases(20), shuffle_options=True)
    renumbered_slots = compute_orders(
        make_design(), readers=[8, 9], cases=renumbered_cases, shuffle_options=True
    )
    assert [(slot.case_id, slot.option_order) for slot in slots] == [
        (slot.case_id - 5000, slot.option_order) for slot in renumbered_slots
    ]


def test_every_case_in_parts_has_the_planned_number_of_readers():
    by_reader = compute_slots_by_reader(
        make_design(crossing=Crossing.PARTS, readers_per_case=2, shared=4), readers=5, scored=40
    )
    readers_by_case = Counter(slot.case_id for slots in by_reader.values() for slot in slots)
    assert sorted(readers_by_case.values()) == [2] * 36 + [5] * 4


def test_parts_are_even_and_any_two_readers_share_cases():
    by_reader = compute_slots_by_reader(
        make_design(crossing=Crossing.PARTS, readers_per_case=2), readers=4, scored=41
    )
    case_sets = [{slot.case_id for slot in slots} for slots in by_reader.values()]
    assert max(map(len, case_sets)) - min(map(len, case_sets)) <= 1
    assert all(first_set & second_set for first_set, second_set in combinations(case_sets, 2))


def test_more_readers_per_case_than_exist_are_refused():
    with pytest.raises(Refused, match="needs 3 readers per case, but the study has 2"):
        compute_slots_by_reader(make_design(crossing=Crossing.PARTS, readers_per_case=3), readers=2)


def test_readers_of_a_crossover_read_every_case_once_in_each_arm():
    for slots in compute_slots_by_reader(make_crossover()).values():
        slot_counts = Counter((slot.case_id, slot.arm) for slot in slots)
        assert len(slot_counts) == 40
        assert set(slot_counts.values()) == {1}


def test_the_two_arms_of_a_case_are_in_different_periods():
    for slots in compute_slots_by_reader(make_crossover()).values():
        periods: dict[Any, Any] = {}
        for slot in slots:
            periods.setdefault(slot.case_id, []).append(slot.period)
        assert all(sorted(case_periods) == [1, 2] for case_periods in periods.values())
        assert [slot.period for slot in slots] == sorted(slot.period for slot in slots)


def test_each_arm_comes_first_for_half_of_the_readers_of_a_case():
    by_reader = compute_slots_by_reader(make_crossover())
    for case in range(101, 121):
        arms = [
            next(slot.arm for slot in slots if slot.case_id == case and slot.period == 1)
            for slots in by_reader.values()
        ]
        assert sorted(arms) == ["with", "with", "without", "without"]


def test_half_of_the_readers_start_with_each_arm():
    assert Counter(slots[0].arm for slots in compute_slots_by_reader(make_crossover()).values()) == {
        "with": 2,
        "without": 2,
    }


def test_four_readers_have_four_sequences():
    by_reader = compute_slots_by_reader(make_crossover())
    first_case = 101
    sequences = {
        (slots[0].arm, next(slot.arm for slot in slots if slot.case_id == first_case))
        for slots in by_reader.values()
    }
    assert len(sequences) == 4


@pytest.mark.parametrize("gap", [1, 5, 12])
def test_hidden_repeats_follow_after_at_least_the_gap(gap):
    for slots in compute_slots_by_reader(make_design(repeats=6, repeat_gap=gap)).values():
        first_positions = {slot.case_id: slot.position for slot in slots if slot.repeat == 0}
        repeat_positions = {slot.case_id: slot.position for slot in slots if slot.repeat == 1}
        assert len(repeat_positions) == 6
        assert all(repeat_positions[case] - first_positions[case] >= gap for case in repeat_positions)


def test_a_repeat_has_the_arm_and_period_of_its_first_reading():
    for slots in compute_slots_by_reader(make_crossover(repeats=3, repeat_gap=5)).values():
        repeats = [slot for slot in slots if slot.repeat]
        assert len(repeats) == 3
        for slot in repeats:
            assert any(
                (first_slot.case_id, first_slot.arm, first_slot.period, first_slot.repeat)
                == (slot.case_id, slot.arm, slot.period, 0)
                for first_slot in slots
            )


def test_too_many_repeats_are_refused_with_the_maximum():
    with pytest.raises(Refused, match="at most 10 fit"):
        compute_slots_by_reader(make_design(repeats=11, repeat_gap=10))


def test_training_cases_are_first_and_never_repeated():
    for slots in compute_slots_by_reader(make_design(repeats=5, repeat_gap=5), training=3).values():
        assert sorted(slot.case_id for slot in slots[:3]) == [121, 122, 123]
        assert not any(slot.case_id > 120 for slot in slots[3:])


def test_options_are_shuffled_separately_for_each_slot():
    by_reader = compute_slots_by_reader(make_design(repeats=8, repeat_gap=5))
    option_orders = {slot.option_order for slots in by_reader.values() for slot in slots}
    assert len(option_orders) == 24  # 4! orders, all of which occur in 112 slots
    assert all(sorted(order) == [0, 1, 2, 3] for order in option_orders)


def test_options_keep_their_order_if_shuffling_is_off():
    by_reader = compute_slots_by_reader(make_design(), shuffle_options=False)
    assert {slot.option_order for slots in by_reader.values() for slot in slots} == {(0, 1, 2, 3)}


@pytest.mark.parametrize("text", ["None of the above", "All of the above", "none of these"])
def test_an_option_about_the_other_options_is_placed_last(text):
    option_orders = {
        compute_option_order(("one", text, "three"), seed=seed, purpose="a slot", shuffle=True)
        for seed in range(40)
    }
    assert option_orders == {(0, 2, 1), (2, 0, 1)}


def test_options_that_refer_to_letters_are_not_shuffled():
    options = ("Effusion", "Mass", "Both A and B", "Normal")
    assert {compute_option_order(options, seed=seed, purpose="x", shuffle=True) for seed in range(20)} == {
        (0, 1, 2, 3)
    }


def test_shuffling_is_a_permutation_independent_of_input_order():
    items = list(range(50))
    assert shuffle_items(items, seed=1, purpose="p") == shuffle_items(items[::-1], seed=1, purpose="p")
    assert sorted(shuffle_items(items, seed=1, purpose="p")) == items
