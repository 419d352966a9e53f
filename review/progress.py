"""How far a batch has come and what was found: the shape of the progress page, and its words."""

from __future__ import annotations

from dataclasses import dataclass

from domain.batches import Batch
from domain.vocabulary import Difficulty
from measures.agreement import Kappa
from measures.proportions import Proportion
from review.pace import Finish
from review.rated import FlagLine, RatingLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a breakdown, in judgements asked for: a question given to two people counts twice.

    ``questions`` of the batch fall under it, ``unassigned`` of them are with nobody. ``seconds_median``:
    looking, until a person's first verdict on a question, over ``timed`` judgements; None before any.
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
    finish: Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of the reviewed questions, by a name: a kind of error, or what was decided.

    ``if_skipped`` bounds the share were none, or all, of the skipped questions so; None when none is
    skipped or nothing was reviewed.
    """

    name: str
    share: Proportion
    if_skipped: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierTable:
    """Machine tier (rows) against expert tier (columns), in judgements that have both.

    ``counts[row][column]`` in the order of ``tiers``. ``without`` judgements lack one of the two.
    """

    tiers: tuple[Difficulty, ...]
    counts: tuple[tuple[int, ...], ...]
    without: int
    linear: Kappa
    quadratic: Kappa
    note: str

    @property
    def n(self) -> int:
        """Judgements in the table."""
        return sum(map(sum, self.counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A batch in numbers. ``reviewed`` and ``skipped`` count questions, each once."""

    batch: Batch
    whole: Line
    tiers: tuple[Line, ...]
    tasks: tuple[Line, ...]
    reviewers: tuple[Line, ...]
    reviewed: int
    skipped: Proportion
    decisions: tuple[Rate, ...]
    errors: tuple[Rate, ...]
    ratings: tuple[RatingLine, ...]
    flags: tuple[FlagLine, ...]
    tier_table: TierTable
    notes: tuple[str, ...]

    @property
    def sheet(self) -> tuple[str, ...]:
        """The sheet "Of 120 reviewed: …" as a paper prints it, the most frequent kind of error first."""
        if not self.reviewed:
            return ("Of 0 reviewed: no share is defined yet.",)
        found = sorted((rate for rate in self.errors if rate.share.count), key=lambda rate: -rate.share.count)
        if not found:
            return (f"Of {self.reviewed:,} reviewed: no error was found.",)
        return (f"Of {self.reviewed:,} reviewed:", *(f"{_with_share(rate)}" for rate in found))


def percent(share: float | None) -> str:
    """0.1083 as "10.8 %"; None as "not defined"."""
    return "not defined" if share is None else f"{100 * share:.1f} %"


def interval(low: float | None, high: float | None) -> str:
    """0.064, 0.177 as "6.4–17.7"; None as "not defined"."""
    return "not defined" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def _with_share(rate: Rate) -> str:
    share = rate.share
    return f"{share.count:,} {rate.name} ({percent(share.estimate)}, {interval(share.low, share.high)})"
