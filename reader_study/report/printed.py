"""Tables laid out as in ReXVQA's paper: Table 2, Tables 3 and 6, and the numbers of Figure 5.

Values are per cent with two decimals. The paper's column "Overall" is the mean of the tasks for some models
and weighted by questions for another; both are given here by name, as are both averages of the categories.
Intervals are in the other tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.vocabulary import Task
from measures.ratings import ALL
from measures.results import AccuracyResult, OverallAccuracy, PairAgreement
from reader_study.report.ratings import KEY
from reader_study.report.tables import FailedReplies, TextRow
from release.forms.rexvqa import TASK_NAMES

QUESTIONS, MICRO, MACRO = "Questions", "Overall (micro)", "Overall (macro)"
MEAN, WHOLE = "Average of the categories", "All questions"


def by_task(
    accuracy: Sequence[AccuracyResult], overall: Sequence[OverallAccuracy], failed: Sequence[FailedReplies]
) -> tuple[TextRow, ...]:
    """Accuracy by rater (rows) and task (columns), lowest first; the first row has numbers of questions."""
    cells = {(each.rater, each.group): each for each in accuracy}
    stated = sorted({task for _, task in cells if task != ALL}, key=_named)
    failed_share = {each.model: each.share for each in failed}
    lines = [
        {
            "Rater": QUESTIONS,
            MICRO: str(_most(accuracy, ALL)),
            MACRO: "",
            **{_named(task): str(_most(accuracy, task)) for task in stated},
            "Failed extractions": "",
        }
    ]
    for each in sorted(overall, key=lambda each: (each.micro or 0.0, each.rater)):
        rater = each.rater
        lines.append(
            {
                "Rater": rater,
                MICRO: _per_cent(each.micro),
                MACRO: _per_cent(each.macro),
                **{_named(task): _per_cent(_estimate(cells.get((rater, task)))) for task in stated},
                "Failed extractions": _per_cent(failed_share.get(rater)),
            }
        )
    return tuple(lines)


def by_category(
    accuracy: Sequence[AccuracyResult], overall: Sequence[OverallAccuracy]
) -> tuple[TextRow, ...]:
    """Accuracy by category (rows) and rater (columns), and both averages; empty without categories."""
    if not accuracy:
        return ()
    raters = [each.rater for each in overall]
    cells = {(each.rater, each.group): each for each in accuracy}
    categories = sorted({each.group for each in accuracy})
    lines = [
        {
            "Category": name,
            QUESTIONS: str(_most(accuracy, name)),
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
    whole = {each.rater: _per_cent(each.micro) for each in overall}
    asked = str(max(each.n for each in overall))
    lines.append({"Category": WHOLE, QUESTIONS: asked, **whole})
    return tuple(lines)


def kappas(found: Sequence[PairAgreement], *, known: Sequence[str]) -> tuple[TextRow, ...]:
    """A square of kappas per task, all tasks first; 1 on the diagonal, empty if not defined."""
    named = {rater for each in found for rater in (each.a, each.b)} - {KEY}
    raters = [*(each for each in known if each in named), *sorted(named - set(known))]
    lines: list[TextRow] = []
    for task in dict.fromkeys(each.task for each in found):
        kappas = {(each.a, each.b): each.kappa for each in found if each.task == task}
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
    return tuple(lines)


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _named(task: str) -> str:
    return TASK_NAMES[Task(task)] if task in {each.value for each in Task} else task


def _most(accuracy: Iterable[AccuracyResult], group: str) -> int:
    return max((each.n for each in accuracy if each.group == group), default=0)


def _estimate(found: AccuracyResult | None) -> float | None:
    return None if found is None else found.estimate


def _per_cent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"
