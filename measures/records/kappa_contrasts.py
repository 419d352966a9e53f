"""Agreement between readers minus their agreement with a model: does a model agree with readers as they do?

The mean kappa of all pairs of readers is compared with the mean kappa of all pairs of a reader and the model,
by one joint bootstrap over exams or patients, so that the interval allows for the cases and raters in common.
The raters are fixed. With several arms there is one comparison per arm. A kappa over several answer formats
is their mean, weighted by their questions. Pairs whose kappa is not defined are left out of the means.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from measures.kappa_bootstrap import bootstrap_kappas
from measures.pairs import Matrix, build_pair_tables, compute_kappas
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.agreement import MAX_CATEGORIES
from measures.records.formats import describe_formats, number_formats
from measures.records.scales import build_scale
from measures.records.settings import Settings
from measures.results import KappaContrast

#: Maximum product of cases, pairs, category shares and resamples: with more there are fewer resamples.
_MAX_WORK = 2e10
_MIN_RESAMPLES = 200
#: Maximum number of values of the cases' patterns; with more there is no interval.
_MAX_PATTERNS = 1e8


def compute_kappa_contrasts(matrix: RatingMatrix, settings: Settings) -> tuple[KappaContrast, ...]:
    """Compare the agreement between readers with that between readers and each model.

    Args:
        matrix: the ratings.
        settings: the settings; weights, confidence, resamples and seed are used.

    Returns:
        One result per model, arm and task, all tasks together first; none with fewer than two readers.

    Raises:
        Refused: weights are set, but the answers have no order.
    """
    models = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "model"]
    return tuple(
        _compare(matrix, settings, (arm, readers), model, subset)
        for arm, readers in _readers_by_arm(matrix)
        for model in models
        for subset in matrix.task_subsets()
    )


def _readers_by_arm(matrix: RatingMatrix) -> Iterator[tuple[str, list[int]]]:
    readers = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "reader"]
    for arm in sorted({matrix.arms[column] for column in readers}):
        columns = [column for column in readers if matrix.arms[column] == arm]
        if len(columns) >= 2:
            yield arm, columns


def _compare(
    matrix: RatingMatrix,
    settings: Settings,
    arm_readers: tuple[str, list[int]],
    model: int,
    subset: QuestionSubset,
) -> KappaContrast:
    arm, readers = arm_readers
    scale = build_scale(matrix, subset.rows, settings.weights)
    columns = [*readers, model]
    has_model = (scale.codes[:, model] >= 0) & (scale.codes[:, readers] >= 0).any(axis=1)
    rows, answers = subset.rows[has_model], scale.codes[has_model][:, columns]
    formats = number_formats(matrix, rows, settings.weights)
    pairs = [*combinations(range(len(readers)), 2), *((index, len(readers)) for index in range(len(readers)))]
    is_between_readers = np.array([second < len(readers) for _, second in pairs])

    def build(note: str, values: tuple[float | None, ...] = (None,) * 5) -> KappaContrast:
        between, with_model, difference, low, high = values
        return KappaContrast(
            model=matrix.raters[model], arm=arm, task=subset.name, n=len(rows), readers=len(readers),
            between_readers=between, with_model=with_model, difference=difference, low=low, high=high,
            note=note,
        )  # fmt: skip

    if not len(rows):
        return build("not defined: no question was answered by a reader and the model")
    if scale.k > MAX_CATEGORIES:
        return build(f"not defined: {scale.k} different answers, too many for a table")
    n_formats = 1 if formats is None else int(formats.max()) + 1
    tables = build_pair_tables(answers, pairs, k=scale.k, stratum=formats, strata=n_formats)
    kappas, _ = compute_kappas(tables, scale.weights)
    counts = tables.sum(axis=(2, 3))
    between, with_model = _mean_kappas(kappas[None], counts, is_between_readers)
    if np.isnan(between[0] - with_model[0]):
        return build("not defined: no kappa between readers, or none with the model")
    note = "" if formats is None else describe_formats(formats)
    estimate = (float(between[0]), float(with_model[0]), float(between[0] - with_model[0]))
    patterns = len(rows) * len(pairs) * (1 + 2 * scale.k)
    resamples = int(min(settings.bootstrap, max(_MIN_RESAMPLES, _MAX_WORK // max(1, patterns))))
    if not resamples or patterns > _MAX_PATTERNS:
        reason = "too many pairs and answers" if resamples else "bootstrap 0"
        return build("; ".join(filter(None, [note, f"no interval: {reason}"])), (*estimate, None, None))
    strata = None if formats is None else [np.flatnonzero(formats == index) for index in range(n_formats)]
    resampled = bootstrap_kappas(
        answers, pairs, weights=scale.weights, seed=settings.seed, resamples=resamples, strata=strata,
        clusters=matrix.cluster_numbers(rows),
    )  # fmt: skip
    differences = np.subtract(*_mean_kappas(resampled, counts, is_between_readers))
    differences = differences[~np.isnan(differences)]
    if not differences.size:
        return build(
            "; ".join(filter(None, [note, "no interval: one question only"])), (*estimate, None, None)
        )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    return build(note, (*estimate, float(low), float(high)))


def _mean_kappas(
    kappas: Matrix, counts: NDArray[np.int64], is_between_readers: NDArray[np.bool_]
) -> tuple[Matrix, Matrix]:
    """Return the mean kappa of the pairs of readers and of the pairs with the model, by resample.

    Args:
        kappas: shape (resamples, formats, pairs), NaN if not defined.
        counts: the number of questions of each format and pair, shape (formats, pairs).
        is_between_readers: whether both raters of a pair are readers, shape (pairs,).
    """
    weights = np.where(np.isnan(kappas), 0, counts)
    totals = weights.sum(axis=1)
    with np.errstate(invalid="ignore"):
        by_pair = np.where(totals > 0, np.sum(weights * np.nan_to_num(kappas), axis=1) / totals, np.nan)
    means = []
    for mask in (is_between_readers, ~is_between_readers):
        defined = ~np.isnan(by_pair[:, mask])
        sums = np.nan_to_num(by_pair[:, mask]).sum(axis=1)
        means.append(np.where(defined.any(axis=1), sums / np.maximum(defined.sum(axis=1), 1), np.nan))
    return means[0], means[1]
