"""Estimates the assumptions of a power calculation from the answers of an earlier study.

The variances are those of a two-way model with random readers and cases (analysis of variance, 1 for correct
and 0 for incorrect): between readers, between cases, and the interaction of both with the error, which one
answer per reader and case cannot separate. The correlations of the latent variables of :mod:`measures.power`
are those whose expected covariances equal the observed ones, with the observed accuracy of each rater as
threshold.

A pilot of few readers estimates the variance between readers badly: plan with a larger variance as well.
Readers who helped to set the reference are left out, because their accuracy is too high.

Sources: Searle SR, Casella G, McCulloch CE, Variance Components, Wiley 1992, ch. 4 (analysis of variance);
Roe CA, Metz CE, Acad Radiol 1997;4:298-303 (latent model); Olsson U, Psychometrika 1979;44:443-460
(correlations of latent variables).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.errors import Refused
from measures.power import PowerAssumptions
from measures.power_designs import ArmAssumptions
from measures.rating_matrix import RatingMatrix

Matrix = NDArray[np.float64]

_MAX_SPREAD, _MAX_CORRELATION = 0.25, 0.97
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """The variances of an earlier study, and the assumptions for a new study.

    ``model`` is the compared model, or "" if the study has two ``arms``. ``cases`` counts the questions that
    the model and at least one reader answered (with two arms: at least one reader). The variances are those
    of correctness (see the module); with two arms, the means over both. A variance estimated below 0 is 0.
    """

    model: str
    arms: tuple[str, ...]
    readers: int
    cases: int
    reader_variance: float
    case_variance: float
    interaction_variance: float
    assumptions: PowerAssumptions | ArmAssumptions


def estimate_pilot(matrix: RatingMatrix, *, model: str | None = None) -> Pilot:
    """Estimate the assumptions about readers and a model, or about two arms of the readers.

    Args:
        matrix: the ratings of the study.
        model: the model; None for the only one. A study with two arms is planned as such.

    Raises:
        Refused: the study has fewer than two independent readers, more than two arms, no model with this
            name, or no model is chosen and there are several.
    """
    readers = matrix.list_readers(include_helpers=False)
    if len(readers) < 2:
        raise Refused(
            "A pilot needs the scored answers of two readers or more who did not help to set the reference."
        )
    arms = matrix.reader_arms
    if arms:
        return _estimate_arms(matrix, readers, arms)
    column = _find_model(matrix, model)
    correct = np.where(matrix.correct < 0, np.nan, matrix.correct)
    correct = correct[matrix.correct[:, column] >= 0]  # the cases on which the readers are compared
    reader_correct = correct[:, [matrix.persons.index(reader) for reader in readers]]
    reader_correct = reader_correct[:, ~np.isnan(reader_correct).all(axis=0)]
    if reader_correct.shape[1] < 2:
        raise Refused(
            f"The pilot has fewer than two readers with cases that {matrix.raters[column]} answered."
        )
    variances = _split_variance(reader_correct)
    accuracies, model_accuracy = np.nanmean(reader_correct, axis=0), np.nanmean(correct[:, [column]], axis=0)
    reader_correlation = _fit_correlation(
        _Moments.of(reader_correct, reader_correct),
        accuracies,
        accuracies,
        of=lambda size: ~np.eye(size, dtype=bool),
        low=0.0,
    )
    with_model = _fit_correlation(
        _Moments.of(reader_correct, correct[:, [column]]),
        accuracies,
        model_accuracy,
        of=lambda size: np.ones((size, 1), dtype=bool),
        low=-_MAX_CORRELATION,
    )
    limit = math.floor(math.sqrt(reader_correlation) * 1e6) / 1e6
    return Pilot(
        model=matrix.raters[column],
        arms=(),
        readers=reader_correct.shape[1],
        cases=int((~np.isnan(reader_correct)).any(axis=1).sum()),
        reader_variance=variances.readers,
        case_variance=variances.cases,
        interaction_variance=variances.interaction,
        assumptions=PowerAssumptions(
            reader_accuracy=_clip_accuracy(accuracies.mean()),
            model_accuracy=_clip_accuracy(model_accuracy[0]),
            spread=min(_MAX_SPREAD, math.sqrt(variances.readers)),
            reader_correlation=reader_correlation,
            model_correlation=min(limit, max(-limit, with_model)),
        ),
    )


def describe_pilot(pilot: Pilot) -> str:
    """Return the components and the assumptions of a pilot as two sentences."""
    plan = pilot.assumptions
    if isinstance(plan, ArmAssumptions):
        compared = f"arms {' and '.join(pilot.arms)}"
        accuracies = f"{plan.first_accuracy:.1%} and {plan.second_accuracy:.1%}"
        correlations = (
            f"same reader {plan.same_reader_correlation:.2f}, same arm {plan.same_arm_correlation:.2f}, "
            f"neither {plan.other_correlation:.2f}; SD of a reader's effect in each arm {plan.arm_spread:.1%}"
        )
    else:
        compared = f"model {pilot.model}"
        accuracies = f"readers {plan.reader_accuracy:.1%}, model {plan.model_accuracy:.1%}"
        correlations = (
            f"two readers {plan.reader_correlation:.2f}, reader and model {plan.model_correlation:.2f}"
        )
    return (
        f"Pilot: {count_text(pilot.readers, 'reader')}, {count_text(pilot.cases, 'case')}, {compared}; "
        f"accuracy {accuracies}; SD between readers {plan.spread:.1%}; latent correlations {correlations}. "
        f"Variances: readers {pilot.reader_variance:.5f}, cases {pilot.case_variance:.5f}, interaction with "
        f"the error {pilot.interaction_variance:.5f}."
    )


def _find_model(matrix: RatingMatrix, name: str | None) -> int:
    models = {rater: column for column, rater in enumerate(matrix.raters) if matrix.kinds[column] == "model"}
    if name is None and len(models) == 1:
        return next(iter(models.values()))
    if name not in models:
        listed = ", ".join(models) or "none"
        subject = "several models or none" if name is None else f"no model {name!r}"
        raise Refused(f"The pilot has {subject}. Choose one of its models: {listed}.")
    return models[name]


def _estimate_arms(matrix: RatingMatrix, readers: tuple[str, ...], arms: tuple[str, ...]) -> Pilot:
    """Estimate the assumptions about two arms, from the readers who answered in both."""
    columns = {
        (matrix.persons[column], matrix.arms[column]): column for column in matrix.non_reference_raters
    }
    readers_of_both = [reader for reader in readers if all((reader, arm) in columns for arm in arms)]
    if len(arms) != 2 or len(readers_of_both) < 2:
        raise Refused(
            f"The pilot has the arms {', '.join(arms)} and {len(readers_of_both)} readers with answers in "
            "all of them. A pilot with arms needs two arms and two readers or more with answers in both."
        )
    correct = np.where(matrix.correct < 0, np.nan, matrix.correct)
    first, second = (correct[:, [columns[reader, arm] for reader in readers_of_both]] for arm in arms)
    variances = [_split_variance(values) for values in (first, second)]
    accuracy_1, accuracy_2 = np.nanmean(first, axis=0), np.nanmean(second, axis=0)
    between_arms = _Moments.of(first, second)
    covariance_of_means = between_arms.of_means
    size = len(readers_of_both)
    covariance_between_arms = float(np.cov(accuracy_1, accuracy_2)[0, 1]) - (
        _average_diagonal(covariance_of_means) - _average_off_diagonal(covariance_of_means)
    )
    reader_variance = sum(part.readers for part in variances) / 2
    spread_variance = min(max(0.0, covariance_between_arms), reader_variance)

    def fit(of: Callable[[int], NDArray[np.bool_]]) -> float:
        return _fit_correlation(between_arms, accuracy_1, accuracy_2, of=of, low=0.0)

    correlations_by_arm = [
        _fit_correlation(
            _Moments.of(values, values),
            accuracy,
            accuracy,
            of=lambda count: ~np.eye(count, dtype=bool),
            low=0.0,
        )
        for values, accuracy in ((first, accuracy_1), (second, accuracy_2))
    ]
    same_reader_correlation = fit(lambda count: np.eye(count, dtype=bool))
    same_arm_correlation = sum(correlations_by_arm) / 2
    # the latent model needs: other <= same reader, other <= same arm, and same reader + same arm - other <= 1
    other_correlation = min(
        fit(lambda count: ~np.eye(count, dtype=bool)), same_reader_correlation, same_arm_correlation
    )
    same_reader_correlation = min(same_reader_correlation, 1 - same_arm_correlation + other_correlation)
    return Pilot(
        model="",
        arms=arms,
        readers=size,
        cases=int((~np.isnan(first) | ~np.isnan(second)).any(axis=1).sum()),
        reader_variance=reader_variance,
        case_variance=sum(part.cases for part in variances) / 2,
        interaction_variance=sum(part.interaction for part in variances) / 2,
        assumptions=ArmAssumptions(
            first_accuracy=_clip_accuracy(accuracy_1.mean()),
            second_accuracy=_clip_accuracy(accuracy_2.mean()),
            spread=min(_MAX_SPREAD, math.sqrt(spread_variance)),
            arm_spread=min(_MAX_SPREAD, math.sqrt(max(0.0, reader_variance - spread_variance))),
            same_reader_correlation=same_reader_correlation,
            same_arm_correlation=same_arm_correlation,
            other_correlation=other_correlation,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variances:
    """The variances between readers, between cases, and of the interaction with the error."""

    readers: float
    cases: float
    interaction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moments:
    """Covariances of the columns of two tables over their common cases, and covariances of the column means.

    ``common`` (r, s) is the number of common cases, ``covariance`` (r, s) is 0 where this number is below 2.
    """

    common: Matrix
    covariance: Matrix
    of_means: Matrix

    @classmethod
    def of(cls, first: Matrix, second: Matrix) -> _Moments:
        is_known_1, is_known_2 = (~np.isnan(first)).astype(float), (~np.isnan(second)).astype(float)
        values_1, values_2 = np.nan_to_num(first), np.nan_to_num(second)
        common = is_known_1.T @ is_known_2
        products, sums_1, sums_2 = values_1.T @ values_2, values_1.T @ is_known_2, is_known_1.T @ values_2
        n = np.maximum(common, 2.0)
        covariance = np.where(common >= 2, (products - sums_1 * sums_2 / n) / (n - 1), 0.0)
        products_of_counts = np.outer(is_known_1.sum(axis=0), is_known_2.sum(axis=0))
        return cls(
            common=common,
            covariance=covariance,
            of_means=covariance * common / np.maximum(1.0, products_of_counts),
        )


def _split_variance(values: Matrix) -> _Variances:
    """Split the variance of the answers of readers; shape (cases, readers), NaN where not read."""
    moments = _Moments.of(values, values)
    variance_of_means = float(np.var(np.nanmean(values, axis=0), ddof=1))
    noise = _average_diagonal(moments.of_means) - _average_off_diagonal(moments.of_means)
    case_variance = _average_off_diagonal(moments.covariance)
    return _Variances(
        readers=max(0.0, variance_of_means - noise),
        cases=max(0.0, case_variance),
        interaction=max(0.0, _average_diagonal(moments.covariance) - case_variance),
    )


def _fit_correlation(
    moments: _Moments,
    accuracy_1: Matrix,
    accuracy_2: Matrix,
    *,
    of: Callable[[int], NDArray[np.bool_]],
    low: float,
) -> float:
    """Find the latent correlation whose covariances equal the observed ones on average.

    Args:
        moments: the observed covariances.
        accuracy_1: the accuracies of the rows.
        accuracy_2: the accuracies of the columns.
        of: returns the pairs that count, for a number of rows. Pairs are weighted by their common cases.
        low: the smallest correlation, 0 or below.
    """
    weights = np.where(of(len(accuracy_1)) & (moments.common >= 2), moments.common, 0.0)
    if not weights.any():
        return 0.0
    observed = float(np.average(moments.covariance, weights=weights))
    thresholds_1, thresholds_2 = (
        scipy.special.ndtri(np.clip(accuracy, 0.001, 0.999)) for accuracy in (accuracy_1, accuracy_2)
    )

    def excess(correlation: float) -> float:
        expected = _compute_binary_covariance(thresholds_1, thresholds_2, correlation)
        return float(np.average(expected, weights=weights)) - observed

    if excess(low) >= 0:
        return low
    if excess(_MAX_CORRELATION) <= 0:
        return _MAX_CORRELATION
    return float(scipy.optimize.brentq(excess, low, _MAX_CORRELATION, xtol=1e-6))


def _compute_binary_covariance(thresholds_1: Matrix, thresholds_2: Matrix, correlation: float) -> Matrix:
    """Compute the covariances of pairs of binary results with correlated latent variables, shape (r, s).

    A common factor explains the correlation. Gauss-Hermite quadrature integrates over this factor.
    """
    loading, sign = math.sqrt(abs(correlation)), math.copysign(1.0, correlation)
    residual_scale = math.sqrt(1 - abs(correlation))
    given_1 = scipy.special.ndtr((thresholds_1 - loading * _NODES[:, None]) / residual_scale)
    given_2 = scipy.special.ndtr((thresholds_2 - sign * loading * _NODES[:, None]) / residual_scale)
    both_correct = given_1.T @ (_WEIGHTS[:, None] * given_2)
    covariance: Matrix = both_correct - np.outer(
        scipy.special.ndtr(thresholds_1), scipy.special.ndtr(thresholds_2)
    )
    return covariance


def _average_diagonal(values: Matrix) -> float:
    return float(np.diag(values).mean())


def _average_off_diagonal(values: Matrix) -> float:
    """Return the mean of the values off the diagonal."""
    size = len(values)
    return float((values.sum() - np.trace(values)) / (size * (size - 1)))


def _clip_accuracy(value: float) -> float:
    return float(min(0.999, max(0.001, value)))
