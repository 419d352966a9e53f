"""Simulates the coverage of the interval of a dataset's rate from a stratified sample, and of other methods.

The grid: strata x rounds of sampling x judged questions per stratum and round x true rate x the way in which
sizes and rates differ between strata. Each round has its own strata, like a dataset that grows
between the draws. Samples are drawn without replacement from the strata. The app has only the method of
:mod:`measures.strata`; the other methods exist only here. A second grid has exams with four questions each.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from measures.strata import cluster_design_effect, stratified_limits

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Limits = tuple[Floats, Floats]

SHOWN = "shown"
STRATA, ROUNDS, REVIEWED = (1, 3, 15, 36, 60), (1, 4, 12), (3, 10, 33, 100)
RATES = (0.0, 0.005, 0.015, 0.03, 0.1, 0.3)
#: Sizes and rates of the strata. In the unequal patterns the largest stratum has 8 times the questions of the
#: smallest. The rate at one end is 8 times the rate at the other end. With "judged unevenly" the rates are
#: equal, and the number of judged questions per stratum is a fifth, one or two times the stated number in
#: turn.
PATTERNS = ("equal", "higher in small", "higher in large", "judged unevenly")
SPREAD = 8
JUDGED_FACTORS = (0.2, 1.0, 2.0)
#: The size of the largest stratum, relative to the number of judged questions per stratum.
SAMPLING_RATIO = 10
SEED = 20
#: Coverage above this is conservative.
CONSERVATIVE = 0.97
#: The minimum coverage of an interval shown without a warning, and of the mean over two neighbouring rates.
MINIMUM, MINIMUM_MEAN = 0.93, 0.945
QUESTIONS_PER_EXAM, EXAM_CORRELATION = 4, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCell:
    """A cell of the grid, and the coverage and mean width of each method in ``runs`` simulated samples.

    At a true rate of 0 the coverage is complete, and the upper limit is tested instead: ``coverage`` is the
    probability of a hit if the true rate is the upper limit of a sample without a hit.
    """

    strata: int
    rounds: int
    reviewed: int
    rate: float
    pattern: str
    runs: int
    coverage: dict[str, float]
    width: dict[str, float]

    def is_covered(self, method: str = SHOWN) -> bool:
        """Whether the coverage is at least the minimum, within two standard errors of the simulation."""
        return self.coverage[method] >= MINIMUM - 2 * simulation_error(MINIMUM, self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamCell:
    """A cell of the grid with several questions per exam, and the coverage of the interval that is shown."""

    strata: int
    reviewed: int
    rate: float
    across: bool
    runs: int
    unclustered: float
    coverage: float

    def is_covered(self) -> bool:
        """Whether the coverage is at least the minimum, within two standard errors of the simulation."""
        return self.coverage >= MINIMUM - 2 * simulation_error(MINIMUM, self.runs)


def simulation_error(coverage: float, runs: int) -> float:
    """Return the standard error of a simulated coverage."""
    return math.sqrt(coverage * (1 - coverage) / runs)


def simulate_rates(
    runs: int,
    *,
    seed: int,
    strata: Sequence[int] = STRATA,
    rounds: Sequence[int] = ROUNDS,
    reviewed: Sequence[int] = REVIEWED,
    rates: Sequence[float] = RATES,
) -> Iterator[RateCell]:
    """Simulate the grid of independent questions."""
    random = np.random.default_rng(seed)
    for n_strata, n_rounds, n, rate, pattern in itertools.product(strata, rounds, reviewed, rates, PATTERNS):
        if n_strata == 1 and pattern != PATTERNS[0]:
            continue
        shares, relative_rates = _make_pattern(n_strata, pattern)
        sizes = np.tile(np.maximum(n, np.ceil(SAMPLING_RATIO * n * shares)).astype(np.int64), n_rounds)
        stratum_rates = np.tile(relative_rates, n_rounds)
        stratum_rates = stratum_rates / np.average(stratum_rates, weights=sizes)
        judged = np.full(len(sizes), n)
        if pattern == "judged unevenly":
            uneven = np.ceil(n * np.resize(JUDGED_FACTORS, len(sizes))).astype(np.int64)
            judged = np.minimum(sizes - 1, uneven)
        if rate == 0:
            coverage, width = _test_upper_limit(judged, sizes, stratum_rates)
        else:
            hit_counts = np.floor(
                sizes * np.minimum(rate * stratum_rates, 1) + random.random(len(sizes))
            ).astype(np.int64)
            hits = random.hypergeometric(hit_counts, sizes - hit_counts, judged, size=(runs, len(sizes)))
            truth = float(hit_counts.sum() / sizes.sum())
            coverage, width = _compare_methods(hits, judged, sizes, truth)
        yield RateCell(
            strata=n_strata, rounds=n_rounds, reviewed=n, rate=rate, pattern=pattern, runs=runs,
            coverage=coverage, width=width,
        )  # fmt: skip


def simulate_exams(runs: int, *, seed: int) -> Iterator[ExamCell]:
    """Simulate exams with four questions whose results are correlated, in one stratum or across strata."""
    random = np.random.default_rng(seed)
    for n_strata, n, rate, across in itertools.product(
        (1, 3, 15), (10, 33, 100), (0.015, 0.03, 0.1, 0.3), (False, True)
    ):
        if n_strata * n > 500 or (n_strata == 1 and across):
            continue
        yield _simulate_exam_cell((n_strata, n), rate, across=across, runs=runs, random=random)


def _simulate_exam_cell(
    plan: tuple[int, int], rate: float, *, across: bool, runs: int, random: np.random.Generator
) -> ExamCell:
    n_strata, n = plan
    stratum = np.tile(np.arange(n_strata), n) if across else np.repeat(np.arange(n_strata), n)
    exam = np.arange(n_strata * n) // QUESTIONS_PER_EXAM
    exam_effects = random.standard_normal((runs, exam[-1] + 1))[:, exam]
    latent = math.sqrt(EXAM_CORRELATION) * exam_effects + math.sqrt(
        1 - EXAM_CORRELATION
    ) * random.standard_normal((runs, len(exam)))
    is_hit = latent < ndtri(rate)
    hits = np.stack([is_hit[:, stratum == index].sum(axis=1) for index in range(n_strata)], axis=1)
    judged, sizes = np.full(n_strata, n), np.full(n_strata, 10**9)
    weights = np.ones(len(exam))
    effects = np.array([cluster_design_effect(row, stratum, exam, weights) for row in is_hit])
    return ExamCell(
        strata=n_strata, reviewed=n, rate=rate, across=across, runs=runs,
        unclustered=_compute_coverage(stratified_limits(hits, judged, sizes), rate),
        coverage=_compute_coverage(stratified_limits(hits, judged, sizes, design_effect=effects), rate),
    )  # fmt: skip


def _make_pattern(n_strata: int, pattern: str) -> tuple[Floats, Floats]:
    """Return the relative sizes of the strata, at most 1, and their relative rates."""
    if pattern == PATTERNS[0] or n_strata == 1:
        return np.ones(n_strata), np.ones(n_strata)
    shares = np.geomspace(1, 1 / SPREAD, n_strata)
    return shares, {"higher in large": shares, "higher in small": 1 / shares}.get(pattern, np.ones(n_strata))


def _compare_methods(
    hits: Counts, judged: Counts, sizes: Counts, truth: float
) -> tuple[dict[str, float], dict[str, float]]:
    limits = {name: method(hits, judged, sizes) for name, method in METHODS.items()}
    return (
        {name: _compute_coverage(pair, truth) for name, pair in limits.items()},
        {name: float(np.mean(high - low)) for name, (low, high) in limits.items()},
    )


def _test_upper_limit(
    judged: Counts, sizes: Counts, relative_rates: Floats
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the probability of a hit if the true rate is the upper limit of a sample without a hit."""
    coverage, width = {}, {}
    for name, method in METHODS.items():
        high = float(method(np.zeros((1, len(sizes)), dtype=np.int64), judged, sizes)[1][0])
        stratum_rates = np.minimum(high * relative_rates, 1)
        coverage[name] = 1 - float(np.prod((1 - stratum_rates) ** judged))
        width[name] = high
    return coverage, width


def _compute_coverage(limits: Limits, truth: float) -> float:
    low, high = limits
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


# -------------------------------------------------------------------------------------------- the methods
def _posterior_limits(hits: Counts, judged: Counts, sizes: Counts, prior: tuple[Floats, Floats]) -> Limits:
    """Return quantiles of a beta distribution with the mean and variance of the posterior."""
    alpha, beta = hits + prior[0], judged - hits + prior[1]
    unjudged, total = sizes - judged, sizes.sum()
    mean = alpha / (alpha + beta)
    spread = (alpha + beta + unjudged) / (alpha + beta + 1)
    overall = hits.sum(axis=1) / total + mean @ (unjudged / total)
    variance = (unjudged * mean * (1 - mean) * spread).sum(axis=1) / float(total) ** 2
    weight = overall * (1 - overall) / variance - 1
    low, high = (betaincinv(overall * weight, (1 - overall) * weight, share) for share in (0.025, 0.975))
    return low, high


def _jeffreys(hits: Counts, judged: Counts, sizes: Counts) -> Limits:
    half = np.full(hits.shape, 0.5)
    return _posterior_limits(hits, judged, sizes, (half, half))


def _spread_prior(hits: Counts, judged: Counts, sizes: Counts) -> Limits:
    added_hits = np.full(hits.shape, 0.5 / len(sizes))
    return _posterior_limits(hits, judged, sizes, (added_hits, added_hits))


def _hierarchical(hits: Counts, judged: Counts, sizes: Counts) -> Limits:
    """Return the limits with the pooled rate as prior of each stratum, worth two questions."""
    pooled = ((hits.sum(axis=1) + 0.5) / (judged.sum() + 1))[:, None] * np.ones(hits.shape)
    return _posterior_limits(hits, judged, sizes, (2 * pooled, 2 * (1 - pooled)))


def _plain_effective_size(hits: Counts, judged: Counts, sizes: Counts) -> tuple[Floats, Floats]:
    """Return the weighted rate and its effective sample size by the stratified variance."""
    weights, rates = sizes / sizes.sum(), hits / judged
    factors = weights**2 * (1 - judged / sizes)
    overall, variance = rates @ weights, (rates * (1 - rates) / np.maximum(judged - 1, 1)) @ factors
    maximum_size = float(judged.sum())
    is_defined = variance > 0
    size = np.where(is_defined, overall * (1 - overall) / np.where(is_defined, variance, 1), maximum_size)
    return overall, np.minimum(size, maximum_size)


def _korn_graubard(hits: Counts, judged: Counts, sizes: Counts) -> Limits:
    rate, size = _plain_effective_size(hits, judged, sizes)
    hit_count = rate * size
    low = np.where(
        hit_count > 0, betaincinv(np.where(hit_count > 0, hit_count, 1), size - hit_count + 1, 0.025), 0.0
    )
    miss_count = size - hit_count
    high = np.where(rate < 1, betaincinv(hit_count + 1, np.where(rate < 1, miss_count, 1), 0.975), 1.0)
    return low, high


def _wilson(hits: Counts, judged: Counts, sizes: Counts) -> Limits:
    rate, size = _plain_effective_size(hits, judged, sizes)
    z = float(ndtri(0.975))
    middle = (rate + z * z / 2 / size) / (1 + z * z / size)
    half_width = z * np.sqrt(rate * (1 - rate) / size + z * z / 4 / size**2) / (1 + z * z / size)
    return middle - half_width, middle + half_width


METHODS: dict[str, Callable[[Counts, Counts, Counts], Limits]] = {
    "Jeffreys per stratum": _jeffreys,
    "one prior spread": _spread_prior,
    "hierarchical": _hierarchical,
    "Wilson, effective n": _wilson,
    "Korn and Graubard": _korn_graubard,
    SHOWN: stratified_limits,
}


# ----------------------------------------------------------------------------------------------- the tables
Row = tuple[str, ...]
Plan = tuple[int, int, int, str]


@functools.cache
def _load_grid(runs: int) -> tuple[RateCell, ...]:
    return tuple(simulate_rates(runs, seed=SEED))


def method_rows(runs: int) -> Iterator[Row]:
    """Summarise each method: coverage, cells below the minimum, and width relative to the shown interval."""
    grid = _load_grid(runs)
    cells, zero_rate_cells = (
        [cell for cell in grid if (cell.rate == 0) is is_zero] for is_zero in (False, True)
    )
    for name in METHODS:
        coverage = np.array([cell.coverage[name] for cell in cells])
        relative_width = np.exp(np.mean([math.log(cell.width[name] / cell.width[SHOWN]) for cell in cells]))
        yield (
            name,
            f"{coverage.mean():.3f}",
            f"{coverage.min():.3f}",
            f"{sum(not cell.is_covered(name) for cell in cells):,} of {len(cells):,}",
            f"{np.mean(coverage > CONSERVATIVE):.0%}",
            f"{relative_width:.2f}",
            f"{min(cell.coverage[name] for cell in zero_rate_cells):.3f}",
        )


def cell_rows(runs: int) -> Iterator[Row]:
    """Return the coverage of the interval that is shown, with one column for each true rate."""
    grid = _load_grid(runs)
    for plan, group in itertools.groupby(sorted(grid, key=_get_plan), key=_get_plan):
        coverage = {cell.rate: cell.coverage[SHOWN] for cell in group}
        yield *map(str, plan), *(f"{coverage[rate]:.3f}" for rate in RATES)


def exam_rows(runs: int) -> Iterator[Row]:
    """Return the coverage with several questions per exam, without and with the design effect."""
    for cell in simulate_exams(runs, seed=SEED):
        yield (
            f"{cell.strata}", f"{cell.reviewed}", f"{cell.rate:.1%}", "yes" if cell.across else "no",
            f"{cell.unclustered:.3f}", f"{cell.coverage:.3f}",
        )  # fmt: skip


def mean_over_neighbours(cells: Iterable[RateCell]) -> dict[tuple[Plan, float], float]:
    """Return the mean coverage at each true rate above 0 and the next higher one, by plan and rate."""
    by_plan: dict[Plan, dict[float, float]] = {}
    for cell in cells:
        if cell.rate > 0:
            by_plan.setdefault(_get_plan(cell), {})[cell.rate] = cell.coverage[SHOWN]
    return {
        (plan, rate): (coverage[rate] + coverage[next_rate]) / 2
        for plan, coverage in by_plan.items()
        for rate, next_rate in itertools.pairwise(sorted(coverage))
    }


def _get_plan(cell: RateCell) -> Plan:
    return cell.strata, cell.rounds, cell.reviewed, cell.pattern
