"""Tables in the layout of GEMeX and ReXVQA, with the user's models and, on request, the published ones.

Values are percentages with two decimals, "-" if not defined, as in the papers. Intervals and numbers of
questions are in the other tables. ReXVQA's column "Overall" is the mean of the tasks for seven models and
weighted by questions for the eighth; here every model has both, as micro and macro.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from domain.language_models import TEST_MODEL_NOTE
from domain.table_cells import escape_formula
from domain.vocabulary import AnswerFormat
from evaluation.answer_reason import AR_SCORE
from evaluation.published import REXVQA_TASK_COUNTS, load_published
from evaluation.score_table import QuestionTable
from evaluation.scoreboard import (
    ModelSummary,
    ScoredModel,
    TaskAccuracies,
    compute_task_accuracies,
    list_judged_by_test_model,
    summarise_groups,
    summarise_models,
)
from measures.overall import average_over_tasks
from reader_study.report.latex import records_to_latex
from reader_study.report.paper_tables import MACRO, MEAN, MICRO, build_category_table, build_task_table
from reader_study.report.tables import FailedReplies

Row = dict[str, str]
BERT_SCORE = "BERTScore"
_FORMAT_TITLES = {
    AnswerFormat.OPEN: "Open-ended",
    AnswerFormat.CLOSED: "Closed-ended",
    AnswerFormat.SINGLE: "Single-choice",
    AnswerFormat.MULTIPLE: "Multi-choice",
}
_FORMAT_PREFIXES = {
    AnswerFormat.OPEN: "open",
    AnswerFormat.CLOSED: "closed",
    AnswerFormat.SINGLE: "single",
    AnswerFormat.MULTIPLE: "multi",
}
_TASK_COLUMNS = {
    "Differential Diagnosis": "differential_diagnosis",
    "Geometric Information": "geometric_information",
    "Location & Distribution": "location_distribution",
    "Negation Assessment": "negation",
    "Presence Assessment": "presence",
}
#: Names in ReXVQA's Table 6 by the name in its Table 3, which selects some of the categories.
_TABLE3_NAMES = {"Lung & P.O": "Lung and Pleural Opacity", "Lung & P.L": "Lung and Pleural Lucency"}
_GROUP = "Group"
#: A cell without a value, as in the papers.
_UNDEFINED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table in the layout of a paper: its name in files, its title, its rows, and a remark."""

    name: str
    title: str
    rows: tuple[Row, ...]
    note: str = ""


def build_paper_tables(
    table: QuestionTable,
    models: Sequence[ScoredModel],
    rows: NDArray[np.bool_],
    *,
    with_published: bool,
) -> list[PaperTable]:
    """Build all tables for a slice of the questions. Names of test models are marked.

    Args:
        table: the questions.
        models: the models.
        rows: whether each question is in the slice, shape (q,).
        with_published: whether to include the rows of the papers.
    """
    test_judged_names = list_judged_by_test_model(models)
    models = [
        replace(model, name=f"{model.name} ({TEST_MODEL_NOTE})")
        if model.is_test_model or model.name in test_judged_names
        else model
        for model in models
    ]
    summaries_by_format = summarise_groups(table, models, rows, "format")
    empty_summaries = summarise_models(table, models, np.zeros_like(rows))
    by_format = {
        answer_format: summaries_by_format.get(answer_format.value, empty_summaries)
        for answer_format in _FORMAT_TITLES
    }
    accuracies = compute_task_accuracies(table, models, rows)
    failed = [
        FailedReplies(
            model=summary.name, n=summary.answers.asked, failed=summary.answers.failed,
            share=summary.answers.share(summary.answers.failed), low=None, high=None, not_predicted=0,
            rules="",
        )
        for summary in summarise_models(table, models, rows)
    ]  # fmt: skip
    return [
        PaperTable(
            name="gemex-table-5",
            title="GEMeX Table 5: AR-score, A-score and V-score by format",
            rows=_build_gemex_table5(by_format, with_published=with_published),
            note="Avg. AR-score is the mean of the four formats, as in the paper. Random is the expected "
            "accuracy of guessing these questions; the paper's random baseline is 48.80, 25.85 and 7.50.",
        ),
        PaperTable(
            name="gemex-table-6",
            title="GEMeX Table 6: measures of texts by format",
            rows=_build_gemex_table6(by_format, with_published=with_published),
            note="The paper does not state versions and settings of its measures, so its values and yours "
            "are not comparable digit by digit.",
        ),
        PaperTable(
            name="rexvqa-table-2",
            title="ReXVQA Table 2: accuracy by task",
            rows=_build_rexvqa_table2(accuracies, failed, with_published=with_published),
            note="Micro gives each question the same weight, macro each task. The published values of both "
            "are computed from the paper's task columns and the counts of its Table 1.",
        ),
        PaperTable(
            name="rexvqa-table-3",
            title="ReXVQA Table 3: accuracy in selected categories",
            rows=_build_rexvqa_table3(accuracies, with_published=with_published),
            note="The categories of the paper's Table 3.",
        ),
        PaperTable(
            name="rexvqa-table-6",
            title="ReXVQA Table 6: accuracy in all categories",
            rows=_build_rexvqa_table6(accuracies, with_published=with_published),
            note="The published average is the one that the paper prints, also for MedGemma, whose value "
            "is its overall accuracy (the mean of its categories is 83.21).",
        ),
        PaperTable(
            name="rexvqa-figure-2",
            title="ReXVQA Figure 2: overall accuracy",
            rows=_build_figure2(accuracies, with_published=with_published),
            note="The paper's text states these counts of 198 questions; Gemini and Qwen2VL are not stated.",
        ),
    ]


def table_to_csv(table: PaperTable) -> str:
    """Return a table as CSV; a value that is not defined is empty."""
    buffer = io.StringIO()
    names = list(table.rows[0]) if table.rows else []
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writerow({name: escape_formula(name) for name in names})
    writer.writerows(
        {name: "" if cell == _UNDEFINED else escape_formula(cell) for name, cell in row.items()}
        for row in table.rows
    )
    return buffer.getvalue()


def table_to_latex(table: PaperTable) -> str:
    """Return a table as LaTeX, for the package booktabs."""
    return records_to_latex([dict(row) for row in table.rows], caption=f"{table.title}. {table.note}")


def _build_gemex_table5(
    by_format: Mapping[AnswerFormat, Sequence[ModelSummary]], *, with_published: bool
) -> tuple[Row, ...]:
    random_row: Row = {"Model": "Random"}
    for answer_format, title in _FORMAT_TITLES.items():
        chances = [summary.chance for summary in by_format[answer_format] if summary.chance is not None]
        if answer_format is not AnswerFormat.OPEN:
            random_row[f"{title} A-score"] = _format_percent(chances[0] if chances else None)
        random_row |= {f"{title} {AR_SCORE}": _UNDEFINED, f"{title} V-score": _UNDEFINED}
    rows = [random_row | {f"Avg. {AR_SCORE}": _UNDEFINED}]
    if with_published:
        rows += [_read_gemex_table5(record) for record in load_published("gemex_table5")]
    for index, model in enumerate(by_format[AnswerFormat.OPEN]):
        row: Row = {"Model": model.name}
        ar_scores = []
        for answer_format, title in _FORMAT_TITLES.items():
            summary = by_format[answer_format][index]
            ar_score = summary.columns[AR_SCORE].estimate if AR_SCORE in summary.columns else None
            ar_scores.append(ar_score)
            if answer_format is not AnswerFormat.OPEN:
                row[f"{title} A-score"] = _format_percent(_answered_accuracy(summary))
            row[f"{title} {AR_SCORE}"] = _format_two_decimals(ar_score)
            row[f"{title} V-score"] = _format_percent(summary.overlap.estimate)
        defined_scores = [value for value in ar_scores if value is not None]
        is_complete = len(defined_scores) == len(ar_scores)
        rows.append(
            row
            | {
                f"Avg. {AR_SCORE}": _format_two_decimals(
                    sum(defined_scores) / len(defined_scores) if is_complete else None
                )
            }
        )
    return tuple({name: row.get(name, _UNDEFINED) for name in rows[0]} for row in rows)


def _answered_accuracy(summary: ModelSummary) -> float | None:
    """Return the A-score; None, as in the paper, for a model without a single answer in the format."""
    if not summary.answers.answered:
        return None
    return summary.accuracy.estimate


def _read_gemex_table5(record: Mapping[str, str]) -> Row:
    source = "poster" if record["source"] == "poster only" else "paper"
    row: Row = {"Model": f"{record['model']} ({source})"}
    for answer_format, title in _FORMAT_TITLES.items():
        prefix = _FORMAT_PREFIXES[answer_format]
        if answer_format is not AnswerFormat.OPEN:
            row[f"{title} A-score"] = _format_published(record[f"{prefix}_A"])
        row[f"{title} {AR_SCORE}"] = _format_published(record[f"{prefix}_AR"])
        row[f"{title} V-score"] = _format_published(record[f"{prefix}_V"])
    return row | {f"Avg. {AR_SCORE}": _format_published(record["avg_AR"])}


def _build_gemex_table6(
    by_format: Mapping[AnswerFormat, Sequence[ModelSummary]], *, with_published: bool
) -> tuple[Row, ...]:
    rows: list[Row] = []
    if with_published:
        rows += [
            {"Model": f"{record['model']} (paper)"}
            | {
                f"{title} {measure}": _format_published(record[f"{_FORMAT_PREFIXES[answer_format]}_{column}"])
                for answer_format, title in _FORMAT_TITLES.items()
                for measure, column in (
                    (BERT_SCORE, "BERTScore"), ("ROUGE-L", "ROUGE_L"), ("BLEU-1", "BLEU1"),
                )
            }
            for record in load_published("gemex_table6")
        ]  # fmt: skip
    for index, model in enumerate(by_format[AnswerFormat.OPEN]):
        row: Row = {"Model": model.name}
        for answer_format, title in _FORMAT_TITLES.items():
            summary = by_format[answer_format][index]
            bert_score = summary.columns.get(BERT_SCORE)
            row[f"{title} {BERT_SCORE}"] = _format_two_decimals(
                None if bert_score is None else bert_score.estimate
            )
            row[f"{title} ROUGE-L"] = _format_percent(summary.rouge.estimate)
            row[f"{title} BLEU-1"] = _format_percent(summary.bleu.estimate)
        rows.append(row)
    return tuple(rows)


def _build_rexvqa_table2(
    accuracies: TaskAccuracies, failed: Sequence[FailedReplies], *, with_published: bool
) -> tuple[Row, ...]:
    counts, *own_rows = _rename_raters(build_task_table(accuracies.by_task, accuracies.overall, failed))
    published = [_read_rexvqa_table2(record) for record in load_published("rexvqa_table2")]
    rows = [counts, *(published if with_published else []), *own_rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return tuple({name: row.get(name, "") for name in names} for row in rows)


def _read_rexvqa_table2(record: Mapping[str, str]) -> Row:
    tasks = list(REXVQA_TASK_COUNTS)
    overall = average_over_tasks([float(record[name]) for name in tasks], list(REXVQA_TASK_COUNTS.values()))
    return {
        "Model": f"{record['model']} (paper)",
        MICRO: _format_two_decimals(overall.micro),
        MACRO: _format_two_decimals(overall.macro),
        **{title: _format_published(record[column]) for title, column in _TASK_COLUMNS.items()},
        "Failed extractions": _format_published(record["failed_extractions_pct"]),
        "Overall as printed": _format_published(record["overall"]),
    }


def _build_rexvqa_table3(accuracies: TaskAccuracies, *, with_published: bool) -> tuple[Row, ...]:
    own_rows = {row["Category"]: row for row in _build_categories(accuracies)}
    rows: list[Row] = []
    for record in load_published("rexvqa_table3"):
        if record["category"] == "Average":
            continue
        values = own_rows.get(_TABLE3_NAMES.get(record["category"], record["category"]), {})
        row: Row = {_GROUP: record["group"], "Category": record["category"]}
        row["Questions"] = values.get("Questions", "0")
        row |= {result.rater: values.get(result.rater, "") for result in accuracies.overall}
        if with_published:
            row |= _read_categories(record)
        rows.append(row)
    return tuple(rows)


def _build_rexvqa_table6(accuracies: TaskAccuracies, *, with_published: bool) -> tuple[Row, ...]:
    own_rows = _build_categories(accuracies)
    if not with_published:
        return own_rows
    published = {record["category"]: record for record in load_published("rexvqa_table6")}
    published[MEAN] = published.pop("Average")
    names = dict.fromkeys([*(row["Category"] for row in own_rows), *published])
    average_names = [name for name in names if name in (MEAN, "All questions")]
    ordered_names = [*sorted(name for name in names if name not in average_names), *average_names]
    by_name = {row["Category"]: row for row in own_rows}
    models = [result.rater for result in accuracies.overall]
    return tuple(
        {"Category": name, "Questions": by_name.get(name, {}).get("Questions", "0")}
        | {model: by_name.get(name, {}).get(model, "") for model in models}
        | _read_categories(published.get(name, {}))
        for name in ordered_names
    )


def _build_categories(accuracies: TaskAccuracies) -> tuple[Row, ...]:
    return build_category_table(accuracies.by_category, accuracies.overall)


def _read_categories(record: Mapping[str, str]) -> Row:
    models = [name for name in load_published("rexvqa_table6")[0] if name not in ("category", "note")]
    return {f"{name} (paper)": _format_published(record.get(name, ""), undefined="") for name in models}


def _build_figure2(accuracies: TaskAccuracies, *, with_published: bool) -> tuple[Row, ...]:
    rows = [
        {
            "Rater": result.rater,
            "Kind": "model",
            "Accuracy": _format_percent(result.micro),
            "n": str(result.n),
        }
        for result in accuracies.overall
    ]
    if with_published:
        rows += [
            {
                "Rater": f"{record['rater']} (paper)",
                "Kind": record["kind"],
                "Accuracy": _format_percent(int(record["correct"]) / int(record["n"])),
                "n": record["n"],
            }
            for record in load_published("rexvqa_figure2")
        ]
    return tuple(sorted(rows, key=lambda row: float(row["Accuracy"].replace(_UNDEFINED, "0"))))


def _rename_raters(rows: Sequence[Row]) -> list[Row]:
    return [{"Model": row["Rater"], **{k: v for k, v in row.items() if k != "Rater"}} for row in rows]


def _format_published(text: str, *, undefined: str = _UNDEFINED) -> str:
    return f"{float(text):.2f}" if text else undefined


def _format_percent(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{100 * share:.2f}"


def _format_two_decimals(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.2f}"
