"""Converts a review sheet to plain JSON for the form, without adding information."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from domain.batches import BatchState, FormScope
from domain.boxes import LabelledBox
from domain.exams import Radiograph, format_age
from domain.questions import Question, format_answer
from domain.ratings import RATING_IDS, RATING_VALUES, RATINGS
from domain.verdicts import FLAGS, ErrorKind, Opinion
from domain.vocabulary import CONFIDENCE_LABELS, Choice, Difficulty, Task
from records.questions import QUESTION_FIELDS
from records.values import boxes_from_plain, to_plain
from records.verdicts import opinion_to_plain
from review.id_mask import IdMask
from review.rules import list_required_ratings
from review.sheet import BatchListItem, ReviewSheet
from web.drawing.canvas import canvas_to_json
from web.drawing.plain_editor import MAX_SIDE, boxes_to_objects, create_surface
from web.drawing.radiograph_viewer import boxes_to_json, metadata_url, pixels_url
from web.forms.labels import BOX_LABELS, SEX_LABELS, VIEW_LABELS
from web.review.schemas import CorrectionBody, draft_from_stored

#: Matches an underscore and the next letter, to convert field names to camel case.
_SNAKE_CASE = re.compile("_([a-z])")
_SCALES_BY_ID = {scale.id: scale for scale in RATINGS}


def review_sheet_to_json(
    sheet: ReviewSheet,
    *,
    id_mask: IdMask,
    person: int,
    batches: list[BatchListItem],
    request_number: int,
) -> dict[str, Any]:
    """Return all data that the form needs for one question. A blind sheet contains no answer key.

    Args:
        id_mask: maps the question ids to the ids that are sent to the browser.
        person: the id of the reviewer; the form sends it with each save.
        request_number: the number of the form's request that the data answer; 0 for a new page.
    """
    settings, question = sheet.batch.settings, sheet.question
    last_verdict = sheet.last_verdict
    return {
        "requestNumber": request_number,
        "person": person,
        "batch": sheet.batch.id,
        "batchName": sheet.batch.name,
        "batches": [
            {"id": own_batch.batch.id, "name": own_batch.batch.name, "left": own_batch.progress.left}
            for own_batch in batches
        ],
        "question": id_mask.mask(sheet.question_row_id),
        "isOpen": sheet.batch.state is BatchState.OPEN and sheet.feedback is None,
        "blind": sheet.blind,
        "guideline": bool(settings.guideline.strip()),
        "progress": {
            "done": sheet.progress.done,
            "skipped": sheet.progress.skipped,
            "left": sheet.progress.left,
            "total": sheet.progress.total,
            "position": sheet.progress.position,
        },
        "previous": sheet.previous and id_mask.mask(sheet.previous),
        "next": sheet.next and id_mask.mask(sheet.next),
        "recent": [
            {
                "question": id_mask.mask(verdict.question_row_id),
                "decision": str(verdict.decision),
                "at": verdict.given_at.isoformat(),
            }
            for verdict in sheet.recent
        ],
        "skipReason": sheet.skipped,
        "patient": _patient_to_json(sheet),
        "radiographs": _radiographs_to_json(sheet),
        "prefetch": [radiograph_url(exam, key) for exam, key in sheet.upcoming_images],
        "upcoming": [
            {"pixelsUrl": pixels_url(exam, key), "metadataUrl": metadata_url(exam, key)}
            for exam, key in sheet.upcoming_images
        ],
        "stem": sheet.stem_only.stem,
        "options": list(sheet.stem_only.options),
        "format": str(sheet.stem_only.format),
        "questionWithKey": None if question is None else _question_to_json(sheet, question, id_mask),
        "ownAnswer": _own_answer_to_json(sheet),
        "report": _report_to_json(sheet),
        "fixedAlignment": sheet.fixed_alignment,
        "last": None
        if last_verdict is None
        else {
            "revision": last_verdict.revision,
            "decision": str(last_verdict.decision),
            "at": last_verdict.given_at.isoformat(),
            "opinion": _opinion_to_json(last_verdict.opinion),
        },
        "revision": (last_verdict.revision if last_verdict else 0) + 1,
        "drafts": {
            part: {"revision": revision, "body": body if part == "boxes" else draft_from_stored(body)}
            for part, (revision, body) in sheet.drafts.items()
        },
        "viewingTimes": {
            "seconds": sheet.viewing_times.seconds,
            "seconds_looking": sheet.viewing_times.seconds_looking,
            "seconds_away": sheet.viewing_times.seconds_away,
        },
        "practice": sheet.is_practice,
        "feedback": _feedback_to_json(sheet),
        "comments": {"total": sheet.comments, "unread": sheet.unread_comments},
        "requested": _requested_fields(sheet),
        "oneKeyAccept": settings.one_key_accept,
        "choices": _form_choices_to_json(),
        "confidences": list(CONFIDENCE_LABELS),
        "labels": _offered_labels(question),
    }


def _feedback_to_json(sheet: ReviewSheet) -> dict[str, Any] | None:
    feedback = sheet.feedback
    if feedback is None:
        return None
    return {
        "correct": feedback.is_correct,
        "summary": feedback.summary,
        "details": [{"heading": heading, "text": text} for heading, text in feedback.details],
    }


def _offered_labels(question: Question | None) -> list[str]:
    """Return the selectable labels of boxes: first the labels of the question, which a blind sheet omits."""
    own_labels = [box.label for box in question.boxes if box.label] if question else []
    return list(dict.fromkeys([*own_labels, *BOX_LABELS]))


def radiograph_url(exam_row_id: int, radiograph_id: str) -> str:
    """Return the URL of the image. The route checks access again."""
    return f"/radiographs/{exam_row_id}/{quote(radiograph_id, safe='/')}?longest={MAX_SIDE}"


def _patient_to_json(sheet: ReviewSheet) -> dict[str, str | None]:
    exam = sheet.exam
    return {
        "age": exam.age and format_age(exam.age),
        "sex": None if exam.sex is None else SEX_LABELS[exam.sex],
        "indication": exam.indication,
    }


def _radiographs_to_json(sheet: ReviewSheet) -> list[dict[str, Any]]:
    machine_boxes = sheet.question.boxes if sheet.question else ()
    current_boxes, boxes_may_differ = _find_current_boxes(sheet)
    return [
        _radiograph_to_json(
            sheet,
            radiograph,
            machine_boxes=machine_boxes,
            current_boxes=current_boxes,
            boxes_may_differ=boxes_may_differ,
        )
        for radiograph in sheet.exam.radiographs
    ]


def _find_current_boxes(sheet: ReviewSheet) -> tuple[tuple[LabelledBox, ...], bool]:
    """Return the boxes that the form shows first, and whether they may differ from the machine's boxes.

    These are the boxes of the draft, otherwise of the last verdict, otherwise of the question.
    """
    if sheet.question is None:
        return (), False
    if "boxes" in sheet.drafts:
        return boxes_from_plain(sheet.drafts["boxes"][1]), True
    last_verdict = sheet.last_verdict
    if last_verdict is not None and last_verdict.opinion.correction.boxes is not None:
        return last_verdict.opinion.correction.boxes, True
    return sheet.question.boxes, False


def _radiograph_to_json(
    sheet: ReviewSheet,
    radiograph: Radiograph,
    *,
    machine_boxes: tuple[LabelledBox, ...],
    current_boxes: tuple[LabelledBox, ...],
    boxes_may_differ: bool,
) -> dict[str, Any]:
    data: dict[str, Any] = {"id": radiograph.id, "view": VIEW_LABELS[radiograph.view], "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return data
    surface = create_surface(rows=radiograph.rows, columns=radiograph.columns)
    machine_boxes_here = tuple(
        labelled_box for labelled_box in machine_boxes if labelled_box.radiograph == radiograph.id
    )
    current_boxes_here = tuple(
        labelled_box for labelled_box in current_boxes if labelled_box.radiograph == radiograph.id
    )
    url = radiograph_url(sheet.exam_row_id, radiograph.id)
    data |= {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "previewUrl": url,
        "pixelsUrl": pixels_url(sheet.exam_row_id, radiograph.id),
        "metadataUrl": metadata_url(sheet.exam_row_id, radiograph.id),
        "boxesMayDiffer": boxes_may_differ,
        "boxes": boxes_to_json(current_boxes_here),
        "originalBoxes": boxes_to_json(machine_boxes_here),
        "originalCanvasObjects": boxes_to_objects(
            machine_boxes_here, surface=surface, machine=machine_boxes_here
        ),
        "canvas": canvas_to_json(
            surface=surface,
            url=url,
            boxes=current_boxes_here,
            machine=machine_boxes_here,
            locked=sheet.blind
            or not _requested_fields(sheet)["boxes"]
            or sheet.batch.state is not BatchState.OPEN,
        ),
    }
    return data


def _displayed_id(sheet: ReviewSheet, id_mask: IdMask) -> str:
    """Return the id of the question for display.

    If the batch has hidden questions, this is the masked id: a repeated id would reveal a hidden repeat. For
    a practice question, it is the row id, because the question's own id would reveal its source.
    """
    if sheet.is_practice:
        return str(sheet.question_row_id)
    return sheet.stem_only.id if id_mask.secret is None else str(id_mask.mask(sheet.question_row_id))


def _question_to_json(sheet: ReviewSheet, question: Question, id_mask: IdMask) -> dict[str, Any]:
    """Return the question with the form's field names. Its boxes are sent with the radiographs instead.

    The stated difficulty is None before the reviewer's verdict, because the reviewer rates difficulty too.
    Other outputs of machines, such as results of checks, are not loaded for reviewers at all.
    """
    fields_by_json_name = {
        _SNAKE_CASE.sub(lambda match: match[1].upper(), name): name for name in QUESTION_FIELDS
    }
    return {
        **{
            json_name: to_plain(getattr(question, name))
            for json_name, name in fields_by_json_name.items()
            if name != "boxes"
        },
        "difficulty": to_plain(question.difficulty) if sheet.last_verdict else None,
        "id": _displayed_id(sheet, id_mask),
        "alsoRight": [format_answer(answer, question.options) for answer in question.also_right],
    }


def _own_answer_to_json(sheet: ReviewSheet) -> dict[str, Any] | None:
    own_answer = sheet.own_answer
    if own_answer is None:
        return None
    text = (
        "cannot determine"
        if own_answer.answer is None
        else format_answer(own_answer.answer, sheet.stem_only.options)
    )
    return {"text": text, "confidence": own_answer.confidence, "at": own_answer.committed_at.isoformat()}


def _report_to_json(sheet: ReviewSheet) -> dict[str, str | None] | None:
    """Return the report, with text None until it is opened; None if the batch does not show reports."""
    settings = sheet.batch.settings
    if not settings.show_report or settings.parts is FormScope.KEY or sheet.blind:
        return None
    return {"text": sheet.report if sheet.report_open else None}


def _opinion_to_json(opinion: Opinion) -> dict[str, Any]:
    """Return the opinion in the form's format: ratings are a separate object, and boxes are omitted."""
    data = opinion_to_plain(opinion)
    data["ratings"] = {name: data.pop(name) for name in RATING_IDS}
    data["correction"] = {
        name: value for name, value in data["correction"].items() if name in CorrectionBody.__struct_fields__
    }
    return data


def _form_choices_to_json() -> dict[str, Any]:
    """Return the choices of the form: ids, labels, and the values of a rating."""
    return {
        "values": list(RATING_VALUES),
        "flags": [{"id": flag.id, "label": flag.label, "required": flag.required} for flag in FLAGS],
        "errors": _choices_to_json(ErrorKind),
        "tasks": _choices_to_json(Task),
        "tiers": _choices_to_json(Difficulty),
    }


def _choices_to_json(kind: type[Choice]) -> list[dict[str, str]]:
    return [{"id": choice.value, "label": choice.label} for choice in kind]


def _requested_fields(sheet: ReviewSheet) -> dict[str, Any]:
    """Return which parts of the form the batch requests. Other parts are not shown."""
    scope = sheet.batch.settings.parts
    has_explanation = sheet.question is None or bool(sheet.question.explanation.strip())
    return {
        "ratings": [
            {
                "name": name,
                "label": _SCALES_BY_ID[name].label,
                "anchors": list(sheet.batch.settings.anchors[name]),
                "ratedBeforeReport": _SCALES_BY_ID[name].rates_image,
            }
            for name in list_required_ratings(scope, has_explanation=has_explanation)
        ],
        "flags": scope is FormScope.ALL,
        "texts": scope is FormScope.ALL,
        "answerKey": scope is not FormScope.IMAGE_ALIGNMENT,
        "boxes": scope is not FormScope.KEY,
    }
