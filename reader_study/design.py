"""Who reads which case, where, in which arm: the orders that are stored. Pure, and the same for one seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import Refused
from domain.studies import Arm, BlindCase, CaseKind, Crossing, Slot, StudyDesign
from reader_study.shuffling import latin_square, shuffled

#: An option that says something of those above it keeps its place below them.
_LAST = re.compile(
    r"\b(all|none|both|neither|any)\b.{0,12}\b(above|these|listed|options|choices)\b", re.IGNORECASE
)
#: Options that name others by their letters make sense in their own order only.
_LETTERS = re.compile(
    r"\b(?:both|options?|either|neither|only)?\s*\(?[A-F]\)?\s*(?:and|or|&)\s*\(?[A-F]\)?\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """A case, by its number in the study, on its way to a slot."""

    case: int
    arm: str
    period: int
    repeat: int = 0


def orders(
    design: StudyDesign, *, readers: Sequence[int], cases: Sequence[BlindCase], shuffle_options: bool
) -> list[Slot]:
    """The slots of all readers, by reader and position.

    Args:
        design: of the study; its plan's seed is the only chance in here.
        readers: their numbers in the order in which they were named; the first has the first row of a square.
        cases: of the study, training cases too.
        shuffle_options: whether options are shown in another order at each slot.

    Raises:
        Refused: fewer readers than each case needs, or more repeats than there is room for.
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
    """Which option stands at each place.

    "None of the above" and its like stay last; options that name others by letter stay as they are.
    """
    places = list(range(len(options)))
    if not shuffle or any(_LETTERS.search(text) for text in options):
        return tuple(places)
    last = [place for place in places if _LAST.search(options[place])]
    free = [place for place in places if place not in last]
    return (*shuffled(free, seed=seed, purpose=purpose), *last)


def _shares(design: StudyDesign, *, readers: int, cases: Sequence[int]) -> list[list[int]]:
    """The cases of each reader: all, or a part such that each case has its number of readers.

    The shared cases go to all. Each other one goes to those who have fewest so far, chance deciding between
    equals: so the readers' numbers differ by one at most, and any two of them meet on some cases.
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
    """One reader's scored cases in order, hidden repeats among those of the first period."""
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
    """The cases in two halves, alternately from the draw's order: strata are split evenly."""
    return list(cases[0::2]), list(cases[1::2])


def _arms(design: StudyDesign, *, place: int, period: int) -> tuple[Arm, ...]:
    """Both arms in the order in which the reader meets them in that period.

    With the halves by ``place % 2``, four readers in a row have the four sequences of halves and arms.
    """
    turned = (place // 2 + period) % 2 == 0
    return tuple(reversed(design.arms)) if turned else design.arms


def _first_arm(design: StudyDesign, place: int) -> str:
    if design.crossing is not Crossing.CROSSOVER:
        return design.arms[0].name
    return _arms(design, place=place, period=1)[0].name


def _in_blocks(design: StudyDesign, *, place: int, cases: Sequence[int], purpose: str) -> list[int]:
    """The cases in blocks, the same for all readers; the blocks' order is the reader's row of the square."""
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
    """The visits with some of them a second time, each at least ``repeat_gap`` cases after the first."""
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
        # Behind the visit at `later`: at least `repeat_gap` others lie between the two.
        later = shuffled(
            range(first + design.repeat_gap, len(visits)),
            seed=seed,
            purpose=f"repeat reader {place} of {first}",
        )[0]
        behind[later].append(replace(visits[first], repeat=1))
    return [each for index, visit in enumerate(visits) for each in (visit, *behind[index])]
