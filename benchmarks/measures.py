"""Compares the agreement of all pairs of raters at once with a loop over scikit-learn.

Targets: for 11 raters, 6 tasks, 200 cases and 2,000 bootstraps, at least 100 times as fast; for 41,007 cases,
55 pairs and 6 tasks without bootstrap, under 1 s or at least 10 times as fast. Five of the six tasks
partition the cases; the sixth contains all of them. Only a part of scikit-learn's loop over bootstraps is
timed, and its time is extrapolated; the output states this. The kappas of both sides are checked for
equality. Run ``python -m benchmarks.measures``.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
from sklearn.metrics import cohen_kappa_score

from measures.kappa_bootstrap import bootstrap_kappas
from measures.pairs import build_pair_tables, compute_kappas

RATERS, TASKS, OPTIONS = 11, 5, 4
PAIRS = list(combinations(range(RATERS), 2))
RESAMPLES, SKLEARN_RESAMPLES = 2000, 5
UNWEIGHTED = np.eye(OPTIONS)


def main() -> None:
    """Print both results."""
    warnings.simplefilter("ignore")  # scikit-learn warns about resamples with one category
    _measure_bootstraps(200)
    _measure_tables(41_007)


def _measure_bootstraps(cases: int) -> None:
    answers, task = _simulate_ratings(cases)
    strata = [np.arange(cases), *(np.flatnonzero(task == task_number) for task_number in range(TASKS))]

    def compute_ours() -> np.ndarray:
        return bootstrap_kappas(
            answers, PAIRS, weights=UNWEIGHTED, seed=1, resamples=RESAMPLES, strata=strata
        )

    our_kappas, our_seconds = _time_median(compute_ours, 5)
    resample_counts = np.random.default_rng(1).multinomial(cases, np.full(cases, 1 / cases), size=RESAMPLES)
    start = time.perf_counter()
    for resample in range(SKLEARN_RESAMPLES):
        resampled_cases = np.repeat(np.arange(cases), resample_counts[resample])
        for stratum, rows in enumerate(strata):
            stratum_cases = resampled_cases[np.isin(resampled_cases, rows)]
            sklearn_kappas = _compute_sklearn_kappas(answers[stratum_cases])
            np.testing.assert_allclose(our_kappas[resample, stratum], sklearn_kappas, atol=1e-5)
    scaled_seconds = (time.perf_counter() - start) / SKLEARN_RESAMPLES * RESAMPLES
    print(f"{cases} cases, {len(PAIRS)} pairs, {TASKS + 1} tasks, {RESAMPLES:,} bootstraps")
    print(f"  ours          {our_seconds:8.2f} s (median of 5)")
    print(
        f"  scikit-learn  {scaled_seconds:8.0f} s ({SKLEARN_RESAMPLES} of {RESAMPLES:,} resamples timed,"
        " scaled up)"
    )
    print(f"  ratio         {scaled_seconds / our_seconds:8.0f} x (target: 100)")


def _measure_tables(cases: int) -> None:
    answers, task = _simulate_ratings(cases)

    def compute_ours() -> np.ndarray:
        tables = build_pair_tables(answers, PAIRS, k=OPTIONS, stratum=task, strata=TASKS)
        values, _ = compute_kappas(np.concatenate([tables.sum(axis=0, keepdims=True), tables]), UNWEIGHTED)
        return values

    our_kappas, our_seconds = _time_median(compute_ours, 5)
    start = time.perf_counter()
    case_groups = [np.arange(cases), *(np.flatnonzero(task == task_number) for task_number in range(TASKS))]
    sklearn_kappas = np.stack(
        [_compute_sklearn_kappas(answers[cases_of_group]) for cases_of_group in case_groups]
    )
    sklearn_seconds = time.perf_counter() - start
    np.testing.assert_allclose(our_kappas, sklearn_kappas, atol=1e-9)
    print(f"{cases:,} cases, {len(PAIRS)} pairs, {TASKS + 1} tasks, kappas with their errors")
    print(f"  ours          {our_seconds:8.3f} s (median of 5; target: 1 s)")
    print(f"  scikit-learn  {sklearn_seconds:8.2f} s (kappas without errors)")
    print(f"  ratio         {sklearn_seconds / our_seconds:8.0f} x (target: 10)")


def _simulate_ratings(cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate raters who are correct in 75 % of the cases, and the task of each case."""
    random = np.random.default_rng(7)
    truth = random.integers(OPTIONS, size=(cases, 1))
    guess = random.integers(OPTIONS, size=(cases, RATERS))
    answers = np.where(random.random((cases, RATERS)) < 0.75, truth, guess)
    return answers, np.arange(cases) % TASKS


def _compute_sklearn_kappas(answers: np.ndarray) -> np.ndarray:
    return np.array([cohen_kappa_score(answers[:, a], answers[:, b]) for a, b in PAIRS])


def _time_median(work: Callable[[], np.ndarray], times: int) -> tuple[np.ndarray, float]:
    durations, result = [], work()
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        durations.append(time.perf_counter() - start)
    return result, statistics.median(durations)


if __name__ == "__main__":
    main()
