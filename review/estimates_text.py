"""Formats estimates of a dataset as sentences of a data card, and as rows of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from domain.table_cells import escape_formula
from measures.weighted_rates import WeightedRate
from review.estimates import Estimate, Estimates
from review.progress import format_interval, format_percent

COLUMNS = (
    "group", "value", "name", "count", "reviewed", "skipped", "covered", "whole", "estimate", "se", "low",
    "high", "if_no_skipped", "if_all_skipped", "worst", "unweighted", "design_effect", "note",
    "effective_size", "powered", "powered_se", "powered_low", "powered_high", "powered_effective_size",
)  # fmt: skip
METHOD = (
    "Each stratum counts by its size. Intervals are 95 %, by Clopper and Pearson at the effective sample "
    "size (Korn and Graubard) with the finite-population correction; questions of one patient count together."
)
METHOD_BY_RISK = (
    "Questions with a higher risk of an error were more likely to be drawn, so each counts by the inverse of "
    "its inclusion probability (Horvitz-Thompson). Intervals are 95 %, by Clopper and Pearson with the "
    "moments of the weighted sum; questions of one patient count together."
)


def format_data_card(estimates: Estimates) -> tuple[str, ...]:
    """Return the lines in Markdown for the data card of a release; empty without an estimate."""
    if not estimates.reviewed or estimates.key_errors.rate.estimate is None:
        return ()
    shown_rates = [
        rate for rate in (*estimates.outcomes, estimates.key_errors, *estimates.errors) if rate.count
    ]
    return (
        (
            f"{estimates.reviewed:,} questions, drawn at random and judged, stand for {estimates.covered:,}"
            f" of the dataset's {estimates.dataset_size:,}. "
            f"{METHOD_BY_RISK if estimates.is_weighted else METHOD}"
        ),
        "",
        "| of the whole dataset | % | 95 % interval | judged |",
        "|---|---:|---:|---:|",
        *(
            f"| {rate.name} | {_format_bare_percent(rate)} | {format_interval(rate.rate.low, rate.rate.high)}"
            f" | {rate.count:,} of {rate.rate.reviewed:,} |"
            for rate in shown_rates
        ),
        "",
        *(f"- {note}" for note in estimates.notes),
    )


def format_csv_rows(parts: Sequence[tuple[str, str, Sequence[Estimate]]]) -> Iterator[str]:
    """Yield the rows of a CSV file with all estimates. Shares are 0 to 1; undefined values are empty.

    Args:
        parts: the parts of the dataset as (group, value, estimates).
    """
    yield _format_csv_row(COLUMNS)
    for group, value, estimates in parts:
        for estimate in estimates:
            rate = estimate.rate
            shares = (
                rate.estimate,
                rate.se,
                rate.low,
                rate.high,
                *(rate.bounds or (None, None)),
                estimate.worst_limit,
                rate.unweighted,
            )
            yield _format_csv_row(
                (
                    escape_formula(group),
                    escape_formula(value),
                    estimate.name,
                    *(
                        estimate.count,
                        rate.reviewed,
                        estimate.skipped,
                        estimate.covered,
                        estimate.dataset_size,
                    ),
                    *("" if share is None else f"{share:.6f}" for share in shares),
                    f"{rate.design_effect:.3f}",
                    rate.note,
                    _format_size(estimate.effective_size),
                    *_format_powered(estimate.powered),
                )
            )


def _format_powered(powered: WeightedRate | None) -> tuple[str, ...]:
    if powered is None or not powered.tuning:  # with tuning 0 it equals the estimate without predictions
        return ("",) * 5
    shares = (powered.estimate, powered.se, powered.low, powered.high)
    return (
        *("" if share is None else f"{share:.6f}" for share in shares),
        _format_size(powered.effective_size),
    )


def _format_size(size: float | None) -> str:
    return "" if size is None else f"{size:.1f}"


def _format_bare_percent(estimate: Estimate) -> str:
    return format_percent(estimate.rate.estimate).removesuffix(" %")


def _format_csv_row(values: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue()
