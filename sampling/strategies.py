"""Compares drawing strategies by simulation: errors found, and the precision of the estimated rate.

Which questions have an error is simulated from an assumed rate and from how much more often errors occur
where the risk is high. The logit of a question's probability of an error increases linearly with its risk.
The same simulated draws give both curves. The mean number of errors is exact: the sum, over the questions, of
the probability of being drawn times the probability of an error. Questions are independent here: exams with
several questions widen all intervals alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.errors import InvalidValue
from measures.weighted_rates import Prediction, weighted_rate
from sampling.risk import compute_inclusion_probabilities

#: The share of questions drawn with equal chances, by strategy; 1 is a uniform draw.
UNIFORM_SHARES = (1.0, 0.5, 0.2)
#: The numbers of reviewed questions that are compared.
COMPARED_SIZES = (50, 100, 200, 400, 800)
#: Larger datasets are represented by this number of questions, drawn at random.
_LARGEST_POPULATION = 20_000
#: Draws of a larger share of the dataset are not compared.
_LARGEST_SHARE = 0.25
#: A strategy is recommended instead of the uniform one only if it is better by this factor.
_RELEVANT_GAIN = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAssumptions:
    """The share of questions with an error, and the odds of an error at risk 1 relative to risk 0.

    Raises:
        InvalidValue: a value is outside its range.
    """

    rate: float
    odds_ratio: float

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise InvalidValue("rate", f"must be above 0 % and below 100 %, not {100 * self.rate:g} %")
        if not (math.isfinite(self.odds_ratio) and self.odds_ratio > 0):
            raise InvalidValue("odds ratio", f"must be above 0, not {self.odds_ratio:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedFigure:
    """The mean of a figure over the simulated draws, and the range of 95 % of them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyPoint:
    """A strategy with a number of reviewed questions.

    ``errors`` is the number of errors found. ``half_width`` and ``prediction_powered_half_width`` are half
    the width of the interval of the rate, 0 to 1, without and with predictions.
    """

    uniform_share: float
    n: int
    errors: SimulatedFigure
    half_width: SimulatedFigure
    prediction_powered_half_width: SimulatedFigure

    @property
    def name(self) -> str:
        """The name of the strategy on screen."""
        return (
            "uniform" if self.uniform_share == 1 else f"{100 * self.uniform_share:g} % uniform, rest by risk"
        )


def simulate_strategies(
    risks: NDArray[np.float64],
    assumptions: ErrorAssumptions,
    *,
    sizes: Sequence[int],
    runs: int = 60,
    seed: int = 1,
) -> list[StrategyPoint]:
    """Simulate all strategies with all numbers of questions.

    Args:
        risks: the risk of each question of the dataset, 0 to 1, shape (N,).
        assumptions: how frequent errors are, and how strongly they follow the risk.
        sizes: the numbers of reviewed questions; those above a quarter of the dataset are left out, because
            strategies differ little if most questions are drawn.
        runs: the number of simulated draws for each point.
        seed: the seed.
    """
    random = np.random.default_rng(seed)
    if len(risks) > _LARGEST_POPULATION:
        risks = random.choice(risks, _LARGEST_POPULATION, replace=False)
    size = len(risks)
    error_probabilities = _compute_error_probabilities(risks, assumptions)
    strata, is_available = np.zeros(size, dtype=np.int32), np.ones(size, dtype=np.bool_)
    points = []
    for uniform_share in UNIFORM_SHARES:
        for n in sizes:
            if n > _LARGEST_SHARE * size:
                continue
            probabilities, _ = compute_inclusion_probabilities(
                risks, strata, is_available, counts_to_draw=[n], uniform_share=uniform_share
            )
            figures = np.array(
                [_simulate_draw(random, risks, error_probabilities, probabilities) for _ in range(runs)]
            )
            errors, half_width, powered = (_summarise(column) for column in figures.T)
            expected_errors = float(probabilities @ error_probabilities)
            points.append(
                StrategyPoint(
                    uniform_share=uniform_share,
                    n=n,
                    errors=replace(errors, mean=expected_errors),
                    half_width=half_width,
                    prediction_powered_half_width=powered,
                )
            )
    return points


def fit_assumptions(
    hits: NDArray[np.bool_], risks: NDArray[np.float64], weights: NDArray[np.float64]
) -> ErrorAssumptions | None:
    """Estimate the assumptions from judged questions by weighted logistic regression.

    The slope has a normal prior with mean 0 and standard deviation 2, so that few errors do not give extreme
    odds.

    Args:
        hits: whether each judged question has an error, shape (n,).
        risks: the risk of each, shape (n,).
        weights: the number of questions of the dataset that each represents, shape (n,).

    Returns:
        The assumptions; None if all questions have an error, or none has.
    """
    rate = float(weights @ hits / weights.sum()) if len(hits) else 0.0
    if not 0 < rate < 1:
        return None
    shares = weights / weights.mean()

    def loss(parameters: NDArray[np.float64]) -> float:
        logits = parameters[0] + parameters[1] * risks
        log_likelihood = shares @ (hits * logits - np.logaddexp(0, logits))
        return float(-log_likelihood + parameters[1] ** 2 / 8)

    start = np.array([math.log(rate / (1 - rate)), 0.0])
    slope = float(scipy.optimize.minimize(loss, start, method="BFGS").x[1])
    return ErrorAssumptions(rate=rate, odds_ratio=math.exp(slope))


def recommend_strategy(points: Sequence[StrategyPoint]) -> str:
    """Recommend a strategy for each of the two purposes, from the points with the most questions."""
    if not points:
        return "There are too few questions to compare strategies."
    largest_points = [point for point in points if point.n == max(point.n for point in points)]
    uniform = next(point for point in largest_points if point.uniform_share == 1)
    best_for_errors = max(largest_points, key=lambda point: point.errors.mean)
    best_for_rate = min(largest_points, key=lambda point: point.prediction_powered_half_width.mean)
    if best_for_errors.errors.mean < _RELEVANT_GAIN * max(uniform.errors.mean, 0.1):
        best_for_errors = uniform
    if (
        uniform.prediction_powered_half_width.mean
        < _RELEVANT_GAIN * best_for_rate.prediction_powered_half_width.mean
    ):
        best_for_rate = uniform
    errors_text = f"{best_for_errors.errors.mean:.0f} errors"
    if best_for_errors is not uniform:
        errors_text += f"; uniform {uniform.errors.mean:.0f}"
    width_text = f"± {100 * best_for_rate.prediction_powered_half_width.mean:.1f} points"
    if best_for_rate is not uniform:
        width_text += f"; uniform ± {100 * uniform.prediction_powered_half_width.mean:.1f}"
    return (
        f"With {uniform.n:,} questions: to find errors, draw {best_for_errors.name} ({errors_text}). "
        f"To estimate the rate, draw {best_for_rate.name} ({width_text})."
    )


def _compute_error_probabilities(
    risks: NDArray[np.float64], assumptions: ErrorAssumptions
) -> NDArray[np.float64]:
    """Return the probability of an error of each question; their mean is the assumed rate."""
    slope = math.log(assumptions.odds_ratio) * risks

    def excess(intercept: float) -> float:
        return float(scipy.special.expit(intercept + slope).mean()) - assumptions.rate

    intercept = scipy.optimize.brentq(excess, -60.0, 60.0)
    probabilities: NDArray[np.float64] = scipy.special.expit(intercept + slope)
    return probabilities


def _simulate_draw(
    random: np.random.Generator,
    risks: NDArray[np.float64],
    error_probabilities: NDArray[np.float64],
    probabilities: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Return the errors found and the two half-widths of one draw."""
    drawn = np.flatnonzero(random.random(len(risks)) < probabilities)
    hits = random.random(len(drawn)) < error_probabilities[drawn]
    half_widths = []
    for prediction in (None, Prediction(values=risks[drawn], mean=float(risks.mean()))):
        rate = weighted_rate(hits, probabilities[drawn], np.arange(len(drawn)), prediction=prediction)
        half_widths.append(1.0 if rate.low is None or rate.high is None else (rate.high - rate.low) / 2)
    return float(hits.sum()), half_widths[0], half_widths[1]


def _summarise(values: NDArray[np.float64]) -> SimulatedFigure:
    low, high = np.quantile(values, [0.025, 0.975])
    return SimulatedFigure(mean=float(values.mean()), low=float(low), high=float(high))
