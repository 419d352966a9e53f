"""Adjusts p values for multiple comparisons within a family.

A table of comparisons contains two families: the comparisons over all tasks together, and the comparisons of
all single tasks. A single task is not a family of its own, because the chance of a false rejection in at
least one task grows with the number of tasks. Comparisons outside the declared family have no adjusted p
value.

Sources: Holm S, Scand J Stat 1979;6:65-70; Benjamini Y, Hochberg Y, J R Stat Soc B 1995;57:289-300.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import scipy

from domain.protocols import Adjustment


def adjust_p_values(
    p_values: Sequence[float | None], adjustment: Adjustment = Adjustment.HOLM
) -> list[float | None]:
    """Compute the adjusted p values of one family.

    Args:
        p_values: p values in any order; None for a comparison outside the family.
        adjustment: the method.

    Returns:
        The adjusted values in the same order, at most 1; None where the p value is None.

    >>> adjust_p_values([0.01, None, 0.04])
    [0.02, None, 0.04]
    >>> adjust_p_values([0.01, 0.03, 0.02], Adjustment.BENJAMINI_HOCHBERG)
    [0.03, 0.03, 0.03]
    """
    defined_indices = [index for index, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    if not defined_indices:
        return adjusted
    values = np.array([p_values[index] for index in defined_indices], dtype=np.float64)
    adjusted_values = (
        _adjust_by_holm(values)
        if adjustment is Adjustment.HOLM
        else scipy.stats.false_discovery_control(values)
    )
    for index, value in zip(defined_indices, adjusted_values, strict=True):
        adjusted[index] = float(value)
    return adjusted


def adjust_by_group(
    p_values: Sequence[float | None], groups: Sequence[Hashable], adjustment: Adjustment
) -> list[float | None]:
    """Compute the adjusted p values of several families.

    Args:
        p_values: p values in any order; None for a comparison outside every family.
        groups: the family of each comparison, in the same order.
        adjustment: the method.

    Returns:
        The adjusted values in the same order; None where the p value is None.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    for group in dict.fromkeys(groups):
        members = [index for index, group_of_comparison in enumerate(groups) if group_of_comparison == group]
        for index, value in zip(
            members, adjust_p_values([p_values[index] for index in members], adjustment), strict=True
        ):
            adjusted[index] = value
    return adjusted


def _adjust_by_holm(p_values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray:
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, p_values[order] * factors))
    return adjusted
