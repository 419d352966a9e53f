"""Tables of open answers: scores of each rater, agreement of the markers, and the marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from domain.marks import AnswerId, AnswerMark, MarkerRole, identify_answer
from measures.agreement import Weights, agreement_weights
from measures.kappa_intervals import kappa_interval
from measures.means import mean_by_cluster
from measures.proportions import wilson_by_cluster
from measures.rating_encoding import append_arm_to_raters
from measures.rating_values import REPEAT, TRAINING
from measures.records.settings import Settings
from reader_study.open_answers import OpenAnswer, OpenAnswerScore, list_answers_to_mark, select_marks
from reader_study.report.report_data import ReportData
from reader_study.report.tables import MarkerAgreement, OpenAnswerCounts, OpenAnswerMarks

#: The order of the marks in linear weights.
_ORDERED_MARKS = (AnswerMark.WRONG, AnswerMark.PARTLY, AnswerMark.RIGHT)
_Score = OpenAnswerScore


def count_open_answers(
    data: ReportData, ratings: pd.DataFrame, settings: Settings
) -> tuple[OpenAnswerCounts, ...]:
    """Count the open answers of each rater by score, without training cases and repeats.

    The interval is Wilson's if all points are 0 or 1, and Student's if there are half points. Both are
    clustered by patient, or by exam if the patient is not known.
    """
    open_formats = {case.question.format.value for case in data.cases if case.question.format.is_free_text}
    rows = ratings[
        ~ratings["arm"].isin([TRAINING, REPEAT])
        & ratings["format"].isin(open_formats)
        & (ratings["kind"] != "reference")
        & ((ratings["answer"] != "") | (ratings["open_score"] == _Score.NOT_MARKED))
    ]
    if rows.empty:
        return ()
    rows = rows.assign(rater=append_arm_to_raters(rows))
    return tuple(
        _count_rater_answers(data, str(rater), rater_rows, settings)
        for rater, rater_rows in rows.groupby("rater", sort=True)
    )


def _count_rater_answers(
    data: ReportData, rater: str, rows: pd.DataFrame, settings: Settings
) -> OpenAnswerCounts:
    scores = Counter(rows["open_score"])
    scoring = data.scoring
    counted = rows[rows["open_score"] != _Score.NOT_MARKED]
    points = [scoring.points(_Score(score)) if score else 0.0 for score in counted["open_score"]]
    values = np.array(points, dtype=np.float64)
    patients = counted["patient"]
    clusters, cluster_names = pd.factorize(patients.where(patients != "", "exam " + counted["exam"]))
    if set(values.tolist()) <= {0.0, 1.0}:
        share = wilson_by_cluster(values == 1.0, clusters, confidence=settings.confidence)
        estimate, low, high, note = share.estimate, share.low, share.high, share.note
    else:
        mean = mean_by_cluster(values, clusters, minimum=0.0, maximum=1.0, confidence=settings.confidence)
        estimate, low, high, note = mean.estimate, mean.low, mean.high, mean.note
    return OpenAnswerCounts(
        rater=rater,
        kind=str(rows["kind"].iloc[0]),
        n=len(counted),
        clusters=len(cluster_names),
        equal_to_key=scores[_Score.EQUAL_TO_KEY],
        right=scores[_Score.RIGHT],
        partly=scores[_Score.PARTLY],
        wrong=scores[_Score.WRONG],
        no_answer=scores[""],
        not_marked=scores[_Score.NOT_MARKED],
        estimate=estimate,
        low=low,
        high=high,
        note=note,
    )


def compute_marker_agreement(data: ReportData, settings: Settings) -> tuple[MarkerAgreement, ...]:
    """Compute the agreement of both markers, unweighted and with linear weights.

    Each distinct answer counts once. The result is empty if no answer was marked by a second marker.
    """
    answers = [answer.id for answer in _list_answers(data)]
    first, second = (select_marks(data.marks, role) for role in MarkerRole)
    if not second.keys() & set(answers):
        return ()
    marked_twice = [answer for answer in answers if answer in first and answer in second]
    cluster_by_case = {
        case.blind_case.id: case.patient or f"exam {case.question.exam_id}" for case in data.cases
    }
    codes = [
        np.array([_ORDERED_MARKS.index(marks[answer]) for answer in marked_twice], dtype=np.int64)
        for marks in (first, second)
    ]
    clusters = np.unique([cluster_by_case[answer.case_id] for answer in marked_twice], return_inverse=True)[1]
    results = []
    for weights in (Weights.NONE, Weights.LINEAR):
        kappa = kappa_interval(
            codes[0],
            codes[1],
            weights=agreement_weights(len(_ORDERED_MARKS), weights),
            clusters=clusters,
            confidence=settings.confidence,
            seed=settings.seed,
        )
        results.append(
            MarkerAgreement(
                weights=weights.value,
                answers=len(answers),
                first_marked=sum(answer in first for answer in answers),
                second_marked=sum(answer in second for answer in answers),
                n=len(marked_twice),
                same=int((codes[0] == codes[1]).sum()),
                kappa=kappa.value,
                low=kappa.low,
                high=kappa.high,
                interval=kappa.method or "",
                note=kappa.note,
            )
        )
    return tuple(results)


def list_open_answer_marks(data: ReportData) -> tuple[OpenAnswerMarks, ...]:
    """List the distinct answers that differ from the key, in the order of marking, with their marks."""
    cases = {case.blind_case.id: case for case in data.cases}
    reader_counts = Counter(identify_answer(case_id, text) for case_id, text in _iterate_reader_answers(data))
    model_counts = Counter(identify_answer(case_id, text) for case_id, text in _iterate_model_answers(data))
    first, second = (select_marks(data.marks, role) for role in MarkerRole)

    def format_mark(marks: dict[AnswerId, AnswerMark], answer: AnswerId) -> str | None:
        return marks[answer].value if answer in marks else None

    return tuple(
        OpenAnswerMarks(
            case=cases[answer.id.case_id].blind_case.number,
            question_id=cases[answer.id.case_id].question.id,
            key=str(cases[answer.id.case_id].question.answer),
            answer=answer.text,
            first=format_mark(first, answer.id),
            second=format_mark(second, answer.id),
            of_readers=reader_counts[answer.id],
            of_models=model_counts[answer.id],
        )
        for answer in _list_answers(data)
    )


def _list_answers(data: ReportData) -> tuple[OpenAnswer, ...]:
    """Return the answers to be marked; none if the protocol scores by exact match."""
    if not data.versions[-1].protocol.marks_open_answers:
        return ()
    return list_answers_to_mark(
        [*_iterate_reader_answers(data), *_iterate_model_answers(data)],
        {case.blind_case.id: case.question for case in data.cases},
    )


def _iterate_reader_answers(data: ReportData) -> Iterator[tuple[int, str]]:
    """Yield (case id, text) of the readers' answers to open scored cases, hidden repeats included."""
    open_case_ids = {
        case.blind_case.id for case in data.cases if case.scored and case.question.format.is_free_text
    }
    for reading in data.readings:
        if reading.key.case_id in open_case_ids and isinstance(reading.answer, str):
            yield reading.key.case_id, reading.answer


def _iterate_model_answers(data: ReportData) -> Iterator[tuple[int, str]]:
    """Yield (case id, text) of the models' answers to open scored cases."""
    case_id_by_question = {
        case.blind_case.question_row_id: case.blind_case.id
        for case in data.cases
        if case.scored and case.question.format.is_free_text
    }
    for model in data.models:
        for question_row_id, prediction in model.predictions.items():
            if question_row_id in case_id_by_question and isinstance(prediction.answer, str):
                yield case_id_by_question[question_row_id], prediction.answer
