"""Agreement of every pair of raters at once, against scikit-learn in a loop.

Targets: 11 raters, 6 tasks, 200 cases and 2,000 bootstraps at least 100 times as fast; 41,007 cases x 55
pairs x 6 tasks without bootstrap under 1 s or at least 10 times as fast. Five of the six tasks divide the
cases; the sixth is all of them together. Only a part of scikit-learn's loop over bootstraps is timed and
extrapolated; the output states this. Both sides give the same kappas, which is checked. ``python -m
benchmarks.measures``.
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
from measures.pairs import kappas, pair_tables

RATERS, TASKS, OPTIONS = 11, 5, 4
PAIRS = list(combinations(range(RATERS), 2))
RESAMPLES, OF_SKLEARN = 2000, 5
PLAIN = np.eye(OPTIONS)


def main() -> None:
    """Print both figures."""
    warnings.simplefilter("ignore")  # scikit-learn warns about resamples with one category
    _bootstraps(200)
    _tables(41_007)


def _bootstraps(cases: int) -> None:
    answers, task = _ratings(cases)
    strata = [np.arange(cases), *(np.flatnonzero(task == each) for each in range(TASKS))]

    def ours() -> np.ndarray:
        return bootstrap_kappas(answers, PAIRS, weights=PLAIN, seed=1, resamples=RESAMPLES, strata=strata)

    found, mine = _median(ours, 5)
    drawn = np.random.default_rng(1).multinomial(cases, np.full(cases, 1 / cases), size=RESAMPLES)
    began = time.perf_counter()
    for at in range(OF_SKLEARN):
        of_resample = np.repeat(np.arange(cases), drawn[at])
        for place, rows in enumerate(strata):
            kept = of_resample[np.isin(of_resample, rows)]
            theirs = _in_a_loop(answers[kept])
            np.testing.assert_allclose(found[at, place], theirs, atol=1e-5)
    scaled = (time.perf_counter() - began) / OF_SKLEARN * RESAMPLES
    print(f"{cases} cases, {len(PAIRS)} pairs, {TASKS + 1} tasks, {RESAMPLES:,} bootstraps")
    print(f"  ours          {mine:8.2f} s (median of 5)")
    print(f"  scikit-learn  {scaled:8.0f} s ({OF_SKLEARN} of {RESAMPLES:,} resamples timed, scaled up)")
    print(f"  ratio         {scaled / mine:8.0f} x (mark: 100)")


def _tables(cases: int) -> None:
    answers, task = _ratings(cases)

    def ours() -> np.ndarray:
        tables = pair_tables(answers, PAIRS, k=OPTIONS, stratum=task, strata=TASKS)
        values, _ = kappas(np.concatenate([tables.sum(axis=0, keepdims=True), tables]), PLAIN)
        return values

    found, mine = _median(ours, 5)
    began = time.perf_counter()
    rows = [np.arange(cases), *(np.flatnonzero(task == each) for each in range(TASKS))]
    theirs = np.stack([_in_a_loop(answers[each]) for each in rows])
    took = time.perf_counter() - began
    np.testing.assert_allclose(found, theirs, atol=1e-9)
    print(f"{cases:,} cases, {len(PAIRS)} pairs, {TASKS + 1} tasks, kappas with their errors")
    print(f"  ours          {mine:8.3f} s (median of 5; mark: 1 s)")
    print(f"  scikit-learn  {took:8.2f} s (kappas without errors)")
    print(f"  ratio         {took / mine:8.0f} x (mark: 10)")


def _ratings(cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Raters who are right three times in four, and each case's task."""
    random = np.random.default_rng(7)
    truth = random.integers(OPTIONS, size=(cases, 1))
    guess = random.integers(OPTIONS, size=(cases, RATERS))
    answers = np.where(random.random((cases, RATERS)) < 0.75, truth, guess)
    return answers, np.arange(cases) % TASKS


def _in_a_loop(answers: np.ndarray) -> np.ndarray:
    return np.array([cohen_kappa_score(answers[:, a], answers[:, b]) for a, b in PAIRS])


def _median(work: Callable[[], np.ndarray], times: int) -> tuple[np.ndarray, float]:
    took, found = [], work()
    for _ in range(times):
        began = time.perf_counter()
        found = work()
        took.append(time.perf_counter() - began)
    return found, statistics.median(took)


if __name__ == "__main__":
    main()
