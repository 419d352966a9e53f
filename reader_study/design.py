"""Computes the reading orders of a study: the same design, readers and cases give the same orders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import Refused
from domain.studies import Arm, BlindCase, CaseKind, Crossing, Slot, StudyDesign
from reader_study.shuffling import latin_square, shuffled

#: Options that refer to the options above them keep their place.
_LAST = re.compile(
    r"\b(all|none|both|neither|any)\b.{0,12}\b(above|these|listed|options|choices)\b", re.IGNORECASE
)
#: Options that name other options by letter; the order is then not changed.
_LETTERS = re.compile(
    r"\b(?:both|options?|either|neither|only)?\s*\(?[A-F]\)?\s*(?:and|or|&)\s*\(?[A-F]\)?\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """A case, by its number in the study, that has no slot yet."""

    case: int
    arm: str
    period: int
    repeat: int = 0


def orders(
    design: StudyDesign, *, readers: Sequence[int], cases: Sequence[BlindCase], shuffle_options: bool
) -> list[Slot]:
    """Compute the slots of all readers.

    Args:
        design: of the study; everything random depends on the seed of its plan.
        readers: their ids in the order in which they were added; the first has the first row of the square.
        cases: of the study, including training cases.
        shuffle_options: whether the options of each slot are in another order.

    Returns:
        Slots by reader and position.

    Raises:
        Refused: there are fewer readers than each case needs, or more repeats than fit.
    """
    by_number = {case.number: case for case in cases}
    training = [case.number for case in cases if case.kind is CaseKind.TRAINING]
    scored = [case.number for case in cases if case.kind is CaseKind.SCORED]
    shares = _shares(design, readers=len(readers), cases=scored)
    slots = []
    for place, reader in enumerate(readers):
        visits = [
            *(_Visit(case=case, arm=_first_arm(design, place), period=1) for case in training),
            *_visits(design, place=place, cases=shares[place]),
        ]
        for position, visit in enumerate(visits, start=1):
            case = by_number[visit.case]
            purpose = f"options of {visit.case} reader {place} arm {visit.arm} repeat {visit.repeat}"
            slots.append(
                Slot(
                    reader_id=reader,
                    position=position,
                    case_id=case.id,
                    arm=visit.arm,
                    repeat=visit.repeat,
                    period=visit.period,
                    option_order=option_order(
                        case.options, seed=design.plan.seed, purpose=purpose, shuffle=shuffle_options
                    ),
                )
            )
    return slots


def option_order(options: Sequence[str], *, seed: int, purpose: str, shuffle: bool) -> tuple[int, ...]:
    """The order in which options are shown.

    "None of the above" and similar options stay last; options that name others by letter are not moved.

    Args:
        options: of the question.
        seed: of the plan.
        purpose: a text that differs between slots.
        shuffle: False for the question's own order.

    Returns:
        The index of the option at each place.
    """
    places = list(range(len(options)))
    if not shuffle or any(_LETTERS.search(text) for text in options):
        return tuple(places)
    last = [place for place in places if _LAST.search(options[place])]
    free = [place for place in places if place not in last]
    return (*shuffled(free, seed=seed, purpose=purpose), *last)


def _shares(design: StudyDesign, *, readers: int, cases: Sequence[int]) -> list[list[int]]:
    """The cases of each reader: all of them, or a part, so that each case has the required number of readers.

    Shared cases are read by all. Each other case is given to the readers with the fewest so far, at random
    among equals; numbers therefore differ by at most one, and any two readers have common cases.
    """
    if design.crossing is not Crossing.PARTS:
        return [list(cases) for _ in range(readers)]
    wanted = design.readers_per_case or 1
    if wanted > readers:
        raise Refused(
            f"Each case is to be read by {wanted} readers, and there are {readers}. Name more readers."
        )
    if design.shared > len(cases):
        raise Refused(f"{design.shared} cases are to be read by all, and there are {len(cases)}.")
    dealt = shuffled(cases, seed=design.plan.seed, purpose="parts")
    shares = [set(dealt[: design.shared]) for _ in range(readers)]
    for case in dealt[design.shared :]:
        turns = shuffled(range(readers), seed=design.plan.seed, purpose=f"readers of {case}")
        for reader in sorted(turns, key=lambda each: len(shares[each]))[:wanted]:
            shares[reader].add(case)
    return [[case for case in cases if case in share] for share in shares]


def _visits(design: StudyDesign, *, place: int, cases: Sequence[int]) -> list[_Visit]:
    """One reader's scored cases in order; hidden repeats are placed in the first period."""
    if design.crossing is not Crossing.CROSSOVER:
        ordered = _in_blocks(design, place=place, cases=cases, purpose="period 1")
        visits = [_Visit(case=case, arm=design.arms[0].name, period=1) for case in ordered]
        return _with_repeats(design, place=place, visits=visits)
    found: list[_Visit] = []
    halves = _halves(cases)
    for period in (1, 2):
        of_period: list[_Visit] = []
        for arm in _arms(design, place=place, period=period):
            half = halves[(design.arms.index(arm) + place + period) % 2]
            ordered = _in_blocks(design, place=place, cases=half, purpose=f"period {period} {arm.name}")
            of_period += [_Visit(case=case, arm=arm.name, period=period) for case in ordered]
        found += _with_repeats(design, place=place, visits=of_period) if period == 1 else of_period
    return found


def _halves(cases: Sequence[int]) -> tuple[list[int], list[int]]:
    """Divide the cases into two halves, alternating in the order of the draw, so that strata are balanced."""
    return list(cases[0::2]), list(cases[1::2])


def _arms(design: StudyDesign, *, place: int, period: int) -> tuple[Arm, ...]:
    """Both arms, in the order in which the reader has them in a period.

    With the halves by ``place % 2``, four consecutive readers have the four sequences of halves and arms.
    """
    turned = (place // 2 + period) % 2 == 0
    return tuple(reversed(design.arms)) if turned else design.arms


def _first_arm(design: StudyDesign, place: int) -> str:
    if design.crossing is not Crossing.CROSSOVER:
        return design.arms[0].name
    return _arms(design, place=place, period=1)[0].name


def _in_blocks(design: StudyDesign, *, place: int, cases: Sequence[int], purpose: str) -> list[int]:
    """The cases in blocks that are the same for all readers, ordered by the reader's row of the square."""
    count = max(1, min(design.blocks, len(cases)))
    seed = design.plan.seed
    dealt = shuffled(cases, seed=seed, purpose="blocks")
    blocks = [dealt[start::count] for start in range(count)]
    square = latin_square(count)
    row = square[place % len(square)]
    return [
        case
        for block in row
        for case in shuffled(blocks[block], seed=seed, purpose=f"{purpose} reader {place} block {block}")
    ]


def _with_repeats(design: StudyDesign, *, place: int, visits: list[_Visit]) -> list[_Visit]:
    """The visits with the repeats added, each at least ``repeat_gap`` cases after the first reading."""
    if not design.repeats:
        return visits
    seed, room = design.plan.seed, len(visits) - design.repeat_gap
    if design.repeats > room:
        raise Refused(
            f"{design.repeats} hidden repeats at least {design.repeat_gap} cases after the first don't fit "
            f"into {len(visits)} cases: at most {max(0, room)} do. Ask for fewer, or a smaller gap."
        )
    chosen = shuffled(range(room), seed=seed, purpose=f"repeats reader {place}")[: design.repeats]
    behind: dict[int, list[_Visit]] = {index: [] for index in range(len(visits))}
    for first in chosen:
        # Placed after the visit at `later`, so that at least `repeat_gap` visits are between the two.
        later = shuffled(
            range(first + design.repeat_gap, len(visits)),
            seed=seed,
            purpose=f"repeat reader {place} of {first}",
        )[0]
        behind[later].append(replace(visits[first], repeat=1))
    return [each for index, visit in enumerate(visits) for each in (visit, *behind[index])]
