"""Distributes questions to reviewers: by exam, in equal numbers, deterministically."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.batches import AssignmentState
from domain.people import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A question that needs ``need`` more reviewers; ``holders`` are the person ids of those it has."""

    question_number: int
    exam_number: int
    position: int
    need: int
    holders: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The questions of each person id, by position; ``short`` are questions with too few people."""

    given: dict[int, tuple[Lacking, ...]]
    short: tuple[Lacking, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """All assignments of a batch: ``states[question][person]``, and the reviewers of each exam."""

    states: dict[int, dict[int, AssignmentState]]
    on_exam: dict[int, frozenset[int]]


def split(
    lacking: Iterable[Lacking], *, people: Sequence[int], on_exam: Mapping[int, frozenset[int]] | None = None
) -> Split:
    """Distribute questions to people.

    Questions of one exam stay together. The largest exams are distributed first, each to the person with the
    fewest questions so far, so that numbers are nearly equal. Nothing is random.

    Args:
        lacking: the questions, each given to as many different people as it needs.
        people: ids; the order decides between people with equal numbers.
        on_exam: people who have questions of an exam already, by exam number; they get its other questions.
    """
    order = {person: place for place, person in enumerate(people)}
    load = dict.fromkeys(people, 0)
    given: dict[int, list[Lacking]] = {person: [] for person in people}
    short: list[Lacking] = []
    known = on_exam or {}
    for group in _groups(lacking):
        first = group[0]
        had = known.get(first.exam_number, frozenset())
        free = [person for person in people if person not in first.holders]
        free.sort(key=lambda person: (person not in had, load[person], order[person]))
        chosen = free[: first.need]
        if len(chosen) < first.need:
            short.extend(group)
        for person in chosen:
            given[person].extend(group)
            load[person] += len(group)
    return Split(
        given={person: tuple(sorted(group, key=_position)) for person, group in given.items()},
        short=tuple(sorted(short, key=_position)),
    )


def by_name(parts: Split, people: Sequence[Person]) -> dict[str, list[int]]:
    """The question numbers that each person was assigned, by sign-in name."""
    return {person.name: sorted(each.question_number for each in parts.given[person.id]) for person in people}


def holders_of(states: dict[int, AssignmentState]) -> frozenset[int]:
    """The people who have the question: all whose assignment is not withdrawn."""
    return frozenset(person for person, state in states.items() if state is not AssignmentState.WITHDRAWN)


def names_of(people: Sequence[Person]) -> str:
    """Sign-in names, separated by commas."""
    return ", ".join(person.name for person in people)


def questions_text(count: int) -> str:
    """A count of questions as text: "1,204 questions"."""
    return f"{count:,} question" if count == 1 else f"{count:,} questions"


def _groups(lacking: Iterable[Lacking]) -> list[list[Lacking]]:
    """Groups of questions of one exam with the same need and holders, the largest first, then by position."""
    groups: dict[tuple[int, int, frozenset[int]], list[Lacking]] = {}
    for each in sorted(lacking, key=_position):
        groups.setdefault((each.exam_number, each.need, each.holders), []).append(each)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0].position))


def _position(each: Lacking) -> tuple[int, int]:
    return (each.position, each.question_number)
