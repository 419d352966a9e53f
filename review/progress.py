"""The data of the progress page of a batch, and its texts."""

from __future__ import annotations

from dataclasses import dataclass

from domain.batches import Batch
from domain.verdicts import ErrorKind
from domain.vocabulary import Difficulty
from measures.agreement import Kappa
from measures.proportions import Proportion
from review.pace import ExpectedFinish
from review.rating_statistics import FlagLine, RatingLine


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressLine:
    """One row of a breakdown, in judgements: a question assigned to two people counts twice.

    ``questions`` of the batch belong to it, ``unassigned`` of them to nobody. ``seconds_median`` is the
    median time of looking until a person's first verdict, over ``timed`` judgements; None without one.
    """

    name: str
    questions: int
    unassigned: int
    asked: int
    done: int
    skipped: int
    left: int
    seconds_median: float | None
    timed: int
    finish: ExpectedFinish


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of the reviewed questions: with a kind of error, or with a decision.

    ``if_skipped`` is the share if none, and if all, of the skipped questions had the property; None if none
    is skipped or nothing was reviewed.
    """

    name: str
    share: Proportion
    if_skipped: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierTable:
    """The machine's tier (rows) against the expert's tier (columns), in judgements that have both.

    ``counts[row][column]`` in the order of ``tiers``. ``missing_tier`` judgements lack one of the two.
    """

    tiers: tuple[Difficulty, ...]
    counts: tuple[tuple[int, ...], ...]
    missing_tier: int
    linear: Kappa
    quadratic: Kappa
    note: str

    @property
    def n(self) -> int:
        """The number of judgements in the table."""
        return sum(map(sum, self.counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a batch; ``reviewed`` and ``skipped`` count questions, each once."""

    batch: Batch
    batch_line: ProgressLine
    tiers: tuple[ProgressLine, ...]
    tasks: tuple[ProgressLine, ...]
    reviewers: tuple[ProgressLine, ...]
    reviewed: int
    skipped: Proportion
    decisions: tuple[Rate, ...]
    errors: tuple[Rate, ...]
    ratings: tuple[RatingLine, ...]
    flags: tuple[FlagLine, ...]
    tier_table: TierTable
    notes: tuple[str, ...]

    @property
    def summary_lines(self) -> tuple[str, ...]:
        """The summary "Of 120 reviewed: …" as in a paper, the most frequent kind of error first."""
        if not self.reviewed:
            return ("Of 0 reviewed: shares are not defined yet.",)
        frequent_errors = sorted(
            (rate for rate in self.errors if rate.share.count), key=lambda rate: -rate.share.count
        )
        if not frequent_errors:
            return (f"Of {self.reviewed:,} reviewed: no errors found.",)
        return (f"Of {self.reviewed:,} reviewed:", *(f"{_format_rate(rate)}" for rate in frequent_errors))


def format_percent(share: float | None) -> str:
    """0.1083 as "10.8 %"; None as "not defined"."""
    return "not defined" if share is None else f"{100 * share:.1f} %"


def format_interval(low: float | None, high: float | None) -> str:
    """0.064, 0.177 as "6.4–17.7"; None as "not defined"."""
    return "not defined" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def _format_rate(rate: Rate) -> str:
    share, label = rate.share, ErrorKind(rate.name).label
    return (
        f"{share.count:,} {label} ({format_percent(share.estimate)},"
        f" {format_interval(share.low, share.high)})"
    )
