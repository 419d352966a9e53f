"""Figures laid out as ReXVQA prints them: its Table 2 (raters down, tasks across), its Tables 3 and 6
(categories down, raters across), and the numbers of its Figure 5 (kappa of everybody with everybody).

Per cent with two decimals, as there. Where the paper's one column "Overall" is a plain mean of tasks for some
models and weighted by questions for another, both stand here by name; so do both averages of the categories.
Intervals are in the other tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain.vocabulary import Task
from measures.ratings import ALL
from reader_study.report.ratings import KEY
from release.forms.rexvqa import TASK_NAMES

Record = dict[str, Any]
QUESTIONS, MICRO, MACRO = "Questions", "Overall (micro)", "Overall (macro)"
MEAN, WHOLE = "Average of the categories", "All questions"


def printed(tables: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """``printed_by_task``, ``printed_by_category`` (empty where none is stated) and ``printed_kappa``."""
    return {
        "printed_by_task": _by_task(tables),
        "printed_by_category": _by_category(tables["by_category"], tables["overall"]),
        "printed_kappa": _kappas(tables["agreement"], known=[each["rater"] for each in tables["raters"]]),
    }


def _by_task(tables: dict[str, list[Record]]) -> list[Record]:
    """The lowest first, as printed; the first line has the questions of each task."""
    cells = {(each["rater"], each["task"]): each for each in tables["accuracy"]}
    stated = sorted({task for _, task in cells if task != ALL}, key=_named)
    failed = {each["model"]: each["share"] for each in tables["failed"]}
    lines = [
        {
            "Rater": QUESTIONS,
            MICRO: str(_most(tables["accuracy"], "task", ALL)),
            MACRO: "",
            **{_named(task): str(_most(tables["accuracy"], "task", task)) for task in stated},
            "Failed extractions": "",
        }
    ]
    for each in sorted(tables["overall"], key=lambda each: (each["micro"] or 0.0, each["rater"])):
        rater = each["rater"]
        lines.append(
            {
                "Rater": rater,
                MICRO: _per_cent(each["micro"]),
                MACRO: _per_cent(each["macro"]),
                **{_named(task): _per_cent(_estimate(cells.get((rater, task)))) for task in stated},
                "Failed extractions": _per_cent(failed.get(rater)),
            }
        )
    return lines


def _by_category(found: list[Record], overall: list[Record]) -> list[Record]:
    """Categories down, raters across, then both averages."""
    if not found:
        return []
    raters = [each["rater"] for each in overall]
    cells = {(each["rater"], each["category"]): each for each in found}
    categories = sorted({each["category"] for each in found})
    lines = [
        {
            "Category": name,
            QUESTIONS: str(_most(found, "category", name)),
            **{rater: _per_cent(_estimate(cells.get((rater, name)))) for rater in raters},
        }
        for name in categories
    ]
    shares = {
        rater: [share for name in categories if (share := _estimate(cells.get((rater, name)))) is not None]
        for rater in raters
    }
    mean = {rater: sum(some) / len(some) if some else None for rater, some in shares.items()}
    lines.append({"Category": MEAN, QUESTIONS: "", **{rater: _per_cent(mean[rater]) for rater in raters}})
    whole = {each["rater"]: _per_cent(each["micro"]) for each in overall}
    asked = str(max(each["n"] for each in overall))
    lines.append({"Category": WHOLE, QUESTIONS: asked, **whole})
    return lines


def _kappas(found: list[Record], *, known: list[str]) -> list[Record]:
    """A square a task, all tasks first, to two decimals, 1 on the diagonal; empty where not defined."""
    named = {rater for each in found for rater in (each["a"], each["b"])} - {KEY}
    raters = [*(each for each in known if each in named), *sorted(named - set(known))]
    lines: list[Record] = []
    for task in dict.fromkeys(each["task"] for each in found):
        kappas = {(each["a"], each["b"]): each["kappa"] for each in found if each["task"] == task}
        kappas |= {(other, one): kappa for (one, other), kappa in kappas.items()}
        lines += [
            {
                "Task": _named(task),
                "Rater": one,
                **{
                    other: _two_decimals(1.0 if other == one else kappas.get((one, other)))
                    for other in raters
                },
            }
            for one in raters
        ]
    return lines


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _named(task: str) -> str:
    return TASK_NAMES[Task(task)] if task in {each.value for each in Task} else task


def _most(found: Iterable[Record], field: str, name: str) -> int:
    return max((int(each["n"]) for each in found if each[field] == name), default=0)


def _estimate(found: Record | None) -> float | None:
    return None if found is None else found["estimate"]


def _per_cent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"
