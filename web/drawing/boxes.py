"""Converts the objects from the viewer or the canvas to the boxes of a draft or correction.

All boxes are in pixels of the stored matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.exams import Exam
from web.drawing import radiograph_viewer
from web.drawing.plain_editor import clean_boxes, create_surface, objects_to_boxes

#: The drawn objects by radiograph id: objects of the viewer or of the drawable canvas.
Drawings = Mapping[str, Sequence[Mapping[str, Any]]]

MAX_BOXES = 200  # on one radiograph
MAX_LABEL_LENGTH = 200  # characters


def parse_drawn_boxes(
    drawings: Drawings, *, exam: Exam, machine: tuple[LabelledBox, ...]
) -> tuple[LabelledBox, ...]:
    """Return all boxes of the exam: the drawn boxes, and the machine's boxes on radiographs without an entry.

    An empty entry in ``drawings`` means that all boxes of the radiograph were removed.

    Raises:
        InvalidValue: the exam does not have the radiograph, a box has no position, there are too many boxes,
            or a label is too long.
    """
    for radiograph_id in drawings:
        exam.find_radiograph(radiograph_id)
    result: list[LabelledBox] = []
    for radiograph in exam.radiographs:
        machine_boxes = tuple(
            labelled_box for labelled_box in machine if labelled_box.radiograph == radiograph.id
        )
        objects = drawings.get(radiograph.id)
        if objects is None or radiograph.rows is None or radiograph.columns is None:
            result.extend(machine_boxes)
            continue
        if len(objects) > MAX_BOXES:
            raise InvalidValue("boxes", f"must be at most {MAX_BOXES} on one radiograph, not {len(objects)}")
        if radiograph_viewer.is_from_viewer(objects):
            result.extend(
                radiograph_viewer.objects_to_boxes(
                    objects, radiograph=radiograph.id, rows=radiograph.rows, columns=radiograph.columns
                )
            )
            continue
        surface = create_surface(rows=radiograph.rows, columns=radiograph.columns)
        boxes = objects_to_boxes(objects, radiograph=radiograph.id, surface=surface)
        result.extend(clean_boxes(boxes, surface=surface, machine=machine_boxes))
    for labelled_box in result:
        if len(labelled_box.label) > MAX_LABEL_LENGTH and labelled_box not in machine:
            raise InvalidValue("boxes", f"a label must have at most {MAX_LABEL_LENGTH} characters")
    return tuple(result)


def parse_corrected_boxes(
    drawings: Drawings | None, *, exam: Exam, machine: tuple[LabelledBox, ...]
) -> tuple[LabelledBox, ...] | None:
    """Return the boxes for a correction; None if no box was drawn or the boxes equal the machine's."""
    if drawings is None:
        return None
    boxes = parse_drawn_boxes(drawings, exam=exam, machine=machine)
    return None if sorted(boxes, key=_sort_key) == sorted(machine, key=_sort_key) else boxes


def _sort_key(labelled_box: LabelledBox) -> tuple[object, ...]:
    return (labelled_box.radiograph, labelled_box.label, labelled_box.box.as_tuple())
