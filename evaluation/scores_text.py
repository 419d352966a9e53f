"""Scores of models as rows of tables, for the page and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.language_models import TEST_MODEL_NOTE
from evaluation.answer_reason import AnswerReasonScores, Calibration
from evaluation.results_text import format_interval, format_p, format_percent, format_points
from evaluation.score_table import QuestionTable
from evaluation.scoreboard import (
    CONFIDENCE,
    ModelDifference,
    ModelSummary,
    ScoredModel,
    TaskAccuracies,
    summarise_groups,
)
from measures.means import Mean

Row = Mapping[str, object]
A_SCORE, V_SCORE, BLEU, ROUGE = "A-score", "V-score", "BLEU-1", "ROUGE-L"
_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"


def label_model(model: ScoredModel) -> str:
    """Return the name of an evaluation with its model; results of the model of the tests are marked."""
    note = f", {TEST_MODEL_NOTE}" if model.is_test_model else ""
    return f"{model.name} ({model.model}{note})"


def list_measures(models: Sequence[ScoredModel]) -> list[str]:
    """Return the names of the measures that the models have."""
    columns = dict.fromkeys(column.name for model in models for column in model.columns)
    return [A_SCORE, V_SCORE, BLEU, ROUGE, *columns]


def list_score_rows(summaries: Sequence[ModelSummary], models: Sequence[ScoredModel]) -> list[Row]:
    """Return one row per model with all measures and their intervals."""
    names = {model.name: label_model(model) for model in models}
    columns = dict.fromkeys(name for summary in summaries for name in summary.columns)
    return [
        {
            "Model": names[summary.name],
            "Questions": summary.questions,
            A_SCORE: _format_share(summary.accuracy.estimate, summary.accuracy.low, summary.accuracy.high),
            "n": summary.accuracy.n,
            "Chance": format_percent(summary.chance),
            V_SCORE: _format_share(summary.overlap.estimate, summary.overlap.low, summary.overlap.high),
            "n with boxes": summary.overlap.n,
            "Mean IoU (key boxes)": format_percent(summary.overlap_per_truth),
            "Mean IoU (matched boxes)": format_percent(summary.overlap_per_match),
            BLEU: _format_share(summary.bleu.estimate, summary.bleu.low, summary.bleu.high),
            ROUGE: _format_share(summary.rouge.estimate, summary.rouge.low, summary.rouge.high),
            **{name: _format_mean(summary.columns.get(name)) for name in columns},
        }
        for summary in summaries
    ]


def list_answer_rows(summaries: Sequence[ModelSummary]) -> list[Row]:
    """Return one row per model: where its answers come from, as counts and shares of the questions asked."""
    return [
        {
            "Model": summary.name,
            "Questions": summary.questions,
            "Given in the file": _format_count(summary, summary.answers.given),
            "Extracted by rule": _format_count(summary, summary.answers.by_rule),
            "Extracted by judge": _format_count(summary, summary.answers.by_judge),
            "No answer extracted": _format_count(summary, summary.answers.failed),
            "No reply": _format_count(summary, summary.answers.missing),
        }
        for summary in summaries
    ]


def list_overall_rows(accuracies: TaskAccuracies) -> list[Row]:
    """Return the micro and macro accuracy of each model."""
    return [
        {
            "Model": accuracy.rater,
            "A-score (micro)": _format_share(accuracy.micro, accuracy.micro_low, accuracy.micro_high),
            "A-score (macro)": _format_share(accuracy.macro, accuracy.macro_low, accuracy.macro_high),
            "Tasks": accuracy.tasks,
            "n": accuracy.n,
        }
        for accuracy in accuracies.overall
    ]


def list_group_rows(
    table: QuestionTable,
    models: Sequence[ScoredModel],
    rows: NDArray[np.bool_],
    *,
    dimension: str,
    measure: str,
) -> list[Row]:
    """Return one row per value of a dimension, with one measure of each model."""
    return [
        {"Group": value, "Questions": size}
        | {summary.name: _select_measure(summary, measure) for summary in summaries}
        for (value, summaries), size in zip(
            summarise_groups(table, models, rows, dimension).items(),
            _count_questions(table, rows, dimension),
            strict=True,
        )
    ]


def _count_questions(table: QuestionTable, rows: NDArray[np.bool_], dimension: str) -> list[int]:
    """Return the numbers of questions of the groups that are not empty."""
    sizes = np.bincount(table.dimensions[dimension].codes[rows])
    return [size for size in sizes.tolist() if size]


def list_difference_rows(differences: Sequence[ModelDifference], *, with_model: str) -> list[Row]:
    """Return one row per model that is compared with another."""
    return [
        {
            "Model": difference.name,
            f"Minus {with_model}": format_points(difference.difference),
            _INTERVAL: format_interval(difference.low, difference.high, points=True),
            "p": format_p(difference.p),
            "p (Holm)": format_p(difference.p_holm),
            "n": difference.n,
        }
        for difference in differences
    ]


def _select_measure(summary: ModelSummary, measure: str) -> str:
    if measure == A_SCORE:
        return _format_share(summary.accuracy.estimate, summary.accuracy.low, summary.accuracy.high)
    if measure == V_SCORE:
        return _format_share(summary.overlap.estimate, summary.overlap.low, summary.overlap.high)
    if measure == BLEU:
        return _format_share(summary.bleu.estimate, summary.bleu.low, summary.bleu.high)
    if measure == ROUGE:
        return _format_share(summary.rouge.estimate, summary.rouge.low, summary.rouge.high)
    return _format_mean(summary.columns.get(measure))


def _format_count(summary: ModelSummary, count: int) -> str:
    return f"{count:,} ({format_percent(summary.answers.share(count))})" if summary.questions else "0"


def _format_share(estimate: float | None, low: float | None, high: float | None) -> str:
    """Format a share as percent with its interval."""
    if estimate is None:
        return "–"
    interval = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
    return f"{100 * estimate:.1f}{interval}"


def _format_mean(mean: Mean | None) -> str:
    """Format the mean of a column in its own unit."""
    if mean is None or mean.estimate is None:
        return "–"
    interval = "" if mean.low is None else f" ({mean.low:.2f} to {mean.high:.2f})"
    return f"{mean.estimate:.2f}{interval}, n {mean.n:,}"


def list_judge_lines(scores: AnswerReasonScores, mean: Mean, calibration: Calibration | None) -> list[str]:
    """Return the AR-score, what was left out, the order bias and the calibration as lines of text.

    Args:
        scores: the AR-scores.
        mean: their mean, with its interval clustered by patient.
        calibration: the comparison with experts; None without experts.
    """
    left_out = (
        f"{scores.failed:,} requests without a reply, {scores.unparseable:,} replies without two scores, "
        f"{scores.zero_references:,} with a reference score of 0"
    )
    ar_score = _format_mean(mean)
    lines = [
        f"AR-score: {ar_score} (95 % interval clustered by patient), {scores.judged:,} judged questions",
        f"left out: {left_out}",
        f"order bias (model first minus key first): {_format_mean(scores.order_bias)} points",
    ]
    if calibration is None:
        return [*lines, "calibration: no scores of experts given"]
    if calibration.mean_difference is None:
        return [*lines, f"calibration: not defined with {calibration.n:,} common questions; it needs 3"]
    low, high = calibration.low or 0.0, calibration.high or 0.0
    agreement = (
        f"Spearman {_format_correlation(calibration.spearman)}, "
        f"Pearson {_format_correlation(calibration.pearson)}, judge minus experts "
        f"{calibration.mean_difference:+.2f} (limits of agreement {low:+.2f} to {high:+.2f})"
    )
    return [*lines, f"calibration on experts: {agreement}, n {calibration.n:,}"]


def _format_correlation(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"
