"""Which figures a report has, each as SVG by its file name, and the rows that each is drawn from."""

from __future__ import annotations

from typing import Any

from reader_study.report.svg import forest, heatmap
from reader_study.report.whole import FEW, StudyReport

Record = dict[str, Any]


def figures_of(report: StudyReport) -> dict[str, str]:
    """SVG by name (``accuracy``, ``differences``, ``kappa-all``, ``kappa-presence``, …), as shown."""
    found = {"accuracy": _accuracy(report)}
    if report.facts["model"] is not None:
        found["differences"] = _differences(report)
    for task in dict.fromkeys(each["task"] for each in report.tables["agreement"]):
        found[f"kappa-{''.join(sign if sign.isalnum() else '-' for sign in task)}"] = _kappa(report, task)
    return found


def accuracy_rows(report: StudyReport, *, task: str = "all") -> list[Record]:
    """One row a rater, the highest first; who helped to set the key or is simulated is marked."""
    marks = _marks(report)
    rows = [
        {
            "label": f"{each['rater']}{marks.get(each['rater'], '')}",
            "kind": each["kind"],
            "estimate": each["estimate"],
            "low": each["low"],
            "high": each["high"],
            "words": _words(
                each["estimate"], each["low"], each["high"], f"{each['correct']:,}/{each['n']:,}"
            ),
        }
        for each in report.tables["accuracy"]
        if each["task"] == task
    ]
    return sorted(
        rows, key=lambda row: (-(row["estimate"] if row["estimate"] is not None else -1), row["label"])
    )


def difference_rows(report: StudyReport, *, task: str = "all") -> list[Record]:
    """Each rater less the chosen model, on the cases that both answered."""
    model, kinds = report.facts["model"], {each["rater"]: each["kind"] for each in report.tables["overall"]}
    rows = []
    for each in report.tables["paired"]:
        if each["task"] != task or model not in (each["a"], each["b"]):
            continue
        turned = each["a"] == model
        sign = -1 if turned else 1
        ends = [each["low"], each["high"]]
        low, high = (None, None) if None in ends else sorted(sign * end for end in ends)
        value = None if each["difference"] is None else sign * each["difference"]
        other = each["b"] if turned else each["a"]
        rows.append(
            {
                "label": other,
                "kind": kinds[other],
                "estimate": value,
                "low": low,
                "high": high,
                "words": _words(value, low, high, f"n {each['n']:,}"),
            }
        )
    return sorted(
        rows, key=lambda row: (-(row["estimate"] if row["estimate"] is not None else -9), row["label"])
    )


def _marks(report: StudyReport) -> dict[str, str]:
    return {each["rater"]: " †" for each in report.tables["raters"] if each["set_reference"]}


def _words(value: float | None, low: float | None, high: float | None, n: str) -> str:
    if value is None:
        return f"not defined, {n}"
    interval = "" if low is None or high is None else f" [{low * 100:.1f}, {high * 100:.1f}]"
    return f"{value * 100:.2f}{interval}  {n}"


def _accuracy(report: StudyReport) -> str:
    helped = " † helped to set the key." if _marks(report) else ""
    level = f"{report.facts['settings']['confidence']:.0%}"
    return forest(
        accuracy_rows(report),
        title="Accuracy, per cent",
        caption=f"{level} intervals (Wilson, by exam where exams repeat); overlap is no test.{helped} "
        "Diamond: reader; square: model.",
        low=0.0,
        high=1.0,
    )


def _differences(report: StudyReport) -> str:
    rows = difference_rows(report)
    ends = [abs(row[name]) for row in rows for name in ("low", "high", "estimate") if row[name] is not None]
    reach = max([0.1, *(-(-end * 10 // 1) / 10 for end in ends)])
    return forest(
        rows,
        title=f"Accuracy less that of {report.facts['model']}, points",
        caption=f"Paired on the same cases, {report.facts['settings']['confidence']:.0%} intervals (Tango), "
        "each by itself: not adjusted for their number.",
        low=-reach,
        high=reach,
        zero=0.0,
    )


def _kappa(report: StudyReport, task: str) -> str:
    names = [each["rater"] for each in report.tables["raters"]]
    there = {name for each in report.tables["agreement"] for name in (each["a"], each["b"])}
    cells = {(each["a"], each["b"]): each for each in report.tables["agreement"] if each["task"] == task}
    shown = [name for name in names if name in there]
    others = sorted(
        {name for pair in cells for name in pair} - set(shown) - {report.facts["settings"]["reference"]}
    )
    return heatmap(
        [*shown, *others],
        cells,
        title=f"Cohen's kappa: {'all tasks' if task == 'all' else task}",
        caption=f"Value, interval, n. Grey: not defined, or n below {FEW}. "
        "Of answers as given, not of right and wrong.",
    )
