"""Compares readers with one model on the same cases: mean accuracy of the readers minus that of the model.

Conventions. ``differences`` has shape (cases, readers): 1 or 0 for the reader's answer minus 1 or 0 for the
model's answer, NaN if one of the two is missing. A positive difference means that the readers are better. A
model has no readers, so the analysis has one treatment: the reader-minus-model difference, which varies over
readers and cases.

There are three methods:

- ``obuchowski_rockette`` uses one figure of merit per reader and the covariances of the figures over cases.
  Readers are random; the degrees of freedom are Hillis'. It is for fully crossed designs.
- ``u_statistic`` uses unbiased moments of the products of two differences, weighted as in the design. There
  is one moment each for products that share the reader, the case, both or neither. It is for all designs, as
  in FDA's iMRMC. In a fully crossed design it equals Obuchowski-Rockette if the covariance is not negative.
  If the unbiased variance is 0 or less, the moments of all products (V-statistic) are used, and the note
  states this.
- ``fixed_reader_analysis`` treats cases as random and readers as fixed.

Edge cases. With one reader, random readers have no standard error. With one case, no method has one.

Sources: Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Hillis SL, Stat Med 2007;26:596-619
(df); Hillis SL, Obuchowski NA, Berbaum KS, Acad Radiol 2011;18:129-142 (one treatment); Gallas BD, Acad
Radiol 2006;13:353-362 and Gallas BD, Brown DG, Neural Netw 2008;21:387-397 (U-statistics).
"""

from __future__ import annotations

import math

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
    exams: NDArray[np.int64] | None = None,
    random_readers: bool = True,
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Compare readers with a model, by the method that fits the design.

    For random readers the method is Obuchowski-Rockette if each reader read each case or if exams are given,
    otherwise U-statistics. For fixed readers, only cases are random.

    Args:
        readers: 1 for correct, 0 for incorrect, NaN for not read; shape (cases, readers).
        model: the same values for the model, shape (cases,).
        exams: the exam number of each case; None if no exam has several cases.
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
    differences = readers - model[:, None]
    is_defined = ~np.isnan(differences)
    has_reading = is_defined.any(axis=1)
    differences, is_defined = differences[has_reading], is_defined[has_reading]
    exams = None if exams is None else np.asarray(exams)[has_reading]
    has_cases = is_defined.any(axis=0)
    differences, is_defined = differences[:, has_cases], is_defined[:, has_cases]
    if not differences.size:
        return MrmcComparison(
            readers=0, cases=0, difference=None, random_readers=random_readers,
            note="not defined: no case with a reader's and the model's answer",
        )  # fmt: skip
    if not random_readers:
        return fixed_reader_analysis(differences, exams=exams, confidence=confidence)
    if is_defined.all() or exams is not None:
        means = np.nanmean(differences, axis=0)
        return obuchowski_rockette(
            means, covariance_over_cases(differences, exams), cases=len(differences), confidence=confidence
        )
    return u_statistic(differences, confidence=confidence)


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
    between = float(np.var(figures, ddof=1))
    shared = float((covariance.sum() - np.trace(covariance)) / (r * (r - 1)))
    spread = between + max(0.0, r * shared)
    degrees = spread**2 / (between**2 / (r - 1)) if between > 0 else math.inf
    return _build_comparison(
        mean, math.sqrt(spread / r), degrees, readers=r, cases=cases, confidence=confidence,
        random_readers=True, method=method or "Obuchowski-Rockette",
    )  # fmt: skip


def covariance_over_cases(differences: Matrix, exams: NDArray[np.int64] | None = None) -> Matrix:
    """Compute the covariance of the readers' means over cases, with the readers fixed.

    Args:
        differences: shape (cases, readers), NaN where not read.
        exams: the exam number of each case, shape (cases,), to compute the covariance over exams; or None.

    Returns:
        Shape (readers, readers); 0 for two readers without a common case. Without missing values and with one
        question per exam, it is the sample covariance divided by n.
    """
    influences = _case_influences(differences)
    if exams is not None:
        cluster_index, _ = renumber_clusters(exams)
        influences = np.stack([np.bincount(cluster_index, weights=column) for column in influences.T], axis=1)
    n_clusters = len(influences)
    covariance: Matrix = influences.T @ influences * (n_clusters / max(1, n_clusters - 1))
    return covariance


def u_statistic(differences: Matrix, *, confidence: float = CONFIDENCE) -> MrmcComparison:
    """Analyse the mean difference with readers and cases random; all readings have the same weight.

    Use this function if some readers did not read all cases. As in Hillis' method, the degrees of freedom are
    Satterthwaite's, from the total variance and its part between readers.

    Args:
        differences: reader minus model, shape (cases, readers), NaN where not read; each reader read at least
            one case.
        confidence: the confidence level of the interval.

    Returns:
        The mean difference, -1 to 1. For one reader or one case there is no interval.

    Source: Gallas BD, Acad Radiol 2006;13:353-362; Gallas BD, Brown DG, Neural Netw 2008;21:387-397.
    """
    known = ~np.isnan(differences)
    values = np.where(known, differences, 0.0)
    cases, r = differences.shape
    total = float(known.sum())
    mean = float(values.sum()) / total
    if r < 2 or cases < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=mean, method="U-statistic",
            note="no interval: only one reader" if r < 2 else "no interval: one case",
        )  # fmt: skip
    variance, note = _u_variance(values, known, total), ""
    if variance <= 0:
        variance, note = (
            _v_variance(values, known, total, mean),
            "V-statistic: the unbiased variance is not above 0",
        )
    by_reader = known.sum(axis=0)
    reader_means = values.sum(axis=0) / by_reader
    share = by_reader / total
    between = float(np.sum(share**2 * (reader_means - mean) ** 2)) * r / (r - 1)
    degrees = variance**2 / (between**2 / (r - 1)) if between > 0 else math.inf
    return _build_comparison(
        mean, math.sqrt(max(0.0, variance)), max(degrees, r - 1.0), readers=r, cases=cases,
        confidence=confidence, random_readers=True, method="U-statistic", note=note,
    )  # fmt: skip


def fixed_reader_analysis(
    differences: Matrix, *, exams: NDArray[np.int64] | None = None, confidence: float = CONFIDENCE
) -> MrmcComparison:
    """Analyse the mean of the readers' differences with readers fixed: only cases (or exams) are random.

    Use this function if the result is about these readers only. Its interval is narrower.

    Args:
        differences: reader minus model, shape (cases, readers), NaN where not read; each reader read at least
            one case.
        exams: the exam number of each case, shape (cases,), or None.
        confidence: the confidence level of the interval.

    Returns:
        The mean difference, -1 to 1. For one case or one exam there is no interval.
    """
    cases, r = differences.shape
    means = np.nanmean(differences, axis=0)
    n_clusters = cases if exams is None else len(np.unique(exams))
    if n_clusters < 2:
        return MrmcComparison(
            readers=r, cases=cases, difference=float(means.mean()), random_readers=False,
            method="fixed readers", note="no interval: one case",
        )  # fmt: skip
    variance = float(covariance_over_cases(differences, exams).mean())
    return _build_comparison(
        float(means.mean()), math.sqrt(max(0.0, variance)), n_clusters - 1.0, readers=r, cases=cases,
        confidence=confidence, random_readers=False, method="fixed readers",
    )  # fmt: skip


def _case_influences(differences: Matrix) -> Matrix:
    """Compute each case's influence on each reader's mean, shape (cases, readers); 0 where not read."""
    known = ~np.isnan(differences)
    means = np.nanmean(differences, axis=0)
    influences: Matrix = np.where(known, differences - means, 0.0) / known.sum(axis=0)
    return influences


def _products(values: Matrix, known: NDArray[np.bool_]) -> tuple[list[float], list[float]]:
    """Compute the sums and counts of products of two differences, over ordered pairs.

    There are four sums and four counts: same reader and case, same reader, same case, neither in common.
    """
    indicator = known.astype(np.float64)
    sums, counts = [float(np.sum(values**2))], [float(indicator.sum())]
    for axis in (0, 1):
        sums.append(float(np.sum(values.sum(axis=axis) ** 2)) - sums[0])
        counts.append(float(np.sum(indicator.sum(axis=axis) ** 2)) - counts[0])
    sums.append(float(values.sum()) ** 2 - sum(sums))
    counts.append(counts[0] ** 2 - sum(counts))
    return sums, counts


def _u_variance(values: Matrix, known: NDArray[np.bool_], total: float) -> float:
    sums, counts = _products(values, known)
    moments = [part / count if count > 0 else 0.0 for part, count in zip(sums, counts, strict=True)]
    baseline = moments[3]  # neither in common: an estimate of the square of the expected difference
    return sum(count * (moment - baseline) for moment, count in zip(moments, counts, strict=True)) / total**2


def _v_variance(values: Matrix, known: NDArray[np.bool_], total: float, mean: float) -> float:
    """Compute the variance from moments about the mean, by readers and by cases; the result is 0 or more."""
    centred = np.where(known, values - mean, 0.0)
    by_reader = float(np.sum(centred.sum(axis=0) ** 2))
    by_case = float(np.sum(centred.sum(axis=1) ** 2))
    own_squares = float(np.sum(centred**2))
    return max(by_reader + by_case - own_squares, by_reader, by_case) / total**2


def _build_comparison(
    difference: float,
    se: float,
    degrees: float,
    *,
    readers: int,
    cases: int,
    confidence: float,
    random_readers: bool,
    method: str,
    note: str = "",
) -> MrmcComparison:
    if se < 1e-12:
        return MrmcComparison(
            readers=readers, cases=cases, difference=difference, se=0.0, random_readers=random_readers,
            method=method, note="no interval: all differences are equal",
        )  # fmt: skip
    finite = math.isfinite(degrees)
    upper = 0.5 + confidence / 2
    critical = float(scipy.special.stdtrit(degrees, upper) if finite else scipy.special.ndtri(upper))
    statistic = abs(difference) / se
    return MrmcComparison(
        readers=readers,
        cases=cases,
        difference=difference,
        se=se,
        df=degrees if finite else None,
        low=max(-1.0, difference - critical * se),
        high=min(1.0, difference + critical * se),
        p=float(2 * (scipy.special.stdtr(degrees, -statistic) if finite else scipy.special.ndtr(-statistic))),
        random_readers=random_readers,
        method=method,
        note=note or ("" if finite else "df infinite: p and interval from the normal distribution"),
    )
