"""Computes the reading orders of a study. The same design, readers and cases give the same orders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import Refused
from domain.studies import Arm, BlindCase, CaseKind, Crossing, Slot, StudyDesign
from reader_study.permutations import latin_square, shuffle_items

#: Matches options that refer to the options above them; they stay last.
_REFERS_TO_ABOVE = re.compile(
    r"\b(all|none|both|neither|any)\b.{0,12}\b(above|these|listed|options|choices)\b", re.IGNORECASE
)
#: Matches options that name other options by letter; the order of the options is then not changed.
_REFERS_TO_LETTERS = re.compile(
    r"\b(?:both|options?|either|neither|only)?\s*\(?[A-F]\)?\s*(?:and|or|&)\s*\(?[A-F]\)?\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """One future reading of a case. ``case`` is the number of the case in the study."""

    case: int
    arm: str
    period: int
    repeat: int = 0


def compute_orders(
    design: StudyDesign, *, readers: Sequence[int], cases: Sequence[BlindCase], shuffle_options: bool
) -> list[Slot]:
    """Compute the slots of all readers.

    Args:
        design: the design of the study. The seed of its plan determines everything that is random.
        readers: the ids of the readers, in the order in which they were added. The first reader has the first
            row of the Latin square.
        cases: the cases of the study, including training cases.
        shuffle_options: whether the options are shuffled for each slot.

    Returns:
        The slots, sorted by reader and position.

    Raises:
        Refused: there are fewer readers than each case needs, or more repeats than fit.
    """
    by_number = {case.number: case for case in cases}
    training = [case.number for case in cases if case.kind is CaseKind.TRAINING]
    scored = [case.number for case in cases if case.kind is CaseKind.SCORED]
    cases_by_reader = _assign_cases(design, n_readers=len(readers), cases=scored)
    slots = []
    for reader_index, reader_id in enumerate(readers):
        visits = [
            *(_Visit(case=case, arm=_first_arm(design, reader_index), period=1) for case in training),
            *_order_visits(design, reader_index=reader_index, cases=cases_by_reader[reader_index]),
        ]
        for position, visit in enumerate(visits, start=1):
            case = by_number[visit.case]
            purpose = f"options of {visit.case} reader {reader_index} arm {visit.arm} repeat {visit.repeat}"
            slots.append(
                Slot(
                    reader_id=reader_id,
                    position=position,
                    case_id=case.id,
                    arm=visit.arm,
                    repeat=visit.repeat,
                    period=visit.period,
                    option_order=compute_option_order(
                        case.options, seed=design.plan.seed, purpose=purpose, shuffle=shuffle_options
                    ),
                )
            )
    return slots


def compute_option_order(
    options: Sequence[str], *, seed: int, purpose: str, shuffle: bool
) -> tuple[int, ...]:
    """Compute the order in which options are shown.

    "None of the above" and similar options stay last. If an option names others by letter, the order is not
    changed.

    Args:
        options: the options of the question.
        seed: the seed of the plan.
        purpose: a text that is different for each slot.
        shuffle: whether to shuffle; False gives the question's own order.

    Returns:
        The index of the option at each position.
    """
    indices = list(range(len(options)))
    if not shuffle or any(_REFERS_TO_LETTERS.search(text) for text in options):
        return tuple(indices)
    last_indices = [index for index in indices if _REFERS_TO_ABOVE.search(options[index])]
    movable_indices = [index for index in indices if index not in last_indices]
    return (*shuffle_items(movable_indices, seed=seed, purpose=purpose), *last_indices)


def _assign_cases(design: StudyDesign, *, n_readers: int, cases: Sequence[int]) -> list[list[int]]:
    """Return the cases of each reader: all cases, or a part of them if the design has parts.

    Shared cases are read by all readers. Each of the remaining cases is assigned to the readers who have the
    fewest cases so far; ties are broken at random. The readers' numbers of cases therefore differ by at most
    one.
    """
    if design.crossing is not Crossing.PARTS:
        return [list(cases) for _ in range(n_readers)]
    readers_per_case = design.readers_per_case or 1
    if readers_per_case > n_readers:
        raise Refused(
            f"The design needs {readers_per_case} readers per case, but the study has {n_readers}. "
            "Add readers."
        )
    if design.shared > len(cases):
        raise Refused(
            f"The design has {design.shared} cases for all readers, but the study has only {len(cases)} "
            "cases."
        )
    shuffled_cases = shuffle_items(cases, seed=design.plan.seed, purpose="parts")
    cases_by_reader = [set(shuffled_cases[: design.shared]) for _ in range(n_readers)]
    for case in shuffled_cases[design.shared :]:
        reader_order = shuffle_items(range(n_readers), seed=design.plan.seed, purpose=f"readers of {case}")
        for reader_index in sorted(reader_order, key=lambda index: len(cases_by_reader[index]))[
            :readers_per_case
        ]:
            cases_by_reader[reader_index].add(case)
    return [[case for case in cases if case in own_cases] for own_cases in cases_by_reader]


def _order_visits(design: StudyDesign, *, reader_index: int, cases: Sequence[int]) -> list[_Visit]:
    """Return one reader's scored cases in order, with hidden repeats in the first period."""
    if design.crossing is not Crossing.CROSSOVER:
        ordered = _order_in_blocks(design, reader_index=reader_index, cases=cases, purpose="period 1")
        visits = [_Visit(case=case, arm=design.arms[0].name, period=1) for case in ordered]
        return _insert_repeats(design, reader_index=reader_index, visits=visits)
    all_visits: list[_Visit] = []
    halves = _split_in_halves(cases)
    for period in (1, 2):
        period_visits: list[_Visit] = []
        for arm in _order_arms(design, reader_index=reader_index, period=period):
            half = halves[(design.arms.index(arm) + reader_index + period) % 2]
            ordered = _order_in_blocks(
                design, reader_index=reader_index, cases=half, purpose=f"period {period} {arm.name}"
            )
            period_visits += [_Visit(case=case, arm=arm.name, period=period) for case in ordered]
        all_visits += (
            _insert_repeats(design, reader_index=reader_index, visits=period_visits)
            if period == 1
            else period_visits
        )
    return all_visits


def _split_in_halves(cases: Sequence[int]) -> tuple[list[int], list[int]]:
    """Divide the cases into two halves, alternating in the order of the draw, so that strata are balanced."""
    return list(cases[0::2]), list(cases[1::2])


def _order_arms(design: StudyDesign, *, reader_index: int, period: int) -> tuple[Arm, ...]:
    """Return both arms, in the order in which the reader reads them in a period.

    ``reader_index // 2`` decides the order of the arms, and ``reader_index % 2`` the half of the cases. Four
    consecutive readers therefore have the four combinations.
    """
    is_reversed = (reader_index // 2 + period) % 2 == 0
    return tuple(reversed(design.arms)) if is_reversed else design.arms


def _first_arm(design: StudyDesign, reader_index: int) -> str:
    if design.crossing is not Crossing.CROSSOVER:
        return design.arms[0].name
    return _order_arms(design, reader_index=reader_index, period=1)[0].name


def _order_in_blocks(
    design: StudyDesign, *, reader_index: int, cases: Sequence[int], purpose: str
) -> list[int]:
    """Order the cases by blocks.

    Readers with the same cases have the same blocks. A row of the Latin square gives each
    reader's order of the blocks.
    """
    n_blocks = max(1, min(design.blocks, len(cases)))
    seed = design.plan.seed
    shuffled_cases = shuffle_items(cases, seed=seed, purpose="blocks")
    blocks = [shuffled_cases[start::n_blocks] for start in range(n_blocks)]
    square = latin_square(n_blocks)
    row = square[reader_index % len(square)]
    return [
        case
        for block in row
        for case in shuffle_items(
            blocks[block], seed=seed, purpose=f"{purpose} reader {reader_index} block {block}"
        )
    ]


def _insert_repeats(design: StudyDesign, *, reader_index: int, visits: list[_Visit]) -> list[_Visit]:
    """Add the repeats to the visits, each at least ``repeat_gap`` cases after the first reading."""
    if not design.repeats:
        return visits
    seed, n_available = design.plan.seed, len(visits) - design.repeat_gap
    if design.repeats > n_available:
        raise Refused(
            f"{design.repeats} hidden repeats with a minimum gap of {design.repeat_gap} cases do not fit "
            f"into {len(visits)} cases; at most {max(0, n_available)} fit. Use fewer repeats or a smaller "
            "gap."
        )
    candidates = shuffle_items(range(n_available), seed=seed, purpose=f"repeats reader {reader_index}")
    repeats_after: dict[int, list[_Visit]] = {index: [] for index in range(len(visits))}
    for first_index in candidates[: design.repeats]:
        # The repeat follows the visit at `later_index`, at least `repeat_gap` visits after the first reading.
        later_index = shuffle_items(
            range(first_index + design.repeat_gap, len(visits)),
            seed=seed,
            purpose=f"repeat reader {reader_index} of {first_index}",
        )[0]
        repeats_after[later_index].append(replace(visits[first_index], repeat=1))
    return [entry for index, visit in enumerate(visits) for entry in (visit, *repeats_after[index])]
