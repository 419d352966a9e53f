"""Tables of a report other than measures: raters, groups of readers, failed replies, faults, exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from measures.clusters import members
from measures.coded import coded
from measures.proportions import wilson, wilson_by_cluster
from measures.ratings import checked
from measures.records.accuracy import by_category
from measures.records.settings import Settings
from measures.results import AccuracyResult, PairedDifference, to_record
from reader_study.report.material import Material
from reader_study.report.tables import (
    ExcludedAnswers,
    FailedReplies,
    FaultyCase,
    LevelAccuracy,
    RaterProfile,
    TaskAccuracy,
)


def raters(material: Material, scored: pd.DataFrame) -> tuple[RaterProfile, ...]:
    n = scored.groupby("rater").size()
    readers = [
        RaterProfile(
            rater=each.name,
            kind="reader",
            level=each.profile.level.value if each.profile.level else None,
            years=each.profile.years,
            subspecialty=each.profile.subspecialty or None,
            set_reference=each.of_reference,
            simulated=each.simulated,
            n=int(n.get(each.name, 0)),
        )
        for each in material.readers
    ]
    models = [
        RaterProfile(rater=each.name, kind="model", simulated=each.simulated, n=int(n.get(each.name, 0)))
        for each in material.models
    ]
    return (*readers, *models)


def by_column(ratings: pd.DataFrame, settings: Settings, *, column: str) -> tuple[AccuracyResult, ...]:
    """Accuracy by the values of another column: difficulty, or the answer format."""
    table = ratings.assign(category=ratings[column])
    return by_category(coded(checked(table), reference=settings.reference), settings)


def groups(material: Material, scored: pd.DataFrame, confidence: float) -> tuple[LevelAccuracy, ...]:
    """Accuracy of readers pooled by level; clustered by exam, with the readers fixed."""
    results: list[LevelAccuracy] = []
    level = {
        each.name: each.profile.level.value if each.profile.level else "not stated"
        for each in material.readers
    }
    rows = scored[scored["kind"] == "reader"]
    for name, own in rows.groupby(rows["rater"].map(level), sort=True):
        hits = (own["correct"] == "yes").to_numpy()
        exams = pd.factorize(own["exam"])[0]
        found = wilson_by_cluster(hits, exams, confidence=confidence)
        results.append(
            LevelAccuracy(
                level=str(name),
                readers=own["rater"].nunique(),
                n=found.n,
                exams=members(exams)[1],
                correct=found.count,
                estimate=found.estimate,
                low=found.low,
                high=found.high,
                note="these readers, not readers like them; clustered by exam",
            )
        )
    return tuple(results)


def failed(material: Material) -> tuple[FailedReplies, ...]:
    results: list[FailedReplies] = []
    numbers = {case.shown.question_number for case in material.cases if case.scored}
    for model in material.models:
        some = [each for number, each in model.predictions.items() if number in numbers]
        found = wilson(sum(each.failed for each in some), len(some))
        results.append(
            FailedReplies(
                model=model.name,
                n=found.n,
                failed=found.count,
                share=found.estimate,
                low=found.low,
                high=found.high,
                not_predicted=len(numbers) - len(some),
            )
        )
    return tuple(results)


def faulty(material: Material) -> tuple[FaultyCase, ...]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return tuple(
        FaultyCase(
            case=cases[each.key.case_id].shown.number,
            question_id=cases[each.key.case_id].question.id,
            reader=names[each.key.reader_id],
            answered=not each.unanswered,
            why=each.faulty,
        )
        for each in material.readings
        if each.faulty
    )


def exclusions(material: Material) -> tuple[ExcludedAnswers, ...]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return tuple(
        ExcludedAnswers(
            case=cases[each.case_id].shown.number if each.case_id else None,
            question_id=cases[each.case_id].question.id if each.case_id else None,
            reader=names[each.reader_id] if each.reader_id else None,
            why=each.why,
            excluded_at=each.excluded_at.isoformat(),
        )
        for each in material.exclusions
    )


def mark_best(
    accuracy: Sequence[AccuracyResult], paired: Sequence[PairedDifference]
) -> tuple[TaskAccuracy, ...]:
    """The accuracies with ``best``: significantly above all other raters of the task (paired interval)."""
    ahead: Counter[tuple[str, str]] = Counter()
    for each in paired:
        if each.low is not None and each.low > 0:
            ahead[each.task, each.a] += 1
        if each.high is not None and each.high < 0:
            ahead[each.task, each.b] += 1
    others = len({each.rater for each in accuracy}) - 1
    return tuple(
        TaskAccuracy(**to_record(each), best=others > 0 and ahead[each.group, each.rater] == others)
        for each in accuracy
    )
