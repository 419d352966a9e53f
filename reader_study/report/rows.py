"""The rows that each figure is drawn from, on a page and in a file: labels, estimates, intervals, words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from measures.ratings import ALL
from reader_study.report.whole import StudyReport

Record = dict[str, Any]


def accuracy_rows(report: StudyReport, *, task: str = ALL) -> list[Record]:
    """One row a rater, the highest first; who helped to set the key is marked."""
    helped = {each["rater"] for each in report.tables["raters"] if each["set_reference"]}
    return _falling(
        {
            "label": f"{each['rater']}{' †' if each['rater'] in helped else ''}",
            "kind": each["kind"],
            "task": task,
            "n": each["n"],
            "correct": each["correct"],
            **_points(each, per_cent, f"{each['correct']:,}/{each['n']:,}"),
        }
        for each in report.tables["accuracy"]
        if each["task"] == task
    )


def difference_rows(report: StudyReport, *, task: str = ALL) -> list[Record]:
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
                "task": task,
                "n": each["n"],
                "rater_only": each["b_only"] if turned else each["a_only"],
                "model_only": each["a_only"] if turned else each["b_only"],
                "p_exact": each["p_exact"],
                "p_holm": each["p_holm"],
                **_points(
                    {"estimate": value, "low": low, "high": high, "note": each["note"]},
                    per_cent_signed,
                    f"n {each['n']:,}",
                ),
            }
        )
    return _falling(rows)


def kappa_rows(report: StudyReport, *, task: str = ALL) -> list[Record]:
    """The agreement of every two raters, the key left out; ``few`` of them are greyed."""
    key = report.facts["settings"]["reference"]
    return [
        each
        for each in report.tables["agreement"]
        if each["task"] == task and key not in (each["a"], each["b"])
    ]


def repeat_rows(report: StudyReport) -> list[Record]:
    """Kappa of each reader's first answers with the same reader's hidden repeats."""
    return [
        {
            "label": each["rater"],
            "kind": "reader",
            "n": each["n"],
            "observed": each["observed"],
            **_points(
                each | {"estimate": each["kappa"]}, plain, f"agreed {each['observed']:.0%}, n {each['n']:,}"
            ),
        }
        for each in report.tables["repeats"]
    ]


def time_rows(report: StudyReport) -> list[Record]:
    """Median seconds a case with their quartiles."""
    kinds = {each["rater"]: each["kind"] for each in report.tables["overall"]}
    return [
        {
            "label": each["rater"],
            "kind": kinds.get(each["rater"], "reader"),
            "n": each["n"],
            "median_right": each["median_right"],
            "median_wrong": each["median_wrong"],
            **_points(
                {"estimate": each["median"], "low": each["quarter_1"], "high": each["quarter_3"]},
                seconds,
                f"n {each['n']:,}",
            ),
        }
        for each in report.tables["times"]
    ]


def place_rows(report: StudyReport) -> list[Record]:
    """How much more often each rater chose a place than the key stood there."""
    return [
        {
            **each,
            "more": None if each["chosen_share"] is None else each["chosen_share"] - each["key_share"],
        }
        for each in report.tables["positions"]
    ]


def per_cent(value: float) -> str:
    return f"{value * 100:.2f}"


def per_cent_signed(value: float) -> str:
    return f"{value * 100:+.2f}"


def plain(value: float) -> str:
    return f"{value:.2f}"


def seconds(value: float) -> str:
    return f"{value:.1f}"


def _points(found: Record, written: Callable[[float], str], n: str) -> Record:
    """Estimate and interval, and how they are said."""
    value, low, high = (found[name] for name in ("estimate", "low", "high"))
    if value is None:
        why = found.get("note") or "not defined"
        words = f"{why if why.startswith('not defined') else f'not defined: {why}'}, {n}"
    else:
        interval = "" if low is None or high is None else f" [{written(low)}, {written(high)}]"
        words = f"{written(value)}{interval}  {n}"
    return {"estimate": value, "low": low, "high": high, "words": words}


def _falling(rows: Iterable[Record]) -> list[Record]:
    return sorted(
        rows, key=lambda row: (-(row["estimate"] if row["estimate"] is not None else -9), row["label"])
    )
