"""What a report lists beside the measures: its raters, groups of readers, failures, faults, exclusions."""

from __future__ import annotations

from typing import Any

import pandas as pd

from measures.clusters import members
from measures.coded import coded
from measures.proportions import wilson, wilson_by_cluster
from measures.ratings import checked
from measures.records.accuracy import by_category
from measures.records.settings import Settings
from reader_study.report.material import Material

Record = dict[str, Any]


def raters(material: Material, scored: pd.DataFrame) -> list[Record]:
    n = scored.groupby("rater").size()
    readers = [
        {
            "rater": each.name,
            "kind": "reader",
            "level": each.profile.level.value if each.profile.level else None,
            "years": each.profile.years,
            "subspecialty": each.profile.subspecialty or None,
            "set_reference": each.of_reference,
            "simulated": each.simulated,
            "n": int(n.get(each.name, 0)),
        }
        for each in material.readers
    ]
    models = [
        {
            "rater": each.name,
            "kind": "model",
            "level": None,
            "years": None,
            "subspecialty": None,
            "set_reference": False,
            "simulated": each.simulated,
            "n": int(n.get(each.name, 0)),
        }
        for each in material.models
    ]
    return readers + models


def by_column(ratings: pd.DataFrame, settings: Settings, *, column: str) -> list[Record]:
    """Accuracy by the values of a further column: difficulty, or the answer's format."""
    table = ratings.assign(category=ratings[column])
    records = by_category(coded(checked(table), reference=settings.reference), settings)
    return [
        {(column if name == "category" else name): value for name, value in each.items()} for each in records
    ]


def groups(material: Material, scored: pd.DataFrame, confidence: float) -> list[Record]:
    """Readers pooled by level; their answers on one exam go together, the readers are taken as fixed."""
    records: list[Record] = []
    level = {
        each.name: each.profile.level.value if each.profile.level else "not stated"
        for each in material.readers
    }
    rows = scored[scored["kind"] == "reader"]
    for name, own in rows.groupby(rows["rater"].map(level), sort=True):
        hits = (own["correct"] == "yes").to_numpy()
        exams = pd.factorize(own["exam"])[0]
        found = wilson_by_cluster(hits, exams, confidence=confidence)
        records.append(
            {
                "level": name,
                "readers": own["rater"].nunique(),
                "n": found.n,
                "exams": members(exams)[1],
                "correct": found.count,
                "estimate": found.estimate,
                "low": found.low,
                "high": found.high,
                "note": "these readers, not readers like them; clustered by exam",
            }
        )
    return records


def failed(material: Material) -> list[Record]:
    records: list[Record] = []
    numbers = {case.shown.question_number for case in material.cases if case.scored}
    for model in material.models:
        some = [each for number, each in model.predictions.items() if number in numbers]
        found = wilson(sum(each.failed for each in some), len(some))
        records.append(
            {
                "model": model.name,
                "n": found.n,
                "failed": found.count,
                "share": found.estimate,
                "low": found.low,
                "high": found.high,
                "not_predicted": len(numbers) - len(some),
            }
        )
    return records


def faulty(material: Material) -> list[Record]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return [
        {
            "case": cases[each.key.case_id].shown.number,
            "question_id": cases[each.key.case_id].question.id,
            "reader": names[each.key.reader_id],
            "answered": not each.unanswered,
            "why": each.faulty,
        }
        for each in material.readings
        if each.faulty
    ]


def exclusions(material: Material) -> list[Record]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return [
        {
            "case": cases[each.case_id].shown.number if each.case_id else None,
            "question_id": cases[each.case_id].question.id if each.case_id else None,
            "reader": names[each.reader_id] if each.reader_id else None,
            "why": each.why,
            "excluded_at": each.excluded_at.isoformat(),
        }
        for each in material.exclusions
    ]


def mark_best(tables: dict[str, list[Record]]) -> None:
    """``best`` in each task's accuracy: right more often than every other rater, by the paired interval."""
    ahead: dict[tuple[str, str], int] = {}
    for each in tables["paired"]:
        if each["low"] is not None and each["low"] > 0:
            ahead[each["task"], each["a"]] = ahead.get((each["task"], each["a"]), 0) + 1
        if each["high"] is not None and each["high"] < 0:
            ahead[each["task"], each["b"]] = ahead.get((each["task"], each["b"]), 0) + 1
    others = len({each["rater"] for each in tables["accuracy"]}) - 1
    for each in tables["accuracy"]:
        each["best"] = others > 0 and ahead.get((each["task"], each["rater"]), 0) == others
