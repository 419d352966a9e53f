"""Computes the power of a study that compares readers with one model, by formula and by simulation.

Assumptions. All answers of the model are correct with the same probability. Each reader has their own
probability, which is normally distributed around the readers' mean with the standard deviation ``spread``.
Whether an answer is correct depends on a latent normal variable per case and rater. The correlation of the
latent variables is ``reader_correlation`` between two readers and ``model_correlation`` between a reader and
the model; the common factor is the difficulty of the case. The test is that of :mod:`measures.mrmc`:
two-sided Obuchowski-Rockette for one treatment on the reader-minus-model differences, with Hillis' degrees of
freedom. With fixed readers, only cases are random. :mod:`measures.power_designs` has other designs.

The formula inserts the expected variances into the non-central t distribution. It is inaccurate for a large
spread and few readers, because the degrees of freedom vary from study to study. The simulation does not have
this error, so the simulated power and its standard error are shown; the formula is used only to find the
number of cases and as a check.

With a ``margin`` above 0, power is the probability of showing that the model is worse by less than the margin
(one-sided at half of ``alpha``). With margin 0, power is the probability of showing a difference.

Sources: Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Hillis SL, Obuchowski NA, Berbaum KS,
Acad Radiol 2011;18:129-142 (power); Roe CA, Metz CE, Acad Radiol 1997;4:298-303 (latent model).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.errors import InvalidValue

RUNS = 10_000
#: The maximum number of cases of a design.
MAX_CASES = 100_000
#: Used if the number of runs is not given: latent values per table, minimum and maximum number of runs per
#: design.
SIMULATION_BUDGET, MIN_RUNS, MAX_RUNS = 30_000_000, 1000, 20_000
#: Maximum number of latent values in memory.
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerAssumptions:
    """The assumptions about readers and model.

    Accuracies are above 0 and below 1. ``spread`` is the standard deviation of the readers' accuracies, 0 to
    0.25 (0.02 is 2 percentage points). ``margin`` is at least 0 and below 0.5. ``alpha`` is two-sided. The
    correlations are those of the latent variables.

    Raises:
        InvalidValue: a value is outside its range, or the model correlation is above the square root of the
            reader correlation.
    """

    reader_accuracy: float
    model_accuracy: float
    spread: float = 0.0
    reader_correlation: float = 0.5
    model_correlation: float = 0.35
    margin: float = 0.0
    random_readers: bool = True
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for field in ("reader_accuracy", "model_accuracy"):
            if not 0 < getattr(self, field) < 1:
                raise InvalidValue(
                    field, f"must be between 0 and 1 (for example 0.8), not {getattr(self, field)}"
                )
        if not 0 <= self.spread <= 0.25:
            raise InvalidValue(
                "spread", f"must be 0 to 0.25 (0.02 is 2 percentage points), not {self.spread}"
            )
        if not 0 <= self.margin < 0.5:
            raise InvalidValue(
                "margin", f"must be at least 0 and below 0.5 (0.05 is 5 percentage points), not {self.margin}"
            )
        if not 0 < self.alpha < 0.5:
            raise InvalidValue("alpha", f"must be between 0 and 0.5 (for example 0.05), not {self.alpha}")
        if not 0 <= self.reader_correlation < 1:
            raise InvalidValue(
                "reader_correlation", f"must be at least 0 and below 1, not {self.reader_correlation}"
            )
        if abs(self.model_correlation) > math.sqrt(self.reader_correlation):
            raise InvalidValue(
                "model_correlation",
                f"{self.model_correlation} must be at most {math.sqrt(self.reader_correlation):.2f}, the "
                f"square root of the correlation of two readers ({self.reader_correlation})",
            )

    @property
    def effect(self) -> float:
        """The accuracy of the model minus that of the readers, plus the margin."""
        return self.model_accuracy - self.reader_accuracy + self.margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The power (0 to 1) of one design by formula, and by simulation with its standard error (or None)."""

    readers: int
    cases: int
    formula: float
    simulated: float | None
    simulated_error: float | None

    @property
    def quoted_method(self) -> str:
        """The method whose power is quoted: "simulation", or "formula" if nothing was simulated."""
        return "formula" if self.simulated is None else "simulation"

    @property
    def quoted_power(self) -> float:
        """The power to quote."""
        return self.formula if self.simulated is None else self.simulated


def power_by_formula(assumptions: PowerAssumptions, *, readers: int, cases: int) -> float:
    """Compute power from the expected variances and the non-central t distribution.

    Args:
        assumptions: assumptions about readers and model.
        readers: the number of readers, up to 1,000; 2 or more if readers are random.
        cases: the number of cases, 2 to ``MAX_CASES``.

    Returns:
        The power, 0 to 1.

    Raises:
        InvalidValue: the number of readers or cases is outside its range.

    >>> expected = PowerAssumptions(reader_accuracy=0.75, model_accuracy=0.85, spread=0.03)
    >>> round(power_by_formula(expected, readers=5, cases=200), 2)
    0.89
    """
    _check_design(assumptions, readers, cases)
    p, q = assumptions.reader_accuracy, assumptions.model_accuracy
    reader_variance, model_variance = p * (1 - p), q * (1 - q)
    reader_covariance = _compute_latent_covariance(p, p, assumptions.reader_correlation)
    reader_model_covariance = _compute_latent_covariance(p, q, assumptions.model_correlation)
    case_variance = (
        (reader_variance + (readers - 1) * reader_covariance) / readers
        + model_variance
        - 2 * reader_model_covariance
    )
    if assumptions.random_readers:
        spread_variance = assumptions.spread**2
        variance = spread_variance / readers + case_variance / cases
        expected_reader_variance = spread_variance + (reader_variance - reader_covariance) / cases
        degrees = (readers * variance) ** 2 / (expected_reader_variance**2 / (readers - 1))
    else:
        variance, degrees = case_variance / cases, cases - 1.0
    noncentrality = assumptions.effect / math.sqrt(variance)
    critical = float(scipy.special.stdtrit(degrees, 1 - assumptions.alpha / 2))
    power = _compute_upper_tail(critical, degrees, noncentrality)
    if assumptions.margin == 0:
        power += _compute_upper_tail(critical, degrees, -noncentrality)
    return min(1.0, max(0.0, power))


def power_by_simulation(
    assumptions: PowerAssumptions, *, readers: int, cases: int, seed: int, runs: int = RUNS
) -> tuple[float, float]:
    """Estimate power as the share of simulated studies with a significant result.

    It is slower than :func:`power_by_formula`, and more accurate for few readers with a large spread.

    Args:
        assumptions: assumptions about readers and model.
        readers: the number of readers, up to 1,000; 2 or more if readers are random.
        cases: the number of cases, 2 to ``MAX_CASES``.
        seed: the seed of the simulation.
        runs: the number of simulated studies, 1 or more.

    Returns:
        The power (0 to 1) and its standard error.

    Raises:
        InvalidValue: the number of readers or cases is outside its range.
    """
    _check_design(assumptions, readers, cases)
    random = np.random.default_rng(seed)
    batch_limit = max(1, min(runs, _CHUNK // (cases * readers)))
    n_significant = done = 0
    while done < runs:
        batch_size = min(batch_limit, runs - done)
        differences = simulate_differences(
            assumptions, random, readers=readers, cases=cases, studies=batch_size
        )
        n_significant += int(_find_significant(differences, assumptions).sum())
        done += batch_size
    power = n_significant / runs
    return power, math.sqrt(power * (1 - power) / runs)


def power_table(
    assumptions: PowerAssumptions,
    *,
    readers: Sequence[int],
    cases: Sequence[int],
    seed: int = 0,
    runs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Power]:
    """Compute the power of each number of readers with each number of cases.

    Args:
        assumptions: assumptions about readers and model.
        readers: numbers of readers.
        cases: numbers of cases.
        seed: the seed of the simulation, the same for each design.
        runs: the number of simulated studies per design; 0 for the formula only, None for a default that
            takes a few seconds.
        progress: a function that is called with the number of completed designs and the number of designs.

    Returns:
        One result per design, ordered by the number of readers, then by the number of cases, as given.

    Raises:
        InvalidValue: a number of readers or cases is outside its range.
    """
    designs = [(count, size) for count in readers for size in cases]
    if runs is None:
        runs_per_design = SIMULATION_BUDGET // max(1, sum(count * size for count, size in designs))
        runs = min(MAX_RUNS, max(MIN_RUNS, runs_per_design))
    table = []
    for done, (count, size) in enumerate(designs):
        if progress is not None:
            progress(done, len(designs))
        simulated: tuple[float, float] | tuple[None, None] = (None, None)
        if runs:
            simulated = power_by_simulation(assumptions, readers=count, cases=size, seed=seed, runs=runs)
        table.append(
            Power(
                readers=count,
                cases=size,
                formula=power_by_formula(assumptions, readers=count, cases=size),
                simulated=simulated[0],
                simulated_error=simulated[1],
            )
        )
    if progress is not None:
        progress(len(designs), len(designs))
    return table


def cases_for_power(assumptions: PowerAssumptions, *, readers: int, power: float = 0.8) -> int | None:
    """Find the minimum number of cases for the given power, by the formula.

    Args:
        assumptions: assumptions about readers and model.
        readers: the number of readers.
        power: the wanted power, above 0 and below 1.

    Returns:
        The number of cases; None if too few readers make this power impossible.

    Raises:
        InvalidValue: the power or the number of readers is outside its range.
    """
    if not 0 < power < 1:
        raise InvalidValue("power", f"must be between 0 and 1 (for example 0.8), not {power}")
    low, high = 2, MAX_CASES
    if power_by_formula(assumptions, readers=readers, cases=high) < power:
        return None
    while low < high:
        middle = (low + high) // 2
        if power_by_formula(assumptions, readers=readers, cases=middle) < power:
            low = middle + 1
        else:
            high = middle
    return low


def simulate_differences(
    assumptions: PowerAssumptions,
    random: np.random.Generator,
    *,
    readers: int,
    cases: int,
    studies: int,
    difficulty: NDArray[np.float64] | None = None,
) -> NDArray[np.float32]:
    """Simulate studies and return the results of readers minus model.

    Args:
        assumptions: assumptions about readers and model.
        random: the random number generator.
        readers: the number of readers.
        cases: the number of cases.
        studies: the number of studies.
        difficulty: the difficulty of each case, with mean 0 and variance 1, shape (cases,); None to draw it.

    Returns:
        Differences -1, 0 or 1, shape (studies, cases, readers).
    """
    reader_loading = math.sqrt(assumptions.reader_correlation)
    model_loading = assumptions.model_correlation / reader_loading if reader_loading else 0.0
    difficulty_factor = (
        random.standard_normal((studies, cases, 1), dtype=np.float32)
        if difficulty is None
        else difficulty.astype(np.float32)[None, :, None]
    )
    reader_noise = random.standard_normal((studies, cases, readers), dtype=np.float32)
    accuracy = assumptions.reader_accuracy + assumptions.spread * random.standard_normal(
        (studies, 1, readers)
    )
    threshold = scipy.special.ndtri(np.clip(accuracy, 0.001, 0.999)).astype(np.float32)
    model_noise = random.standard_normal((studies, cases, 1), dtype=np.float32)
    reader_latent = (
        np.float32(reader_loading) * difficulty_factor
        + np.float32(math.sqrt(1 - reader_loading**2)) * reader_noise
    )
    model_latent = (
        np.float32(model_loading) * difficulty_factor
        + np.float32(math.sqrt(1 - model_loading**2)) * model_noise
    )
    reader_correct = reader_latent < threshold
    model_correct = model_latent < np.float32(scipy.special.ndtri(assumptions.model_accuracy))
    differences: NDArray[np.float32] = reader_correct.astype(np.float32) - model_correct
    return differences


def _find_significant(differences: NDArray[np.float32], assumptions: PowerAssumptions) -> NDArray[np.bool_]:
    """Find the studies with a significant result, by the formulas of measures.mrmc."""
    _, cases, readers = differences.shape
    means = differences.mean(axis=1, dtype=np.float64)
    centred = differences - means[:, None, :].astype(np.float32)
    total_variance = np.sum(centred.sum(axis=2, dtype=np.float64) ** 2, axis=1) / (cases - 1) / cases
    if assumptions.random_readers:
        summed_variance = np.sum(centred**2, axis=(1, 2), dtype=np.float64) / (cases - 1) / cases
        reader_variance = means.var(axis=1, ddof=1)
        mean_covariance = (total_variance - summed_variance) / (readers * (readers - 1))
        scaled_variance = reader_variance + np.maximum(0.0, readers * mean_covariance)
        degrees = np.divide(
            scaled_variance**2 * (readers - 1),
            reader_variance**2,
            out=np.full_like(reader_variance, 1e9),
            where=reader_variance > 0,
        )
        error = np.sqrt(scaled_variance / readers)
    else:
        error, degrees = np.sqrt(total_variance) / readers, np.full(len(means), cases - 1.0)
    # the model minus the readers, plus the margin
    distance_from_margin = assumptions.margin - means.mean(axis=1)
    critical = scipy.special.stdtrit(degrees, 1 - assumptions.alpha / 2) * error
    significant: NDArray[np.bool_] = (
        distance_from_margin > critical if assumptions.margin else np.abs(distance_from_margin) > critical
    )
    return significant


def _compute_upper_tail(critical: float, degrees: float, noncentrality: float) -> float:
    """Compute P(T > critical) of the non-central t, or of the normal distribution for extreme arguments."""
    if degrees > 1e5 or abs(noncentrality) > 35:
        return float(scipy.special.ndtr(noncentrality - critical))
    probability = float(scipy.stats.nct.sf(critical, degrees, noncentrality))
    return probability if math.isfinite(probability) else float(scipy.special.ndtr(noncentrality - critical))


def _compute_latent_covariance(p: float, q: float, correlation: float) -> float:
    """Compute the covariance of two binary results whose latent variables are correlated."""
    both = scipy.stats.multivariate_normal.cdf(
        [scipy.special.ndtri(p), scipy.special.ndtri(q)],
        mean=[0.0, 0.0],
        cov=[[1.0, correlation], [correlation, 1.0]],
    )
    return float(both) - p * q


def _check_design(assumptions: PowerAssumptions, readers: int, cases: int) -> None:
    min_readers = 2 if assumptions.random_readers else 1
    if not min_readers <= readers <= 1000:
        reason = ", because readers are a sample" if min_readers == 2 else ""
        raise InvalidValue("readers", f"must be {min_readers} to 1,000, not {readers:,}{reason}")
    if not 2 <= cases <= MAX_CASES:
        raise InvalidValue("cases", f"must be 2 to {MAX_CASES:,}, not {cases:,}")
