"""Simulates the coverage of the intervals of agreement: of two raters, of a group, and with ordered answers.

The raters are exchangeable. The shares of the answers to a question follow a Dirichlet distribution (a beta
distribution for two categories). Cohen's, Fleiss' and Conger's kappa and alpha are then the intraclass
correlation, whatever the weights. Data sets that differ only in the order of
their questions are estimated once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_rates import CONSERVATIVE, MINIMUM, simulation_error
from measures.agreement import Weights, agreement_weights
from measures.estimate import Estimate
from measures.group_agreement import Coefficient, agreement_coefficient, ordinal_weights
from measures.kappa_intervals import POSTERIOR, agreement_of_pairs, kappa_interval

SEED = 20
#: Rows of ordered answers below the minimum are simulated again: the seed, and the factor of data sets.
REPEAT_SEED, REPEAT = 77, 5
SIZES, PREVALENCES, KAPPAS = (20, 50, 100, 200, 1000), (0.02, 0.05, 0.1, 0.5), (0.4, 0.8)
ORDERED_SIZES = (20, 50, 200)
RATERS = (2, 3, 8)
#: Shares of four ordered answers.
SHARES = {"even": (0.25,) * 4, "uneven": (0.7, 0.2, 0.08, 0.02)}
#: Number of posterior draws per data set: as in the app for pairs, fewer for groups. With 400 draws, the
#: limits of rare data sets are too rough, because data sets with the same answers share their draws.
PAIR_DRAWS, GROUP_DRAWS = 2000, 1000
KAPPA, PLAIN, AC1 = "kappa", "plain", "AC1"
ORDERED = (
    "kappa linear",
    "kappa quadratic",
    "Conger linear",
    "alpha linear",
    "alpha quadratic",
    "AC2 linear",
)
LINEAR, QUADRATIC = agreement_weights(4, Weights.LINEAR), agreement_weights(4, Weights.QUADRATIC)
COEFFICIENTS = (Coefficient.FLEISS, Coefficient.CONGER, Coefficient.ALPHA, Coefficient.AC1)
Row = tuple[str, ...]
Ratings = NDArray[np.int64]
Estimates = dict[str, Estimate]
Estimator = Callable[[Ratings], Estimates]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementCell:
    """A cell of the grid: the coverage of each interval among the data sets in which it is defined.

    ``hits`` has one value for each of these data sets. ``posterior`` is the share of data sets in which kappa
    of two raters has the posterior interval. ``shares`` are the shares of the answers; with two answers, the
    first share is the prevalence.
    """

    raters: int
    n: int
    shares: tuple[float, ...]
    kappa: float
    hits: dict[str, list[bool]]
    posterior: float

    def coverage(self, name: str) -> float:
        """The share of intervals that contain the true value; NaN if no interval was defined."""
        return float(np.mean(self.hits[name])) if self.hits[name] else float("nan")

    def is_covered(self, name: str) -> bool:
        """Whether the coverage is at least the minimum, within two standard errors of the simulation."""
        error = simulation_error(MINIMUM, max(1, len(self.hits[name])))
        return not self.coverage(name) < MINIMUM - 2 * error

    def text(self, name: str) -> str:
        """The coverage, with * if it is below the minimum and + if it is conservative."""
        mark = "" if self.is_covered(name) else " *"
        return f"{self.coverage(name):.3f}{mark or (' +' if self.coverage(name) > CONSERVATIVE else '')}"


def simulate_pairs(
    runs: int,
    *,
    seed: int = SEED,
    sizes: Sequence[int] = SIZES,
    prevalences: Sequence[float] = PREVALENCES,
    kappas: Sequence[float] = KAPPAS,
) -> Iterator[AgreementCell]:
    """Simulate kappa and AC1 of two raters and two categories, and the large-sample interval of kappa.

    Data sets in which a rater is constant count only for AC1: kappa has no interval there.
    """
    weights = np.eye(2)
    random = np.random.default_rng(seed)
    for n, prevalence, kappa in itertools.product(sizes, prevalences, kappas):
        shares = (prevalence, 1 - prevalence)
        truth = {KAPPA: kappa, PLAIN: kappa, AC1: true_ac1(shares, kappa, weights)}
        yield _simulate_cell(random, runs, _estimate_pair, truth, raters=2, n=n, shares=shares, kappa=kappa)


def simulate_groups(
    runs: int,
    *,
    seed: int = SEED,
    raters: Sequence[int] = RATERS,
    sizes: Sequence[int] = SIZES,
    prevalences: Sequence[float] = PREVALENCES,
    kappas: Sequence[float] = KAPPAS,
) -> Iterator[AgreementCell]:
    """Simulate the coefficients of a group and two categories, and Student's interval of Fleiss' kappa.

    Data sets with a single category count only for AC1: kappa is not defined there.
    """
    weights = np.eye(2)
    random = np.random.default_rng(seed)
    for n_raters, n, prevalence, kappa in itertools.product(raters, sizes, prevalences, kappas):
        shares = (prevalence, 1 - prevalence)
        truth = dict.fromkeys((*COEFFICIENTS, PLAIN), kappa) | {
            Coefficient.AC1: true_ac1(shares, kappa, weights)
        }
        yield _simulate_cell(
            random, runs, _estimate_group, truth, raters=n_raters, n=n, shares=shares, kappa=kappa
        )


def simulate_ordered(
    runs: int,
    *,
    seed: int = SEED,
    raters: Sequence[int] = RATERS,
    sizes: Sequence[int] = ORDERED_SIZES,
    shares: Sequence[tuple[float, ...]] = tuple(SHARES.values()),
    kappas: Sequence[float] = KAPPAS,
) -> Iterator[AgreementCell]:
    """Simulate four ordered answers: weighted kappa of two raters, and the weighted coefficients of a group.

    Alpha with linear weights is Krippendorff's ordinal alpha, as in the reports.
    """
    random = np.random.default_rng(seed)
    for n_raters, n, answer_shares, kappa in itertools.product(raters, sizes, shares, kappas):
        names = ORDERED if n_raters == 2 else ORDERED[2:]
        truth = dict.fromkeys(names, kappa) | {"AC2 linear": true_ac1(answer_shares, kappa, LINEAR)}
        yield _simulate_cell(
            random, runs, _estimate_ordered, truth, raters=n_raters, n=n, shares=answer_shares, kappa=kappa
        )


def simulate_ratings(
    random: np.random.Generator, n: int, raters: int, shares: Sequence[float], kappa: float
) -> Ratings:
    """Simulate answers 0 to k - 1 of exchangeable raters, shape (n, raters)."""
    concentration = np.array(shares) * (1 - kappa) / kappa
    limits = random.dirichlet(concentration, size=n).cumsum(axis=1)[:, None, :-1]
    ratings: Ratings = (random.random((n, raters))[:, :, None] > limits).sum(axis=2)
    return ratings


def true_ac1(shares: Sequence[float], kappa: float, weights: NDArray[np.float64]) -> float:
    """AC1 (with weights: AC2) of raters with these shares and this kappa."""
    p, k = np.array(shares), len(shares)
    independent = float(p @ weights @ p)
    observed = kappa + (1 - kappa) * independent
    chance = float(weights.sum()) / (k * (k - 1)) * float(np.sum(p * (1 - p)))
    return (observed - chance) / (1 - chance)


def pair_rows(runs: int) -> Iterator[Row]:
    """Return the coverage of kappa (large-sample and shown interval) and of AC1 for two raters."""
    for cell in simulate_pairs(runs):
        yield (
            f"{cell.n}", f"{cell.shares[0]}", f"{cell.kappa}", f"{len(cell.hits[KAPPA])}",
            f"{cell.coverage(PLAIN):.3f}", cell.text(KAPPA), f"{cell.posterior:.0%}", cell.text(AC1),
        )  # fmt: skip


def group_rows(runs: int) -> Iterator[Row]:
    """Return the coverage of Fleiss' kappa (large-sample interval) and all coefficients (shown interval)."""
    for cell in simulate_groups(runs):
        yield (
            f"{cell.raters}", f"{cell.n}", f"{cell.shares[0]}", f"{cell.kappa}",
            f"{len(cell.hits[Coefficient.FLEISS])}", f"{cell.coverage(PLAIN):.3f}",
            *(cell.text(coefficient) for coefficient in COEFFICIENTS),
        )  # fmt: skip


def ordered_rows(runs: int) -> Iterator[Row]:
    """Return the coverage of each weighted coefficient.

    A row with a value below the minimum is replaced by a row of an independent simulation of more data sets.
    """
    names: dict[tuple[float, ...], str] = {shares: name for name, shares in SHARES.items()}
    for first_cell in simulate_ordered(runs):
        cell = first_cell
        if not all(first_cell.is_covered(name) for name in first_cell.hits):
            [cell] = simulate_ordered(
                REPEAT * runs, seed=REPEAT_SEED, raters=(first_cell.raters,), sizes=(first_cell.n,),
                shares=(first_cell.shares,), kappas=(first_cell.kappa,),
            )  # fmt: skip
        yield (
            f"{cell.raters}", f"{cell.n}", names[cell.shares], f"{cell.kappa}",
            *(cell.text(name) if name in cell.hits else "–" for name in ORDERED),
        )  # fmt: skip


def _simulate_cell(
    random: np.random.Generator,
    runs: int,
    estimator: Estimator,
    truth: dict[str, float],
    *,
    raters: int,
    n: int,
    shares: tuple[float, ...],
    kappa: float,
) -> AgreementCell:
    hits: dict[str, list[bool]] = {name: [] for name in truth}
    estimates_by_ratings: dict[bytes, Estimates] = {}
    methods = []
    for _ in range(runs):
        ratings = simulate_ratings(random, n, raters, shares, kappa)
        ratings = ratings[np.lexsort(ratings.T)]
        key = ratings.astype(np.int8).tobytes()
        if key not in estimates_by_ratings:
            estimates_by_ratings[key] = estimator(ratings)
        for name, estimate in estimates_by_ratings[key].items():
            if estimate.value is None or "single category" in estimate.note:
                continue  # a constant rater has no interval, by definition
            low, high = estimate.low, estimate.high
            hits[name].append(low is not None and high is not None and low <= truth[name] <= high)
            if name == KAPPA:
                methods.append(estimate.method)
    return AgreementCell(
        raters=raters, n=n, shares=shares, kappa=kappa, hits=hits,
        posterior=methods.count(POSTERIOR) / max(1, len(methods)),
    )  # fmt: skip


def _estimate_pair(ratings: Ratings) -> Estimates:
    weights = np.eye(2)
    [(kappa, ac1)] = agreement_of_pairs(ratings, [(0, 1)], weights=weights, draws=PAIR_DRAWS)
    plain = kappa_interval(ratings[:, 0], ratings[:, 1], weights=weights, draws=0)
    return {KAPPA: kappa, PLAIN: plain, AC1: ac1}


def _estimate_group(ratings: Ratings) -> Estimates:
    weights = np.eye(2)
    estimates = {
        str(name): agreement_coefficient(ratings, name, weights=weights, draws=GROUP_DRAWS)
        for name in COEFFICIENTS
    }
    return estimates | {PLAIN: agreement_coefficient(ratings, Coefficient.FLEISS, weights=weights, draws=0)}


def _estimate_ordered(ratings: Ratings) -> Estimates:
    estimates = {
        "alpha linear": agreement_coefficient(
            ratings, Coefficient.ALPHA, weights=ordinal_weights(ratings, k=4), ordinal=True, draws=GROUP_DRAWS
        )
    }
    for name, coefficient, weights in (
        ("Conger linear", Coefficient.CONGER, LINEAR),
        ("alpha quadratic", Coefficient.ALPHA, QUADRATIC),
        ("AC2 linear", Coefficient.AC1, LINEAR),
    ):
        estimates[name] = agreement_coefficient(ratings, coefficient, weights=weights, draws=GROUP_DRAWS)
    if ratings.shape[1] == 2:
        for name, weights in (("kappa linear", LINEAR), ("kappa quadratic", QUADRATIC)):
            estimates[name] = kappa_interval(ratings[:, 0], ratings[:, 1], weights=weights, draws=GROUP_DRAWS)
    return estimates
