"""Splitting a batch's questions over reviewers: by exam, evenly by number, always the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A question that lacks ``need`` reviewers; ``holders`` (person numbers) have it already."""

    question_number: int
    exam_number: int
    position: int
    need: int
    holders: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Who gets which questions, by position, and the questions that found too few people."""

    given: dict[int, tuple[Lacking, ...]]
    short: tuple[Lacking, ...]


def split(
    lacking: Iterable[Lacking], *, people: Sequence[int], on_exam: Mapping[int, frozenset[int]] | None = None
) -> Split:
    """Give every question to as many of the people as it lacks, each person once.

    Questions of one exam stay together. The largest exams are given out first, each to whoever has the
    fewest questions so far, so the numbers differ by no more than the smallest exams can mend. An exam of
    which a person has questions already (``on_exam``: exam -> person numbers) goes on to that person.
    The order of ``people`` settles ties; nothing is left to chance.
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


def _groups(lacking: Iterable[Lacking]) -> list[list[Lacking]]:
    """Questions of one exam that lack the same, the largest groups first, then by position."""
    groups: dict[tuple[int, int, frozenset[int]], list[Lacking]] = {}
    for each in sorted(lacking, key=_position):
        groups.setdefault((each.exam_number, each.need, each.holders), []).append(each)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0].position))


def _position(each: Lacking) -> tuple[int, int]:
    return (each.position, each.question_number)
