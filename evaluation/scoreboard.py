"""Scores of models on a split, or on a slice of it: A-score, V-score, BLEU-1, ROUGE-L and other columns.

The A-score is the accuracy of GEMeX: an answer with several options has to be the exact set. Questions
without an answer count as wrong. The V-score is the mean overlap of boxes over the larger number of boxes;
two further values have other denominators. It is not defined for a model without boxes. Intervals are
clustered by patient, or by exam if no patient is stated.

Micro values give each question the same weight, macro values each task. GEMeX's average of AR-scores gives
each format the same weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.language_models import TEST_MODEL_NOTE
from domain.vocabulary import AnswerFormat
from evaluation.answer_texts import TEXT_SIGNATURE
from evaluation.score_table import NOT_STATED, AnswerState, ModelScores, QuestionTable, ScoreColumn
from measures.cluster_groups import ClusterGroups, means_by_group, shares_by_group
from measures.means import Mean
from measures.multiplicity import adjust_p_values
from measures.paired import compare_paired
from measures.proportions import Proportion
from measures.rating_matrix import RatingMatrix
from measures.records.accuracy import (
    compute_accuracy,
    compute_category_accuracy,
    compute_overall_accuracy,
)
from measures.records.settings import Settings
from measures.results import AccuracyResult, OverallAccuracy
from measures.text_overlap import ROUGE_SIGNATURE, BleuResult, bleu_by_group, describe_bleu

CONFIDENCE = 0.95
#: The states of questions that were asked; the fields of :class:`AnswerCounts` have their names.
ANSWER_STATES = tuple(state for state in AnswerState if state is not AnswerState.NOT_ASKED)
#: GEMeX's published random baselines in %, shown beside the expected accuracy of guessing.
GEMEX_RANDOM = {AnswerFormat.CLOSED: 48.80, AnswerFormat.SINGLE: 25.85, AnswerFormat.MULTIPLE: 7.50}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """A model with the scores of its answers, in the order of the questions of a table.

    ``extraction`` is the signature of the judge that extracted answers; "" without one.
    """

    name: str
    model: str
    is_test_model: bool
    scores: ModelScores
    columns: tuple[ScoreColumn, ...] = ()
    extraction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """How many answers were stated by the file, extracted by a rule or a judge, failed, and missing."""

    given: int
    by_rule: int
    by_judge: int
    failed: int
    missing: int

    @property
    def asked(self) -> int:
        """The number of questions that were asked."""
        return self.answered + self.failed + self.missing

    @property
    def answered(self) -> int:
        """The number of questions with an answer."""
        return self.given + self.by_rule + self.by_judge

    def share(self, count: int) -> float | None:
        """Return a count as a share of the questions that were asked; None if none was asked."""
        return count / self.asked if self.asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """The scores of a model on some questions.

    Attributes:
        name: the name of the evaluation.
        questions: the number of questions that were asked.
        answers: where their answers come from.
        accuracy: the A-score; not defined without a question with a fixed set of answers.
        chance: the expected accuracy of guessing the same questions.
        overlap: the V-score; not defined if no answer has a box.
        overlap_per_truth: the mean overlap per box of the key.
        overlap_per_match: the mean overlap per matched pair.
        bleu: BLEU-1.
        rouge: ROUGE-L.
        columns: the mean of each further column, by its name.
    """

    name: str
    questions: int
    answers: AnswerCounts
    accuracy: Proportion
    chance: float | None
    overlap: Mean
    overlap_per_truth: float | None
    overlap_per_match: float | None
    bleu: BleuResult
    rouge: Mean
    columns: Mapping[str, Mean] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference:
    """The accuracy of a model minus that of the model it is compared with, on questions that both have."""

    name: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAccuracies:
    """The accuracies of all models by task and by category, with both averages over tasks."""

    by_task: tuple[AccuracyResult, ...]
    by_category: tuple[AccuracyResult, ...]
    overall: tuple[OverallAccuracy, ...]


def list_judged_by_test_model(models: Sequence[ScoredModel]) -> list[str]:
    """Return the names of the models with a column or extracted answers by the small model of the tests."""
    return [
        model.name
        for model in models
        if any(TEST_MODEL_NOTE in text for text in (model.extraction, *(c.version for c in model.columns)))
    ]


def list_signatures(models: Sequence[ScoredModel] = ()) -> list[str]:
    """Return the signatures of all scores, each with the versions that its values depend on."""
    columns = {f"{column.name}|version:{column.version}" for model in models for column in model.columns}
    judges = {f"A-score|{model.name}|{model.extraction}" for model in models if model.extraction}
    return [
        "A-score|unanswered:wrong|multiple:exact set|extraction:overread/1",
        *sorted(judges),
        "V-score|match:Hungarian within radiograph|over:larger number of boxes|no box:0",
        f"{describe_bleu()}|{TEXT_SIGNATURE}",
        f"{ROUGE_SIGNATURE}|{TEXT_SIGNATURE}",
        *sorted(columns),
    ]


def find_rows(table: QuestionTable, chosen: Mapping[str, Sequence[str]]) -> NDArray[np.bool_]:
    """Return which questions have one of the chosen values in each dimension, shape (q,).

    A dimension without a chosen value does not restrict the questions.
    """
    rows = np.ones(len(table.numbers), dtype=np.bool_)
    for name, values in chosen.items():
        dimension = table.dimensions[name]
        codes = [dimension.values.index(value) for value in values if value in dimension.values]
        if values:
            rows &= np.isin(dimension.codes, codes)
    return rows


def summarise_models(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_]
) -> list[ModelSummary]:
    """Compute the scores of each model on the questions of a slice.

    Args:
        table: the questions.
        models: the models.
        rows: whether each question is in the slice, shape (q,).
    """
    return _summarise(table, models, np.where(rows, 0, -1), 1)[0]


def summarise_groups(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_], dimension: str
) -> dict[str, list[ModelSummary]]:
    """Compute the scores of each model on each group of a slice, by the value of a dimension.

    Values without a question in the slice are left out.
    """
    values = table.dimensions[dimension]
    codes = np.where(rows, values.codes, -1)
    summaries = _summarise(table, models, codes, len(values.values))
    present = np.bincount(codes[rows], minlength=len(values.values)) > 0
    return {value: summaries[code] for code, value in enumerate(values.values) if present[code]}


def _summarise(
    table: QuestionTable, models: Sequence[ScoredModel], codes: NDArray[np.integer], count: int
) -> list[list[ModelSummary]]:
    """Compute the scores by group and model; ``codes`` is each question's group, -1 outside the slice."""
    if not models:
        return [[] for _ in range(count)]
    index = np.flatnonzero(codes >= 0)
    groups = ClusterGroups(clusters=table.clusters[index], groups=codes[index].astype(np.int64), count=count)

    def select(name: str) -> NDArray[Any]:
        return np.stack([getattr(model.scores, name)[index] for model in models], axis=1)

    state, correct = select("state"), select("correct")
    is_asked = state != AnswerState.NOT_ASKED
    is_boxed = is_asked & np.array([model.scores.has_boxes.any() for model in models])
    overlaps = [
        np.where(is_boxed, select(name), np.nan)
        for name in ("overlap", "overlap_per_truth", "overlap_per_match")
    ]
    common, candidate, reference = (
        np.where(is_asked, select(name), -1) for name in ("common", "candidate", "reference")
    )
    rouge = np.where(is_asked, select("rouge"), np.nan)
    counts_by_state = {
        answer_state.name.lower(): groups.sum_by_group(groups.sum_by_part(is_asked & (state == answer_state)))
        for answer_state in ANSWER_STATES
    }
    limits = {"minimum": 0.0, "maximum": 1.0, "confidence": CONFIDENCE}
    accuracy = shares_by_group(np.where(is_asked, correct, -1), groups, confidence=CONFIDENCE)
    chance = _average(np.where(is_asked & (correct >= 0), table.chance[index, np.newaxis], np.nan), groups)
    overlap = means_by_group(overlaps[0], groups, **limits)
    per_truth, per_match = (_average(values, groups) for values in overlaps[1:])
    bleu = bleu_by_group(common, candidate, reference, groups, confidence=CONFIDENCE)
    rouge_means = means_by_group(rouge, groups, **limits)
    columns = [
        {
            column.name: [row[0] for row in means_by_group(column.values[index, np.newaxis], groups)]
            for column in model.columns
        }
        for model in models
    ]
    return [
        [
            ModelSummary(
                name=model.name,
                questions=sum(int(by_group[g, m]) for by_group in counts_by_state.values()),
                answers=AnswerCounts(
                    **{name: int(by_group[g, m]) for name, by_group in counts_by_state.items()}
                ),
                accuracy=accuracy[g][m],
                chance=chance[g][m],
                overlap=overlap[g][m],
                overlap_per_truth=per_truth[g][m],
                overlap_per_match=per_match[g][m],
                bleu=bleu[g][m],
                rouge=rouge_means[g][m],
                columns={name: means[g] for name, means in columns[m].items()},
            )
            for m, model in enumerate(models)
        ]
        for g in range(count)
    ]


def _average(values: NDArray[np.float64], groups: ClusterGroups) -> list[list[float | None]]:
    """Return the mean of each column in each group, ignoring NaN; None if there is no value."""
    is_known = ~np.isnan(values)
    n = groups.sum_by_group(groups.sum_by_part(is_known))
    total = groups.sum_by_group(groups.sum_by_part(np.where(is_known, values, 0.0)))
    return [
        [float(part / size) if size else None for part, size in zip(*row, strict=True)]
        for row in zip(total, n, strict=True)
    ]


def compute_task_accuracies(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_]
) -> TaskAccuracies:
    """Compute the accuracies by task and category, and both averages, as reports of reader studies do."""
    matrix = _build_matrix(table, models, rows)
    settings = Settings(confidence=CONFIDENCE)
    return TaskAccuracies(
        by_task=compute_accuracy(matrix, settings),
        by_category=compute_category_accuracy(matrix, settings),
        overall=compute_overall_accuracy(matrix, settings),
    )


def compare_models(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_], *, with_model: str
) -> list[ModelDifference]:
    """Compare the accuracy of one model with that of each other model, paired by question.

    Args:
        table: the questions.
        models: the models.
        rows: whether each question is in the slice, shape (q,).
        with_model: the name of the model with which the others are compared.

    Returns:
        Differences with Tango's interval and the exact p value, both clustered, and p adjusted by Holm for
        all comparisons of the list.
    """
    base_scores = next(model.scores for model in models if model.name == with_model)
    differences = []
    for model in models:
        if model.name == with_model:
            continue
        common = rows & (model.scores.correct >= 0) & (base_scores.correct >= 0)
        result = compare_paired(
            model.scores.correct[common] == 1,
            base_scores.correct[common] == 1,
            clusters=table.clusters[common],
            cluster_unit="patient",
            confidence=CONFIDENCE,
        )
        differences.append(
            ModelDifference(
                name=model.name, n=result.n, difference=result.difference, low=result.low, high=result.high,
                p=result.p_exact, p_holm=None,
            )
        )  # fmt: skip
    adjusted = adjust_p_values([difference.p for difference in differences])
    return [replace(difference, p_holm=p) for difference, p in zip(differences, adjusted, strict=True)]


def _build_matrix(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_]
) -> RatingMatrix:
    """Build a rating matrix: the raters are the models, and their answers are yes if correct, no if wrong."""
    q, r = int(rows.sum()), len(models)
    correct = np.array([model.scores.correct[rows] for model in models], dtype=np.int64).reshape(r, q).T
    tasks, task = _select_codes(table, "task", rows)
    categories, category = _select_codes(table, "category", rows)
    all_false, all_nan = np.broadcast_to(np.False_, (q, r)), np.broadcast_to(np.float64("nan"), (q, r))
    names = tuple(model.name for model in models)
    return RatingMatrix(
        questions=tuple(map(str, table.numbers[rows])), raters=names, kinds=("model",) * r,
        labels=("no", "yes"), answers=correct, correct=correct, not_marked=all_false, tasks=tasks, task=task,
        categories=categories, category=category, cluster=table.clusters[rows], cluster_unit="patient",
        options=np.zeros(q, dtype=np.int64), has_several_selected=np.zeros(q, dtype=np.bool_), reference=None,
        set_reference=(False,) * r, persons=names, arms=("",) * r, periods=(),
        period=np.broadcast_to(np.int64(-1), (q, r)), scores=all_nan, probabilities=all_nan,
        selected=all_false,
    )  # fmt: skip


def _select_codes(
    table: QuestionTable, name: str, rows: NDArray[np.bool_]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the stated values of a dimension in the slice, and the index of each question's value."""
    dimension = table.dimensions[name]
    codes = dimension.codes[rows].astype(np.int64)
    kept_codes = [code for code in np.unique(codes).tolist() if dimension.values[code] != NOT_STATED]
    index = np.full(len(dimension.values), -1, dtype=np.int64)
    index[kept_codes] = np.arange(len(kept_codes))
    return tuple(dimension.values[code] for code in kept_codes), index[codes]
