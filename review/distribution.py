"""Distributes questions to reviewers by exam, in nearly equal numbers, without randomness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.batches import AssignmentState
from domain.people import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderassignedQuestion:
    """A question that needs ``missing_reviewers`` more reviewers.

    ``holders`` has the person ids of its current reviewers.
    """

    question_row_id: int
    exam_row_id: int
    position: int
    missing_reviewers: int
    holders: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The questions of each person id, sorted by position.

    Questions in ``unplaced`` have too few reviewers.
    """

    by_person: dict[int, tuple[UnderassignedQuestion, ...]]
    unplaced: tuple[UnderassignedQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAssignments:
    """All assignments of a batch: ``states[question row id][person id]``, and person ids by exam row id."""

    states: dict[int, dict[int, AssignmentState]]
    reviewers_by_exam: dict[int, frozenset[int]]


def distribute_questions(
    questions: Iterable[UnderassignedQuestion],
    *,
    people: Sequence[int],
    reviewers_by_exam: Mapping[int, frozenset[int]] | None = None,
) -> Distribution:
    """Distribute questions to people.

    Questions of one exam that need the same number of reviewers and have the same holders stay together. The
    largest groups are distributed first. A group goes to people who already have questions of the exam, then
    to people with the fewest questions so far, so that the numbers are nearly equal. Nothing is random.

    Args:
        questions: the questions. Each is assigned to ``missing_reviewers`` people who do not have it yet.
        people: the person ids; the order decides between people with equal numbers of questions.
        reviewers_by_exam: the ids of the people who already have questions of an exam, by exam row id; they
            get the exam's other questions first.
    """
    index_by_person = {person_id: index for index, person_id in enumerate(people)}
    question_counts = dict.fromkeys(people, 0)
    by_person: dict[int, list[UnderassignedQuestion]] = {person_id: [] for person_id in people}
    unplaced: list[UnderassignedQuestion] = []
    exam_reviewers = reviewers_by_exam or {}
    for group in _group_questions(questions):
        first = group[0]
        already_on_exam = exam_reviewers.get(first.exam_row_id, frozenset())
        candidates = [person_id for person_id in people if person_id not in first.holders]
        candidates.sort(
            key=lambda person: (
                person not in already_on_exam,
                question_counts[person],
                index_by_person[person],
            )
        )
        chosen_people = candidates[: first.missing_reviewers]
        if len(chosen_people) < first.missing_reviewers:
            unplaced.extend(group)
        for person in chosen_people:
            by_person[person].extend(group)
            question_counts[person] += len(group)
    return Distribution(
        by_person={
            person: tuple(sorted(own_questions, key=_position_key))
            for person, own_questions in by_person.items()
        },
        unplaced=tuple(sorted(unplaced, key=_position_key)),
    )


def map_names_to_questions(distribution: Distribution, people: Sequence[Person]) -> dict[str, list[int]]:
    """Return the row ids of the questions that each person was assigned, by sign-in name."""
    return {
        person.name: sorted(question.question_row_id for question in distribution.by_person[person.id])
        for person in people
    }


def list_current_holders(states: dict[int, AssignmentState]) -> frozenset[int]:
    """Return the ids of the people whose assignment of the question is not withdrawn."""
    return frozenset(person for person, state in states.items() if state is not AssignmentState.WITHDRAWN)


def format_names(people: Sequence[Person]) -> str:
    """Return the sign-in names, separated by commas."""
    return ", ".join(person.name for person in people)


def _group_questions(questions: Iterable[UnderassignedQuestion]) -> list[list[UnderassignedQuestion]]:
    """Group the questions of one exam that need the same number of reviewers and have the same holders.

    The largest groups are first; groups of equal size are sorted by position.
    """
    groups: dict[tuple[int, int, frozenset[int]], list[UnderassignedQuestion]] = {}
    for question in sorted(questions, key=_position_key):
        groups.setdefault((question.exam_row_id, question.missing_reviewers, question.holders), []).append(
            question
        )
    return sorted(groups.values(), key=lambda group: (-len(group), group[0].position))


def _position_key(question: UnderassignedQuestion) -> tuple[int, int]:
    return (question.position, question.question_row_id)
