"""Converts a reading sheet to plain JSON for the form, without adding information."""

from __future__ import annotations

from typing import Any

from domain.boxes import LabelledBox
from domain.exams import Radiograph, format_age
from domain.questions import Answer, option_letter
from domain.vocabulary import CONFIDENCE_LABELS
from reader_study.sheet import ReadingSheet, TrainingResult
from records.values import boxes_from_plain
from web.drawing.canvas import canvas_to_json
from web.drawing.plain_editor import create_surface
from web.drawing.radiograph_viewer import boxes_to_json, metadata_url, pixels_url
from web.forms.labels import SEX_LABELS, VIEW_LABELS
from web.review.sheet import radiograph_url


def reading_sheet_to_json(sheet: ReadingSheet, *, person: int) -> dict[str, Any]:
    """Return all data that the form needs for one case; ``person`` is the id of the reader."""
    reading, progress = sheet.reading, sheet.progress
    is_answered = reading is not None
    return {
        "person": person,
        "study": sheet.study.id,
        "studyName": sheet.study.name,
        "position": sheet.slot.position,
        "training": sheet.training,
        "progress": {
            "done": progress.done,
            "total": progress.total,
            "trainingDone": progress.training_done,
            "training": progress.training,
        },
        # The radiograph viewer uses these fields; the review form has the same fields.
        "batch": sheet.study.id,
        "question": sheet.slot.position,
        "blind": False,
        "isOpen": sheet.feedback is None,
        "requested": {"boxes": sheet.case.asks_box and sheet.feedback is None},
        "clinicalInfoShown": sheet.arm.clinical_info_shown,
        "patient": {
            "age": sheet.exam.age and format_age(sheet.exam.age),
            "sex": None if sheet.exam.sex is None else SEX_LABELS[sheet.exam.sex],
            "indication": sheet.exam.indication,
        },
        "radiographs": [
            _radiograph_to_json(sheet, radiograph, index=index)
            for index, radiograph in enumerate(sheet.exam.radiographs)
        ],
        "prefetch": [radiograph_url(exam, key) for exam, key in sheet.upcoming_images],
        "upcoming": [
            {"pixelsUrl": pixels_url(exam, key), "metadataUrl": metadata_url(exam, key)}
            for exam, key in sheet.upcoming_images
        ],
        "stem": sheet.case.stem,
        "options": list(sheet.options),
        "format": sheet.case.format.value,
        "askConfidence": sheet.protocol.ask_confidence,
        "confidences": list(CONFIDENCE_LABELS),
        "idleSeconds": sheet.protocol.idle_seconds,
        "canGoBack": sheet.protocol.going_back,
        "previous": sheet.previous,
        "next": sheet.next,
        "revision": (reading.revision if reading else 0) + 1,
        "draftRevision": sheet.draft_revision,
        "entry": _entry_to_json(sheet),
        "answeredAt": reading.read_at.isoformat() if reading else None,
        "feedback": _feedback_to_json(sheet, sheet.feedback) if sheet.feedback and is_answered else None,
        "times": dict(zip(("seconds", "seconds_looking", "seconds_away"), sheet.times, strict=True)),
    }


def _entry_to_json(sheet: ReadingSheet) -> dict[str, Any] | None:
    """Return the draft, otherwise the submitted answer. Boxes are sent with the radiographs."""
    if sheet.draft:
        return {
            "answer": sheet.draft.get("answer"),
            "cannot_determine": sheet.draft.get("cannot", False),
            "confidence": sheet.draft.get("confidence"),
            "fault_description": sheet.draft.get("faulty", ""),
        }
    if sheet.reading is None:
        return None
    return {
        "answer": _to_displayed_answer(sheet.reading.answer, order=sheet.slot.option_order),
        "cannot_determine": sheet.reading.cannot_determine,
        "confidence": sheet.reading.confidence,
        "fault_description": sheet.reading.faulty,
    }


def _to_displayed_answer(answer: Answer | None, *, order: tuple[int, ...]) -> list[int] | str | None:
    """Convert the answer to positions of the displayed options."""
    return sorted(order.index(option) for option in answer) if isinstance(answer, tuple) else answer


def _radiograph_to_json(sheet: ReadingSheet, radiograph: Radiograph, *, index: int) -> dict[str, Any]:
    view = VIEW_LABELS[radiograph.view] if sheet.arm.clinical_info_shown else f"image {index + 1}"
    data: dict[str, Any] = {"id": radiograph.id, "view": view, "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return data
    boxes = tuple(
        labelled_box for labelled_box in _own_boxes(sheet) if labelled_box.radiograph == radiograph.id
    )
    url = radiograph_url(sheet.case.exam_row_id, radiograph.id)
    surface = create_surface(rows=radiograph.rows, columns=radiograph.columns)
    return data | {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "previewUrl": url,
        "pixelsUrl": pixels_url(sheet.case.exam_row_id, radiograph.id),
        "metadataUrl": metadata_url(sheet.case.exam_row_id, radiograph.id),
        "boxesMayDiffer": bool(boxes),
        "boxes": boxes_to_json(boxes),
        "originalBoxes": [],
        "originalCanvasObjects": [],
        "canvas": canvas_to_json(
            surface=surface, url=url, boxes=boxes, machine=(), locked=not sheet.case.asks_box
        ),
    }


def _own_boxes(sheet: ReadingSheet) -> tuple[LabelledBox, ...]:
    """Return the reader's own boxes as last saved, never those of another person."""
    draft_boxes = sheet.draft.get("boxes")
    if draft_boxes is not None:
        return boxes_from_plain(draft_boxes)
    return sheet.reading.boxes if sheet.reading else ()


def _feedback_to_json(sheet: ReadingSheet, feedback: TrainingResult) -> dict[str, Any]:
    question = feedback.question
    correct_answers = [question.answer, *question.also_right]
    return {
        "right": feedback.correct,
        "answer": " or ".join(_format_answer(answer, sheet=sheet) for answer in correct_answers),
        "correctAnswers": [
            _to_displayed_answer(answer, order=sheet.slot.option_order) for answer in correct_answers
        ],
        "explanation": question.explanation,
    }


def _format_answer(answer: Answer, *, sheet: ReadingSheet) -> str:
    displayed_answer = _to_displayed_answer(answer, order=sheet.slot.option_order)
    if not isinstance(displayed_answer, list):
        return str(displayed_answer)
    return "; ".join(f"{option_letter(position)}. {sheet.options[position]}" for position in displayed_answer)
