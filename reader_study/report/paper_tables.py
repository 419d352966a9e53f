"""Tables in the layout of the ReXVQA paper: Table 2, Tables 3 and 6, and the values of Figure 5.

Values are percentages with two decimals. In the paper's column "Overall", the value of some models is the
mean of the tasks, and the value of another is weighted by questions. Here both averages are given and named,
for tasks and for categories. Intervals are in the other tables of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.vocabulary import Task
from measures.rating_values import ALL
from measures.results import AccuracyResult, OverallAccuracy, PairAgreement
from reader_study.report.ratings import KEY_RATER
from reader_study.report.tables import FailedReplies, TextRow
from release.formats.rexvqa import TASK_NAMES

QUESTIONS, MICRO, MACRO = "Questions", "Overall (micro)", "Overall (macro)"
MEAN, ALL_QUESTIONS = "Average of the categories", "All questions"


def build_task_table(
    accuracy: Sequence[AccuracyResult], overall: Sequence[OverallAccuracy], failed: Sequence[FailedReplies]
) -> tuple[TextRow, ...]:
    """Return accuracy by rater (rows, lowest first) and task (columns). The first row has question counts."""
    cells = {(row.rater, row.group): row for row in accuracy}
    tasks = sorted({task for _, task in cells if task != ALL}, key=_task_name)
    failed_share = {row.model: row.share for row in failed}
    lines = [
        {
            "Rater": QUESTIONS,
            MICRO: str(_largest_n(accuracy, ALL)),
            MACRO: "",
            **{_task_name(task): str(_largest_n(accuracy, task)) for task in tasks},
            "Failed extractions": "",
        }
    ]
    for row in sorted(overall, key=lambda row: (row.micro or 0.0, row.rater)):
        rater = row.rater
        lines.append(
            {
                "Rater": rater,
                MICRO: _format_percent(row.micro),
                MACRO: _format_percent(row.macro),
                **{
                    _task_name(task): _format_percent(_estimate_or_none(cells.get((rater, task))))
                    for task in tasks
                },
                "Failed extractions": _format_percent(failed_share.get(rater)),
            }
        )
    return tuple(lines)


def build_category_table(
    accuracy: Sequence[AccuracyResult], overall: Sequence[OverallAccuracy]
) -> tuple[TextRow, ...]:
    """Return accuracy by category (rows) and rater (columns), and both averages; empty if none is stated."""
    if not accuracy:
        return ()
    raters = [row.rater for row in overall]
    cells = {(row.rater, row.group): row for row in accuracy}
    categories = sorted({row.group for row in accuracy})
    lines = [
        {
            "Category": name,
            QUESTIONS: str(_largest_n(accuracy, name)),
            **{rater: _format_percent(_estimate_or_none(cells.get((rater, name)))) for rater in raters},
        }
        for name in categories
    ]
    shares_by_rater = {
        rater: [
            share for name in categories if (share := _estimate_or_none(cells.get((rater, name)))) is not None
        ]
        for rater in raters
    }
    macro_by_rater = {
        rater: _format_percent(sum(shares) / len(shares) if shares else None)
        for rater, shares in shares_by_rater.items()
    }
    lines.append({"Category": MEAN, QUESTIONS: "", **macro_by_rater})
    micro_by_rater = {row.rater: _format_percent(row.micro) for row in overall}
    n_questions = str(max(row.n for row in overall))
    lines.append({"Category": ALL_QUESTIONS, QUESTIONS: n_questions, **micro_by_rater})
    return tuple(lines)


def build_kappa_tables(agreements: Sequence[PairAgreement], *, known: Sequence[str]) -> tuple[TextRow, ...]:
    """Return one square table of kappas for all tasks, then one per task; empty cells are not defined."""
    rater_names = {rater for agreement in agreements for rater in (agreement.a, agreement.b)} - {KEY_RATER}
    raters = [*(name for name in known if name in rater_names), *sorted(rater_names - set(known))]
    lines: list[TextRow] = []
    for task in dict.fromkeys(agreement.task for agreement in agreements):
        kappa_by_pair = {
            (agreement.a, agreement.b): agreement.kappa for agreement in agreements if agreement.task == task
        }
        kappa_by_pair |= {(second, first): kappa for (first, second), kappa in kappa_by_pair.items()}
        lines += [
            {
                "Task": _task_name(task),
                "Rater": row_rater,
                **{
                    column_rater: _format_two_decimals(
                        1.0 if column_rater == row_rater else kappa_by_pair.get((row_rater, column_rater))
                    )
                    for column_rater in raters
                },
            }
            for row_rater in raters
        ]
    return tuple(lines)


def _format_two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _task_name(task: str) -> str:
    return TASK_NAMES[Task(task)] if task in {member.value for member in Task} else task


def _largest_n(accuracy: Iterable[AccuracyResult], group: str) -> int:
    return max((row.n for row in accuracy if row.group == group), default=0)


def _estimate_or_none(result: AccuracyResult | None) -> float | None:
    return None if result is None else result.estimate


def _format_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"
