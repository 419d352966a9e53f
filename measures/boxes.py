"""Overlap of boxes: intersection over union, one-to-one matching, mean overlap with three denominators.

Conventions. A box is (x_min, y_min, x_max, y_max) in pixels of the stored matrix. Areas are continuous, not
counts of pixels. True and predicted boxes are on the same radiograph. Matching is one to one and maximises
the sum of overlaps (the Hungarian method). A matched pair without overlap counts as 0.

Denominators. Papers do not state how they divide the sum of overlaps if there are several true and predicted
boxes. ``score`` divides by the larger of the two numbers, so both a missing box and a superfluous box lower
it. ``per_truth`` divides by the number of true boxes, ``per_match`` by the number of matched pairs. For two
true boxes and one perfect prediction, the three values are 0.5, 0.5 and 1. For one true box and three
predictions, one of them perfect, they are 1/3, 1 and 1.

Edge cases. Without any box, nothing is defined (None). With true boxes only or predicted boxes only,
``score`` is 0 and ``per_match`` is None. Without a true box, ``per_truth`` is None.

Source: Kuhn HW, Nav Res Logist Q 1955;2:83-97, as implemented by scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The matched boxes of one radiograph.

    ``pairs`` contains (index of the true box, index of the predicted box, overlap from 0 to 1), ordered by
    the first index.
    """

    truths: int
    predictions: int
    pairs: tuple[tuple[int, int, float], ...]
    score: float | None
    per_truth: float | None
    per_match: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOverlap:
    """The mean score (0 to 1) of the ``n`` questions with a true or predicted box, with its interval."""

    n: int
    score: float | None
    low: float | None
    high: float | None
    per_truth: float | None
    per_match: float | None
    note: str = ""


def iou(truth: ArrayLike, predicted: ArrayLike) -> NDArray[np.float64]:
    """Compute the intersection over union of each true box with each predicted box.

    Args:
        truth: boxes (x_min, y_min, x_max, y_max), shape (truths, 4); edges are continuous, not pixel centres.
        predicted: boxes on the same radiograph, shape (predictions, 4).

    Returns:
        Overlaps from 0 to 1, shape (truths, predictions).

    Raises:
        ValueError: a box has no area.

    >>> iou([(0, 0, 2, 2)], [(0, 0, 2, 1), (2, 2, 3, 3)])
    array([[0.5, 0. ]])
    """
    first, second = _to_box_array(truth), _to_box_array(predicted)
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    intersection = np.prod(np.clip(high - low, 0.0, None), axis=2)
    union = _compute_areas(first)[:, None] + _compute_areas(second)[None, :] - intersection
    overlap: NDArray[np.float64] = intersection / union
    return overlap


def match_boxes(truth: ArrayLike, predicted: ArrayLike) -> Overlap:
    """Match the boxes of one radiograph one to one, so that the sum of overlaps is as large as possible.

    Args:
        truth: boxes (x_min, y_min, x_max, y_max), shape (truths, 4).
        predicted: boxes on the same radiograph, shape (predictions, 4).

    Returns:
        The matched pairs and the three scores. A score is None if its denominator is 0.

    Raises:
        ValueError: a box has no area.

    >>> result = match_boxes([(0, 0, 2, 2), (5, 5, 6, 6)], [(0, 0, 2, 2)])
    >>> (result.score, result.per_truth, result.per_match)
    (0.5, 0.5, 1.0)
    """
    overlaps = iou(truth, predicted)
    truths, predictions = overlaps.shape
    rows, columns = scipy.optimize.linear_sum_assignment(overlaps, maximize=True)
    pairs = tuple(
        (int(row), int(column), float(overlaps[row, column]))
        for row, column in zip(rows, columns, strict=True)
    )
    total = sum(overlap for _, _, overlap in pairs)
    return Overlap(
        truths=truths,
        predictions=predictions,
        pairs=pairs,
        score=total / max(truths, predictions) if max(truths, predictions) else None,
        per_truth=total / truths if truths else None,
        per_match=total / len(pairs) if pairs else None,
    )


def mean_overlap(
    overlaps: Sequence[Overlap],
    *,
    clusters: Sequence[int] | None = None,
    seed: int,
    bootstrap: int = 2000,
    confidence: float = CONFIDENCE,
) -> MeanOverlap:
    """Compute the mean overlap of many questions with equal weights, with a percentile bootstrap interval.

    Args:
        overlaps: one per question; those without any box are left out.
        clusters: the exam number of each question; exams are resampled instead of questions. None if no exam
            is known.
        seed: the seed of the resamples.
        bootstrap: the number of resamples; 0 for no interval.
        confidence: the confidence level of the interval.

    Returns:
        Means from 0 to 1. With fewer than two questions there is no interval.
    """
    defined_indices = [index for index, overlap in enumerate(overlaps) if overlap.score is not None]
    scores = np.array([overlaps[index].score for index in defined_indices], dtype=np.float64)
    truth_scores = [overlap.per_truth for overlap in overlaps if overlap.per_truth is not None]
    match_scores = [overlap.per_match for overlap in overlaps if overlap.per_match is not None]
    n = len(scores)
    low = high = None
    note = "" if n else "not defined: no question has a box"
    if n >= 2 and bootstrap:
        cluster_numbers = np.arange(n) if clusters is None else np.asarray(clusters)[defined_indices]
        cluster_index, n_clusters = renumber_clusters(cluster_numbers)
        sums, sizes = np.bincount(cluster_index, weights=scores), np.bincount(cluster_index)
        resample_counts = np.random.default_rng(seed).multinomial(
            n_clusters, np.full(n_clusters, 1 / n_clusters), size=bootstrap
        )
        means = resample_counts @ sums / (resample_counts @ sizes)
        low, high = (
            float(limit) for limit in np.quantile(means, [0.5 - confidence / 2, 0.5 + confidence / 2])
        )
    elif n:
        note = "no interval: one question only" if n == 1 else "no interval: no resamples"
    return MeanOverlap(
        n=n,
        score=float(scores.mean()) if n else None,
        low=low,
        high=high,
        per_truth=float(np.mean(truth_scores)) if truth_scores else None,
        per_match=float(np.mean(match_scores)) if match_scores else None,
        note=note,
    )


def _to_box_array(values: ArrayLike) -> NDArray[np.float64]:
    boxes = np.asarray(values, dtype=np.float64).reshape(-1, 4)
    if not np.all(boxes[:, :2] < boxes[:, 2:]):
        empty_box = boxes[~np.all(boxes[:, :2] < boxes[:, 2:], axis=1)][0].tolist()
        raise ValueError(f"a box must have an area: {empty_box}")
    return boxes


def _compute_areas(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    areas: NDArray[np.float64] = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return areas
