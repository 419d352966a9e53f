"""Formats how often checks and reviewers agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.checks import Check
from measures.subgroups import SubgroupRate
from review.agreement import AgreementEstimate
from review.check_measurement import CheckMeasurement
from review.progress import format_interval, format_percent

NOT_MEASURED = "not measured yet"
MEASUREMENT_METHOD = (
    "Precision: questions with the error among those that the check reports. Recall: questions that it "
    "reports among those with the error. Specificity: questions that it does not report among those without. "
    "Weighted to the dataset; 95 % intervals (Korn and Graubard), clustered by patient, or by exam if no "
    "patient is stated; n: judged questions."
)


def format_subgroup_rate(rate: SubgroupRate) -> str:
    """Format a rate with its interval and n; "not measured yet" if nobody judged such a question."""
    if rate.estimate is None:
        return NOT_MEASURED
    return f"{format_percent(rate.estimate)} ({format_interval(rate.low, rate.high)}; n = {rate.n:,})"


def format_kappa(kappa: AgreementEstimate) -> str:
    """Format kappa with its interval and n; if it is None, its note or "not measured yet", with n."""
    if kappa.estimate is None:
        return f"{kappa.note or NOT_MEASURED} (n = {kappa.n:,})"
    interval = (
        f"{kappa.low:.2f} to {kappa.high:.2f}, {kappa.kind}"
        if kappa.low is not None and kappa.high is not None
        else "no interval"
    )
    note = f"; {kappa.note}" if kappa.note else ""
    return f"{kappa.estimate:.2f} ({interval}; n = {kappa.n:,}){note}"


def format_card_of_checks(
    measurements: Sequence[CheckMeasurement], versions: Mapping[Check, int]
) -> tuple[str, ...]:
    """Return lines in Markdown for the data card of a release; empty without a measurement.

    Args:
        measurements: the measurements, one per check and reviewers' field.
        versions: the version with which each check ran.
    """
    if not measurements:
        return ()
    return (
        MEASUREMENT_METHOD,
        "",
        "| check | version | compared with | precision | recall | specificity |",
        "|---|---:|---|---:|---:|---:|",
        *(
            f"| {measurement.check.label} | {versions[measurement.check]} | {measurement.target} | "
            f"{format_subgroup_rate(measurement.precision)} | {format_subgroup_rate(measurement.recall)} | "
            f"{format_subgroup_rate(measurement.specificity)} |"
            for measurement in measurements
        ),
    )


def describe_measurement(measurement: CheckMeasurement) -> str:
    """Describe precision, recall and specificity in one line."""
    if not measurement.is_measured:
        return NOT_MEASURED
    return (
        f"precision {format_subgroup_rate(measurement.precision)}, "
        f"recall {format_subgroup_rate(measurement.recall)}, "
        f"specificity {format_subgroup_rate(measurement.specificity)}"
    )
