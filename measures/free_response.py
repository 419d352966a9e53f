"""Free-response figures of merit: AFROC and weighted AFROC (wAFROC), from boxes with a score.

Readers mark suspicious regions and give each mark a score. A mark that hits a true lesion is a lesion
localisation, any other mark is a false mark. The figure of merit is the probability that a lesion has a
higher score than the highest false mark on a case without a lesion; ties count as 1/2. A lesion without a
mark and a case without a false mark have the score minus infinity.

AFROC gives each lesion the same weight (the figure of merit of JAFROC). wAFROC gives each case with lesions
the same weight, divided equally between its lesions; prefer it if cases have very different numbers of
lesions. The covariance is the jackknife's over cases, or over patients.

Edge cases. If all cases have a lesion, or if no case has one, the figure of merit is NaN.

Sources: Chakraborty DP, Berbaum KS, Med Phys 2004;31:2313-2330 (JAFROC); Chakraborty DP, Zhai X, Med Phys
2016;43:2548-2564 (wAFROC); Hillis SL, Berbaum KS, Metz CE, Acad Radiol 2008;15:647-661 (jackknife).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from measures.boxes import iou
from measures.clusters import renumber_clusters

Matrix = NDArray[np.float64]


class FigureOfMerit(StrEnum):
    """A figure of merit of free-response ratings."""

    AFROC = "afroc"
    WAFROC = "wafroc"


class HitRule(StrEnum):
    """When a mark hits a lesion: its IoU reaches a threshold, or its centre is inside the lesion's box."""

    IOU = "iou"
    CENTRE = "centre"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedCase:
    """The marks of one rater on one case.

    ``lesions`` has the score of each true lesion, and ``false_mark`` is the highest score of a false mark;
    the score is minus infinity without such a mark.
    """

    lesions: tuple[float, ...]
    false_mark: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeResponseFigures:
    """The figures of merit of several raters.

    ``values`` (raters,) are the figures, NaN if not defined. ``leave_one_out`` (clusters, raters) are the
    figures without each case or patient; their covariance is that of the jackknife.
    """

    values: Matrix
    leave_one_out: Matrix

    def covariance_of(self, contrasts: Matrix) -> Matrix:
        """Return the covariance of linear combinations of the figures, one for each row of ``contrasts``."""
        n = len(self.leave_one_out)
        combined = self.leave_one_out @ contrasts.T
        deviation = combined - combined.mean(axis=0)
        covariance: Matrix = deviation.T @ deviation * ((n - 1) / max(1, n))
        return covariance


def score_marks(
    truth: ArrayLike, marks: ArrayLike, scores: Sequence[float], *, hit: HitRule, threshold: float = 0.5
) -> MarkedCase:
    """Assign the marks of one case to its lesions.

    A mark that hits several lesions is assigned to the one that it overlaps most. Of several marks on a
    lesion, the highest score counts; the others are neither a localisation nor false.

    Args:
        truth: boxes (x_min, y_min, x_max, y_max) of the lesions, shape (lesions, 4).
        marks: boxes of the marks, shape (marks, 4).
        scores: the score of each mark.
        hit: when a mark hits a lesion.
        threshold: the smallest IoU of a hit, above 0 and at most 1; not used for centres.

    Raises:
        ValueError: a box has no area.

    >>> score_marks([(0, 0, 10, 10)], [(0, 0, 10, 8), (20, 20, 30, 30)], [4.0, 2.0], hit=HitRule.IOU)
    MarkedCase(lesions=(4.0,), false_mark=2.0)
    """
    lesions, boxes = (np.asarray(values, dtype=np.float64).reshape(-1, 4) for values in (truth, marks))
    overlaps = iou(lesions, boxes)
    if hit is HitRule.IOU:
        is_hit = overlaps >= threshold
    else:
        centres = (boxes[:, :2] + boxes[:, 2:]) / 2
        is_hit = np.all(
            (lesions[:, None, :2] <= centres[None]) & (centres[None] <= lesions[:, None, 2:]), axis=2
        )
    best_scores = [-np.inf] * len(lesions)
    false_mark = -np.inf
    for index, score in enumerate(scores):
        if not is_hit[:, index].any():
            false_mark = max(false_mark, float(score))
            continue
        lesion = int(np.argmax(np.where(is_hit[:, index], overlaps[:, index], -1.0)))
        best_scores[lesion] = max(best_scores[lesion], float(score))
    return MarkedCase(lesions=tuple(best_scores), false_mark=float(false_mark))


def free_response_figures(
    raters: Sequence[Sequence[MarkedCase]],
    *,
    figure: FigureOfMerit,
    clusters: NDArray[np.int64] | None = None,
) -> FreeResponseFigures:
    """Compute the figure of merit of each rater, and its values without each case or patient.

    Args:
        raters: the cases of each rater: all raters have the same cases in the same order.
        figure: the figure of merit.
        clusters: the patient number of each case; None if all cases are independent.

    >>> normal, hit = MarkedCase(lesions=(), false_mark=1.0), MarkedCase(lesions=(2.0, 1.0), false_mark=0.0)
    >>> float(free_response_figures([[normal, hit]], figure=FigureOfMerit.AFROC).values[0])
    0.75
    """
    columns = [_compute_figure(cases, figure, clusters) for cases in raters]
    return FreeResponseFigures(
        values=np.array([value for value, _ in columns]),
        leave_one_out=np.stack([values for _, values in columns], axis=1),
    )


def _compute_figure(
    cases: Sequence[MarkedCase], figure: FigureOfMerit, clusters: NDArray[np.int64] | None
) -> tuple[float, Matrix]:
    """Return the figure of merit, and the figures without each cluster, shape (clusters,)."""
    cluster_index, n_clusters = renumber_clusters(np.arange(len(cases)) if clusters is None else clusters)
    has_lesions = np.array([bool(case.lesions) for case in cases], dtype=np.bool_)
    normal, diseased = np.flatnonzero(~has_lesions), np.flatnonzero(has_lesions)
    normal_cases = [case for case in cases if not case.lesions]
    diseased_cases = [case for case in cases if case.lesions]
    weights = np.array([len(case.lesions) for case in diseased_cases], dtype=np.float64)
    if figure is FigureOfMerit.WAFROC:
        weights = np.ones(len(diseased))
    # The weighted share of each diseased case's lesions above the false mark of each normal case.
    kernel = np.zeros((len(normal), len(diseased)))
    false_marks = np.array([case.false_mark for case in normal_cases])
    for column, case in enumerate(diseased_cases):
        lesions = np.array(case.lesions)
        above = (lesions > false_marks[:, None]) + 0.5 * (lesions == false_marks[:, None])
        kernel[:, column] = above.mean(axis=1) * weights[column]
    lost_normal_cases = np.bincount(cluster_index[normal], minlength=n_clusters).astype(np.float64)
    lost_weight = np.bincount(cluster_index[diseased], weights=weights, minlength=n_clusters)
    lost_sum = np.zeros(n_clusters)  # np.bincount of an empty array returns integers, even with weights
    lost_sum += np.bincount(cluster_index[normal], weights=kernel.sum(axis=1), minlength=n_clusters)
    lost_sum += np.bincount(cluster_index[diseased], weights=kernel.sum(axis=0), minlength=n_clusters)
    same_cluster = cluster_index[normal][:, None] == cluster_index[diseased]
    counted_twice = np.where(same_cluster, kernel, 0.0).sum(axis=1)
    lost_sum -= np.bincount(cluster_index[normal], weights=counted_twice, minlength=n_clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(kernel.sum(), len(normal) * weights.sum())
        leave_one_out = (kernel.sum() - lost_sum) / (
            (len(normal) - lost_normal_cases) * (weights.sum() - lost_weight)
        )
    return float(value), leave_one_out
