"""Estimates of the whole as sentences for a data card, and as rows of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from domain.table_cells import harmless
from review.estimates import Estimate, Estimates
from review.progress import interval, percent

COLUMNS = (
    "group", "value", "name", "count", "reviewed", "skipped", "covered", "whole", "estimate", "se", "low",
    "high", "if_no_skipped", "if_all_skipped", "worst", "unweighted", "design_effect", "note",
)  # fmt: skip
METHOD = (
    "Each stratum counts by its size. Intervals are 95 %, from Jeffreys' posterior of each stratum and the "
    "questions that were not judged; questions of one exam count together."
)


def sentences(found: Estimates) -> tuple[str, ...]:
    """Sentences in Markdown for the data card of a release."""
    if not found.reviewed or found.key_errors.rate.estimate is None:
        return ()
    told = [each for each in (*found.outcomes, found.key_errors, *found.errors) if each.count]
    return (
        (
            f"{found.reviewed:,} questions, drawn at random and judged, stand for {found.covered:,} of the "
            f"dataset's {found.whole:,}. {METHOD}"
        ),
        "",
        "| of the whole dataset | % | 95 % interval | judged |",
        "|---|---:|---:|---:|",
        *(
            f"| {each.name} | {_bare(each)} | {interval(each.rate.low, each.rate.high)} | "
            f"{each.count:,} of {each.rate.reviewed:,} |"
            for each in told
        ),
        "",
        *(f"- {note}" for note in found.notes),
    )


def csv_lines(parts: Sequence[tuple[str, str, Sequence[Estimate]]]) -> Iterator[str]:
    """The rows of a CSV file with all estimates; shares are 0 to 1, a value that is not defined is empty.

    Args:
        parts: (group, value, estimates) of each part of the dataset.
    """
    yield _line(COLUMNS)
    for group, value, rates in parts:
        for each in rates:
            rate = each.rate
            shares = (
                rate.estimate, rate.se, rate.low, rate.high, *(rate.bounds or (None, None)), each.worst,
                rate.unweighted,
            )  # fmt: skip
            yield _line(
                (
                    harmless(group),
                    harmless(value),
                    each.name,
                    *(each.count, rate.reviewed, each.skipped, each.covered, each.whole),
                    *("" if share is None else f"{share:.6f}" for share in shares),
                    f"{rate.design_effect:.3f}",
                    rate.note,
                )
            )


def _bare(each: Estimate) -> str:
    return percent(each.rate.estimate).removesuffix(" %")


def _line(values: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue()
