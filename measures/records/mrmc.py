"""Compares the readers as a group with each model, and the arms of a study; each reader counts once.

``cases`` is the number of questions that the model and at least one reader answered. The difference is
readers minus model. For a reader with several arms the mean over the arms is used, and there is a further
result for each arm. Readers who helped to set the reference are left out; if there are any, a second result
includes them. With the setting ``leave_one_out``, a third result (accuracy only) scores each of these readers
and the model's answers by a reference made without that reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.protocols import HelperRule, MissingAnswers
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.diagnostic import Endpoint, list_endpoints
from measures.records.leave_one_out import OwnReferences, score_by_own_references
from measures.records.settings import Settings
from measures.results import ACCURACY, ArmComparison, MrmcComparison, ReaderMean

_ALL_HELPED = "not defined: every reader helped to set the reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contrast:
    """Two levels of a factor with the readers' values in each, shape (questions, readers)."""

    endpoint: Endpoint
    factor: str
    a: str
    b: str
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    helpers: HelperRule


def compute_mrmc(matrix: RatingMatrix, settings: Settings) -> tuple[MrmcComparison, ...]:
    """Compare the readers with each model, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; the confidence and the rule for missing answers are used.

    Returns:
        For each task, model and arm: random readers and fixed readers, by each rule for the readers who
        helped to set the reference (if there are any). Empty without a reader or a model.
    """
    if not matrix.list_readers(include_helpers=True):
        return ()
    endpoints, own_references = list_endpoints(matrix, settings), score_by_own_references(matrix, settings)
    return tuple(
        result
        for subset in matrix.task_subsets()
        for model in matrix.non_reference_raters
        if matrix.kinds[model] == "model"
        for arm in ("", *matrix.reader_arms)
        for helpers in _list_helper_rules(matrix, settings)
        for endpoint in endpoints
        if endpoint.truth is None or arm or not matrix.reader_arms  # scores are not averaged over arms
        if helpers is not HelperRule.LEAVE_ONE_OUT or endpoint.measure == ACCURACY
        for result in _compare_with_model(
            matrix, settings, subset, endpoint, own_references, model=model, arm=arm, helpers=helpers
        )
    )


def compute_arm_comparisons(matrix: RatingMatrix, settings: Settings) -> tuple[ArmComparison, ...]:
    """Compare each pair of arms of the readers, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        All analyses of :func:`measures.arms.compare_arms`. For a crossover with two arms and two stated
        periods, also the comparison of the periods and of the sequences. Empty with a single arm.
    """
    results: list[ArmComparison] = []
    endpoints, own_references = list_endpoints(matrix, settings), score_by_own_references(matrix, settings)
    for subset in matrix.task_subsets():
        for helpers in _list_helper_rules(matrix, settings):
            readers = _list_readers(matrix, helpers)
            used_references = _select_own_references(own_references, helpers)
            for endpoint, (a, b) in product(endpoints, combinations(matrix.reader_arms, 2)):
                if helpers is HelperRule.LEAVE_ONE_OUT and endpoint.measure != ACCURACY:
                    continue
                contrast = _Contrast(
                    endpoint=endpoint,
                    factor="arm",
                    a=a,
                    b=b,
                    first=_collect_reader_values(matrix, endpoint, readers, used_references, arm=a),
                    second=_collect_reader_values(matrix, endpoint, readers, used_references, arm=b),
                    helpers=helpers,
                )
                results += _compare_levels(matrix, settings, subset, contrast)
    if len(matrix.reader_arms) == len(matrix.periods) == 2:
        results += _check_crossover(matrix, settings, endpoints[0], own_references)
    return tuple(results)


def compute_reader_means(matrix: RatingMatrix, settings: Settings) -> tuple[ReaderMean, ...]:
    """Compute the mean of the readers, over all tasks and for each task, by each measure.

    Args:
        matrix: the ratings.
        settings: the settings; the confidence, and the positive answer with its scores are used.

    Returns:
        For each task and arm: random readers and fixed readers, without and (if there are any) with the
        readers who helped to set the reference. Empty if no reader's answers are scored.
    """
    results: list[ReaderMean] = []
    endpoints = list_endpoints(matrix, settings)
    for subset, arm, helpers, endpoint in product(
        matrix.task_subsets(),
        ("", *matrix.reader_arms),
        _list_helper_rules(matrix, replace(settings, leave_one_out=False)),
        endpoints,
    ):
        readers = _list_readers(matrix, helpers)
        values = _collect_reader_values(matrix, endpoint, readers, {}, arm=arm)[subset.rows]
        if np.isnan(values).all() or (endpoint.truth is not None and not arm and matrix.reader_arms):
            continue
        for random_readers in (True, False):
            mean = endpoint.analyse_mean(
                values, rows=subset.rows, clusters=matrix.cluster_numbers(subset.rows),
                random_readers=random_readers, confidence=settings.confidence,
            )  # fmt: skip
            results.append(
                ReaderMean(
                    measure=endpoint.measure,
                    task=subset.name,
                    arm=arm,
                    includes_helpers=helpers is not HelperRule.EXCLUDED,
                    readers=mean.readers,
                    cases=mean.cases,
                    estimate=mean.difference,
                    se=mean.se,
                    df=mean.df,
                    low=None if mean.low is None else max(0.0, mean.low),
                    high=None if mean.high is None else min(1.0, mean.high),
                    random_readers=random_readers,
                    method=mean.method,
                    note=mean.note,
                )
            )
    return tuple(results)


def _list_helper_rules(matrix: RatingMatrix, settings: Settings) -> tuple[HelperRule, ...]:
    """Return the rules that give different results."""
    has_helpers = len(matrix.list_readers(include_helpers=True)) > len(
        matrix.list_readers(include_helpers=False)
    )
    if not has_helpers:
        return (HelperRule.EXCLUDED,)
    leave_one_out = (HelperRule.LEAVE_ONE_OUT,) if settings.leave_one_out else ()
    return (HelperRule.EXCLUDED, HelperRule.INCLUDED, *leave_one_out)


def _list_readers(matrix: RatingMatrix, helpers: HelperRule) -> tuple[str, ...]:
    return matrix.list_readers(include_helpers=helpers is not HelperRule.EXCLUDED)


def _select_own_references(own_references: OwnReferences, helpers: HelperRule) -> OwnReferences:
    return own_references if helpers is HelperRule.LEAVE_ONE_OUT else {}


def _compare_with_model(
    matrix: RatingMatrix,
    settings: Settings,
    subset: QuestionSubset,
    endpoint: Endpoint,
    own_references: OwnReferences,
    *,
    model: int,
    arm: str,
    helpers: HelperRule,
) -> Iterator[MrmcComparison]:
    readers, used_references = _list_readers(matrix, helpers), _select_own_references(own_references, helpers)
    values = _collect_reader_values(matrix, endpoint, readers, used_references, arm=arm)[subset.rows]
    model_values = np.stack(
        [_select_values(endpoint, used_references, reader)[subset.rows, model] for reader in readers]
        or [endpoint.values[subset.rows, model]],
        axis=1,
    )
    missing_note = _describe_missing_answers(matrix, settings, subset, endpoint, model)
    for random_readers in (True, False):
        comparison = endpoint.compare_with_model(
            values,
            model_values if used_references else endpoint.values[subset.rows, model],
            rows=subset.rows,
            clusters=matrix.cluster_numbers(subset.rows),
            random_readers=random_readers,
            confidence=settings.confidence,
        )
        note = comparison.note if readers else _ALL_HELPED
        yield replace(
            comparison,
            model=matrix.raters[model],
            task=subset.name,
            measure=endpoint.measure,
            arm=arm,
            includes_helpers=helpers is not HelperRule.EXCLUDED,
            leave_one_out=helpers is HelperRule.LEAVE_ONE_OUT,
            note="; ".join(filter(None, (note, missing_note))),
        )


def _describe_missing_answers(
    matrix: RatingMatrix, settings: Settings, subset: QuestionSubset, endpoint: Endpoint, model: int
) -> str:
    """Describe the questions that readers answered and the model did not."""
    readers = [column for column, kind in enumerate(matrix.kinds) if kind == "reader"]
    values, not_marked = endpoint.values[subset.rows], matrix.not_marked[subset.rows, model]
    is_read = ~np.isnan(values[:, readers]).all(axis=1)
    if settings.missing_answers is MissingAnswers.WRONG and endpoint.truth is None:
        filled = int((is_read & (matrix.answers[subset.rows, model] < 0) & ~not_marked).sum())
        text = f"{count_text(filled, 'question')} without an answer of the model count as incorrect"
        return text if filled else ""
    missing = int((is_read & np.isnan(values[:, model]) & ~not_marked).sum())
    if not missing:
        return ""
    return (
        f"warning: the model answered {int(is_read.sum()) - missing:,} of the {int(is_read.sum()):,} "
        "questions that readers answered; only these are compared"
    )


def _collect_reader_values(
    matrix: RatingMatrix,
    endpoint: Endpoint,
    readers: tuple[str, ...],
    own_references: OwnReferences,
    *,
    arm: str = "",
) -> NDArray[np.float64]:
    """Return the values of each reader, NaN where missing.

    Args:
        matrix: the ratings.
        endpoint: the measure and its values.
        readers: the names of the readers.
        own_references: for some readers, the correctness by a reference made without that reader.
        arm: the arm; "" for the mean over the arms that the reader answered in.

    Returns:
        Shape (questions, readers).
    """
    values = np.full((len(matrix.questions), len(readers)), np.nan)
    for index, person in enumerate(readers):
        columns = [
            column
            for column, name in enumerate(matrix.persons)
            if name == person and matrix.kinds[column] == "reader" and (not arm or matrix.arms[column] == arm)
        ]
        person_values = _select_values(endpoint, own_references, person)[:, columns]
        is_known = ~np.isnan(person_values)
        has_value = is_known.any(axis=1)
        values[has_value, index] = np.nansum(person_values[has_value], axis=1) / is_known[has_value].sum(
            axis=1
        )
    return values


def _select_values(endpoint: Endpoint, own_references: OwnReferences, reader: str) -> NDArray[np.float64]:
    """Return the values of all raters with which a reader is compared, shape (questions, raters)."""
    if reader not in own_references:
        return endpoint.values
    correct = own_references[reader]
    return np.where(correct < 0, np.nan, correct)


def _check_crossover(
    matrix: RatingMatrix, settings: Settings, endpoint: Endpoint, own_references: OwnReferences
) -> Iterator[ArmComparison]:
    """Compare the two periods, and the two sequences of arms, over all tasks."""
    [all_questions, *_] = matrix.task_subsets()
    for helpers in _list_helper_rules(matrix, settings):
        readers, used_references = (
            _list_readers(matrix, helpers),
            _select_own_references(own_references, helpers),
        )
        columns = {
            arm: [
                next(
                    (
                        column
                        for column, name in enumerate(matrix.persons)
                        if name == person and matrix.arms[column] == arm
                    ),
                    -1,
                )
                for person in readers
            ]
            for arm in matrix.reader_arms
        }
        if not readers or any(-1 in indices for indices in columns.values()):
            continue
        scores = {
            arm: _collect_reader_values(matrix, endpoint, readers, used_references, arm=arm)
            for arm in matrix.reader_arms
        }
        period = {arm: matrix.period[:, indices] for arm, indices in columns.items()}
        by_period = [
            np.select([period[arm] == index for arm in matrix.reader_arms], list(scores.values()), np.nan)
            for index in (0, 1)
        ]
        mean = (by_period[0] + by_period[1]) / 2
        by_sequence = [np.where(period[arm] == 0, mean, np.nan) for arm in matrix.reader_arms]
        first, second = (f"{arm} first" for arm in matrix.reader_arms)
        for factor, names, values in (
            ("period", matrix.periods, by_period),
            ("sequence", (first, second), by_sequence),
        ):
            contrast = _Contrast(
                endpoint=endpoint, factor=factor, a=names[0], b=names[1], first=values[0], second=values[1],
                helpers=helpers,
            )  # fmt: skip
            yield from _compare_levels(matrix, settings, all_questions, contrast)


def _compare_levels(
    matrix: RatingMatrix, settings: Settings, subset: QuestionSubset, contrast: _Contrast
) -> Iterator[ArmComparison]:
    first, second = contrast.first[subset.rows], contrast.second[subset.rows]
    means = [contrast.endpoint.compute_mean(values, subset.rows) for values in (first, second)]
    for result in contrast.endpoint.compare_arms(
        first,
        second,
        rows=subset.rows,
        clusters=matrix.cluster_numbers(subset.rows),
        confidence=settings.confidence,
    ):
        yield ArmComparison(
            factor=contrast.factor,
            a=contrast.a,
            b=contrast.b,
            task=subset.name,
            measure=contrast.endpoint.measure,
            includes_helpers=contrast.helpers is not HelperRule.EXCLUDED,
            leave_one_out=contrast.helpers is HelperRule.LEAVE_ONE_OUT,
            readers=result.readers,
            cases=result.cases,
            mean_a=means[0],
            mean_b=means[1],
            difference=result.difference,
            se=result.se,
            df=result.df,
            low=result.low,
            high=result.high,
            p=result.p,
            p_adjusted=None,
            random_readers=result.random_readers,
            random_cases=result.random_cases,
            method=result.method,
            note=result.note,
        )
