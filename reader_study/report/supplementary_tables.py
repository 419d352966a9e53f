"""Further tables of a report: raters, accuracy by groups, failed replies, faulty cases, exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from domain.vocabulary import Difficulty
from measures.clusters import renumber_clusters
from measures.proportions import wilson, wilson_by_cluster
from measures.rating_matrix import RatingMatrix
from measures.records.accuracy import compute_category_accuracy
from measures.records.settings import Settings
from measures.results import AccuracyResult, PairedDifference, to_record
from reader_study.extraction import describe_rule_counts
from reader_study.extraction_check import compute_extraction_rates, group_replies
from reader_study.report.report_data import ReportData
from reader_study.report.tables import (
    ExcludedAnswers,
    ExtractionRate,
    FailedReplies,
    FaultyCase,
    LevelAccuracy,
    RaterProfile,
    TaskAccuracy,
)

_TIERS = tuple(difficulty.value for difficulty in Difficulty)


def list_raters(data: ReportData, scored: pd.DataFrame) -> tuple[RaterProfile, ...]:
    n_by_rater = scored.groupby("rater").size()
    readers = [
        RaterProfile(
            rater=reader.name,
            kind="reader",
            level=reader.profile.level.value if reader.profile.level else None,
            years=reader.profile.years,
            subspecialty=reader.profile.subspecialty or None,
            set_reference=reader.of_reference,
            simulated=reader.simulated,
            n=int(n_by_rater.get(reader.name, 0)),
        )
        for reader in data.readers
    ]
    models = [
        RaterProfile(
            rater=model.name,
            kind="model",
            simulated=model.simulated,
            n=int(n_by_rater.get(model.name, 0)),
        )
        for model in data.models
    ]
    return (*readers, *models)


def compute_accuracy_by_columns(
    ratings: pd.DataFrame,
    matrix: RatingMatrix,
    settings: Settings,
    *,
    columns: Sequence[str],
    further: Mapping[str, pd.Series],
) -> tuple[tuple[AccuracyResult, ...], ...]:
    """Compute accuracy by the values of each column, such as difficulty (from easy to hard) or answer format.

    ``further`` has columns that the ratings lack; their rows have the same order as the ratings.
    """
    own_columns = [name for name in columns if name not in further]
    by_question = ratings[["question_id", *own_columns]].assign(**further).drop_duplicates("question_id")
    row_by_question = {question_id: row for row, question_id in enumerate(by_question["question_id"])}
    by_question = by_question.iloc[[row_by_question[question_id] for question_id in matrix.questions]]
    results = []
    for column in columns:
        values = by_question[column].to_numpy()
        order = _TIERS if column == "difficulty" else ()
        names = tuple(
            sorted(set(values) - {""}, key=lambda name: (order.index(name) if name in order else -1, name))
        )
        indices = {name: index for index, name in enumerate(names)}
        category = np.array([indices.get(value, -1) for value in values], dtype=np.int64)
        results.append(
            compute_category_accuracy(replace(matrix, categories=names, category=category), settings)
        )
    return tuple(results)


def compute_level_accuracy(
    data: ReportData, scored: pd.DataFrame, confidence: float
) -> tuple[LevelAccuracy, ...]:
    """Compute the accuracy of readers pooled by level.

    Intervals are clustered by patient, or by exam if the patient is not known; readers are fixed.
    """
    results: list[LevelAccuracy] = []
    unit = "patient" if (scored["patient"] != "").any() else "exam"
    level_by_reader = {
        reader.name: reader.profile.level.value if reader.profile.level else "not stated"
        for reader in data.readers
    }
    rows = scored[scored["kind"] == "reader"]
    for level, level_rows in rows.groupby(rows["rater"].map(level_by_reader), sort=True):
        is_correct = (level_rows["correct"] == "yes").to_numpy()
        patients = level_rows["patient"]
        clusters = pd.factorize(patients.where(patients != "", "exam " + level_rows["exam"]))[0]
        proportion = wilson_by_cluster(is_correct, clusters, confidence=confidence)
        results.append(
            LevelAccuracy(
                level=str(level),
                readers=level_rows["rater"].nunique(),
                n=proportion.n,
                clusters=renumber_clusters(clusters)[1],
                correct=proportion.count,
                estimate=proportion.estimate,
                low=proportion.low,
                high=proportion.high,
                note=f"applies to these readers only; clustered by {unit}",
            )
        )
    return tuple(results)


def count_failed_replies(data: ReportData) -> tuple[FailedReplies, ...]:
    results: list[FailedReplies] = []
    numbers = {case.blind_case.question_row_id for case in data.cases if case.scored}
    for model in data.models:
        predictions = [prediction for number, prediction in model.predictions.items() if number in numbers]
        proportion = wilson(sum(prediction.failed for prediction in predictions), len(predictions))
        results.append(
            FailedReplies(
                model=model.name,
                n=proportion.n,
                failed=proportion.count,
                share=proportion.estimate,
                low=proportion.low,
                high=proportion.high,
                not_predicted=len(numbers) - len(predictions),
                rules=describe_rule_counts(Counter(prediction.rule for prediction in predictions)),
            )
        )
    return tuple(results)


def compute_extraction_errors(data: ReportData) -> tuple[ExtractionRate, ...]:
    """Compute the error rate of each extraction rule on the replies of all models of the study."""
    protocol = data.versions[-1].protocol
    numbers = {case.blind_case.question_row_id for case in data.cases if case.scored}
    predictions = [
        prediction
        for model in data.models
        for number, prediction in model.predictions.items()
        if number in numbers
    ]
    marks = {saved.reply: saved.mark for saved in data.extraction_marks if saved.mark is not None}
    groups = group_replies(predictions, seed=protocol.seed)
    return compute_extraction_rates(groups, marks, confidence=protocol.confidence)


def list_faulty_cases(data: ReportData) -> tuple[FaultyCase, ...]:
    cases = {case.blind_case.id: case for case in data.cases}
    names = {reader.id: reader.name for reader in data.readers}
    return tuple(
        FaultyCase(
            case=cases[reading.key.case_id].blind_case.number,
            question_id=cases[reading.key.case_id].question.id,
            reader=names[reading.key.reader_id],
            answered=not reading.unanswered,
            why=reading.faulty,
        )
        for reading in data.readings
        if reading.faulty
    )


def list_exclusions(data: ReportData) -> tuple[ExcludedAnswers, ...]:
    cases = {case.blind_case.id: case for case in data.cases}
    names = {reader.id: reader.name for reader in data.readers}
    return tuple(
        ExcludedAnswers(
            case=cases[exclusion.case_id].blind_case.number if exclusion.case_id else None,
            question_id=cases[exclusion.case_id].question.id if exclusion.case_id else None,
            reader=names[exclusion.reader_id] if exclusion.reader_id else None,
            why=exclusion.reason,
            excluded_at=exclusion.excluded_at.isoformat(),
        )
        for exclusion in data.exclusions
    )


def mark_best(
    accuracy: Sequence[AccuracyResult], paired: Sequence[PairedDifference]
) -> tuple[TaskAccuracy, ...]:
    """Mark the accuracies that are significantly above all other raters of the task (paired interval)."""
    n_beaten: Counter[tuple[str, str]] = Counter()
    for difference in paired:
        if difference.low is not None and difference.low > 0:
            n_beaten[difference.task, difference.a] += 1
        if difference.high is not None and difference.high < 0:
            n_beaten[difference.task, difference.b] += 1
    n_others = len({result.rater for result in accuracy}) - 1
    return tuple(
        TaskAccuracy(
            **to_record(result), best=n_others > 0 and n_beaten[result.group, result.rater] == n_others
        )
        for result in accuracy
    )
