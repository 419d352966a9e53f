"""Simulates the coverage of the intervals of Fleiss' and Conger's kappa, alpha and AC1 of a group of raters.

Two categories; the raters are exchangeable, and the share of positive answers to a question follows a beta
distribution. Fleiss' kappa, Conger's kappa and alpha are then the intraclass correlation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_rates import MINIMUM, simulation_error
from measures.group_agreement import Coefficient, agreement_coefficient

SEED = 20
RATERS, SIZES, PREVALENCES, KAPPAS = (2, 3, 8), (20, 50, 200, 1000), (0.02, 0.05, 0.1, 0.5), (0.4, 0.8)
COEFFICIENTS = (Coefficient.FLEISS, Coefficient.CONGER, Coefficient.ALPHA, Coefficient.AC1)
#: Number of posterior draws per data set.
DRAWS = 400
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementCell:
    """A cell of the grid, and the coverage of each coefficient among the data sets that define it.

    Kappa and alpha are defined in ``defined`` of the ``runs`` data sets, AC1 in all.

    ``large_sample`` is the coverage of Student's interval with Gwet's standard error.
    """

    raters: int
    n: int
    prevalence: float
    kappa: float
    runs: int
    defined: int
    coverage: dict[Coefficient, float]
    large_sample: dict[Coefficient, float]

    def is_covered(self, coefficient: Coefficient) -> bool:
        """Whether the coverage is at least the minimum, within two standard errors of the simulation."""
        data_sets = self.runs if coefficient is Coefficient.AC1 else self.defined
        error = simulation_error(MINIMUM, max(1, data_sets))
        return self.coverage[coefficient] >= MINIMUM - 2 * error


def simulate_agreement(
    runs: int,
    *,
    seed: int = SEED,
    raters: Sequence[int] = RATERS,
    sizes: Sequence[int] = SIZES,
    prevalences: Sequence[float] = PREVALENCES,
    kappas: Sequence[float] = KAPPAS,
) -> Iterator[AgreementCell]:
    """Simulate the grid. Data sets with a single category count for AC1 only: kappa is not defined there."""
    random = np.random.default_rng(seed)
    for n_raters, n, prevalence, kappa in itertools.product(raters, sizes, prevalences, kappas):
        truth = _true_values(prevalence, kappa)
        shown: dict[Coefficient, list[bool]] = {coefficient: [] for coefficient in COEFFICIENTS}
        plain: dict[Coefficient, list[bool]] = {coefficient: [] for coefficient in COEFFICIENTS}
        for run in range(runs):
            ratings = simulate_ratings(random, n, n_raters, prevalence, kappa)
            is_constant = ratings.min() == ratings.max()
            for coefficient in (Coefficient.AC1,) if is_constant else COEFFICIENTS:
                for draws, hits in ((DRAWS, shown), (0, plain)):
                    estimate = agreement_coefficient(
                        ratings, coefficient, weights=np.eye(2), draws=draws, seed=run
                    )
                    hits[coefficient].append(
                        estimate.low is not None
                        and estimate.high is not None
                        and estimate.low <= truth[coefficient] <= estimate.high
                    )
        yield AgreementCell(
            raters=n_raters, n=n, prevalence=prevalence, kappa=kappa, runs=runs,
            defined=len(shown[Coefficient.FLEISS]),
            coverage={name: float(np.mean(hits)) for name, hits in shown.items()},
            large_sample={name: float(np.mean(hits)) for name, hits in plain.items()},
        )  # fmt: skip


def simulate_ratings(
    random: np.random.Generator, n: int, raters: int, prevalence: float, kappa: float
) -> NDArray[np.int64]:
    """Simulate answers 0 or 1 of exchangeable raters, shape (n, raters)."""
    scale = (1 - kappa) / kappa
    shares = random.beta(prevalence * scale, (1 - prevalence) * scale, size=n)
    return (random.random((n, raters)) < shares[:, None]).astype(np.int64)


def agreement_rows(runs: int) -> Iterator[Row]:
    """Return the coverage of each coefficient, large-sample and shown, in a fifth of the runs."""
    for cell in simulate_agreement(max(100, runs // 5)):
        yield (
            f"{cell.raters}", f"{cell.n}", f"{cell.prevalence}", f"{cell.kappa}", f"{cell.defined}",
            f"{cell.large_sample[Coefficient.FLEISS]:.3f}",
            *(
                f"{cell.coverage[coefficient]:.3f}{'' if cell.is_covered(coefficient) else ' *'}"
                for coefficient in COEFFICIENTS
            ),
        )  # fmt: skip


def _true_values(prevalence: float, kappa: float) -> dict[Coefficient, float]:
    by_chance = 2 * prevalence * (1 - prevalence)
    agreement = 1 - by_chance * (1 - kappa)
    values = dict.fromkeys(COEFFICIENTS, kappa)
    values[Coefficient.AC1] = (agreement - by_chance) / (1 - by_chance)
    return values
