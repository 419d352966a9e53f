"""A reading sheet as plain JSON for the form. It contains nothing that is not in the sheet."""

from __future__ import annotations

from typing import Any

from domain.boxes import LabelledBox
from domain.exams import Radiograph
from domain.questions import Answer, letter
from reader_study.sheet import ReadingSheet, TrainingResult
from records.values import boxes_from_plain
from web.drawing.canvas import canvas_data
from web.drawing.plain_editor import surface_for
from web.drawing.radiograph_viewer import facts_address, pixels_address, told
from web.forms.labels import SEX, VIEWS
from web.review.sheet import age_in_words, radiograph_address


def reading_data(sheet: ReadingSheet, *, person: int) -> dict[str, Any]:
    """All data that the form needs for one case; ``person`` is the number of the reader."""
    reading, place = sheet.reading, sheet.place
    answered = reading is not None
    return {
        "person": person,
        "study": sheet.study.id,
        "studyName": sheet.study.name,
        "position": sheet.slot.position,
        "training": sheet.training,
        "place": {
            "done": place.done,
            "total": place.total,
            "trainingDone": place.training_done,
            "training": place.training,
        },
        # The viewer reads these: whether boxes may be drawn, and which question it shows.
        "batch": sheet.study.id,
        "question": sheet.slot.position,
        "blind": False,
        "open": sheet.feedback is None,
        "asks": {"boxes": sheet.case.asks_box and sheet.feedback is None},
        "told": sheet.arm.told,
        "patient": {
            "age": sheet.exam.age and age_in_words(sheet.exam.age),
            "sex": None if sheet.exam.sex is None else SEX[sheet.exam.sex],
            "indication": sheet.exam.indication,
        },
        "radiographs": [
            _radiograph(sheet, each, place=index) for index, each in enumerate(sheet.exam.radiographs)
        ],
        "prefetch": [radiograph_address(exam, key) for exam, key in sheet.upcoming_images],
        "upcoming": [
            {"pixels": pixels_address(exam, key), "facts": facts_address(exam, key)}
            for exam, key in sheet.upcoming_images
        ],
        "stem": sheet.case.stem,
        "options": list(sheet.options),
        "format": sheet.case.format.value,
        "askConfidence": sheet.protocol.ask_confidence,
        "idleSeconds": sheet.protocol.idle_seconds,
        "goingBack": sheet.protocol.going_back,
        "previous": sheet.previous,
        "next": sheet.next,
        "revision": (reading.revision if reading else 0) + 1,
        "draftRevision": sheet.draft_revision,
        "entry": _entry(sheet),
        "answeredAt": reading.read_at.isoformat() if reading else None,
        "feedback": _feedback(sheet, sheet.feedback) if sheet.feedback and answered else None,
        "times": dict(zip(("seconds", "seconds_looking", "seconds_away"), sheet.times, strict=True)),
    }


def _entry(sheet: ReadingSheet) -> dict[str, Any] | None:
    """The current input, or else the submitted answer. Boxes are sent with the radiographs."""
    if sheet.draft:
        return {name: value for name, value in sheet.draft.items() if name != "boxes"}
    if sheet.reading is None:
        return None
    return {
        "answer": _shown(sheet.reading.answer, order=sheet.slot.option_order),
        "cannot": sheet.reading.cannot_determine,
        "confidence": sheet.reading.confidence,
        "faulty": sheet.reading.faulty,
    }


def _shown(answer: Answer | None, *, order: tuple[int, ...]) -> list[int] | str | None:
    """The answer as positions of the displayed options."""
    return sorted(order.index(option) for option in answer) if isinstance(answer, tuple) else answer


def _radiograph(sheet: ReadingSheet, radiograph: Radiograph, *, place: int) -> dict[str, Any]:
    view = VIEWS[radiograph.view] if sheet.arm.told else f"image {place + 1}"
    plain: dict[str, Any] = {"id": radiograph.id, "view": view, "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return plain
    boxes = tuple(each for each in _boxes(sheet) if each.radiograph == radiograph.id)
    url = radiograph_address(sheet.case.exam_number, radiograph.id)
    surface = surface_for(rows=radiograph.rows, columns=radiograph.columns)
    return plain | {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "url": url,
        "pixels": pixels_address(sheet.case.exam_number, radiograph.id),
        "facts": facts_address(sheet.case.exam_number, radiograph.id),
        "touched": bool(boxes),
        "boxes": told(boxes),
        "machineBoxes": [],
        "machine": [],
        "canvas": canvas_data(
            surface=surface, url=url, boxes=boxes, machine=(), locked=not sheet.case.asks_box
        ),
    }


def _boxes(sheet: ReadingSheet) -> tuple[LabelledBox, ...]:
    """The reader's own boxes as last saved. No other person's boxes are ever included."""
    kept = sheet.draft.get("boxes")
    if kept is not None:
        return boxes_from_plain(kept)
    return sheet.reading.boxes if sheet.reading else ()


def _feedback(sheet: ReadingSheet, feedback: TrainingResult) -> dict[str, Any]:
    question = feedback.question
    answers = [question.answer, *question.also_right]
    return {
        "right": feedback.right,
        "answer": " or ".join(_words(each, sheet=sheet) for each in answers),
        "places": [_shown(each, order=sheet.slot.option_order) for each in answers],
        "explanation": question.explanation,
    }


def _words(answer: Answer, *, sheet: ReadingSheet) -> str:
    places = _shown(answer, order=sheet.slot.option_order)
    if not isinstance(places, list):
        return str(places)
    return "; ".join(f"{letter(place)}. {sheet.options[place]}" for place in places)
