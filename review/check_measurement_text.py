"""Formats how often checks and reviewers agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measures.subgroups import SubgroupRate
from review.progress import format_interval, format_percent

if TYPE_CHECKING:
    from review.service import CheckMeasurement

NOT_MEASURED = "not measured yet"


def format_subgroup_rate(rate: SubgroupRate) -> str:
    """Format a rate with its interval and n; "not measured yet" if nobody judged such a question."""
    if rate.estimate is None:
        return NOT_MEASURED
    return f"{format_percent(rate.estimate)} ({format_interval(rate.low, rate.high)}; n = {rate.n:,})"


def describe_measurement(measurement: CheckMeasurement) -> str:
    """Describe precision, recall and specificity in one line."""
    if not measurement.is_measured:
        return NOT_MEASURED
    return (
        f"precision {format_subgroup_rate(measurement.precision)}, "
        f"recall {format_subgroup_rate(measurement.recall)}, "
        f"specificity {format_subgroup_rate(measurement.specificity)}"
    )
