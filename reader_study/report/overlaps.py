"""Overlap of the boxes of models and readers with the boxes of the key (GEMeX's V-score, mIoU).

Boxes are matched one to one within each radiograph (Hungarian method), without regard to labels. The sum of
the overlaps is divided by the number of key boxes or of answer boxes, whichever is larger. The GEMeX paper
does not define the denominator, so two further results have the number of key boxes and the number of matches
as denominators. Questions whose key has no box are excluded. If the key has a box, an answer without a box
counts as 0; for readers, only questions that asked for a box are included. A rater who drew no box has no
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from domain.boxes import LabelledBox
from domain.vocabulary import AnswerFormat
from measures.boxes import MeanOverlap, mean_overlap
from measures.rating_values import ALL
from measures.records.settings import Settings
from reader_study.report.report_data import ReportData
from reader_study.report.tables import BoxOverlap
from review.corrected_versions import compute_box_overlap


class AnsweredQuestion(NamedTuple):
    """The boxes of the key and of the answer to one question."""

    format: AnswerFormat
    exam_id: str
    key_boxes: Sequence[LabelledBox]
    answer_boxes: Sequence[LabelledBox]


def compute_box_overlaps(data: ReportData, settings: Settings) -> tuple[BoxOverlap, ...]:
    """Return one row per answer format and rater, for raters who drew at least one box.

    Arms are combined, and hidden repeats are excluded.
    """
    cases = {case.blind_case.id: case for case in data.cases if case.scored}
    included_cases = [
        case for case_id, case in cases.items() if not data.is_excluded(case_id=case_id, reader_id=None)
    ]
    answers_by_rater: dict[tuple[str, str], list[AnsweredQuestion]] = {}
    reader_names = {reader.id: reader.name for reader in data.readers}
    for name in reader_names.values():
        answers_by_rater[name, "reader"] = []
    for reading in data.readings:
        case, reader_id = cases.get(reading.key.case_id), reading.key.reader_id
        if case is None or reading.key.repeat or not case.blind_case.asks_box or reading.unanswered:
            continue
        if not data.is_excluded(case_id=reading.key.case_id, reader_id=reader_id):
            question = case.question
            answers_by_rater[reader_names[reader_id], "reader"].append(
                AnsweredQuestion(question.format, question.exam_id, question.boxes, reading.boxes)
            )
    for model in data.models:
        if not any(prediction.boxes for prediction in model.predictions.values()):
            continue
        answers_by_rater[model.name, "model"] = [
            AnsweredQuestion(
                case.question.format, case.question.exam_id, case.question.boxes, prediction.boxes
            )
            for case in included_cases
            if (prediction := model.predictions.get(case.blind_case.question_row_id)) is not None
        ]
    return tuple(
        BoxOverlap(
            rater=rater,
            kind=kind,
            format=format_name,
            n=overlap.n,
            with_boxes=with_boxes,
            estimate=overlap.score,
            low=overlap.low,
            high=overlap.high,
            per_truth=overlap.per_truth,
            per_match=overlap.per_match,
            note=overlap.note,
        )
        for (rater, kind), answers in answers_by_rater.items()
        for format_name, with_boxes, overlap in compute_overlap_by_format(
            answers, seed=settings.seed, confidence=settings.confidence
        )
    )


def compute_overlap_by_format(
    answers: Sequence[AnsweredQuestion], *, seed: int, confidence: float
) -> Iterator[tuple[str, int, MeanOverlap]]:
    """Compute the mean overlap over all questions whose key has a box, then by answer format.

    Yields:
        The format, the number of questions with a box in the answer, and the overlap. Yields nothing if no
        answer has a box.
    """
    with_key_boxes = [answer for answer in answers if answer.key_boxes]
    if not any(answer.answer_boxes for answer in with_key_boxes):
        return
    for format_name in (ALL, *(format_.value for format_ in AnswerFormat)):
        format_answers = [answer for answer in with_key_boxes if format_name in (ALL, answer.format.value)]
        if not format_answers:
            continue
        exam_ids = dict.fromkeys(answer.exam_id for answer in format_answers)
        exam_indices = {exam_id: index for index, exam_id in enumerate(exam_ids)}
        overlap = mean_overlap(
            [
                compute_box_overlap(answer.key_boxes, answer.answer_boxes, by_label=False)
                for answer in format_answers
            ],
            clusters=[exam_indices[answer.exam_id] for answer in format_answers],
            seed=seed,
            confidence=confidence,
        )
        yield format_name, sum(bool(answer.answer_boxes) for answer in format_answers), overlap
