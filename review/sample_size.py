"""Computes how many more questions of each stratum must be judged for an interval of a given width."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

from domain.verdicts import judgement_label
from review.estimates import KEY_ERROR, Estimate, Sample, build_outcome_predicates

#: The default target for the half-width of the interval, as a share.
DEFAULT_HALF_WIDTH = 0.02
#: The two-sided 95 % quantile of the normal distribution.
_Z = NormalDist().inv_cdf(0.975)
#: (number of questions, number of judged questions, rate) by cell.
_Cells = dict[Hashable, tuple[int, int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSizePlan:
    """The additional questions of each stratum, as (name of the stratum, count), for a target half-width.

    ``name`` is the name of the rate. ``current_half_width`` is None if the interval is not defined.
    """

    name: str
    target_half_width: float
    current_half_width: float | None
    additional: tuple[tuple[str, int], ...]

    @property
    def description(self) -> str:
        """The plan as a sentence for the user."""
        points = f"± {100 * self.target_half_width:g} points"
        label = judgement_label(self.name)
        if self.current_half_width is None:
            return f"Review questions of every stratum first: the interval of “{label}” is not defined yet."
        if not self.additional:
            return (
                f"The interval of “{label}” is already within {points} (± "
                f"{100 * self.current_half_width:.1f})."
            )
        strata_text = ", ".join(f"{count:,} {name}" for name, count in self.additional)
        return (
            f"To narrow the interval of “{label}” to {points} (now ± "
            f"{100 * self.current_half_width:.1f}), review further questions: {strata_text}."
        )


def plan_sample_size(
    estimate: Estimate, sample: Sample, *, target_half_width: float = DEFAULT_HALF_WIDTH
) -> SampleSizePlan:
    """Estimate how many further questions narrow the interval of a rate to the target half-width.

    The half-width is predicted by the normal approximation with finite population correction, from the
    current rates (half a hit and half a miss are added). It is multiplied by a constant, so that with
    0 further questions the predicted half-width equals the current one. If one cell alone needs at most 25 %
    more questions than the combination of cells, the plan has only that cell.

    Args:
        estimate: the rate.
        sample: the sample from which the rate was estimated.
        target_half_width: the target for the half-width, as a share.
    """
    half_width = estimate.half_width
    if half_width is None:
        return SampleSizePlan(
            name=estimate.name, target_half_width=target_half_width, current_half_width=None, additional=()
        )
    if half_width <= target_half_width:
        return SampleSizePlan(
            name=estimate.name,
            target_half_width=target_half_width,
            current_half_width=half_width,
            additional=(),
        )
    if sample.probabilities is not None:  # the width decreases with the root of the number of questions
        n_needed = math.ceil(estimate.rate.reviewed * ((half_width / target_half_width) ** 2 - 1))
        n_needed = min(n_needed, sample.dataset_size - estimate.rate.reviewed)
        return SampleSizePlan(
            name=estimate.name,
            target_half_width=target_half_width,
            current_half_width=half_width,
            additional=(("drawn in the same way", n_needed),),  # there are no strata to name
        )
    cells = _summarise_judged_cells(estimate, sample)
    calibration_factor = half_width / max(1e-12, _predict_half_width(cells))
    target = target_half_width / calibration_factor
    additional = _find_greedy_allocation(cells, target)
    single_cells = [
        (key, n_more)
        for key in cells
        if (n_more := _find_additional_in_one_cell(cells, key, target)) is not None
    ]
    if single_cells:
        key, n_more = min(single_cells, key=lambda pair: pair[1])
        if n_more <= 1.25 * sum(additional.values()):
            additional = {key: n_more}
    count_by_stratum: Counter[str] = Counter()
    for key, n_more in additional.items():
        count_by_stratum[sample.names[key]] += n_more
    return SampleSizePlan(
        name=estimate.name,
        target_half_width=target_half_width,
        current_half_width=half_width,
        additional=tuple(sorted(count_by_stratum.items(), key=_build_sort_key)),
    )


def _summarise_judged_cells(estimate: Estimate, sample: Sample) -> _Cells:
    has_property = build_outcome_predicates()[estimate.name]
    outcomes = [outcome for outcome in sample.outcomes if estimate.name == KEY_ERROR or not outcome.key_only]
    judged = Counter(outcome.cell for outcome in outcomes)
    hits = Counter(outcome.cell for outcome in outcomes if has_property(outcome))
    return {
        key: (size, judged[key], (hits[key] + 0.5) / (judged[key] + 1))
        for key, size in sample.sizes.items()
        if size and judged[key]
    }


def _predict_half_width(cells: _Cells, additional: Mapping[Hashable, int] | None = None) -> float:
    """Predict the half-width after ``additional`` further questions by cell."""
    total = sum(size for size, _, _ in cells.values())
    additional = additional or {}
    variance = sum(_compute_cell_variance(cell, additional.get(key, 0), total) for key, cell in cells.items())
    return _Z * math.sqrt(variance)


def _compute_cell_variance(cell: tuple[int, int, float], additional: int, total: int) -> float:
    size, judged, rate = cell
    n = judged + additional
    return (size / total) ** 2 * max(0.0, 1 - n / size) * rate * (1 - rate) / (n + 1)


def _find_additional_in_one_cell(cells: _Cells, key: Hashable, target: float) -> int | None:
    """Return how many more questions of one cell reach the target; None if all its questions do not."""
    size, judged, _ = cells[key]
    low, high = 0, size - judged
    if _predict_half_width(cells, {key: high}) > target:
        return None
    while low < high:
        middle = (low + high) // 2
        if _predict_half_width(cells, {key: middle}) <= target:
            high = middle
        else:
            low = middle + 1
    return low


def _find_greedy_allocation(cells: _Cells, target: float) -> dict[Hashable, int]:
    """Return the additional questions by cell.

    Each step adds questions in the cell where they reduce the variance most.
    """
    total = sum(size for size, _, _ in cells.values())
    step = max(1, sum(size - judged for size, judged, _ in cells.values()) // 2000)
    additional: dict[Hashable, int] = dict.fromkeys(cells, 0)
    while _predict_half_width(cells, additional) > target:
        gains = {
            key: _compute_cell_variance(cell, additional[key], total)
            - _compute_cell_variance(cell, additional[key] + step, total)
            for key, cell in cells.items()
            if cell[1] + additional[key] < cell[0]
        }
        key = max(gains, key=gains.__getitem__)
        additional[key] = min(additional[key] + step, cells[key][0] - cells[key][1])
    return {key: count for key, count in additional.items() if count}


def _build_sort_key(name_and_count: tuple[str, int]) -> tuple[int, str]:
    name, count = name_and_count
    return -count, name
