"""A coefficient with its interval: what every estimator of agreement returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """``value`` over ``n`` questions, with standard error and interval; ``method`` is that of the interval.

    A value that is not defined is None, and ``note`` gives the reason.
    """

    n: int
    value: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    note: str = ""
