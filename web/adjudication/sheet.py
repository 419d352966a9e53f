"""A dispute as plain JSON for the form. It contains nothing that is not in the dispute sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.boxes import LabelledBox
from domain.exams import Radiograph
from domain.questions import answer_text, letter
from domain.ratings import RATINGS
from domain.verdicts import ErrorKind, Verdict
from domain.vocabulary import Difficulty, Task
from review.disputes import FieldDifference
from review.service import Disputed, DisputeSheet
from web.drawing.canvas import canvas_data
from web.drawing.plain_editor import surface_for
from web.drawing.radiograph_viewer import facts_address, pixels_address, told
from web.forms.labels import BOX_LABELS, SEX, VIEWS
from web.review.sheet import age_in_words, radiograph_address


def dispute_data(sheet: DisputeSheet, *, person: int, listed: Sequence[Disputed]) -> dict[str, Any]:
    """All data that the form needs for one dispute.

    ``listed`` are the disputes of the batch; the form links to the previous and the next one.
    """
    question, settled = sheet.question, sheet.settled
    numbers = [each.question_number for each in listed]
    here = numbers.index(sheet.question_number) if sheet.question_number in numbers else 0
    return {
        "person": person,
        "batch": sheet.batch.id,
        "batchName": sheet.batch.name,
        "question": sheet.question_number,
        "questionId": question.id,
        "place": {"settled": sum(each.settled is not None for each in listed), "total": len(listed)},
        "previous": numbers[here - 1] if here > 0 else None,
        "next": numbers[here + 1] if here + 1 < len(numbers) else None,
        "revision": sheet.revision,
        "about": sorted(each.value for each in sheet.about),
        # The viewer reads these to decide whether boxes may be drawn.
        "blind": False,
        "open": True,
        "asks": {"boxes": False},
        "patient": {
            "age": sheet.exam.age and age_in_words(sheet.exam.age),
            "sex": sheet.exam.sex and SEX[sheet.exam.sex],
            "indication": sheet.exam.indication,
        },
        "radiographs": [_radiograph(sheet, each) for each in sheet.exam.radiographs],
        "prefetch": [],
        "upcoming": [],
        "stem": question.stem,
        "options": list(question.options),
        "format": str(question.format),
        "key": answer_text(question.answer, question.options),
        "explanation": question.explanation,
        "reviewers": [
            _reviewer(called, verdict) for called, verdict in zip(sheet.called, sheet.verdicts, strict=True)
        ],
        "fields": [_field(each) for each in sheet.differences],
        "settled": None
        if settled is None
        else {
            "decision": settled.decision.value,
            "reason": settled.reason,
            "at": settled.given_at.isoformat(),
            "revision": settled.revision,
        },
        "words": {
            "tasks": [str(each) for each in Task],
            "difficulties": [str(each) for each in Difficulty],
            "labels": list(BOX_LABELS),
        },
    }


def _reviewer(called: str, verdict: Verdict) -> dict[str, Any]:
    opinion = verdict.opinion
    return {
        "called": called,
        "decision": verdict.decision.value,
        "errors": [kind.label for kind in ErrorKind if kind in opinion.errors],
        "ratings": {
            each.name: getattr(opinion.ratings, each.id)
            for each in RATINGS
            if getattr(opinion.ratings, each.id) is not None
        },
        "texts": [text for text in (opinion.comment, opinion.clinical_reasoning, verdict.why) if text],
    }


def _field(difference: FieldDifference) -> dict[str, Any]:
    return {
        "name": difference.field,
        "machine": _words(difference.field, difference.machine),
        "values": [None if value is None else _words(difference.field, value) for value in difference.values],
    }


def _words(field: str, value: Any) -> str:  # noqa: ANN401 - a field of any type
    """Format a value for display."""
    if field == "options":
        return "\n".join(f"{letter(place)}. {text}" for place, text in enumerate(value))
    if field == "answer":
        if isinstance(value, str):
            return value
        return ", ".join(letter(place) for place in value)
    if field == "also_right":
        return " or ".join(", ".join(letter(place) for place in each) for each in value) or "none"
    if field == "boxes":
        return "\n".join(_box(each) for each in value) or "no box"
    return str(value) if value not in (None, "") else "none"


def _box(each: LabelledBox) -> str:
    box = each.box
    size = f"{box.width:.0f} × {box.height:.0f} px"
    return f"{each.label or 'no label'}: {size} at {box.x_min:.0f}, {box.y_min:.0f}"


def _radiograph(sheet: DisputeSheet, radiograph: Radiograph) -> dict[str, Any]:
    """One radiograph with the machine's boxes and each reviewer's, labelled with the reviewer's letter.

    ``sides`` has the boxes of the machine and of each reviewer separately; a correction can start from them.
    """
    plain: dict[str, Any] = {"id": radiograph.id, "view": VIEWS[radiograph.view], "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return plain
    surface = surface_for(rows=radiograph.rows, columns=radiograph.columns)
    machine = _here(sheet.question.boxes, radiograph)
    sides = _sides(sheet)
    overlaid = [
        replace(each, label=f"{letter(place)}: {each.label}".rstrip(": "))
        for place, boxes in enumerate(sides)
        for each in _here(boxes, radiograph)
        if each not in machine
    ]
    shown = (*machine, *overlaid)
    url = radiograph_address(sheet.exam_number, radiograph.id)
    return plain | {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "url": url,
        "pixels": pixels_address(sheet.exam_number, radiograph.id),
        "facts": facts_address(sheet.exam_number, radiograph.id),
        "touched": False,
        "boxes": told(shown),
        "machineBoxes": told(machine),
        "overlay": told(shown),
        "sides": {
            "machine": told(machine),
            **{str(place): told(_here(boxes, radiograph)) for place, boxes in enumerate(sides)},
        },
        "canvas": canvas_data(surface=surface, url=url, boxes=shown, machine=machine, locked=True),
    }


def _sides(sheet: DisputeSheet) -> list[tuple[LabelledBox, ...]]:
    """The boxes of each reviewer: the machine's if they corrected none, an empty tuple if they rejected."""
    found = []
    for verdict in sheet.verdicts:
        own = verdict.opinion.correction.boxes
        rejected = verdict.decision.value == "reject"
        found.append(() if rejected else sheet.question.boxes if own is None else own)
    return found


def _here(boxes: Sequence[LabelledBox], radiograph: Radiograph) -> tuple[LabelledBox, ...]:
    return tuple(each for each in boxes if each.radiograph == radiograph.id)
