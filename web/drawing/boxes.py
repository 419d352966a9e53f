"""Converts what the viewer or the canvas sends into the boxes of a draft or correction.

All boxes are in pixels of the stored matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.exams import Exam
from web.drawing import radiograph_viewer
from web.drawing.plain_editor import kept, read, surface_for

#: The drawn objects by radiograph id: objects of the viewer or of the drawable canvas.
Drawings = Mapping[str, Sequence[Mapping[str, Any]]]

MOST_BOXES = 200  # on one radiograph
LONGEST_LABEL = 200  # characters


def boxes_drawn(
    drawings: Drawings, *, exam: Exam, machine: tuple[LabelledBox, ...]
) -> tuple[LabelledBox, ...]:
    """All boxes of the exam: those drawn, and the machine's on radiographs that had no canvas.

    Raises:
        InvalidValue: a radiograph is not of the exam, a box has no position, there are too many boxes, or a
            label is too long.
    """
    for radiograph_id in drawings:
        exam.radiograph(radiograph_id)
    result: list[LabelledBox] = []
    for radiograph in exam.radiographs:
        here = tuple(each for each in machine if each.radiograph == radiograph.id)
        objects = drawings.get(radiograph.id)
        if objects is None or radiograph.rows is None or radiograph.columns is None:
            result.extend(here)
            continue
        if len(objects) > MOST_BOXES:
            raise InvalidValue("boxes", f"at most {MOST_BOXES} on one radiograph, not {len(objects)}")
        if radiograph_viewer.is_viewers(objects):
            result.extend(
                radiograph_viewer.read(
                    objects, radiograph=radiograph.id, rows=radiograph.rows, columns=radiograph.columns
                )
            )
            continue
        surface = surface_for(rows=radiograph.rows, columns=radiograph.columns)
        boxes = read(objects, radiograph=radiograph.id, surface=surface)
        result.extend(kept(boxes, surface=surface, machine=here))
    for each in result:
        if len(each.label) > LONGEST_LABEL and each not in machine:
            raise InvalidValue("boxes", f"a label has at most {LONGEST_LABEL} characters")
    return tuple(result)


def corrected_boxes(
    drawings: Drawings | None, *, exam: Exam, machine: tuple[LabelledBox, ...]
) -> tuple[LabelledBox, ...] | None:
    """The boxes for a correction; None if nothing was drawn or the result equals the machine's boxes."""
    if drawings is None:
        return None
    boxes = boxes_drawn(drawings, exam=exam, machine=machine)
    return None if sorted(boxes, key=_order) == sorted(machine, key=_order) else boxes


def _order(labelled: LabelledBox) -> tuple[object, ...]:
    return (labelled.radiograph, labelled.label, labelled.box.as_tuple())
