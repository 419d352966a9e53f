"""Simulates the coverage of estimates from draws by risk: Horvitz-Thompson and prediction-powered.

Populations, draws and the order of review are simulated here, without the code of the app. Only the interval
is computed by the app (:mod:`measures.weighted_rates`). A population has 12,000 questions, four per exam, in
strata of which the largest is eight times the smallest, with different error rates. Questions are drawn
independently: half of the planned number with equal chances in each stratum, half in proportion to the risk.
In the design "by patient", ten exams belong to one patient, and their errors are strongly correlated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.weighted_rates import Prediction, level_for_every_look, weighted_rate

Floats = NDArray[np.float64]

QUESTIONS, PER_EXAM, SPREAD = 12_000, 4, 8
EXAMS_PER_PATIENT, PATIENT_EFFECT = 10, 2.0
DESIGNS = ("uniform", "by risk", "misleading risk", "at every look", "by patient")
RATES, STRATA, JUDGED = (0.01, 0.03, 0.1), (3, 12, 36), (120, 400)
#: By true rate: review in the design "at every look" stops at this half-width of the interval.
TARGETS = {0.01: 0.02, 0.03: 0.03, 0.1: 0.05}
FIRST_LOOK, LOOK_EVERY, SEQUENTIAL_DRAWN = 50, 25, 800
UNIFORM_SHARE = 0.5
RUNS_PER_POPULATION = 20
MINIMUM, SEED = 0.93, 21


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawCell:
    """A cell of the grid: the coverage and mean half-width of both estimates, and the mean number judged."""

    design: str
    rate: float
    strata: int
    judged: float
    runs: int
    coverage: tuple[float, float]
    half_width: tuple[float, float]

    def is_covered(self) -> bool:
        """Whether both coverages are at least the minimum, within two standard errors of the simulation."""
        return min(self.coverage) >= MINIMUM - 2 * math.sqrt(MINIMUM * (1 - MINIMUM) / self.runs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Population:
    """Errors, risk, exam, cluster (patient or exam) and chance of each question; shape (QUESTIONS,)."""

    errors: NDArray[np.bool_]
    risk: Floats
    exam: NDArray[np.int64]
    cluster: NDArray[np.int64]
    chances: Floats


def simulate_draws(
    runs: int,
    *,
    seed: int = SEED,
    designs: Sequence[str] = DESIGNS,
    rates: Sequence[float] = RATES,
    strata: Sequence[int] = STRATA,
    judged: Sequence[int] = JUDGED,
) -> Iterator[DrawCell]:
    """Simulate the grid."""
    for design, rate, n_strata in itertools.product(designs, rates, strata):
        for n in judged if design != "at every look" else (SEQUENTIAL_DRAWN,):
            random = np.random.default_rng([seed, DESIGNS.index(design), round(1000 * rate), n_strata, n])
            target = TARGETS[rate] if design == "at every look" else None
            hits: list[tuple[bool, bool]] = []
            widths: list[tuple[float, float]] = []
            counts: list[int] = []
            for _ in range(-(-runs // RUNS_PER_POPULATION)):
                population = _make_population(random, design, rate, n_strata, n)
                for _ in range(min(runs - len(hits), RUNS_PER_POPULATION)):
                    covers, half_widths, count = _review_once(random, population, target=target)
                    hits.append(covers)
                    widths.append(half_widths)
                    counts.append(count)
            yield DrawCell(
                design=design, rate=rate, strata=n_strata, judged=float(np.mean(counts)), runs=runs,
                coverage=(float(np.mean([h[0] for h in hits])), float(np.mean([h[1] for h in hits]))),
                half_width=(float(np.mean([w[0] for w in widths])), float(np.mean([w[1] for w in widths]))),
            )  # fmt: skip


def draw_rows(runs: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of docs/coverage.md, with fewer runs for the design "at every look"."""
    for design in DESIGNS:
        for cell in simulate_draws(runs // (5 if design == "at every look" else 1), designs=[design]):
            yield (
                cell.design,
                f"{cell.rate:.0%}",
                f"{cell.strata}",
                f"{cell.judged:.0f}",
                f"{cell.coverage[0]:.3f}",
                f"{cell.coverage[1]:.3f}",
                f"{100 * cell.half_width[0]:.2f}",
                f"{100 * cell.half_width[1]:.2f}",
            )


def _make_population(
    random: np.random.Generator, design: str, rate: float, n_strata: int, n: int
) -> _Population:
    """Simulate errors, correlated within exams; their odds rise fourfold from the first to the last stratum.

    The risk has four levels, and a question's odds of an error increase by a factor of 4 with each level. In
    the design "misleading risk", the odds decrease by a factor of 4.
    """
    sizes = np.linspace(1, SPREAD, n_strata)
    stratum = random.choice(n_strata, size=QUESTIONS, p=sizes / sizes.sum())
    exam = np.arange(QUESTIONS) // PER_EXAM
    level = random.choice(4, size=QUESTIONS, p=[0.6, 0.2, 0.15, 0.05])
    slope = math.log(4) * (-1 if design == "misleading risk" else 1)
    latent = (
        slope * level
        + np.linspace(0, math.log(4), n_strata)[stratum]
        + 0.7 * random.standard_normal(QUESTIONS // PER_EXAM)[exam]
        + random.logistic(size=QUESTIONS)
    )
    cluster = exam
    if design == "by patient":
        cluster = exam // EXAMS_PER_PATIENT
        latent += PATIENT_EFFECT * random.standard_normal(int(cluster[-1]) + 1)[cluster]
    errors = np.zeros(QUESTIONS, dtype=bool)
    errors[np.argsort(-latent)[: round(rate * QUESTIONS)]] = True
    share = 1.0 if design == "uniform" else UNIFORM_SHARE
    return _Population(
        errors=errors,
        risk=level / 3,
        exam=exam,
        cluster=cluster,
        chances=_compute_chances(level / 3, stratum, n, share),
    )


def _compute_chances(risks: Floats, stratum: NDArray[np.int64], n: int, uniform_share: float) -> Floats:
    """Compute the chance of each question; bisection makes their sum n / n_strata in each stratum."""
    chances = np.zeros(QUESTIONS)
    n_strata = int(stratum.max()) + 1
    for index in range(n_strata):
        is_in_stratum = stratum == index
        expected_count, risk = n / n_strata, risks[is_in_stratum]
        uniform_chance = min(1.0, uniform_share * expected_count / is_in_stratum.sum())
        low, high = 0.0, 1e6
        for _ in range(60):
            middle = (low + high) / 2
            if np.minimum(1, uniform_chance + middle * risk).sum() < expected_count:
                low = middle
            else:
                high = middle
        chances[is_in_stratum] = np.minimum(1, uniform_chance + low * risk)
        if uniform_share == 1:
            chances[is_in_stratum] = expected_count / is_in_stratum.sum()
    return chances


def _review_once(
    random: np.random.Generator,
    population: _Population,
    *,
    target: float | None,
) -> tuple[tuple[bool, bool], tuple[float, float], int]:
    """Draw and review; return whether each interval contains the truth, both half-widths, and the count."""
    chances = population.chances
    drawn = np.flatnonzero(random.random(QUESTIONS) < chances)
    order = random.permutation(np.unique(population.exam[drawn]))
    rank = np.empty(QUESTIONS // PER_EXAM, dtype=np.int64)
    rank[order] = np.arange(len(order))
    drawn = drawn[np.argsort(rank[population.exam[drawn]], kind="stable")]  # exam by exam
    looks = [len(drawn)] if target is None else [*range(FIRST_LOOK, len(drawn), LOOK_EVERY), len(drawn)]
    truth, results = float(population.errors.mean()), []
    for is_powered in (False, True):
        for look in looks:
            judged = drawn[:look]
            result = weighted_rate(
                population.errors[judged],
                chances[judged] * look / len(drawn),
                population.cluster[judged],
                prediction=Prediction(values=population.risk[judged], mean=float(population.risk.mean()))
                if is_powered
                else None,
                confidence=0.95 if target is None else level_for_every_look(look, planned=SEQUENTIAL_DRAWN),
            )
            low, high = result.low or 0.0, 1.0 if result.high is None else result.high
            half_width = (high - low) / 2
            if target is not None and half_width <= target:
                break
        covers = low <= truth <= high
        results.append((covers, half_width, look))
    plain, powered = results
    return (plain[0], powered[0]), (plain[1], powered[1]), plain[2]
