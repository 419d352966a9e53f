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

TOLD, BARE = Arm(name="told"), Arm(name="bare", clinical_info_shown=False)


def cases(scored, training=0, options=("one", "two", "three", "four")):
    return [
        BlindCase(
            id=100 + number,
            study_id=1,
            number=number,
            kind=CaseKind.TRAINING if number > scored else CaseKind.SCORED,
            question_number=number,
            exam_number=number,
            question_id=f"q{number}",
            format=AnswerFormat.SINGLE,
            stem="What is shown?",
            options=options,
            sha256="0" * 64,
        )
        for number in range(1, scored + training + 1)
    ]


def design(**changes):
    return StudyDesign(plan=SamplingPlan(seed=changes.pop("seed", 7), per_1000=None, n=20), **changes)


def crossover(**changes):
    return design(crossing=Crossing.CROSSOVER, arms=(TOLD, BARE), washout_days=14, **changes)


def made(plan, *, readers=4, scored=20, training=0, shuffle_options=True):
    slots = compute_orders(
        plan,
        readers=list(range(1, readers + 1)),
        cases=cases(scored, training),
        shuffle_options=shuffle_options,
    )
    return {reader: [slot for slot in slots if slot.reader_id == reader] for reader in range(1, readers + 1)}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 9])
def test_each_value_stands_as_often_at_each_place_of_the_square(size):
    square = latin_square(size)
    for column in zip(*square, strict=True):
        assert set(Counter(column).values()) == {len(square) // size}


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 9])
def test_each_value_follows_each_other_one_as_often(size):
    after = Counter(pair for row in latin_square(size) for pair in pairwise(row))
    assert len(after) == size * (size - 1)
    assert len(set(after.values())) == 1


def test_fully_crossed_every_reader_reads_every_case_once():
    for slots in made(design()).values():
        assert sorted(slot.case_id for slot in slots) == list(range(101, 121))
        assert [slot.position for slot in slots] == list(range(1, 21))


def test_every_case_stands_in_each_quarter_for_one_of_four_readers():
    by_reader = made(design(blocks=4))
    for case in range(101, 121):
        quarters = [
            next(slot.position - 1 for slot in slots if slot.case_id == case) // 5
            for slots in by_reader.values()
        ]
        assert sorted(quarters) == [0, 1, 2, 3]


def test_no_two_readers_have_one_order():
    found = [tuple(slot.case_id for slot in slots) for slots in made(design(), readers=8).values()]
    assert len(set(found)) == 8


def test_the_same_seed_gives_the_same_orders_and_another_seed_others():
    assert made(design(seed=3)) == made(design(seed=3))
    assert made(design(seed=3)) != made(design(seed=4))


def test_the_numbers_that_a_database_gave_have_no_say():
    elsewhere = [replace(case, id=case.id + 5000) for case in cases(20)]
    here = compute_orders(design(), readers=[1, 2], cases=cases(20), shuffle_options=True)
    there = compute_orders(design(), readers=[8, 9], cases=elsewhere, shuffle_options=True)
    assert [(slot.case_id, slot.option_order) for slot in here] == [
        (slot.case_id - 5000, slot.option_order) for slot in there
    ]


def test_in_parts_every_case_has_its_number_of_readers():
    by_reader = made(design(crossing=Crossing.PARTS, readers_per_case=2, shared=4), readers=5, scored=40)
    readers_of = Counter(slot.case_id for slots in by_reader.values() for slot in slots)
    assert sorted(readers_of.values()) == [2] * 36 + [5] * 4


def test_parts_are_even_and_any_two_readers_meet_on_some_cases():
    by_reader = made(design(crossing=Crossing.PARTS, readers_per_case=2), readers=4, scored=41)
    sets = [{slot.case_id for slot in slots} for slots in by_reader.values()]
    assert max(map(len, sets)) - min(map(len, sets)) <= 1
    assert all(one & other for one, other in combinations(sets, 2))


def test_more_readers_a_case_than_there_are_is_refused():
    with pytest.raises(Refused, match="read by 3 readers, and there are 2"):
        made(design(crossing=Crossing.PARTS, readers_per_case=3), readers=2)


def test_crossed_over_every_case_is_read_once_in_each_arm():
    for slots in made(crossover()).values():
        found = Counter((slot.case_id, slot.arm) for slot in slots)
        assert len(found) == 40
        assert set(found.values()) == {1}


def test_the_two_arms_of_a_case_lie_in_different_periods():
    for slots in made(crossover()).values():
        periods: dict[Any, Any] = {}
        for slot in slots:
            periods.setdefault(slot.case_id, []).append(slot.period)
        assert all(sorted(each) == [1, 2] for each in periods.values())
        assert [slot.period for slot in slots] == sorted(slot.period for slot in slots)


def test_each_case_is_read_first_in_one_arm_by_half_of_the_readers():
    by_reader = made(crossover())
    for case in range(101, 121):
        arms = [
            next(slot.arm for slot in slots if slot.case_id == case and slot.period == 1)
            for slots in by_reader.values()
        ]
        assert sorted(arms) == ["bare", "bare", "told", "told"]


def test_half_of_the_readers_begin_with_each_arm():
    assert Counter(slots[0].arm for slots in made(crossover()).values()) == {"told": 2, "bare": 2}


def test_four_readers_have_four_sequences():
    by_reader = made(crossover())
    first_case = 101
    sequences = {
        (slots[0].arm, next(slot.arm for slot in slots if slot.case_id == first_case))
        for slots in by_reader.values()
    }
    assert len(sequences) == 4


@pytest.mark.parametrize("gap", [1, 5, 12])
def test_hidden_repeats_come_at_least_the_gap_later(gap):
    for slots in made(design(repeats=6, repeat_gap=gap)).values():
        first = {slot.case_id: slot.position for slot in slots if slot.repeat == 0}
        again = {slot.case_id: slot.position for slot in slots if slot.repeat == 1}
        assert len(again) == 6
        assert all(again[case] - first[case] >= gap for case in again)


def test_repeats_of_a_crossover_stay_in_the_arm_and_period_of_the_first():
    for slots in made(crossover(repeats=3, repeat_gap=5)).values():
        again = [slot for slot in slots if slot.repeat]
        assert len(again) == 3
        for slot in again:
            assert any(
                (each.case_id, each.arm, each.period, each.repeat) == (slot.case_id, slot.arm, slot.period, 0)
                for each in slots
            )


def test_repeats_that_do_not_fit_are_refused_with_how_many_do():
    with pytest.raises(Refused, match="at most 10 do"):
        made(design(repeats=11, repeat_gap=10))


def test_training_cases_come_first_and_are_never_repeated():
    for slots in made(design(repeats=5, repeat_gap=5), training=3).values():
        assert sorted(slot.case_id for slot in slots[:3]) == [121, 122, 123]
        assert not any(slot.case_id > 120 for slot in slots[3:])


def test_options_are_shuffled_by_reader_and_a_repeat_has_its_own_order():
    by_reader = made(design(repeats=8, repeat_gap=5))
    found = {slot.option_order for slots in by_reader.values() for slot in slots}
    assert len(found) == 24  # 4! orders, all of which occur in 112 slots
    assert all(sorted(order) == [0, 1, 2, 3] for order in found)


def test_options_keep_their_order_where_the_protocol_says_so():
    by_reader = made(design(), shuffle_options=False)
    assert {slot.option_order for slots in by_reader.values() for slot in slots} == {(0, 1, 2, 3)}


@pytest.mark.parametrize("text", ["None of the above", "All of the above", "none of these"])
def test_an_option_about_those_above_stays_last(text):
    found = {
        compute_option_order(("one", text, "three"), seed=seed, purpose="a slot", shuffle=True)
        for seed in range(40)
    }
    assert found == {(0, 2, 1), (2, 0, 1)}


def test_options_that_name_others_by_letter_stay_as_they_are():
    options = ("Effusion", "Mass", "Both A and B", "Normal")
    assert {compute_option_order(options, seed=seed, purpose="x", shuffle=True) for seed in range(20)} == {
        (0, 1, 2, 3)
    }


def test_shuffling_loses_nothing_and_does_not_see_the_order_given():
    items = list(range(50))
    assert shuffle_items(items, seed=1, purpose="p") == shuffle_items(items[::-1], seed=1, purpose="p")
    assert sorted(shuffle_items(items, seed=1, purpose="p")) == items
