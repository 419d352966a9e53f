"""Checks native records beyond their types, and converts them to the domain's questions and exams."""

from __future__ import annotations

from collections.abc import Iterable

from domain.boxes import Box, BoxFit, BoxGrid, box_from_grid, measure_overhang
from domain.errors import InvalidValue
from domain.exams import Exam, Radiograph
from domain.questions import Question
from domain.vocabulary import Sex, View
from records.questions import (
    MAX_ID_LENGTH,
    MAX_OPTIONS,
    ExamRecord,
    QuestionRecord,
    question_from_record,
)

#: How far a box may exceed the image, in pixels of its grid, because of rounding or counting from 1.
TOLERANCE = 1.0

_SEXES = {
    "F": Sex.FEMALE,
    "FEMALE": Sex.FEMALE,
    "M": Sex.MALE,
    "MALE": Sex.MALE,
    "O": Sex.OTHER,
    "OTHER": Sex.OTHER,
}
_UNSTATED_SEX = {"", "U", "UNKNOWN"}


def record_to_question(record: QuestionRecord) -> Question:
    """Convert a record to a question. Boxes stay on the record's own grid.

    Raises:
        InvalidValue: the first invalid field, with the reason.
    """
    if len(record.id) > MAX_ID_LENGTH:
        raise InvalidValue("id", f"has {len(record.id)} characters; the maximum is {MAX_ID_LENGTH}")
    if record.id != record.id.strip():
        raise InvalidValue("id", "begins or ends with a space")
    option_count = len(record.options or ())
    if option_count > MAX_OPTIONS:
        raise InvalidValue("options", f"there are {option_count}; the maximum is {MAX_OPTIONS}")
    return question_from_record(record)


def record_to_exam(record: ExamRecord, report: str | None) -> Exam:
    """Convert a record to an exam.

    Raises:
        InvalidValue: the first invalid field, with the reason.
    """
    if not record.id.strip() or len(record.id) > MAX_ID_LENGTH:
        raise InvalidValue("exam.id", f"must have 1 to {MAX_ID_LENGTH} characters")
    return Exam(
        id=record.id,
        patient=record.patient or None,
        indication=record.indication or None,
        age=record.age or None,
        sex=_parse_sex(record.sex or ""),
        report=report,
        radiographs=tuple(
            Radiograph(id=radiograph.id, file=radiograph.file, view=_parse_view(radiograph.view or ""))
            for radiograph in record.radiographs
        ),
    )


def read_box_grid(record: QuestionRecord) -> BoxGrid | None:
    """Return the grid of the record's boxes; None if they are in pixels of the image.

    Raises:
        InvalidValue: only one of grid and fit is given, or the grid is not valid.
    """
    if not record.box_grid and not record.box_fit:
        return None
    if not record.box_grid or not record.box_fit:
        raise InvalidValue("box_grid", "give box_grid and box_fit together, or neither")
    width, height = record.box_grid
    return BoxGrid(width=width, height=height, fit=BoxFit(record.box_fit))


def map_to_image(box: Box, *, grid: BoxGrid | None, rows: int, columns: int) -> Box:
    """Convert a box to pixels of the stored matrix, clipped to it.

    Args:
        box: the box, in pixels of the grid if there is one, otherwise of the image.
        grid: the grid; None if the box is in pixels of the image.
        rows: the number of rows of the stored matrix.
        columns: the number of columns of the stored matrix.

    Raises:
        InvalidValue: the box exceeds the image by more than the tolerance, or is outside it.
    """
    overhang = measure_overhang(box, grid=grid, rows=rows, columns=columns)
    if overhang > TOLERANCE:
        size = f"the image of {columns} x {rows} pixels (columns x rows)"
        bounds = f"{size} on its {grid.width} x {grid.height} grid" if grid else size
        raise InvalidValue("boxes", f"{_format_box(box)} extends {overhang:.4g} pixels beyond {bounds}")
    try:
        return (
            box_from_grid(box, grid=grid, rows=rows, columns=columns)
            if grid
            else box.clip_to_matrix(rows=rows, columns=columns)
        )
    except InvalidValue:
        location = "in the padding of its grid" if grid else "outside the image"
        raise InvalidValue("boxes", f"{_format_box(box)} is {location}") from None


def check_on_grid(box: Box, *, grid: BoxGrid) -> None:
    """Check a box that stays on its grid, because there is no image.

    Args:
        box: the box, in pixels of the grid.
        grid: the grid of the box.

    Raises:
        InvalidValue: the box exceeds the grid by more than the tolerance.
    """
    overhang = measure_overhang(box, grid=None, rows=grid.height, columns=grid.width)
    if overhang > TOLERANCE:
        size = f"its {grid.width} x {grid.height} grid"
        raise InvalidValue("boxes", f"{_format_box(box)} extends {overhang:.4g} pixels beyond {size}")


def check_one_unit(are_pixels: Iterable[bool]) -> None:
    """Check that the boxes of a question are all in pixels of their images, or all on the grid of the file.

    Raises:
        InvalidValue: some of the radiographs have no image.
    """
    if len(set(are_pixels)) > 1:
        raise InvalidValue("boxes", "some are on a radiograph without an image; import all images")


def _format_box(box: Box) -> str:
    return "[" + ", ".join(f"{value:g}" for value in box.as_tuple()) + "]"


def _parse_sex(text: str) -> Sex | None:
    normalised = text.strip().upper()
    if normalised in _UNSTATED_SEX:
        return None
    if normalised not in _SEXES:
        raise InvalidValue("exam.sex", f"must be F, M or O, not {text!r}")
    return _SEXES[normalised]


def _parse_view(text: str) -> View:
    normalised = text.strip().upper()
    if not normalised:
        return View.UNKNOWN
    if normalised not in View.__members__:
        raise InvalidValue("exam.radiographs.view", f"must be one of {', '.join(View)}, not {text!r}")
    return View(normalised)
