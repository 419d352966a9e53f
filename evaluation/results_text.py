"""The results of an evaluation as rows of tables and lines of text, for the page and the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from domain.evaluations import Condition
from evaluation.calibration import ConditionCalibration
from evaluation.results import CONFIDENCE, EvaluationResults, PositionBias

Row = Mapping[str, object]
_INTERVAL = f"{CONFIDENCE:.0%} interval".replace("%", " %")
NO_PROBABILITIES = "Calibration: no answers with a probability."


def list_accuracy_rows(results: EvaluationResults) -> list[Row]:
    """Return one row per condition: accuracy with the chance floor and the text-only floor."""
    return [
        {
            "Condition": accuracy.condition.value,
            "Accuracy": format_percent(accuracy.estimate),
            _INTERVAL: format_interval(accuracy.low, accuracy.high),
            "Chance": format_percent(accuracy.chance),
            "Text only": "not run" if accuracy.text_only is None else format_percent(accuracy.text_only),
            "n": accuracy.n,
            "Correct": accuracy.correct,
            "No answer extracted": accuracy.failed,
            "No reply": accuracy.missing,
        }
        for accuracy in results.accuracies
    ]


def list_contrast_rows(results: EvaluationResults) -> list[Row]:
    """Return one row per condition that is compared with "as given"."""
    return [
        {
            "Measure": contrast.name,
            "As given": format_percent(contrast.as_given),
            "Compared": f"{format_percent(contrast.other)} {contrast.condition.value}",
            "Difference": format_points(contrast.difference),
            _INTERVAL: format_interval(contrast.low, contrast.high, points=True),
            "p": format_p(contrast.p),
            "n": contrast.n,
        }
        for contrast in results.contrasts
    ]


def list_consistency_rows(results: EvaluationResults) -> list[Row]:
    """Return one row per condition whose answers are compared with those of "as given"."""
    return [
        {
            "Compared": consistency.condition.value,
            "Same answer": format_percent(consistency.estimate),
            _INTERVAL: format_interval(consistency.low, consistency.high),
            "Same": consistency.same,
            "n": consistency.n,
        }
        for consistency in results.consistencies
    ]


def list_position_rows(bias: PositionBias) -> list[Row]:
    """Return one row per position of the options."""
    return [
        {
            "Position": position.letter,
            "Answers here": format_percent(position.chosen / position.n),
            "Keys here": format_percent(position.keys / position.n),
            "Recall": format_percent(position.recall),
            "n": position.n,
        }
        for position in bias.positions
    ]


def list_calibration_rows(results: EvaluationResults) -> list[Row]:
    """Return one row per condition with stated probabilities: ECE, Brier score, and AUC on yes/no."""
    return [
        {
            "Condition": result.condition.value,
            "ECE": _format_decimal(result.calibration.ece),
            _INTERVAL: _format_decimals(result.calibration.low, result.calibration.high),
            "If calibrated": _format_decimal(result.calibration.expected_if_calibrated),
            "Brier": _format_decimal(result.calibration.brier),
            "n": result.calibration.n,
            "AUC (yes/no)": _format_decimal(result.auc.value),
            "AUC interval": _format_decimals(result.auc.low, result.auc.high),
            "AUC n": result.auc.n,
        }
        for result in results.calibrations
    ]


def list_reliability_rows(result: ConditionCalibration) -> list[Row]:
    """Return one row per bin of the reliability diagram."""
    return [
        {
            "Stated": f"{100 * bin_.lower:.0f} to {100 * bin_.upper:.0f} %",
            "Mean stated": format_percent(bin_.mean_confidence),
            "Accuracy": format_percent(bin_.share.estimate),
            _INTERVAL: format_interval(bin_.share.low, bin_.share.high),
            "n": bin_.share.n,
        }
        for bin_ in result.calibration.bins
    ]


def describe_calibration(result: ConditionCalibration) -> list[str]:
    """Return sentences on values that are not defined or approximate, with the reasons."""
    notes = (("calibration", result.calibration.note), ("AUC", result.auc.note))
    return [f"{result.condition.value}, {name}: {note}." for name, note in notes if note]


def _format_decimal(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


def _format_decimals(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def describe_exclusions(results: EvaluationResults) -> list[str]:
    """Return a sentence per condition with questions that were not asked or are not scored."""
    sentences = []
    for accuracy in results.accuracies:
        parts = [f"{count:,} not asked: {reason}" for reason, count in accuracy.excluded.items()]
        if accuracy.open_questions:
            parts.append(f"{accuracy.open_questions:,} open, not scored here")
        if parts:
            sentences.append(f"{accuracy.condition.value}: {'; '.join(parts)}.")
    return sentences


def describe_bias(bias: PositionBias) -> str:
    """Describe the spread of the recalls of the positions."""
    spread = "not defined" if bias.recall_sd is None else f"{100 * bias.recall_sd:.1f} points"
    return f"Standard deviation of the recalls, {bias.condition.value}: {spread} (0 without position bias)."


def format_results(results: EvaluationResults) -> Iterator[str]:
    """Yield the results as lines of text."""
    yield f"{results.questions:,} questions, intervals clustered by {results.clusters:,} patients"
    yield from describe_extraction(results)
    sections: list[tuple[str, Sequence[Row]]] = [
        ("Accuracy", list_accuracy_rows(results)),
        ("Differences from as given, paired", list_contrast_rows(results)),
        ("Consistency", list_consistency_rows(results)),
        *(
            (f"Position bias, {bias.condition.value}", list_position_rows(bias))
            for bias in results.biases
            if bias.positions
        ),
        ("Calibration of stated probabilities", list_calibration_rows(results)),
        *(
            (f"Reliability, {result.condition.value}", list_reliability_rows(result))
            for result in results.calibrations
        ),
    ]
    for title, rows in sections:
        if rows:
            yield ""
            yield title
            yield from format_table(rows)
    for bias in results.biases:
        if bias.positions:
            yield describe_bias(bias)
    for result in results.calibrations:
        yield from describe_calibration(result)
    if not results.calibrations:
        yield NO_PROBABILITIES
    yield from describe_exclusions(results)
    if not any(accuracy.condition is Condition.NO_IMAGE for accuracy in results.accuracies):
        yield "The text-only floor is unknown, because the condition “no image” was not run."


def describe_extraction(results: EvaluationResults) -> Iterator[str]:
    """Yield a line on the judge that extracted answers; nothing if there was none."""
    if results.extraction:
        yield f"Answers that no rule could extract were extracted by a judge: {results.extraction}"


def format_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns, its headings first."""
    names = list(rows[0])
    cells = [names, *([_to_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _to_text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_percent(value: float | None) -> str:
    """Format a share as percent with one decimal."""
    return "not defined" if value is None else f"{100 * value:.1f} %"


def format_points(value: float | None) -> str:
    """Format a difference of shares as percentage points with its sign."""
    return "not defined" if value is None else f"{100 * value:+.1f} points"


def format_interval(low: float | None, high: float | None, *, points: bool = False) -> str:
    """Format an interval of shares, or of differences in points; "" if there is none."""
    if low is None or high is None:
        return ""
    if points:
        return f"{100 * low:+.1f} to {100 * high:+.1f}"
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def format_p(value: float | None) -> str:
    """Format a p value with three decimals; "" if there is none."""
    return "" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
