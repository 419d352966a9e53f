"""Splitting questions among people: by exam, evenly, each person once, reproducibly."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from review.distribution import UnderassignedQuestion, distribute_questions


def exams_of(*sizes, need=1, holders=frozenset()):
    """Questions numbered from 1: one exam of each size."""
    questions, number = [], 0
    for exam, size in enumerate(sizes, start=1):
        for _ in range(size):
            number += 1
            questions.append(
                UnderassignedQuestion(
                    question_number=number,
                    exam_number=exam,
                    position=number,
                    missing_reviewers=need,
                    holders=holders,
                )
            )
    return questions


def numbers(parts, person):
    return [each.question_number for each in parts.by_person[person]]


sizes = st.lists(st.integers(1, 6), min_size=1, max_size=40)
people = st.lists(st.integers(1, 99), min_size=1, max_size=6, unique=True)


@given(sizes, people)
def test_every_question_goes_to_exactly_one_person(sizes, people):
    parts = distribute_questions(exams_of(*sizes), people=people)
    assert Counter(number for person in people for number in numbers(parts, person)) == Counter(
        range(1, sum(sizes) + 1)
    )


@given(sizes, people)
def test_an_exam_is_never_torn_apart(sizes, people):
    parts = distribute_questions(exams_of(*sizes), people=people)
    owners: dict[Any, Any] = {}
    for person in people:
        for each in parts.by_person[person]:
            assert owners.setdefault(each.exam_number, person) == person


@given(sizes, people)
def test_numbers_differ_by_no_more_than_the_largest_exam(sizes, people):
    parts = distribute_questions(exams_of(*sizes), people=people)
    loads = [len(parts.by_person[person]) for person in people]
    assert max(loads) - min(loads) <= max(sizes)


@given(st.integers(1, 60), people)
def test_exams_of_one_question_are_split_to_within_one(count, people):
    loads = [
        len(group) for group in distribute_questions(exams_of(*[1] * count), people=people).by_person.values()
    ]
    assert max(loads) - min(loads) <= 1


@given(sizes, people, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(sizes, people, shuffler):
    questions = exams_of(*sizes)
    shuffled = list(questions)
    shuffler.shuffle(shuffled)
    assert distribute_questions(shuffled, people=people) == distribute_questions(questions, people=people)


def test_the_largest_exams_are_given_out_first():
    # 5 to one, 4 to the other, then 3 to the one with fewer, 2, 1: 5 + 2 + 1 = 8 and 4 + 3 = 7
    parts = distribute_questions(exams_of(1, 2, 3, 4, 5), people=[7, 8])
    assert [len(parts.by_person[person]) for person in (7, 8)] == [8, 7]


def test_with_overlap_two_different_people_get_each_question():
    parts = distribute_questions(exams_of(1, 1, 1, need=2), people=[1, 2, 3])
    counts = Counter(number for person in (1, 2, 3) for number in numbers(parts, person))
    assert counts == {1: 2, 2: 2, 3: 2}
    assert [len(parts.by_person[person]) for person in (1, 2, 3)] == [2, 2, 2]


def test_who_has_a_question_is_not_given_it_again():
    parts = distribute_questions(exams_of(2, holders=frozenset({1})), people=[1, 2])
    assert (numbers(parts, 1), numbers(parts, 2)) == ([], [1, 2])


def test_questions_that_find_too_few_people_are_named():
    parts = distribute_questions(exams_of(2, need=2, holders=frozenset({1})), people=[1, 2])
    assert numbers(parts, 2) == [1, 2]
    assert [each.question_number for each in parts.unplaced] == [1, 2]


def test_a_new_question_goes_to_whoever_has_the_exam_already():
    parts = distribute_questions(exams_of(1, 1), people=[1, 2], reviewers_by_exam={1: frozenset({2})})
    assert (numbers(parts, 2), numbers(parts, 1)) == ([1], [2])
