"""Estimates for a whole dataset from a reviewed sample: rates of errors and of decisions, with intervals.

The dataset is divided into cells: a cell has the questions of one tier (and of one value of each further
stratum) that were imported between two draws. All questions of a cell had the same chance of being drawn, so
its judged questions represent it. A rate of the dataset weights the cells by size (:mod:`measures.strata`).
Cells without a judged question are not estimated: they are reported as not covered, and the worst case counts
all their questions as errors.

If a batch was drawn by risk, the questions of a cell had different chances. Each judged question then counts
by the inverse of its own probability (:mod:`measures.weighted_rates`), and all cells are covered. In both
cases the risk of every question gives a second, prediction-powered estimate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.verdicts import Decision, ErrorKind
from measures.effective_size import effective_size
from measures.proportions import CONFIDENCE
from measures.strata import StratifiedRate, StratumCount, cluster_design_effect, stratified_rate
from measures.weighted_rates import Prediction, WeightedRate, weighted_rate
from review.progress import format_interval, format_percent

KEY_ERROR_KINDS = frozenset({ErrorKind.SEVERAL_CORRECT, ErrorKind.NONE_CORRECT, ErrorKind.WRONG_KEY})
ACCEPTED, CORRECTED, REJECTED, KEY_ERROR = "accepted", "corrected", "rejected", "key error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of the review of one question, after adjudication.

    ``cluster`` is the same for questions of one patient, or of one exam if no patient is known. ``decision``
    is None if reviewers disagree and there is no adjudication. ``key_only`` is True if only the answer key
    was judged.
    """

    question_row_id: int
    cluster: int
    cell: Hashable
    decision: Decision | None
    errors: frozenset[ErrorKind]
    key_error: bool
    key_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The cells with their names, sizes and skipped questions, and the outcomes of the judged questions.

    ``dataset_size`` is the number of questions of the dataset. Questions in no cell were imported after the
    last draw. ``probabilities`` has the probability of each judged or skipped question to be drawn and judged
    in any of the batches; None if all questions of a cell had the same probability. ``risks`` has the risk of
    an error of each judged question, and ``mean_risk`` the mean over the questions of all cells; None if
    unknown.
    """

    names: Mapping[Any, str]
    sizes: Mapping[Any, int]
    outcomes: Sequence[Outcome]
    skipped: Mapping[Any, int]
    dataset_size: int
    probabilities: Mapping[int, float] | None = None
    skipped_weight: float = 0.0
    risks: Mapping[int, float] | None = None
    mean_risk: float | None = None

    def compute_weights(self, outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
        """Return the number of questions of the dataset for which each of these judged questions stands."""
        if self.probabilities is not None:
            return np.array([1 / self.probabilities[outcome.question_row_id] for outcome in outcomes])
        judged = Counter(outcome.cell for outcome in outcomes)
        weight = {cell: self.sizes[cell] / count for cell, count in judged.items()}
        return np.array([weight[outcome.cell] for outcome in outcomes], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One rate of the dataset, estimated from ``count`` of ``rate.reviewed`` judged questions.

    ``covered`` of ``dataset_size`` questions are in a cell with a judged question. ``worst_limit`` is the
    upper limit under the assumption that all skipped questions and all questions that are not covered have
    the property. ``effective_size`` is the size of a simple random sample with the same variance, at most
    Kish's effective size; None if all judged questions are alike. ``powered`` is the prediction-powered
    estimate; None if there are no predictions.
    """

    name: str
    count: int
    rate: StratifiedRate
    skipped: int
    covered: int
    dataset_size: int
    worst_limit: float | None
    effective_size: float | None = None
    powered: WeightedRate | None = None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, as a share."""
        if self.rate.low is None or self.rate.high is None:
            return None
        return (self.rate.high - self.rate.low) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """All rates of one sample: three decisions, the key errors, and each kind of error.

    ``is_weighted`` states whether a batch was drawn by risk.
    """

    outcomes: tuple[Estimate, ...]
    key_errors: Estimate
    errors: tuple[Estimate, ...]
    reviewed: int
    skipped: int
    covered: int
    dataset_size: int
    is_weighted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def all_estimates(self) -> tuple[Estimate, ...]:
        """All rates, in order of display."""
        return (*self.outcomes, self.key_errors, *self.errors)


def estimate_rates(sample: Sample) -> Estimates:
    """Estimate all rates from a sample."""
    full_outcomes = [outcome for outcome in sample.outcomes if not outcome.key_only]
    full_rates = _RateEstimator(sample, full_outcomes)
    key_rates = (
        full_rates if len(full_outcomes) == len(sample.outcomes) else _RateEstimator(sample, sample.outcomes)
    )
    predicates = build_outcome_predicates()
    return Estimates(
        outcomes=tuple(
            full_rates.estimate_rate(name, predicates[name]) for name in (ACCEPTED, CORRECTED, REJECTED)
        ),
        key_errors=key_rates.estimate_rate(KEY_ERROR, predicates[KEY_ERROR]),
        errors=tuple(full_rates.estimate_rate(kind.value, predicates[kind.value]) for kind in ErrorKind),
        reviewed=len(sample.outcomes),
        skipped=sum(sample.skipped.values()),
        covered=key_rates.covered,
        dataset_size=sample.dataset_size,
        is_weighted=sample.probabilities is not None,
        notes=tuple(_write_notes(sample, full_rates, len(full_outcomes))),
    )


def estimate_key_errors(sample: Sample, *, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the rate of key errors with an interval of another confidence level."""
    predicate = build_outcome_predicates()[KEY_ERROR]
    return _RateEstimator(sample, sample.outcomes, confidence=confidence).estimate_rate(KEY_ERROR, predicate)


def explain_limit_exceeded(estimate: Estimate, *, limit: float) -> str | None:
    """Check that the upper limit of a rate in the worst case is below a limit.

    Args:
        estimate: the rate.
        limit: the limit as a share, 0 to 1.

    Returns:
        A sentence with the reason if the upper limit is not below the limit; None if it is below.
    """
    if estimate.worst_limit is not None and estimate.worst_limit < limit:
        return None
    rule_text = f"the condition requires an upper limit below {100 * limit:g} %"
    if estimate.rate.estimate is None or estimate.worst_limit is None:
        return f"The rate of {estimate.name}s in the dataset cannot be estimated yet, and {rule_text}."
    addition = ""
    if estimate.skipped or estimate.covered < estimate.dataset_size:
        uncovered = estimate.dataset_size - estimate.covered
        addition = (
            f"; {format_percent(estimate.worst_limit)} with {count_text(uncovered, 'question')} not covered "
            f"and {estimate.skipped:,} skipped"
        )
    return (
        f"{estimate.name.capitalize()}s: {format_percent(estimate.rate.estimate)} of the dataset, 95 % "
        f"interval {format_interval(estimate.rate.low, estimate.rate.high)}{addition}; {rule_text}."
    )


# ---------------------------------------------------------------------------------------------- the rates
class _RateEstimator:
    """Estimates the rates of several properties from the same judged questions."""

    def __init__(
        self, sample: Sample, outcomes: Sequence[Outcome], *, confidence: float = CONFIDENCE
    ) -> None:
        """Count the judged questions by cell."""
        self.sample, self.outcomes, self.confidence = sample, outcomes, confidence
        self.judged = Counter(outcome.cell for outcome in outcomes)
        self.cells = [cell for cell, size in sample.sizes.items() if size and self.judged[cell]]
        is_weighted = sample.probabilities is not None and bool(outcomes)
        self.covered = sum(sample.sizes[cell] for cell in (sample.sizes if is_weighted else self.cells))
        index_by_cell = {cell: index for index, cell in enumerate(self.cells)}
        self.strata = np.array([index_by_cell[outcome.cell] for outcome in outcomes], dtype=np.int64)
        self.clusters = np.array([outcome.cluster for outcome in outcomes], dtype=np.int64)
        self.weights = sample.compute_weights(outcomes)
        self.is_clustered = len(np.unique(self.clusters)) < len(outcomes)
        self._prediction: Prediction | None = None
        if sample.risks is not None and sample.mean_risk is not None:
            risks = np.array([sample.risks.get(outcome.question_row_id, 0.0) for outcome in outcomes])
            self._prediction = Prediction(values=risks, mean=sample.mean_risk)
        reported_kinds = {kind for outcome in outcomes for kind in outcome.errors}
        self._cache: dict[tuple[tuple[int, ...], float], StratifiedRate] = {}
        self._absent_kinds = {kind.value for kind in ErrorKind if kind not in reported_kinds}

    def estimate_rate(self, name: str, has_property: Callable[[Outcome], bool]) -> Estimate:
        # Kinds of error that never occur are skipped, because there may be a hundred thousand outcomes.
        matches = [] if name in self._absent_kinds else [has_property(outcome) for outcome in self.outcomes]
        hits = np.array(matches or np.zeros(len(self.outcomes)), dtype=bool)
        hits_by_cell = np.bincount(self.strata[hits], minlength=len(self.cells)).tolist()
        if self.sample.probabilities is not None:
            rate = self._estimate_weighted_rate(hits)
        else:
            effect = (
                cluster_design_effect(hits, self.strata, self.clusters, self.weights)
                if self.is_clustered
                else 1.0
            )
            rate = self._estimate_stratified_rate(tuple(hits_by_cell), effect)
        return Estimate(
            name=name,
            count=sum(hits_by_cell),
            rate=rate,
            skipped=sum(self.sample.skipped.values()),
            covered=self.covered,
            dataset_size=self.sample.dataset_size,
            worst_limit=self._compute_worst_limit(rate),
            effective_size=self._compute_effective_size(rate),
            powered=self._estimate_powered_rate(name, hits),
        )

    def _estimate_powered_rate(self, name: str, hits: NDArray[np.bool_]) -> WeightedRate | None:
        """Estimate a rate with the risk of an error, which predicts every property except acceptance."""
        if self._prediction is None:
            return None
        prediction = self._prediction.complement() if name == ACCEPTED else self._prediction
        return self._compute_rate(hits, prediction)

    def _compute_effective_size(self, rate: StratifiedRate) -> float | None:
        if rate.estimate is None or not rate.se:
            return None
        return effective_size(self.weights, rate=rate.estimate, variance=rate.se**2)

    def _compute_rate(self, hits: NDArray[np.bool_], prediction: Prediction | None = None) -> WeightedRate:
        return weighted_rate(
            hits, 1 / self.weights, self.clusters, prediction=prediction, confidence=self.confidence
        )

    def _estimate_weighted_rate(self, hits: NDArray[np.bool_]) -> StratifiedRate:
        """Estimate a rate from questions with different probabilities."""
        result, bounds = self._compute_rate(hits), None
        if result.estimate is not None and self.sample.skipped_weight:
            total = float(self.weights.sum()) + self.sample.skipped_weight
            lowest = result.estimate * float(self.weights.sum()) / total
            bounds = (lowest, lowest + self.sample.skipped_weight / total)
        return StratifiedRate(
            reviewed=result.n,
            size=self.covered,
            estimate=result.estimate,
            se=result.se,
            low=result.low,
            high=result.high,
            unweighted=result.hits / result.n if result.n else None,
            bounds=bounds,
            note="weighted by inclusion probability" if result.n else "not defined: no question",
        )

    def _estimate_stratified_rate(self, hits_by_cell: tuple[int, ...], effect: float) -> StratifiedRate:
        """Estimate a rate, cached by its counts: kinds of error that never occur have equal counts."""
        if (hits_by_cell, effect) not in self._cache:
            skipped = self.sample.skipped
            strata = [
                StratumCount(
                    name=self.sample.names[cell],
                    size=self.sample.sizes[cell],
                    reviewed=self.judged[cell],
                    hits=hits,
                    skipped=min(skipped.get(cell, 0), self.sample.sizes[cell] - self.judged[cell]),
                )
                for cell, hits in zip(self.cells, hits_by_cell, strict=True)
            ]
            self._cache[hits_by_cell, effect] = stratified_rate(
                strata, design_effect=effect, confidence=self.confidence
            )
        return self._cache[hits_by_cell, effect]

    def _compute_worst_limit(self, rate: StratifiedRate) -> float | None:
        if rate.high is None or rate.estimate is None or not self.sample.dataset_size:
            return None
        upper_limit = rate.high if rate.bounds is None else rate.high + (rate.bounds[1] - rate.estimate)
        uncovered = max(0, self.sample.dataset_size - self.covered)
        return min(1.0, (upper_limit * self.covered + uncovered) / (self.covered + uncovered))


def build_outcome_predicates() -> dict[str, Callable[[Outcome], bool]]:
    """Return the properties that can be estimated, by name, as functions of an outcome."""
    decisions = {ACCEPTED: Decision.ACCEPT, CORRECTED: Decision.REVISE, REJECTED: Decision.REJECT}
    return {
        **{name: _has_decision(decision) for name, decision in decisions.items()},
        KEY_ERROR: lambda outcome: outcome.key_error,
        **{kind.value: _has_error(kind) for kind in ErrorKind},
    }


def _has_decision(decision: Decision) -> Callable[[Outcome], bool]:
    return lambda outcome: outcome.decision is decision


def _has_error(kind: ErrorKind) -> Callable[[Outcome], bool]:
    return lambda outcome: kind in outcome.errors


def _write_notes(sample: Sample, rates: _RateEstimator, n_full_outcomes: int) -> Iterable[str]:
    n_unresolved = sum(outcome.decision is None for outcome in sample.outcomes)
    if n_unresolved:
        yield (
            f"Disputed and not settled: {n_unresolved:,} judged. They count as neither accepted, corrected "
            "nor rejected, and with every error that any reviewer found."
        )
    if n_full_outcomes < len(sample.outcomes):
        yield (
            f"Judged for the answer key only: {len(sample.outcomes) - n_full_outcomes:,}. They count for key "
            "errors only."
        )
    if sample.probabilities is not None:
        yield (
            "Questions were drawn by risk: each judged one counts by the inverse of its probability "
            "(Horvitz-Thompson)."
        )
    uncovered: dict[str, int] = defaultdict(int)
    for cell, size in sample.sizes.items():
        if not rates.judged[cell] and sample.probabilities is None:
            uncovered[sample.names[cell]] += size
    if any(uncovered.values()):
        strata_text = ", ".join(f"{name} ({size:,})" for name, size in uncovered.items() if size)
        yield f"Not judged yet: {strata_text}. The estimates cover the other strata only."
    n_outside = sample.dataset_size - sum(sample.sizes.values())
    if n_outside > 0:
        yield (
            f"Imported after the last draw, or left out by the draws: {n_outside:,}. The estimates do not "
            "cover them."
        )
    skipped = sum(sample.skipped.values())
    if skipped:
        share = skipped / (skipped + len(sample.outcomes))
        yield (
            f"Skipped and not judged: {skipped:,} ({format_percent(share)} of the questions opened). The"
            " bounds assume that none, or all, of them have the property."
        )
