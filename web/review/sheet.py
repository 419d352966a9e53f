"""A review sheet as plain JSON for the form. It contains nothing that is not in the sheet."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from domain.batches import BatchState, Parts
from domain.boxes import LabelledBox
from domain.exams import Radiograph
from domain.questions import Question, answer_text
from domain.ratings import RATING_NAMES, RATINGS, VALUES
from domain.verdicts import FLAGS, ErrorKind, Opinion
from domain.vocabulary import Choice, Difficulty, Task
from records.questions import QUESTION_FIELDS
from records.values import boxes_from_plain, to_plain
from records.verdicts import opinion_to_plain
from review.rules import asked_ratings
from review.sheet import BatchForReviewer, ReviewSheet
from review.veil import Veil
from web.drawing.canvas import canvas_data
from web.drawing.plain_editor import LONGEST, drawn, surface_for
from web.drawing.radiograph_viewer import facts_address, pixels_address, told
from web.forms.labels import BOX_LABELS, SEX, VIEWS
from web.review.schemas import CorrectionForm

#: An underscore and the letter after it, for the conversion of field names to camel case.
_CAMEL = re.compile("_([a-z])")
_RATINGS = {each.id: each for each in RATINGS}
_AGE = re.compile(r"(\d{1,3})([YMWD]?)")
_AGE_UNITS = {"Y": "years", "M": "months", "W": "weeks", "D": "days"}


def sheet_data(
    sheet: ReviewSheet,
    *,
    veil: Veil,
    person: int,
    batches: list[BatchForReviewer],
    any_judged: bool,
    turn: int,
) -> dict[str, Any]:
    """All data that the form needs for one question. While the sheet is blind, it contains no key.

    Args:
        veil: maps the batch's question numbers to the numbers sent to the browser.
        person: number of the reviewer; the form sends it with everything that it saves.
        turn: number of the form's request that this answers; 0 for a new page.
    """
    settings, question = sheet.batch.settings, sheet.question
    last = sheet.last_verdict
    return {
        "turn": turn,
        "person": person,
        "batch": sheet.batch.id,
        "batchName": sheet.batch.name,
        "batches": [
            {"id": each.batch.id, "name": each.batch.name, "left": each.place.left} for each in batches
        ],
        "question": veil.shown(sheet.question_number),
        "open": sheet.batch.state is BatchState.OPEN,
        "blind": sheet.blind,
        "guideline": bool(settings.guideline.strip()),
        "place": {
            "done": sheet.place.done,
            "skipped": sheet.place.skipped,
            "left": sheet.place.left,
            "total": sheet.place.total,
            "position": sheet.place.position,
        },
        "previous": sheet.previous and veil.shown(sheet.previous),
        "next": sheet.next and veil.shown(sheet.next),
        "anyJudged": any_judged,
        "skipped": sheet.skipped,
        "patient": _patient(sheet),
        "radiographs": _radiographs(sheet),
        "prefetch": [radiograph_address(exam, key) for exam, key in sheet.upcoming_images],
        "upcoming": [
            {"pixels": pixels_address(exam, key), "facts": facts_address(exam, key)}
            for exam, key in sheet.upcoming_images
        ],
        "stem": sheet.stem_only.stem,
        "options": list(sheet.stem_only.options),
        "format": str(sheet.stem_only.format),
        "full": _full(question, called=_called(sheet, veil)) if question else None,
        "ownAnswer": _own_answer(sheet),
        "report": _report(sheet),
        "fixedAlignment": sheet.fixed_alignment,
        "last": None
        if last is None
        else {
            "revision": last.revision,
            "decision": str(last.decision),
            "at": last.given_at.isoformat(),
            "opinion": _opinion(last.opinion),
        },
        "revision": (last.revision if last else 0) + 1,
        "drafts": {
            part: {"revision": revision, "body": body} for part, (revision, body) in sheet.drafts.items()
        },
        "look": {
            "seconds": sheet.look.seconds,
            "seconds_looking": sheet.look.seconds_looking,
            "seconds_away": sheet.look.seconds_away,
        },
        "asks": _asks(sheet),
        "scales": _scales(),
        "labels": _labels(question),
    }


def _labels(question: Question | None) -> list[str]:
    """The labels on offer for boxes, the question's own first; a blind sheet leaves those out."""
    own = [each.label for each in question.boxes if each.label] if question else []
    return list(dict.fromkeys([*own, *BOX_LABELS]))


def radiograph_address(exam_number: int, radiograph_id: str) -> str:
    """The URL of the image; the route checks access again."""
    return f"/radiographs/{exam_number}/{quote(radiograph_id, safe='/')}?longest={LONGEST}"


def age_in_words(age: str) -> str:
    """The age for display: "061Y" (DICOM's age string, PS3.5 6.2) or "61" becomes "61 years"."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        return age
    return f"{int(found[1])} {_AGE_UNITS[found[2] or 'Y']}"


def _patient(sheet: ReviewSheet) -> dict[str, str | None]:
    exam = sheet.exam
    return {
        "age": exam.age and age_in_words(exam.age),
        "sex": None if exam.sex is None else SEX[exam.sex],
        "indication": exam.indication,
    }


def _radiographs(sheet: ReviewSheet) -> list[dict[str, Any]]:
    machine = sheet.question.boxes if sheet.question else ()
    shown, touched = _boxes_now(sheet)
    return [
        _radiograph(sheet, each, machine=machine, shown=shown, touched=touched)
        for each in sheet.exam.radiographs
    ]


def _boxes_now(sheet: ReviewSheet) -> tuple[tuple[LabelledBox, ...], bool]:
    """The initial boxes (draft, last verdict or question), and whether they may differ from the machine's."""
    if sheet.question is None:
        return (), False
    if "boxes" in sheet.drafts:
        return boxes_from_plain(sheet.drafts["boxes"][1]), True
    last = sheet.last_verdict
    if last is not None and last.opinion.correction.boxes is not None:
        return last.opinion.correction.boxes, True
    return sheet.question.boxes, False


def _radiograph(
    sheet: ReviewSheet,
    radiograph: Radiograph,
    *,
    machine: tuple[LabelledBox, ...],
    shown: tuple[LabelledBox, ...],
    touched: bool,
) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": radiograph.id, "view": VIEWS[radiograph.view], "canvas": None}
    if radiograph.rows is None or radiograph.columns is None:
        return plain
    surface = surface_for(rows=radiograph.rows, columns=radiograph.columns)
    machine_here = tuple(each for each in machine if each.radiograph == radiograph.id)
    shown_here = tuple(each for each in shown if each.radiograph == radiograph.id)
    url = radiograph_address(sheet.exam_number, radiograph.id)
    plain |= {
        "rows": radiograph.rows,
        "columns": radiograph.columns,
        "url": url,
        "pixels": pixels_address(sheet.exam_number, radiograph.id),
        "facts": facts_address(sheet.exam_number, radiograph.id),
        "touched": touched,
        "boxes": told(shown_here),
        "machineBoxes": told(machine_here),
        "machine": drawn(machine_here, surface=surface, machine=machine_here),
        "canvas": canvas_data(
            surface=surface,
            url=url,
            boxes=shown_here,
            machine=machine_here,
            locked=sheet.blind or not _asks(sheet)["boxes"] or sheet.batch.state is not BatchState.OPEN,
        ),
    }
    return plain


def _called(sheet: ReviewSheet, veil: Veil) -> str:
    """The id of the question for display.

    If the batch has hidden questions, it is the masked number: a repeated id would reveal a hidden repeat.
    """
    return sheet.stem_only.id if veil.secret is None else str(veil.shown(sheet.question_number))


def _full(question: Question, *, called: str) -> dict[str, Any]:
    """The question by the form's field names, without its boxes, which are sent with the radiographs."""
    fields = {_CAMEL.sub(lambda found: found[1].upper(), name): name for name in QUESTION_FIELDS}
    return {
        **{shown: to_plain(getattr(question, name)) for shown, name in fields.items() if name != "boxes"},
        "id": called,
        "alsoRight": [answer_text(answer, question.options) for answer in question.also_right],
    }


def _own_answer(sheet: ReviewSheet) -> dict[str, Any] | None:
    own = sheet.own_answer
    if own is None:
        return None
    text = "cannot determine" if own.answer is None else answer_text(own.answer, sheet.stem_only.options)
    return {"text": text, "confidence": own.confidence, "at": own.committed_at.isoformat()}


def _report(sheet: ReviewSheet) -> dict[str, str | None] | None:
    """The report; None if the batch shows none. Its text is None until the report is opened."""
    settings = sheet.batch.settings
    if not settings.show_report or settings.parts is Parts.KEY or sheet.blind:
        return None
    return {"text": sheet.report if sheet.report_open else None}


def _opinion(opinion: Opinion) -> dict[str, Any]:
    """The opinion in the form's format, ratings in a separate object; boxes are sent with the radiographs."""
    plain = opinion_to_plain(opinion)
    plain["ratings"] = {name: plain.pop(name) for name in RATING_NAMES}
    plain["correction"] = {
        name: value for name, value in plain["correction"].items() if name in CorrectionForm.__struct_fields__
    }
    return plain


def _scales() -> dict[str, Any]:
    """The choices of the form as declared: ids, labels, and the values of each rating."""
    return {
        "values": list(VALUES),
        "flags": [{"id": each.id, "label": each.label, "required": each.required} for each in FLAGS],
        "errors": _choices(ErrorKind),
        "tasks": _choices(Task),
        "tiers": _choices(Difficulty),
    }


def _choices(kind: type[Choice]) -> list[dict[str, str]]:
    return [{"id": each.value, "label": each.label} for each in kind]


def _asks(sheet: ReviewSheet) -> dict[str, Any]:
    """Which parts of the form the batch requests; other parts are not shown."""
    parts = sheet.batch.settings.parts
    explained = sheet.question is None or bool(sheet.question.explanation.strip())
    return {
        "ratings": [
            {
                "name": name,
                "label": _RATINGS[name].label,
                "anchors": list(sheet.batch.settings.anchors[name]),
                "ofImage": _RATINGS[name].of_image,
            }
            for name in asked_ratings(parts, explained=explained)
        ],
        "flags": parts is Parts.ALL,
        "texts": parts is Parts.ALL,
        "key": parts is not Parts.IMAGE_ALIGNMENT,
        "boxes": parts is not Parts.KEY,
    }
