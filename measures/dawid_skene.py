"""The most probable category of questions that several raters judged, and each rater's errors.

The model of Dawid and Skene: each question has one true category, and each rater has a confusion matrix, the
probabilities of the categories that the rater states, by true category. It assumes that raters err
independently of each other given the true category, equally often in all questions of a category, and are
right more often than by guessing. Which questions a rater judges may depend on the stated categories, but not
otherwise on the true ones. The model is fitted by expectation maximisation, starting at the shares of votes.

Three raters of the same questions are needed: two raters who disagree do not show which of them is right.

Intervals are Wilson's with an effective number of questions, the smaller one of two: the expected number of
questions of the true category (for a prevalence, all questions), and the number of independent questions that
would give the variance of the bootstrap by exam. That variance includes the uncertainty of the true
categories.

Source: Dawid AP, Skene AM, J R Stat Soc C 1979;28:20-28.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE, wilson_limits

#: Fewer questions with three raters do not identify the model.
MINIMUM_SHARED = 20
#: Fewer expected questions of a true category do not describe a rater's errors in it.
MINIMUM_OF_CATEGORY = 5
RESAMPLES = 200
_TOLERANCE = 1e-8  # of the mean log-likelihood per question
_RESAMPLE_TOLERANCE = 1e-5  # resamples start at the fitted model, and give a standard error only
_MAX_ITERATIONS = 1000
_SMALLEST = 1e-12  # probabilities of categories that a rater never stated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DawidSkene:
    """A fitted model of n questions, R raters and k categories.

    ``prevalence``, shape (k,), are the shares of the true categories. ``confusion``, shape (R, k, k): the
    probability of each stated category (last axis) by rater and true category. ``posteriors``, shape (n, k):
    the probability of each true category of each question.
    """

    prevalence: NDArray[np.float64]
    confusion: NDArray[np.float64]
    posteriors: NDArray[np.float64]
    log_likelihood: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedShare:
    """A share of ``n`` questions, 0 to 1; None if it is not defined.

    ``n`` is an expected number, because the true categories are not known.
    """

    n: float
    estimate: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShares:
    """The shares of a model with intervals.

    ``prevalence`` has the share of each true category. ``confusion`` has, by rater and true category, how
    often the rater states each category.
    """

    prevalence: tuple[EstimatedShare, ...]
    confusion: tuple[tuple[tuple[EstimatedShare, ...], ...], ...]


def fit_dawid_skene(
    counts: NDArray[np.int64], *, pseudo_counts: NDArray[np.float64] | None = None
) -> DawidSkene:
    """Fit the model.

    Args:
        counts: how often each rater stated each category for each question, shape (n, R, k); n at least 1.
        pseudo_counts: verdicts that are added to those of each rater, by true and stated category, shape
            (k, k), for a plan that needs a probability from few verdicts; None for maximum likelihood.

    >>> votes = np.array([[0, 0, 0]] * 6 + [[1, 1, 1]] * 3 + [[0, 0, 1]])
    >>> model = fit_dawid_skene((votes[:, :, None] == np.arange(2)).astype(np.int64))
    >>> model.posteriors[9].round(3).tolist(), model.confusion[2, 0].round(3).tolist()
    ([1.0, 0.0], [0.857, 0.143])
    """
    n, n_raters, k = counts.shape
    patterns, pattern_of = np.unique(counts.reshape(n, -1), axis=0, return_inverse=True)
    pattern_of = pattern_of.reshape(-1)
    shape = (n_raters, k)
    votes = patterns.reshape(-1, *shape).sum(axis=1)
    model = _fit_patterns(
        patterns,
        np.bincount(pattern_of).astype(np.float64),
        votes / np.maximum(votes.sum(axis=1, keepdims=True), 1),
        shape=shape,
        pseudo_counts=pseudo_counts,
    )
    return DawidSkene(
        prevalence=model.prevalence,
        confusion=model.confusion,
        posteriors=model.posteriors[pattern_of],
        log_likelihood=model.log_likelihood,
    )


def explain_not_identified(counts: NDArray[np.int64]) -> str | None:
    """Return why the model is not identified; None if enough questions have three or more raters.

    Args:
        counts: as in :func:`fit_dawid_skene`.
    """
    shared = int(np.count_nonzero(counts.any(axis=2).sum(axis=1) >= 3))
    if shared >= MINIMUM_SHARED:
        return None
    return (
        f"not defined: {count_text(shared, 'question')} judged by three or more reviewers; at least "
        f"{MINIMUM_SHARED} are needed"
    )


def estimate_model_shares(
    counts: NDArray[np.int64],
    model: DawidSkene,
    clusters: NDArray[np.int64],
    *,
    seed: int,
    confidence: float = CONFIDENCE,
) -> ModelShares:
    """Estimate the shares of the true categories, and each rater's confusion matrix, with intervals.

    There are no shares for a rater who shares fewer than ``MINIMUM_SHARED`` questions with two others, nor
    for a true category with fewer than ``MINIMUM_OF_CATEGORY`` expected questions of the rater. With one
    cluster the variance is not known, so a share other than 0 and 1 has no limits.

    Args:
        counts: as in :func:`fit_dawid_skene`.
        model: the fitted model.
        clusters: the patient or exam of each question, shape (n,).
        seed: the seed of the bootstrap.
        confidence: the confidence level.
    """
    n_questions, n_raters, k = counts.shape
    has_judged = counts.sum(axis=2) > 0
    shared_counts = has_judged[has_judged.sum(axis=1) >= 3].sum(axis=0).tolist()
    expected = np.einsum("nr,nt->rt", counts.sum(axis=2), model.posteriors)
    prevalence_errors, confusion_errors = _bootstrap_errors(counts, model, clusters, seed=seed)
    _, n_clusters = renumber_clusters(clusters)

    def estimate_share(share: float, error: float, n: float) -> EstimatedShare:
        if n_clusters < 2 and 0 < share < 1:
            return EstimatedShare(n=n, estimate=share)
        bounded = min(max(share, 0.5 / n), 1 - 0.5 / n)  # a share near 0 has a variance near 0
        size = min(n, bounded * (1 - bounded) / error**2) if error > 0 else n
        low, high = wilson_limits(share * size, size, confidence)
        return EstimatedShare(n=n, estimate=share, low=low, high=high)

    def estimate_row(rater: int, true: int) -> tuple[EstimatedShare, ...]:
        n = float(expected[rater, true])
        if shared_counts[rater] < MINIMUM_SHARED or n < MINIMUM_OF_CATEGORY:
            return tuple(EstimatedShare(n=n) for _ in range(k))
        shares: list[float] = model.confusion[rater, true].tolist()
        errors: list[float] = confusion_errors[rater, true].tolist()
        return tuple(estimate_share(share, error, n) for share, error in zip(shares, errors, strict=True))

    return ModelShares(
        prevalence=tuple(
            estimate_share(share, error, n_questions)
            for share, error in zip(model.prevalence.tolist(), prevalence_errors.tolist(), strict=True)
        ),
        confusion=tuple(tuple(estimate_row(rater, true) for true in range(k)) for rater in range(n_raters)),
    )


def _fit_patterns(
    patterns: NDArray[np.int64],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
    *,
    shape: tuple[int, int],
    pseudo_counts: NDArray[np.float64] | None = None,
    tolerance: float = _TOLERANCE,
) -> DawidSkene:
    """Fit the model to distinct rows of counts, shape (m, R * k), with weights, starting at posteriors."""
    n_raters, k = shape
    added = np.zeros((k, k)) if pseudo_counts is None else pseudo_counts
    posteriors, last = start, -np.inf
    for _ in range(_MAX_ITERATIONS):
        weighted = posteriors * weights[:, None]
        prevalence = weighted.sum(axis=0) / weights.sum()
        stated = (patterns.T @ weighted).reshape(n_raters, k, k).transpose(0, 2, 1) + added
        confusion = stated / np.maximum(stated.sum(axis=2, keepdims=True), _SMALLEST)
        log_confusion = np.log(np.maximum(confusion, _SMALLEST)).transpose(0, 2, 1).reshape(-1, k)
        logs = np.log(np.maximum(prevalence, _SMALLEST)) + patterns @ log_confusion
        highest = logs.max(axis=1, keepdims=True)
        likelihoods = np.exp(logs - highest)
        totals = likelihoods.sum(axis=1, keepdims=True)
        posteriors = likelihoods / totals
        log_likelihood = float(weights @ (np.log(totals) + highest)[:, 0])
        if abs(log_likelihood - last) < tolerance * weights.sum():
            break
        last = log_likelihood
    return DawidSkene(
        prevalence=prevalence, confusion=confusion, posteriors=posteriors, log_likelihood=log_likelihood,
    )  # fmt: skip


def _bootstrap_errors(
    counts: NDArray[np.int64], model: DawidSkene, clusters: NDArray[np.int64], *, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard errors of the prevalence and of the confusion matrices, by resampling clusters."""
    n, n_raters, k = counts.shape
    patterns, first, pattern_of = np.unique(
        counts.reshape(n, -1), axis=0, return_index=True, return_inverse=True
    )
    cluster_index, n_clusters = renumber_clusters(clusters)
    random = np.random.default_rng(seed)
    prevalences, confusions = [], []
    for _ in range(RESAMPLES):
        times = np.bincount(random.integers(0, n_clusters, n_clusters), minlength=n_clusters)
        resample = _fit_patterns(
            patterns,
            np.bincount(pattern_of.reshape(-1), weights=times[cluster_index]).astype(np.float64),
            model.posteriors[first],
            shape=(n_raters, k),
            tolerance=_RESAMPLE_TOLERANCE,
        )
        prevalences.append(resample.prevalence)
        confusions.append(resample.confusion)
    return np.std(prevalences, axis=0, ddof=1), np.std(confusions, axis=0, ddof=1)
