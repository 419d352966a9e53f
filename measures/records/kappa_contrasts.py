"""Compares the agreement between readers with the agreement between readers and a model.

The mean kappa of all pairs of readers is compared with the mean kappa of all pairs of a reader and the model,
by one joint bootstrap over exams or patients, so the interval accounts for the cases and raters in common.
The raters are fixed. All models that answered the same questions share the resamples and the kappas between
readers. With several arms there is one comparison per arm. A kappa over several answer formats is the mean of
the formats' kappas, weighted by their numbers of questions. Pairs whose kappa is not defined are left out of
the means.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from measures.kappa_bootstrap import bootstrap_kappas
from measures.pairs import Matrix, build_pair_tables, compute_kappas
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.agreement import MAX_CATEGORIES
from measures.records.formats import describe_formats, number_formats
from measures.records.scales import Scale, build_scale
from measures.records.settings import Settings
from measures.results import KappaContrast

#: Maximum product of cases, pairs and resamples: with more there are fewer resamples.
_MAX_WORK = 2e10
_MIN_RESAMPLES = 200
#: Maximum number of resampled kappas of all formats: with more there are fewer resamples.
_MAX_KAPPAS = 2e7
#: Number of kappas that are averaged together; more would not fit into the processor's cache.
_VALUES_AT_ONCE = 100_000


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
        result
        for arm, readers in _iterate_readers_by_arm(matrix)
        for result in _compare_models(matrix, settings, arm, readers, models)
    )


def _compare_models(
    matrix: RatingMatrix, settings: Settings, arm: str, readers: list[int], models: list[int]
) -> list[KappaContrast]:
    """Return the results of an arm by model, then task."""
    results: dict[tuple[int, int], KappaContrast] = {}
    for task, subset in enumerate(matrix.task_subsets()):
        scale = build_scale(matrix, subset.rows, settings.weights)
        is_read = (scale.codes[:, readers] >= 0).any(axis=1)
        models_by_rows: dict[bytes, list[int]] = {}
        for model in models:
            models_by_rows.setdefault((is_read & (scale.codes[:, model] >= 0)).tobytes(), []).append(model)
        for mask, group_models in models_by_rows.items():
            group = _Group(
                arm=arm, readers=readers, models=group_models, subset=subset, scale=scale,
                included=np.frombuffer(mask, dtype=bool),
            )  # fmt: skip
            for model, result in zip(group_models, _compare_group(matrix, settings, group), strict=True):
                results[model, task] = result
    return [results[key] for key in sorted(results)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Models that answered the same questions of a subset, and the readers of an arm.

    ``included`` states which questions of the subset the models and a reader answered.
    """

    arm: str
    readers: list[int]
    models: list[int]
    subset: QuestionSubset
    scale: Scale
    included: NDArray[np.bool_]


def _iterate_readers_by_arm(matrix: RatingMatrix) -> Iterator[tuple[str, list[int]]]:
    readers = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "reader"]
    for arm in sorted({matrix.arms[column] for column in readers}):
        columns = [column for column in readers if matrix.arms[column] == arm]
        if len(columns) >= 2:
            yield arm, columns


def _compare_group(matrix: RatingMatrix, settings: Settings, group: _Group) -> Iterator[KappaContrast]:
    scale, n_readers = group.scale, len(group.readers)
    rows = group.subset.rows[group.included]
    answers = scale.codes[group.included][:, [*group.readers, *group.models]]
    formats = number_formats(matrix, rows, settings.weights)
    between_readers = list(combinations(range(n_readers), 2))
    with_models = [
        (reader, n_readers + model) for model in range(len(group.models)) for reader in range(n_readers)
    ]
    pairs = between_readers + with_models

    def build(model: int, note: str, values: tuple[float | None, ...] = (None,) * 5) -> KappaContrast:
        between, with_model, difference, low, high = values
        return KappaContrast(
            model=matrix.raters[model], arm=group.arm, task=group.subset.name, n=len(rows),
            readers=n_readers, between_readers=between, with_model=with_model, difference=difference,
            low=low, high=high, note=note,
        )  # fmt: skip

    if not len(rows) or scale.k > MAX_CATEGORIES:
        reason = (
            f"{scale.k} different answers, too many for a table"
            if len(rows)
            else "no question was answered by a reader and the model"
        )
        yield from (build(model, f"not defined: {reason}") for model in group.models)
        return
    n_formats = 1 if formats is None else int(formats.max()) + 1
    tables = build_pair_tables(answers, pairs, k=scale.k, stratum=formats, strata=n_formats)
    kappas, _ = compute_kappas(tables, scale.weights)
    counts = tables.sum(axis=(2, 3))
    note = "" if formats is None else describe_formats(formats)
    max_resamples = min(_MAX_WORK // (len(rows) * len(pairs)), _MAX_KAPPAS // (n_formats * len(pairs)))
    resamples = int(min(settings.bootstrap, max(_MIN_RESAMPLES, max_resamples)))
    means, resampled_means = _average_by_kind(kappas[None], counts, len(between_readers), n_readers), None
    if resamples:
        strata = None if formats is None else [np.flatnonzero(formats == index) for index in range(n_formats)]
        resampled = bootstrap_kappas(
            answers, pairs, weights=scale.weights, seed=settings.seed, resamples=resamples, strata=strata,
            clusters=matrix.cluster_numbers(rows),
        )  # fmt: skip
        resampled_means = _average_by_kind(resampled, counts, len(between_readers), n_readers)
    tail = (1 - settings.confidence) / 2
    for index, model in enumerate(group.models, start=1):
        between, with_model = float(means[0, 0]), float(means[index, 0])
        if np.isnan(between - with_model):
            yield build(model, "not defined: no kappa between readers, or none with the model")
            continue
        estimate = (between, with_model, between - with_model)
        if resampled_means is None:
            full_note = "; ".join(filter(None, [note, "no interval: bootstrap 0"]))
            yield build(model, full_note, (*estimate, None, None))
            continue
        differences = resampled_means[0] - resampled_means[index]
        differences = differences[~np.isnan(differences)]
        if not differences.size:
            full_note = "; ".join(filter(None, [note, "no interval: one question only"]))
            yield build(model, full_note, (*estimate, None, None))
            continue
        low, high = np.quantile(differences, [tail, 1 - tail])
        yield build(model, note, (*estimate, float(low), float(high)))


def _average_by_kind(kappas: Matrix, counts: NDArray[np.int64], n_between: int, readers: int) -> Matrix:
    """Return the mean kappa between readers, and the mean kappa of the readers with each model.

    Args:
        kappas: shape (resamples, formats, pairs), NaN if not defined; the pairs of readers first, then the
            pairs with each model.
        counts: the number of questions of each format and pair, shape (formats, pairs).
        n_between: the number of pairs of readers.
        readers: the number of readers.

    Returns:
        Shape (1 + models, resamples); NaN if no kappa is defined.
    """
    step = max(1, _VALUES_AT_ONCE // max(1, counts.size))
    blocks = [
        _average_block(kappas[start : start + step], counts, n_between, readers)
        for start in range(0, len(kappas), step)
    ]
    return np.concatenate(blocks, axis=1)


def _average_block(kappas: Matrix, counts: NDArray[np.int64], n_between: int, readers: int) -> Matrix:
    weights = np.where(np.isnan(kappas), 0, counts)
    totals = weights.sum(axis=1)
    with np.errstate(invalid="ignore"):
        by_pair = np.where(totals > 0, np.sum(weights * np.nan_to_num(kappas), axis=1) / totals, np.nan)
    ends = [0, *range(n_between, by_pair.shape[1] + 1, readers)]
    means = []
    for start, end in itertools.pairwise(ends):
        kappas_of_kind = by_pair[:, start:end]
        is_defined = ~np.isnan(kappas_of_kind)
        sums = np.nan_to_num(kappas_of_kind).sum(axis=1)
        means.append(np.where(is_defined.any(axis=1), sums / np.maximum(is_defined.sum(axis=1), 1), np.nan))
    return np.stack(means)
