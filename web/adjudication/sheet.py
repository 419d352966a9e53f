"""Converts a dispute to JSON for the form. The JSON contains only data of the dispute sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.boxes import LabelledBox
from domain.exams import Radiograph, format_age
from domain.questions import format_answer, option_letter
from domain.ratings import RATINGS
from domain.verdicts import ErrorKind, Verdict
from domain.vocabulary import Difficulty, Task
from review.disputes import FieldDifference
from review.service import DisputedQuestion, DisputeSheet
from web.drawing.canvas import canvas_to_json
from web.drawing.plain_editor import create_surface
from web.drawing.radiograph_viewer import boxes_to_json, metadata_url, pixels_url
from web.forms.labels import BOX_LABELS, SEX_LABELS, VIEW_LABELS
from web.review.sheet import radiograph_url


def dispute_to_json(
    sheet: DisputeSheet, *, person: int, disputes: Sequence[DisputedQuestion]
) -> dict[str, Any]:
    """Return all data that the form needs for one dispute.

    ``disputes`` has all disputes of the batch. The form links to the previous and the next one.
    """
    question, adjudication = sheet.question, sheet.adjudication
    question_row_ids = [dispute.question_row_id for dispute in disputes]
    # A question that is not disputed can be opened by its address. "Next" then leads to the first dispute.
    position = (
        question_row_ids.index(sheet.question_row_id) if sheet.question_row_id in question_row_ids else -1
    )
    return {
        "person": person,
        "batch": sheet.batch.id,
        "batchName": sheet.batch.name,
        "question": sheet.question_row_id,
        "questionId": question.id,
        "progress": {
            "adjudicated": sum(not dispute.is_open for dispute in disputes),
            "total": len(disputes),
        },
        "previous": question_row_ids[position - 1] if position > 0 else None,
        "next": question_row_ids[position + 1] if position + 1 < len(question_row_ids) else None,
        "revision": sheet.revision,
        "disputedAspects": sorted(aspect.value for aspect in sheet.kinds),
        # The viewer uses these fields to decide whether boxes can be drawn.
        "blind": False,
        "isOpen": True,
        "requested": {"boxes": False},
        "patient": {
            "age": sheet.exam.age and format_age(sheet.exam.age),
            "sex": sheet.exam.sex and SEX_LABELS[sheet.exam.sex],
            "indication": sheet.exam.indication,
        },
        "radiographs": [_radiograph_to_json(sheet, radiograph) for radiograph in sheet.exam.radiographs],
        "prefetch": [],
        "upcoming": [],
        "stem": question.stem,
        "options": list(question.options),
        "format": str(question.format),
        "key": format_answer(question.answer, question.options),
        "explanation": question.explanation,
        "reviewers": [
            _reviewer_to_json(label, verdict)
            for label, verdict in zip(sheet.reviewer_names, sheet.verdicts, strict=True)
        ],
        "fields": [_field_to_json(difference) for difference in sheet.differences],
        "reports": [
            {
                "id": report.id,
                "kind": report.kind.label,
                "text": report.text,
                "release": report.release,
                "at": report.reported_at.isoformat(),
            }
            for report in sheet.reports
        ],
        "adjudication": None
        if adjudication is None
        else {
            "decision": adjudication.decision.value,
            "reason": adjudication.reason,
            "at": adjudication.given_at.isoformat(),
            "revision": adjudication.revision,
        },
        "choices": {
            "tasks": [str(task) for task in Task],
            "difficulties": [str(difficulty) for difficulty in Difficulty],
            "labels": list(BOX_LABELS),
        },
    }


def _reviewer_to_json(label: str, verdict: Verdict) -> dict[str, Any]:
    opinion = verdict.opinion
    return {
        "name": label,
        "decision": verdict.decision.value,
        "errors": [kind.label for kind in ErrorKind if kind in opinion.errors],
        "ratings": {
            scale.name: getattr(opinion.ratings, scale.id)
            for scale in RATINGS
            if getattr(opinion.ratings, scale.id) is not None
        },
        "texts": [text for text in (opinion.comment, opinion.clinical_reasoning, verdict.why) if text],
    }


def _field_to_json(difference: FieldDifference) -> dict[str, Any]:
    return {
        "name": difference.field,
        "original": _format_value(difference.field, difference.imported_value),
        "values": [
            None if value is None else _format_value(difference.field, value)
            for value in difference.reviewer_values
        ],
    }


def _format_value(field: str, value: Any) -> str:  # noqa: ANN401 - a field of any type
    """Format a value for display."""
    if field == "options":
        return "\n".join(f"{option_letter(i)}. {text}" for i, text in enumerate(value))
    if field == "answer":
        if isinstance(value, str):
            return value
        return ", ".join(option_letter(i) for i in value)
    if field == "also_right":
        return " or ".join(", ".join(option_letter(i) for i in option_set) for option_set in value) or "none"
    if field == "boxes":
        return "\n".join(labelled_box.describe() for labelled_box in value) or "no boxes"
    return str(value) if value not in (None, "") else "none"


def _radiograph_to_json(sheet: DisputeSheet, radiograph: Radiograph) -> dict[str, Any]:
    """Return one radiograph with the imported boxes, and the reviewers' boxes labelled by reviewer.

    ``boxesBySource`` has the imported boxes and the boxes of each reviewer separately; the adjudicator can
    start a correction from any of these sets.
    """
    data: dict[str, Any] = {"id": radiograph.id, "view": VIEW_LABELS[radiograph.view], "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return data
    surface = create_surface(rows=radiograph.rows, columns=radiograph.columns)
    machine_boxes = _select_boxes(sheet.question.boxes, radiograph)
    reviewer_boxes = _list_boxes_by_reviewer(sheet)
    overlay_boxes = [
        replace(labelled_box, label=f"{option_letter(i)}: {labelled_box.label}".rstrip(": "))
        for i, boxes in enumerate(reviewer_boxes)
        for labelled_box in _select_boxes(boxes, radiograph)
        if labelled_box not in machine_boxes
    ]
    all_boxes = (*machine_boxes, *overlay_boxes)
    url = radiograph_url(sheet.exam_row_id, radiograph.id)
    return data | {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "previewUrl": url,
        "pixelsUrl": pixels_url(sheet.exam_row_id, radiograph.id),
        "metadataUrl": metadata_url(sheet.exam_row_id, radiograph.id),
        "boxesMayDiffer": False,
        "boxes": boxes_to_json(all_boxes),
        "originalBoxes": boxes_to_json(machine_boxes),
        "overlay": boxes_to_json(all_boxes),
        "boxesBySource": {
            "original": boxes_to_json(machine_boxes),
            **{
                str(i): boxes_to_json(_select_boxes(boxes, radiograph))
                for i, boxes in enumerate(reviewer_boxes)
            },
        },
        "canvas": canvas_to_json(
            surface=surface, url=url, boxes=all_boxes, machine=machine_boxes, locked=True
        ),
    }


def _list_boxes_by_reviewer(sheet: DisputeSheet) -> list[tuple[LabelledBox, ...]]:
    """Return each reviewer's boxes: imported boxes if not corrected, none if the question was rejected."""
    result = []
    for verdict in sheet.verdicts:
        corrected_boxes = verdict.opinion.correction.boxes
        is_rejected = verdict.decision.value == "reject"
        result.append(
            () if is_rejected else sheet.question.boxes if corrected_boxes is None else corrected_boxes
        )
    return result


def _select_boxes(boxes: Sequence[LabelledBox], radiograph: Radiograph) -> tuple[LabelledBox, ...]:
    return tuple(labelled_box for labelled_box in boxes if labelled_box.radiograph == radiograph.id)
