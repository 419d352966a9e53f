"""Estimates for a whole dataset from a reviewed sample: rates of errors and of decisions, with intervals.

The sample is divided into cells: the questions of one tier (and of the further strata of the draws) that were
imported between two draws. Within a cell every question had the same chance, so the judged questions
represent it, and a rate of the whole weights the cells by size (:mod:`measures.strata`). Cells without a
judged question are not estimated: they are reported as not covered, and the worst case counts all their
questions as errors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from domain.verdicts import Decision, ErrorKind
from measures.strata import StratumCount, WholeRate, exam_effect, whole_rate
from review.progress import interval, percent

SEED = 20
KEY_KINDS = frozenset({ErrorKind.SEVERAL_RIGHT, ErrorKind.NONE_RIGHT, ErrorKind.WRONG_KEY})
ACCEPTED, CORRECTED, REJECTED, KEY_ERROR = "accepted", "corrected", "rejected", "key error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of review for one question, after adjudication.

    ``decision`` is None if reviewers disagree without an adjudication. ``key_only``: only its key was judged.
    """

    question_number: int
    exam_number: int
    cell: Hashable
    decision: Decision | None
    errors: frozenset[ErrorKind]
    key_error: bool
    key_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The cells of the whole with names and sizes, the outcomes, and the numbers of skipped questions.

    ``whole`` is the number of questions of the dataset; those in no cell were imported after the last draw.
    """

    names: Mapping[Any, str]
    sizes: Mapping[Any, int]
    outcomes: Sequence[Outcome]
    skipped: Mapping[Any, int]
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One rate of the whole, from ``count`` of ``rate.reviewed`` judged questions.

    ``covered`` of ``whole`` questions are in a cell with a judged question. ``worst`` is the upper limit if
    all questions that are not covered, and all skipped ones, had the property.
    """

    name: str
    count: int
    rate: WholeRate
    skipped: int
    covered: int
    whole: int
    worst: float | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, as a share."""
        if self.rate.low is None or self.rate.high is None:
            return None
        return (self.rate.high - self.rate.low) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """All rates of one sample: three outcomes, the key errors, each kind of error."""

    outcomes: tuple[Estimate, ...]
    key_errors: Estimate
    errors: tuple[Estimate, ...]
    reviewed: int
    skipped: int
    covered: int
    whole: int
    notes: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[Estimate, ...]:
        """All rates in the order of display."""
        return (*self.outcomes, self.key_errors, *self.errors)


def estimate(sample: Sample, *, seed: int = SEED) -> Estimates:
    """Estimate all rates from a sample.

    Args:
        sample: the sample.
        seed: of the posterior draws.
    """
    full = [each for each in sample.outcomes if not each.key_only]
    every = _Rates(sample, full, seed)
    keys = every if len(full) == len(sample.outcomes) else _Rates(sample, sample.outcomes, seed)
    asked = properties()
    return Estimates(
        outcomes=tuple(every.rate(name, asked[name]) for name in (ACCEPTED, CORRECTED, REJECTED)),
        key_errors=keys.rate(KEY_ERROR, asked[KEY_ERROR]),
        errors=tuple(every.rate(kind.value, asked[kind.value]) for kind in ErrorKind),
        reviewed=len(sample.outcomes),
        skipped=sum(sample.skipped.values()),
        covered=keys.covered,
        whole=sample.whole,
        notes=tuple(_notes(sample, every, len(full))),
    )


def refusal(found: Estimate, *, under: float) -> str | None:
    """Check that the upper limit of a rate, in the worst case, is below a share.

    Args:
        found: the rate.
        under: the share, 0 to 1.

    Returns:
        Why it is not, as a sentence; None if it is.
    """
    if found.worst is not None and found.worst < under:
        return None
    asked = f"the rule asks for an upper limit under {100 * under:g} %"
    if found.rate.estimate is None or found.worst is None:
        return f"Of {found.name}s nothing can be said of the whole yet, and {asked}."
    more = ""
    if found.skipped or found.covered < found.whole:
        left = found.whole - found.covered
        more = f"; {percent(found.worst)} with {left:,} questions not covered and {found.skipped:,} skipped"
    return (
        f"{found.name.capitalize()}s are {percent(found.rate.estimate)} of the whole, 95 % interval "
        f"{interval(found.rate.low, found.rate.high)}{more}; {asked}."
    )


# ---------------------------------------------------------------------------------------------- the rates
class _Rates:
    """Rates of several properties over the same judged questions."""

    def __init__(self, sample: Sample, outcomes: Sequence[Outcome], seed: int) -> None:
        """Count the judged questions by cell."""
        self.sample, self.outcomes, self.seed = sample, outcomes, seed
        self.judged = Counter(each.cell for each in outcomes)
        self.cells = [key for key, size in sample.sizes.items() if size and self.judged[key]]
        self.covered = sum(sample.sizes[key] for key in self.cells)
        place = {key: number for number, key in enumerate(self.cells)}
        weight = {key: sample.sizes[key] / self.judged[key] for key in self.cells}
        self.strata = np.array([place[each.cell] for each in outcomes], dtype=np.int64)
        self.exams = np.array([each.exam_number for each in outcomes], dtype=np.int64)
        self.weights = np.array([weight[each.cell] for each in outcomes], dtype=np.float64)
        self.clustered = len(np.unique(self.exams)) < len(outcomes)
        found = {kind for each in outcomes for kind in each.errors}
        self._known: dict[tuple[tuple[int, ...], float], WholeRate] = {}
        self._never = {kind.value for kind in ErrorKind if kind not in found}

    def rate(self, name: str, has: Callable[[Outcome], bool]) -> Estimate:
        # Most kinds of error never occur, and there may be a hundred thousand outcomes.
        asked = [] if name in self._never else [has(each) for each in self.outcomes]
        hits = np.array(asked or np.zeros(len(self.outcomes)), dtype=bool)
        by_cell = np.bincount(self.strata[hits], minlength=len(self.cells)).tolist()
        effect = 1.0
        if self.clustered and any(by_cell):
            effect = exam_effect(hits, self.strata, self.exams, self.weights)
        found = self._whole(tuple(by_cell), effect)
        return Estimate(
            name=name,
            count=sum(by_cell),
            rate=found,
            skipped=sum(self.sample.skipped.values()),
            covered=self.covered,
            whole=self.sample.whole,
            worst=self._worst(found),
        )

    def _whole(self, by_cell: tuple[int, ...], effect: float) -> WholeRate:
        """The rate of the whole, cached by counts: kinds of error that never occurred have equal counts."""
        if (by_cell, effect) not in self._known:
            skipped = self.sample.skipped
            strata = [
                StratumCount(
                    name=self.sample.names[key],
                    size=self.sample.sizes[key],
                    reviewed=self.judged[key],
                    hits=hits,
                    skipped=min(skipped.get(key, 0), self.sample.sizes[key] - self.judged[key]),
                )
                for key, hits in zip(self.cells, by_cell, strict=True)
            ]
            self._known[by_cell, effect] = whole_rate(strata, seed=self.seed, design_effect=effect)
        return self._known[by_cell, effect]

    def _worst(self, found: WholeRate) -> float | None:
        if found.high is None or found.estimate is None or not self.sample.whole:
            return None
        most = found.high if found.bounds is None else found.high + (found.bounds[1] - found.estimate)
        left = max(0, self.sample.whole - self.covered)
        return min(1.0, (most * self.covered + left) / (self.covered + left))


def properties() -> dict[str, Callable[[Outcome], bool]]:
    """The properties that can be estimated, by name, as functions of an outcome."""
    decided = {ACCEPTED: Decision.ACCEPT, CORRECTED: Decision.REVISE, REJECTED: Decision.REJECT}
    return {
        **{name: _is(decision) for name, decision in decided.items()},
        KEY_ERROR: lambda each: each.key_error,
        **{kind.value: _has(kind) for kind in ErrorKind},
    }


def _is(decision: Decision) -> Callable[[Outcome], bool]:
    return lambda each: each.decision is decision


def _has(kind: ErrorKind) -> Callable[[Outcome], bool]:
    return lambda each: kind in each.errors


def _notes(sample: Sample, every: _Rates, full: int) -> Iterable[str]:
    open_ = sum(each.decision is None for each in sample.outcomes)
    if open_:
        yield (
            f"Disputed and not settled: {open_:,} judged. They count as neither accepted, corrected nor "
            "rejected, and with every error that any reviewer found."
        )
    if full < len(sample.outcomes):
        yield (
            f"Judged for the key only: {len(sample.outcomes) - full:,}. They count for key errors and "
            "nothing else."
        )
    left: dict[str, int] = defaultdict(int)
    for key, size in sample.sizes.items():
        if not every.judged[key]:
            left[sample.names[key]] += size
    if any(left.values()):
        said = ", ".join(f"{name} ({size:,})" for name, size in left.items() if size)
        yield f"Nothing was judged yet of {said}: the figures are of the rest."
    later = sample.whole - sum(sample.sizes.values())
    if later > 0:
        yield f"Came in after the last draw: {later:,}. The figures say nothing of them."
    skipped = sum(sample.skipped.values())
    if skipped:
        share = skipped / (skipped + len(sample.outcomes))
        yield (
            f"Skipped and judged by nobody: {skipped:,} ({percent(share)} of those looked at). The bounds "
            "take none, or all, of them."
        )
