"""Computes how many more questions of which strata to judge for an interval of a given width."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from review.estimates import KEY_ERROR, Estimate, Sample, properties

#: The default half-width of the interval to aim at, as a share.
GOAL = 0.02
_Z = 1.959964
#: (size, judged, rate) of each cell.
_Cells = dict[Hashable, tuple[int, int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The number of questions to judge, by name of the cell, for a half-width below ``goal``."""

    name: str
    goal: float
    now: float | None
    more: tuple[tuple[str, int], ...]

    @property
    def sentence(self) -> str:
        """The plan as a sentence for the user."""
        points = f"± {100 * self.goal:g} points"
        if self.now is None:
            return f"Judge some of every stratum first: the interval of “{self.name}” is not defined yet."
        if not self.more:
            return f"The interval of “{self.name}” is within {points} already (± {100 * self.now:.1f})."
        said = " and ".join(f"{count:,} more of {name}" for name, count in self.more)
        return (
            f"Review {said} to bring the interval of “{self.name}” under {points} "
            f"(it is ± {100 * self.now:.1f})."
        )


def plan(found: Estimate, sample: Sample, *, goal: float = GOAL) -> Plan:
    """Compute the fewest further questions that bring an interval below a half-width.

    The width is predicted from the current rates (with half a hit and half a miss added), the finite
    population and the clustering, and corrected by the ratio of the current width to its prediction. If one
    cell alone is nearly as good as the best mixture, the plan names only that cell.

    Args:
        found: the rate.
        sample: that it was estimated from.
        goal: the half-width, as a share.
    """
    now = found.half_width
    if now is None:
        return Plan(name=found.name, goal=goal, now=None, more=())
    if now <= goal:
        return Plan(name=found.name, goal=goal, now=now, more=())
    cells = _planned(found, sample)
    scale = now / max(1e-12, _foreseen(cells))
    aim = goal / scale
    best = _mixture(cells, aim)
    alone = [(key, more) for key in cells if (more := _one(cells, key, aim)) is not None]
    if alone:
        key, more = min(alone, key=lambda each: each[1])
        if more <= 1.25 * sum(best.values()):
            best = {key: more}
    by_name: Counter[str] = Counter()
    for key, more in best.items():
        by_name[sample.names[key]] += more
    return Plan(name=found.name, goal=goal, now=now, more=tuple(sorted(by_name.items(), key=_most_first)))


def _planned(found: Estimate, sample: Sample) -> _Cells:
    has = properties()[found.name]
    outcomes = [each for each in sample.outcomes if found.name == KEY_ERROR or not each.key_only]
    judged = Counter(each.cell for each in outcomes)
    hits = Counter(each.cell for each in outcomes if has(each))
    return {
        key: (size, judged[key], (hits[key] + 0.5) / (judged[key] + 1))
        for key, size in sample.sizes.items()
        if size and judged[key]
    }


def _foreseen(cells: _Cells, more: Mapping[Hashable, int] | None = None) -> float:
    """The predicted half-width after ``more`` further questions."""
    whole = sum(size for size, _, _ in cells.values())
    more = more or {}
    variance = sum(_part(cell, more.get(key, 0), whole) for key, cell in cells.items())
    return _Z * math.sqrt(variance)


def _part(cell: tuple[int, int, float], more: int, whole: int) -> float:
    size, judged, rate = cell
    n = judged + more
    return (size / whole) ** 2 * max(0.0, 1 - n / size) * rate * (1 - rate) / (n + 1)


def _one(cells: _Cells, key: Hashable, aim: float) -> int | None:
    """The number of questions of one cell alone; None if the whole cell is not enough."""
    size, judged, _ = cells[key]
    low, high = 0, size - judged
    if _foreseen(cells, {key: high}) > aim:
        return None
    while low < high:
        middle = (low + high) // 2
        if _foreseen(cells, {key: middle}) <= aim:
            high = middle
        else:
            low = middle + 1
    return low


def _mixture(cells: _Cells, aim: float) -> dict[Hashable, int]:
    """The fewest questions, added step by step to the cell that narrows the interval most."""
    whole = sum(size for size, _, _ in cells.values())
    step = max(1, sum(size - judged for size, judged, _ in cells.values()) // 2000)
    more: dict[Hashable, int] = dict.fromkeys(cells, 0)
    while _foreseen(cells, more) > aim:
        gains = {
            key: _part(cell, more[key], whole) - _part(cell, more[key] + step, whole)
            for key, cell in cells.items()
            if cell[1] + more[key] < cell[0]
        }
        if not gains:
            break
        key = max(gains, key=gains.__getitem__)
        more[key] = min(more[key] + step, cells[key][0] - cells[key][1])
    return {key: count for key, count in more.items() if count}


def _most_first(named: tuple[str, int]) -> tuple[int, str]:
    return -named[1], named[0]
