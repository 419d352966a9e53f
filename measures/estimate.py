"""A coefficient with its interval: the result of each estimator of agreement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A coefficient of ``n`` questions with its standard error and interval.

    ``method`` is the name of the interval's method. If a value is None, ``note`` gives the reason.
    """

    n: int
    value: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    note: str = ""
