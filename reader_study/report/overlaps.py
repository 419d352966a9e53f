"""Overlap of the boxes of models and readers with those of the key (GEMeX's V-score, mIoU).

Boxes are matched one to one within each radiograph (Hungarian method), without regard to labels. The sum of
the overlaps is divided by the larger number of boxes; the paper does not define the denominator, so the
results with the other two are given too. Questions whose key has no box are left out. A question whose key
has a box counts 0 without a predicted box; for readers, only if they were asked for a box. A rater without
any box has no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.boxes import LabelledBox
from domain.vocabulary import AnswerFormat
from measures.boxes import MeanOverlap, mean_overlap
from measures.ratings import ALL
from measures.records.settings import Settings
from reader_study.report.material import Material
from reader_study.report.tables import BoxOverlap
from review.forms import overlap_of_boxes

#: One question: its format, its exam, the boxes of the key, the boxes that were drawn.
Drawn = tuple[AnswerFormat, str, Sequence[LabelledBox], Sequence[LabelledBox]]


def overlaps(material: Material, settings: Settings) -> tuple[BoxOverlap, ...]:
    """One row per rater with a box, and per answer format; arms are combined, hidden repeats left out."""
    cases = {case.shown.id: case for case in material.cases if case.scored}
    kept = [case for at, case in cases.items() if not material.left_out(case_id=at, reader_id=None)]
    drawn: dict[tuple[str, str], list[Drawn]] = {}
    for reader in material.readers:
        drawn[reader.name, "reader"] = [
            (question.format, question.exam_id, question.boxes, each.boxes)
            for each in material.readings
            if each.key.reader_id == reader.id and not each.key.repeat and each.key.case_id in cases
            if cases[each.key.case_id].shown.asks_box and not each.unanswered
            if not material.left_out(case_id=each.key.case_id, reader_id=reader.id)
            for question in [cases[each.key.case_id].question]
        ]
    for model in material.models:
        drawn[model.name, "model"] = [
            (case.question.format, case.question.exam_id, case.question.boxes, found.boxes)
            for case in kept
            if (found := model.predictions.get(case.shown.question_number)) is not None
        ]
    return tuple(
        BoxOverlap(
            rater=rater,
            kind=kind,
            format=name,
            n=found.n,
            with_boxes=with_boxes,
            estimate=found.score,
            low=found.low,
            high=found.high,
            per_truth=found.per_truth,
            per_match=found.per_match,
            note=found.note,
        )
        for (rater, kind), some in drawn.items()
        for name, with_boxes, found in by_format(some, seed=settings.seed, confidence=settings.confidence)
    )


def by_format(
    drawn: Sequence[Drawn], *, seed: int, confidence: float
) -> Iterator[tuple[str, int, MeanOverlap]]:
    """Mean overlap of all answers to questions whose key has a box, then of each format.

    Yields the format, the number of questions with a drawn box, and the overlap; nothing if no box was drawn.
    """
    asked = [each for each in drawn if each[2]]
    if not any(boxes for *_, boxes in asked):
        return
    for name in (ALL, *(each.value for each in AnswerFormat)):
        some = [each for each in asked if name in (ALL, each[0].value)]
        if not some:
            continue
        exams = {exam: at for at, exam in enumerate(dict.fromkeys(each[1] for each in some))}
        found = mean_overlap(
            [overlap_of_boxes(key, boxes, by_label=False) for _, _, key, boxes in some],
            clusters=[exams[each[1]] for each in some],
            seed=seed,
            confidence=confidence,
        )
        yield name, sum(bool(boxes) for *_, boxes in some), found
