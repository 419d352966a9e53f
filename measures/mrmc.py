"""Compares readers with one model, or readers in two arms, on the same cases (multi-reader multi-case).

Conventions. ``differences`` has shape (cases, readers): 1 or 0 for the reader's answer minus 1 or 0 for the
model's answer (or for the same reader's answer in the other arm), NaN if one of the two is missing. A model
has no readers, so the analysis has one treatment: the reader-minus-model difference, which varies over
readers and cases. Two arms of the same readers are analysed in the same way, by the arm-minus-arm difference.

There are four methods:

- ``obuchowski_rockette`` uses one figure of merit per reader and the covariances of the figures over cases.
  Readers and cases are random; the degrees of freedom are Hillis'. It is for fully crossed designs. The
  figure of merit is an accuracy, an area under the ROC curve, or a difference of two of them.
- ``u_statistic`` uses unbiased moments of the products of two differences, weighted as in the design. There
  are four moments: of products that share the reader, the case, both or neither. It is for all designs, as
  in FDA's iMRMC. In a fully crossed design it equals Obuchowski-Rockette if the covariance is not negative.
  If the unbiased variance is 0 or less, the moments of all products (V-statistic) are used, and the note
  states this.
- ``fixed_reader_analysis`` treats cases as random and readers as fixed.
- ``fixed_case_analysis`` treats readers as random and cases as fixed.

Edge cases. With one reader, random readers have no standard error. With one case, random cases have none.

Sources: Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Hillis SL, Stat Med 2007;26:596-619
(df); Hillis SL, Obuchowski NA, Berbaum KS, Acad Radiol 2011;18:129-142 (one treatment); Gallas BD, Acad
Radiol 2006;13:353-362 and Gallas BD, Brown DG, Neural Netw 2008;21:387-397 (U-statistics).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE
from measures.results import MrmcComparison

Matrix = NDArray[np.float64]


def compare_with_model(
    readers: NDArray[np.float64],
    model: NDArray[np.float64],
    *,
    clusters: NDArray[np.int64] | None = None,
    random_readers: bool = True,
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Compare readers with a model, by the method that fits the design.

    For random readers the method is Obuchowski-Rockette if each reader read each case, otherwise
    U-statistics. For fixed readers, only cases are random.

    Args:
        readers: 1 for correct, 0 for incorrect, NaN for not read; shape (cases, readers). A reader is one
            column; for a reader with several arms it contains the mean over the arms.
        model: the same values for the model, shape (cases,); or (cases, readers) if they depend on the
            reader, because each reader has a reference made without that reader.
        clusters: the exam or patient number of each case; None if all cases are independent.
        random_readers: whether the result should also hold for other, similar readers.
        confidence: the confidence level of the interval.

    Returns:
        Mean accuracy of the readers minus that of the model, -1 to 1. It is not defined if no case was
        answered by both a reader and the model.

    >>> readers = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 1]], dtype=float)
    >>> result = compare_with_model(readers, np.array([1, 0, 1, 0, 0, 1], dtype=float))
    >>> (result.readers, result.cases, round(result.difference, 3), result.method)
    (2, 6, 0.333, 'Obuchowski-Rockette')
    """
    return compare_differences(
        readers - (model if model.ndim == 2 else model[:, None]),
        clusters=clusters,
        random_readers=random_readers,
        undefined_note="not defined: no case with a reader's and the model's answer",
        confidence=confidence,
    )


def compare_differences(
    differences: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    random_readers: bool = True,
    undefined_note: str = "not defined: no case",
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Analyse the mean difference by the method that fits the design; see :func:`compare_with_model`.

    Args:
        differences: shape (cases, readers), NaN where missing.
        clusters: the exam or patient number of each case; None if all cases are independent.
        random_readers: whether the result should also hold for other, similar readers.
        undefined_note: the note of the result if no difference is known.
        confidence: the confidence level of the interval.
    """
    is_defined = ~np.isnan(differences)
    is_read_case, is_active_reader = is_defined.any(axis=1), is_defined.any(axis=0)
    differences = differences[np.ix_(is_read_case, is_active_reader)]
    clusters = None if clusters is None else np.asarray(clusters)[is_read_case]
    if not differences.size:
        return MrmcComparison(
            readers=0, cases=0, difference=None, random_readers=random_readers, note=undefined_note
        )
    if not random_readers:
        return fixed_reader_analysis(differences, clusters=clusters, confidence=confidence)
    if not np.isnan(differences).any():
        return obuchowski_rockette(
            differences.mean(axis=0),
            covariance_over_cases(differences, clusters),
            cases=len(differences),
            confidence=confidence,
        )
    return u_statistic(differences, clusters=clusters, confidence=confidence)


def obuchowski_rockette(
    figures: Matrix, covariance: Matrix, *, cases: int, confidence: float = CONFIDENCE, method: str = ""
) -> MrmcComparison:
    """Analyse the mean of the readers' figures of merit, with readers and cases random.

    Args:
        figures: one figure of merit (or difference) per reader, shape (readers,).
        covariance: the covariance of the figures over cases with readers fixed, shape (readers, readers).
        cases: the number of cases, which is part of the result.
        confidence: the confidence level of the interval.
        method: the name of the method in the result.

    Returns:
        The mean with Hillis' degrees of freedom. For one reader or one case there is no interval.

    Source: Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Hillis SL, Stat Med
    2007;26:596-619.
    """
    r = len(figures)
    mean = float(np.mean(figures))
    if r < 2 or cases < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=mean, method=method or "Obuchowski-Rockette",
            note="no interval: only one reader" if r < 2 else "no interval: one case",
        )  # fmt: skip
    reader_variance = float(np.var(figures, ddof=1))
    mean_covariance = float((covariance.sum() - np.trace(covariance)) / (r * (r - 1)))
    scaled_variance = reader_variance + max(0.0, r * mean_covariance)
    degrees = scaled_variance**2 / (reader_variance**2 / (r - 1)) if reader_variance > 0 else math.inf
    return build_comparison(
        mean, math.sqrt(scaled_variance / r), degrees, readers=r, cases=cases, confidence=confidence,
        method=method or "Obuchowski-Rockette",
    )  # fmt: skip


def covariance_over_cases(differences: Matrix, clusters: NDArray[np.int64] | None = None) -> Matrix:
    """Compute the covariance of the readers' means over cases, with the readers fixed.

    Args:
        differences: shape (cases, readers), NaN where not read.
        clusters: the exam or patient number of each case, shape (cases,), to compute the covariance over
            exams or patients; or None.

    Returns:
        Shape (readers, readers); 0 for two readers without a common case. Without missing values and with one
        question per cluster, it is the sample covariance divided by n.
    """
    return covariance_of_influences(case_influences(differences), clusters)


def covariance_of_influences(influences: Matrix, clusters: NDArray[np.int64] | None = None) -> Matrix:
    """Compute the covariance of statistics from the influence of each case on each of them.

    Args:
        influences: shape (cases, statistics); each column has the sum 0.
        clusters: the exam or patient number of each case, whose influences are summed; or None.

    Returns:
        Shape (statistics, statistics).

    Source: Obuchowski NA, Biometrics 1997;53:567-578 (sums by cluster).
    """
    if clusters is not None:
        cluster_index, _ = renumber_clusters(clusters)
        influences = np.stack([np.bincount(cluster_index, weights=column) for column in influences.T], axis=1)
    n_clusters = len(influences)
    covariance: Matrix = influences.T @ influences * (n_clusters / max(1, n_clusters - 1))
    return covariance


def u_statistic(
    first: Matrix,
    second: Matrix | None = None,
    *,
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Analyse a mean, or the difference of two means, with readers and cases random.

    All readings have the same weight. Use this function if some readers did not read all cases. As in Hillis'
    method, the degrees of freedom are Satterthwaite's, from the total variance and its part between readers.

    Args:
        first: differences, or the readings in the first arm; shape (cases, readers), NaN where not read.
        second: the readings in the second arm, same shape; None if ``first`` contains differences. A reader
            or case may be in one arm only.
        clusters: the exam or patient number of each case, shape (cases,); None if all cases are independent.
        confidence: the confidence level of the interval.

    Returns:
        The mean of ``first``, minus the mean of ``second`` if given; -1 to 1. For one reader or one case
        there is no interval.

    Source: Gallas BD, Acad Radiol 2006;13:353-362; Gallas BD, Brown DG, Neural Netw 2008;21:387-397.
    """
    arms = [_ReadingSums.from_readings(values, clusters) for values in (first, second) if values is not None]
    r = int(np.any([arm.counts.any(axis=0) for arm in arms], axis=0).sum())
    is_read_case = [~np.isnan(values).all(axis=1) for values in (first, second) if values is not None]
    cases = int(np.any(is_read_case, axis=0).sum())
    signs = (1.0, -1.0)[: len(arms)]
    mean = sum(sign * arm.mean for sign, arm in zip(signs, arms, strict=True))
    if r < 2 or cases < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=mean, method="U-statistic",
            note="no interval: only one reader" if r < 2 else "no interval: one case",
        )  # fmt: skip
    variance, note = (
        sum(
            sign * other_sign * _estimate_u_covariance(arm, other_arm)
            for sign, arm in zip(signs, arms, strict=True)
            for other_sign, other_arm in zip(signs, arms, strict=True)
        ),
        "",
    )
    centred = np.sum([sign * arm.centred for sign, arm in zip(signs, arms, strict=True)], axis=0)
    if variance <= 0:
        variance, note = _compute_v_variance(centred), "V-statistic: the unbiased variance is not above 0"
    reader_variance = float(np.sum(np.sum(centred, axis=0) ** 2)) * r / (r - 1)
    degrees = variance**2 / (reader_variance**2 / (r - 1)) if reader_variance > 0 else math.inf
    return build_comparison(
        mean, math.sqrt(max(0.0, variance)), max(degrees, r - 1.0), readers=r, cases=cases,
        confidence=confidence, method="U-statistic", note=note,
    )  # fmt: skip


def fixed_reader_analysis(
    differences: Matrix, *, clusters: NDArray[np.int64] | None = None, confidence: float = CONFIDENCE
) -> MrmcComparison:
    """Analyse the mean of the readers' differences with readers fixed: only cases (or clusters) are random.

    Use this function if the result is about these readers only. Its interval is narrower.

    Args:
        differences: reader minus model, shape (cases, readers), NaN where not read; each reader read at least
            one case.
        clusters: the exam or patient number of each case, shape (cases,), or None.
        confidence: the confidence level of the interval.

    Returns:
        The mean difference, -1 to 1. For one case or one cluster there is no interval.
    """
    return fixed_readers(
        np.nanmean(differences, axis=0),
        covariance_over_cases(differences, clusters),
        cases=len(differences),
        n_clusters=len(differences) if clusters is None else len(np.unique(clusters)),
        confidence=confidence,
    )


def fixed_readers(
    figures: Matrix, covariance: Matrix, *, cases: int, n_clusters: int, confidence: float = CONFIDENCE
) -> MrmcComparison:
    """Analyse the mean of the readers' figures of merit with readers fixed.

    Args:
        figures: one figure of merit (or difference) per reader, shape (readers,).
        covariance: the covariance of the figures over cases, shape (readers, readers).
        cases: the number of cases, which is part of the result.
        n_clusters: the number of independent cases, exams or patients; the degrees of freedom are one less.
        confidence: the confidence level of the interval.

    Returns:
        The mean; without an interval for one cluster.
    """
    r, mean = len(figures), float(figures.mean())
    if n_clusters < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=mean, random_readers=False,
            method="fixed readers", note="no interval: one case",
        )  # fmt: skip
    return build_comparison(
        mean, math.sqrt(max(0.0, float(covariance.mean()))), n_clusters - 1.0, readers=r, cases=cases,
        confidence=confidence, random_readers=False, method="fixed readers",
    )  # fmt: skip


def fixed_case_analysis(figures: Matrix, *, cases: int, confidence: float = CONFIDENCE) -> MrmcComparison:
    """Analyse the mean of the readers' figures of merit with cases fixed: Student's t test over readers.

    Use this function if the result is about these cases only.

    Args:
        figures: one figure of merit (or difference) per reader, shape (readers,).
        cases: the number of cases, which is part of the result.
        confidence: the confidence level of the interval.

    Returns:
        The mean; without an interval for one reader.

    Source: Hillis SL, Berbaum KS, Metz CE, Acad Radiol 2008;15:647-661.
    """
    r, mean = len(figures), float(figures.mean())
    if r < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=mean, random_cases=False,
            method="fixed cases", note="no interval: only one reader",
        )  # fmt: skip
    return build_comparison(
        mean, math.sqrt(float(np.var(figures, ddof=1)) / r), r - 1.0, readers=r, cases=cases,
        confidence=confidence, random_cases=False, method="fixed cases",
    )  # fmt: skip


def case_influences(readings: Matrix) -> Matrix:
    """Compute each case's influence on each reader's mean, shape (cases, readers); 0 where not read.

    Args:
        readings: shape (cases, readers), NaN where not read. A reader without a reading has influence 0.
    """
    is_read = ~np.isnan(readings)
    counts = np.maximum(1, is_read.sum(axis=0))
    means = np.where(is_read, readings, 0.0).sum(axis=0) / counts
    influences: Matrix = np.where(is_read, readings - means, 0.0) / counts
    return influences


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadingSums:
    """The readings of one arm by cluster and reader: sums, counts, and influences on the mean.

    All have shape (clusters, readers). ``centred`` has the sum 0.
    """

    sums: Matrix
    counts: Matrix
    centred: Matrix

    @classmethod
    def from_readings(cls, readings: Matrix, clusters: NDArray[np.int64] | None) -> _ReadingSums:
        counts = (~np.isnan(readings)).astype(np.float64)
        values = np.where(np.isnan(readings), 0.0, readings)
        if clusters is not None:
            cluster_index, n_clusters = renumber_clusters(clusters)
            by_cluster = np.zeros((2, n_clusters, readings.shape[1]))
            np.add.at(by_cluster[0], cluster_index, counts)
            np.add.at(by_cluster[1], cluster_index, values)
            counts, values = by_cluster
        total = max(1.0, float(counts.sum()))
        mean = float(values.sum()) / total
        return cls(sums=values, counts=counts, centred=(values - mean * counts) / total)

    @property
    def total(self) -> float:
        """The number of readings."""
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean of all readings."""
        return float(self.sums.sum()) / max(1.0, self.total)


def _sum_products(first: Matrix, second: Matrix) -> list[float]:
    """Compute the sums of products of an element of ``first`` and an element of ``second``.

    There are four sums, over the pairs with the same reader and case, the same reader only, the same case
    only, and neither in common.
    """
    sums = [float(np.sum(first * second))]
    sums += [float(np.sum(first.sum(axis=axis) * second.sum(axis=axis))) - sums[0] for axis in (0, 1)]
    return [*sums, float(first.sum()) * float(second.sum()) - sum(sums)]


def _estimate_u_covariance(first: _ReadingSums, second: _ReadingSums) -> float:
    """Estimate the covariance of two means over readers and cases from unbiased moments."""
    counts = _sum_products(first.counts, second.counts)
    moments = [
        product_sum / count if count > 0 else 0.0
        for product_sum, count in zip(_sum_products(first.sums, second.sums), counts, strict=True)
    ]
    baseline = moments[3]  # neither in common: an estimate of the product of the two expected values
    excess = sum(count * (moment - baseline) for moment, count in zip(moments, counts, strict=True))
    return excess / max(1.0, first.total * second.total)


def _compute_v_variance(centred: Matrix) -> float:
    """Compute the variance from moments about the mean, by readers and by cases; the result is 0 or more."""
    by_reader = float(np.sum(centred.sum(axis=0) ** 2))
    by_case = float(np.sum(centred.sum(axis=1) ** 2))
    own_squares = float(np.sum(centred**2))
    return max(by_reader + by_case - own_squares, by_reader, by_case)


def build_comparison(
    difference: float,
    se: float,
    degrees: float,
    *,
    readers: int,
    cases: int,
    confidence: float,
    random_readers: bool = True,
    random_cases: bool = True,
    method: str,
    note: str = "",
) -> MrmcComparison:
    """Return the result with its interval and p from Student's t distribution.

    Args:
        difference: the estimate.
        se: its standard error; there is no interval if it is 0.
        degrees: the degrees of freedom; infinity for the normal distribution.
        readers: the number of readers, which is part of the result.
        cases: the number of cases, which is part of the result.
        confidence: the confidence level of the interval.
        random_readers: whether readers are random.
        random_cases: whether cases are random.
        method: the name of the method in the result.
        note: the note of the result.
    """
    if se < 1e-12:
        return MrmcComparison(
            readers=readers, cases=cases, difference=difference, se=0.0, random_readers=random_readers,
            random_cases=random_cases, method=method, note="no interval: all differences are equal",
        )  # fmt: skip
    is_finite = math.isfinite(degrees)
    upper = 0.5 + confidence / 2
    critical = float(scipy.special.stdtrit(degrees, upper) if is_finite else scipy.special.ndtri(upper))
    statistic = abs(difference) / se
    return MrmcComparison(
        readers=readers,
        cases=cases,
        difference=difference,
        se=se,
        df=degrees if is_finite else None,
        low=max(-1.0, difference - critical * se),
        high=min(1.0, difference + critical * se),
        p=float(
            2 * (scipy.special.stdtr(degrees, -statistic) if is_finite else scipy.special.ndtr(-statistic))
        ),
        random_readers=random_readers,
        random_cases=random_cases,
        method=method,
        note=note or ("" if is_finite else "df infinite: p and interval from the normal distribution"),
    )
