"""Splitting questions among people: by exam, evenly, each question once per person, reproducibly."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from review.distribution import UnderassignedQuestion, distribute_questions


def make_questions(*sizes, need=1, holders=frozenset()):
    """Questions numbered from 1: one exam of each size."""
    questions, number = [], 0
    for exam, size in enumerate(sizes, start=1):
        for _ in range(size):
            number += 1
            questions.append(
                UnderassignedQuestion(
                    question_row_id=number,
                    exam_row_id=exam,
                    position=number,
                    missing_reviewers=need,
                    holders=holders,
                )
            )
    return questions


def list_question_row_ids(distribution, person):
    return [question.question_row_id for question in distribution.by_person[person]]


sizes = st.lists(st.integers(1, 6), min_size=1, max_size=40)
people = st.lists(st.integers(1, 99), min_size=1, max_size=6, unique=True)


@given(sizes, people)
def test_every_question_goes_to_exactly_one_person(sizes, people):
    distribution = distribute_questions(make_questions(*sizes), people=people)
    assert Counter(
        number for person in people for number in list_question_row_ids(distribution, person)
    ) == Counter(range(1, sum(sizes) + 1))


@given(sizes, people)
def test_an_exam_is_never_split(sizes, people):
    distribution = distribute_questions(make_questions(*sizes), people=people)
    owners: dict[Any, Any] = {}
    for person in people:
        for question in distribution.by_person[person]:
            assert owners.setdefault(question.exam_row_id, person) == person


@given(sizes, people)
def test_loads_differ_by_at_most_the_largest_exam(sizes, people):
    distribution = distribute_questions(make_questions(*sizes), people=people)
    loads = [len(distribution.by_person[person]) for person in people]
    assert max(loads) - min(loads) <= max(sizes)


@given(st.integers(1, 60), people)
def test_loads_differ_by_at_most_one_for_single_question_exams(count, people):
    loads = [
        len(group)
        for group in distribute_questions(make_questions(*[1] * count), people=people).by_person.values()
    ]
    assert max(loads) - min(loads) <= 1


@given(sizes, people, st.randoms(use_true_random=False))
def test_the_distribution_does_not_depend_on_row_order(sizes, people, shuffler):
    questions = make_questions(*sizes)
    shuffled = list(questions)
    shuffler.shuffle(shuffled)
    assert distribute_questions(shuffled, people=people) == distribute_questions(questions, people=people)


def test_the_largest_exams_are_distributed_first():
    # 5 and 4 go to different people, each further exam to the one with fewer: 5 + 2 + 1 = 8 and 4 + 3 = 7
    distribution = distribute_questions(make_questions(1, 2, 3, 4, 5), people=[7, 8])
    assert [len(distribution.by_person[person]) for person in (7, 8)] == [8, 7]


def test_an_overlap_of_two_gives_each_question_to_two_people():
    distribution = distribute_questions(make_questions(1, 1, 1, need=2), people=[1, 2, 3])
    counts = Counter(number for person in (1, 2, 3) for number in list_question_row_ids(distribution, person))
    assert counts == {1: 2, 2: 2, 3: 2}
    assert [len(distribution.by_person[person]) for person in (1, 2, 3)] == [2, 2, 2]


def test_a_question_is_not_assigned_twice_to_one_person():
    distribution = distribute_questions(make_questions(2, holders=frozenset({1})), people=[1, 2])
    assert (list_question_row_ids(distribution, 1), list_question_row_ids(distribution, 2)) == ([], [1, 2])


def test_questions_with_too_few_reviewers_are_listed():
    distribution = distribute_questions(make_questions(2, need=2, holders=frozenset({1})), people=[1, 2])
    assert list_question_row_ids(distribution, 2) == [1, 2]
    assert [question.question_row_id for question in distribution.unplaced] == [1, 2]


def test_a_new_question_goes_to_the_reviewer_of_its_exam():
    distribution = distribute_questions(
        make_questions(1, 1), people=[1, 2], reviewers_by_exam={1: frozenset({2})}
    )
    assert (list_question_row_ids(distribution, 2), list_question_row_ids(distribution, 1)) == ([1], [2])
