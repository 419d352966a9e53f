"""Checks native records beyond their types, and converts them to the domain's questions and exams."""

from __future__ import annotations

from domain.boxes import Box, BoxFit, BoxGrid, from_grid
from domain.errors import InvalidValue
from domain.exams import Exam, Radiograph
from domain.questions import Question
from domain.vocabulary import Sex, View
from records.questions import (
    LONGEST_ID,
    MOST_OPTIONS,
    ExamRecord,
    QuestionRecord,
    question_from_record,
)

#: How far a box may exceed the image or grid, in pixels, because of rounding or counting from 1.
TOLERANCE = 1.0

_SEXES = {
    "F": Sex.FEMALE,
    "FEMALE": Sex.FEMALE,
    "M": Sex.MALE,
    "MALE": Sex.MALE,
    "O": Sex.OTHER,
    "OTHER": Sex.OTHER,
}
_NO_SEX = {"", "U", "UNKNOWN"}


def question_of(record: QuestionRecord) -> Question:
    """Convert a record to a question; boxes stay on the record's own grid.

    Raises:
        InvalidValue: the record is not valid; names field and reason.
    """
    if len(record.id) > LONGEST_ID:
        raise InvalidValue("id", f"has {len(record.id)} characters, at most {LONGEST_ID} are taken")
    if record.id != record.id.strip():
        raise InvalidValue("id", "begins or ends with a blank")
    options = len(record.options or ())
    if options > MOST_OPTIONS:
        raise InvalidValue("options", f"there are {options}; at most {MOST_OPTIONS} have a letter")
    return question_from_record(record)


def exam_of(record: ExamRecord, report: str | None) -> Exam:
    """Convert a record to an exam.

    Raises:
        InvalidValue: the record is not valid; names field and reason.
    """
    if not record.id.strip() or len(record.id) > LONGEST_ID:
        raise InvalidValue("exam.id", f"must have 1 to {LONGEST_ID} characters")
    return Exam(
        id=record.id,
        patient=record.patient or None,
        indication=record.indication or None,
        age=record.age or None,
        sex=_sex(record.sex or ""),
        report=report,
        radiographs=tuple(
            Radiograph(id=each.id, file=each.file, view=_view(each.view or "")) for each in record.radiographs
        ),
    )


def grid_of(record: QuestionRecord) -> BoxGrid | None:
    """The grid of the record's boxes; None for pixels of the image.

    Raises:
        InvalidValue: a grid without the fit of the image, a fit without a grid, or an impossible grid.
    """
    if not record.box_grid and not record.box_fit:
        return None
    if not record.box_grid or not record.box_fit:
        raise InvalidValue("box_grid", "box_grid and box_fit come together")
    width, height = record.box_grid
    return BoxGrid(width=width, height=height, fit=BoxFit(record.box_fit))


def placed(box: Box, *, grid: BoxGrid | None, rows: int, columns: int) -> Box:
    """Convert a box to pixels of the stored matrix, clipped to it.

    Args:
        box: in pixels of the grid, or of the image.
        grid: None for pixels of the image.
        rows: of the stored matrix.
        columns: of the stored matrix.

    Raises:
        InvalidValue: the box exceeds the image by more than the tolerance, or is outside it.
    """
    height, width = (grid.height, grid.width) if grid else (rows, columns)
    off = max(-box.x_min, -box.y_min, box.x_max - width, box.y_max - height)
    if off > TOLERANCE:
        what = (
            f"the {width} x {height} grid"
            if grid
            else f"the image of {columns} x {rows} pixels (columns x rows)"
        )
        raise InvalidValue("boxes", f"{_short(box)} lies off {what}")
    try:
        return (
            from_grid(box, grid=grid, rows=rows, columns=columns)
            if grid
            else box.clipped(rows=rows, columns=columns)
        )
    except InvalidValue:
        what = "in the padding of its grid" if grid else "beside the image"
        raise InvalidValue("boxes", f"{_short(box)} lies {what}") from None


def _short(box: Box) -> str:
    return "[" + ", ".join(f"{value:g}" for value in box.as_tuple()) + "]"


def _sex(text: str) -> Sex | None:
    told = text.strip().upper()
    if told in _NO_SEX:
        return None
    if told not in _SEXES:
        raise InvalidValue("exam.sex", f"{text!r} is none of F, M, O")
    return _SEXES[told]


def _view(text: str) -> View:
    told = text.strip().upper()
    if not told:
        return View.UNKNOWN
    if told not in View.__members__:
        raise InvalidValue("exam.radiographs.view", f"{text!r} is none of {', '.join(View)}")
    return View(told)
