"""The rate in a whole dataset from questions that were drawn with unequal probabilities.

Horvitz-Thompson. Each judged question counts by the inverse of its inclusion probability; the weights are
divided by their sum (Hajek). The variance is that of independent draws (Poisson sampling), summed by
patient, or by exam if no patient is known: questions that were certain to be drawn contribute nothing.

Prediction-powered. For every question of the dataset, a prediction of the error (0 to 1) is known. The
estimate is the mean prediction plus the weighted mean of (error - prediction) among the judged questions. The
prediction is multiplied by a tuning constant, 0 or more, that minimises the variance (PPI++), so a useless
prediction has no influence. The prediction must not have been fitted to the verdicts.

The interval. It extends Clopper and Pearson's interval to a weighted sum, as Fay and Feuer's extends that of
a Poisson count: for the upper limit, one question with the property and with the mean weight of a drawn
question is added (Tiwari; Fay and Feuer add the largest weight), and the limit is a quantile of the beta
distribution with the resulting mean and variance. The lower limit is 1 minus the upper limit of the rate
without the property. With equal weights the interval is Clopper and Pearson's. If several questions belong to
one cluster, the weight of the added question is multiplied by a weighted mean of the cluster sizes.

Looks. An interval that is looked at after every verdict, until it is narrow enough, needs a higher
confidence level: :func:`level_for_every_look`.

Sources: Hajek J, Ann Math Stat 1964;35:1491-1523; Fay MP, Feuer EJ, Stat Med 1997;16:791-801; Tiwari RC
et al., Stat Methods Med Res 2006;15:547-569; Angelopoulos AN et al., Science 2023;382:669-674 and
arXiv:2311.01453 (PPI++); Waudby-Smith I et al., Ann Stat 2024;52:2613-2640.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.effective_size import effective_size
from measures.proportions import CONFIDENCE

#: Fewer questions with the property, or without it, do not suffice to tune a prediction.
MINIMUM_TO_TUNE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRate:
    """A rate in the whole dataset, 0 to 1, from ``n`` judged questions, ``hits`` of which have the property.

    ``effective_size`` is the number of questions that a simple random sample needs for the same variance;
    None if all questions or none have the property. Without a prediction it is at most Kish's effective
    sample size. ``tuning`` is the constant of the prediction, 0 without a prediction. Rate and limits are
    None if nothing was judged.
    """

    n: int
    hits: int
    estimate: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    effective_size: float | None = None
    tuning: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """A prediction of the error: for each judged question, shape (n,), and its mean in the whole dataset."""

    values: NDArray[np.float64]
    mean: float

    def complement(self) -> Prediction:
        """Return the prediction of the absence of an error."""
        return Prediction(values=1 - self.values, mean=1 - self.mean)


def weighted_rate(
    hits: NDArray[np.bool_],
    probabilities: NDArray[np.float64],
    clusters: NDArray[np.int64],
    *,
    prediction: Prediction | None = None,
    confidence: float = CONFIDENCE,
) -> WeightedRate:
    """Estimate a rate by Horvitz and Thompson, or with a prediction by prediction-powered inference.

    Args:
        hits: whether each judged question has the property, shape (n,).
        probabilities: the probability of each judged question to be drawn and judged, above 0 and at most 1,
            shape (n,).
        clusters: the exam or patient of each question, shape (n,).
        prediction: the prediction; None for the Horvitz-Thompson estimate.
        confidence: the confidence level of the interval.

    >>> everyone = np.full(50, 0.01)
    >>> result = weighted_rate(np.arange(50) < 5, everyone, np.arange(50))
    >>> round(result.estimate, 3), round(result.low, 3), round(result.high, 3)
    (0.1, 0.034, 0.217)
    """
    n, count = len(hits), int(hits.sum())
    if not n:
        return WeightedRate(n=0, hits=0)
    sample = _Sample.build(hits, probabilities, clusters)
    tuning = 0.0
    if prediction is not None and min(count, n - count) >= MINIMUM_TO_TUNE:
        tuning = _compute_tuning_constant(sample, prediction)
    # The known part of the rate, and the part of each question that the prediction does not explain.
    known_part = tuning * prediction.mean if prediction is not None else 0.0
    residuals = sample.values - (tuning * prediction.values if prediction is not None else 0.0)
    mean_residual = float(sample.weights @ residuals / sample.weights.sum())
    estimate = min(1.0, max(0.0, known_part + mean_residual))
    variance = _compute_variance(sample, residuals, mean_residual)
    tail = (1 - confidence) / 2
    return WeightedRate(
        n=n,
        hits=count,
        estimate=estimate,
        se=math.sqrt(variance),
        low=min(estimate, 1 - _compute_upper_limit(sample, 1 - known_part, -residuals, tail)),
        high=max(estimate, _compute_upper_limit(sample, known_part, residuals, tail)),
        effective_size=_compute_effective_size(sample, variance) if 0 < count < n else None,
        tuning=tuning,
    )


def level_for_every_look(n: int, *, planned: int, confidence: float = CONFIDENCE) -> float:
    """Compute the level at which an interval may be looked at after every verdict.

    At this level, the intervals of all looks together contain the rate with the stated confidence, so review
    may stop as soon as the interval is narrow enough. The intervals are tuned for ``planned`` questions.

    Args:
        n: the number of judged questions, 1 or more.
        planned: the number of judged questions at which review is expected to stop, 1 or more.
        confidence: the confidence level of all looks together.

    Source: the asymptotic confidence sequence of Waudby-Smith et al., Ann Stat 2024;52:2613-2640, eq. 11.

    >>> round(level_for_every_look(400, planned=400), 4)
    0.9976
    """
    alpha = 1 - confidence
    rho_squared = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / planned
    boundary = (n * rho_squared + 1) / (n * rho_squared) * math.log((n * rho_squared + 1) / alpha**2)
    return 1 - 2 * float(scipy.special.ndtr(-math.sqrt(boundary)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """The judged questions: their values, weights, roots of 1 - probability, and clusters.

    ``added_weight`` is the weight of the question that a limit adds.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    root_of_not_drawn: NDArray[np.float64]
    cluster_index: NDArray[np.int64]
    n_clusters: int
    added_weight: float

    @classmethod
    def build(
        cls, hits: NDArray[np.bool_], probabilities: NDArray[np.float64], clusters: NDArray[np.int64]
    ) -> _Sample:
        cluster_index, n_clusters = renumber_clusters(clusters)
        weights = 1 / probabilities
        by_cluster = np.bincount(cluster_index, weights=weights)
        # The factor is 1 if each cluster has one question.
        cluster_factor = float(by_cluster @ by_cluster / (weights @ weights))
        return cls(
            values=hits.astype(np.float64),
            weights=weights,
            root_of_not_drawn=np.sqrt(1 - probabilities),
            cluster_index=cluster_index,
            n_clusters=n_clusters,
            added_weight=float(weights**2 @ (1 - probabilities) / weights.sum()) * cluster_factor,
        )


def _sum_of_squares(sample: _Sample, residuals: NDArray[np.float64], centre: float) -> float:
    scaled = sample.weights * sample.root_of_not_drawn * (residuals - centre)
    by_cluster = np.bincount(sample.cluster_index, weights=scaled)
    return float(by_cluster @ by_cluster)


def _compute_variance(sample: _Sample, residuals: NDArray[np.float64], centre: float) -> float:
    correction = sample.n_clusters / max(1, sample.n_clusters - 1)
    return correction * _sum_of_squares(sample, residuals, centre) / float(sample.weights.sum()) ** 2


def _compute_effective_size(sample: _Sample, variance: float) -> float | None:
    """Compute the effective size without the prediction, times the gain by the prediction."""
    centre = float(sample.weights @ sample.values / sample.weights.sum())
    plain_variance = _compute_variance(sample, sample.values, centre)
    if plain_variance <= 0 or variance <= 0:
        return None
    plain_size = effective_size(sample.weights, rate=centre, variance=plain_variance)
    return plain_size * plain_variance / variance


def _compute_upper_limit(
    sample: _Sample, known_part: float, residuals: NDArray[np.float64], tail: float
) -> float:
    """Compute the upper limit of the known part + mean residual; a question adds at most 1 to this sum."""
    added_weight = sample.added_weight
    total = float(sample.weights.sum()) + added_weight
    if added_weight <= 0:  # everything was certain to be judged
        return known_part + float(sample.weights @ residuals) / total
    centre = (float(sample.weights @ residuals) + added_weight * (1 - known_part)) / total
    rate = known_part + centre
    if not 0 < rate < 1:
        return 1.0
    squares = _sum_of_squares(sample, residuals, centre) + (added_weight * (1 - rate)) ** 2
    size = rate * (1 - rate) * total**2 / squares
    return float(scipy.special.betaincinv(rate * size, (1 - rate) * size, 1 - tail))


def _compute_tuning_constant(sample: _Sample, prediction: Prediction) -> float:
    """Compute the constant of the prediction that minimises the variance; 0 if the prediction is useless."""
    importance = (sample.weights * sample.root_of_not_drawn) ** 2
    total = sample.weights.sum()
    values = sample.values - float(sample.weights @ sample.values / total)
    predicted = prediction.values - float(sample.weights @ prediction.values / total)
    predicted_variance = float(importance @ predicted**2)
    return (
        max(0.0, float(importance @ (values * predicted)) / predicted_variance)
        if predicted_variance > 0
        else 0.0
    )
