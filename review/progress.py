"""The data of the progress page of a batch, and its texts."""

from __future__ import annotations

from dataclasses import dataclass

from domain.batches import Batch
from domain.verdicts import ErrorKind
from domain.vocabulary import Difficulty
from measures.estimate import Estimate
from measures.proportions import Proportion
from review.pace import ExpectedFinish
from review.rating_statistics import RatingSummary, YesNoSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressLine:
    """One row of a breakdown, in judgements: a question assigned to two people counts twice.

    ``questions`` is the number of questions in the row, of which ``unassigned`` are assigned to nobody.
    ``requested`` judgements are ``done``, ``skipped`` or ``left``.
    ``seconds_median`` is the median viewing time until a person's first verdict, over ``timed`` judgements;
    None if there are none.
    """

    name: str
    questions: int
    unassigned: int
    requested: int
    done: int
    skipped: int
    left: int
    seconds_median: float | None
    timed: int
    finish: ExpectedFinish


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The share of the reviewed questions with a kind of error, or with a decision.

    ``if_skipped`` is the lowest and the highest possible share: no skipped question, or every one, has the
    property. It is None if no question was skipped or none was reviewed.
    """

    name: str
    share: Proportion
    if_skipped: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierTable:
    """The machine's tier (rows) and the expert's tier (columns) of the judgements that have both.

    ``counts[row][column]`` is in the order of ``tiers``. ``missing_tier`` is the
    number of judgements that are left out because a tier is missing. ``linear`` and ``quadratic`` are Cohen's
    kappas with these weights.
    """

    tiers: tuple[Difficulty, ...]
    counts: tuple[tuple[int, ...], ...]
    missing_tier: int
    linear: Estimate
    quadratic: Estimate
    note: str

    @property
    def n(self) -> int:
        """The number of judgements in the table."""
        return sum(map(sum, self.counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a batch. ``reviewed`` and ``skipped`` count each question once."""

    batch: Batch
    batch_line: ProgressLine
    lines_by_tier: tuple[ProgressLine, ...]
    lines_by_task: tuple[ProgressLine, ...]
    lines_by_reviewer: tuple[ProgressLine, ...]
    reviewed: int
    skipped: Proportion
    decisions: tuple[Rate, ...]
    errors: tuple[Rate, ...]
    ratings: tuple[RatingSummary, ...]
    yes_no_fields: tuple[YesNoSummary, ...]
    tier_table: TierTable
    notes: tuple[str, ...]

    @property
    def summary_lines(self) -> tuple[str, ...]:
        """The summary "Of 120 reviewed: …", with the most frequent kind of error first."""
        if not self.reviewed:
            return ("No questions have been reviewed yet.",)
        frequent_errors = sorted(
            (rate for rate in self.errors if rate.share.count), key=lambda rate: -rate.share.count
        )
        if not frequent_errors:
            return (f"Of {self.reviewed:,} reviewed: no errors found.",)
        return (f"Of {self.reviewed:,} reviewed:", *(f"{_format_rate(rate)}" for rate in frequent_errors))


def format_percent(share: float | None) -> str:
    """Format a share: 0.1083 as "10.8 %", None as "not defined"."""
    return "not defined" if share is None else f"{100 * share:.1f} %"


def format_interval(low: float | None, high: float | None) -> str:
    """Format an interval in percent: 0.064 and 0.177 as "6.4–17.7", None as "not defined"."""
    return "not defined" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def _format_rate(rate: Rate) -> str:
    share, label = rate.share, ErrorKind(rate.name).label
    return (
        f"{share.count:,} {label} ({format_percent(share.estimate)},"
        f" {format_interval(share.low, share.high)})"
    )
