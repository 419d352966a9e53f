"""JSON text, and the values that several records share: answers and labelled boxes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from domain.boxes import Box, BoxFit, BoxGrid, LabelledBox
from domain.questions import Answer
from records.decoding import make_converter, make_decoder

Corners = tuple[float, float, float, float]

# Keys are sorted and there are no spaces, so equal values have equal texts.
_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()


class BoxRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A labelled box: ``box`` is [x_min, y_min, x_max, y_max]."""

    radiograph: Annotated[str, Meta(description="The id of one of the exam's radiographs.")]
    label: str
    box: Annotated[
        Corners,
        Meta(
            description="[x_min, y_min, x_max, y_max] in pixels of the stored matrix, or on box_grid; "
            "origin at the outer top-left corner, x to the right, y down."
        ),
    ]


class GridRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A grid of boxes other than the stored matrix."""

    width: int
    height: int
    fit: BoxFit


class StoredBox(BoxRecord, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A box as stored in the database. Integers stay integers, also in releases.

    ``grid`` is only set if the radiograph has no image: such a box stays on the grid of its file.
    """

    box: tuple[int | float, int | float, int | float, int | float]
    grid: GridRecord | None = None


_boxes_decoder = make_decoder(list[StoredBox])
_to_stored_boxes = make_converter(list[StoredBox])
_answer_decoder: msgspec.json.Decoder[Answer] = make_decoder(tuple[int, ...] | str)  # type: ignore[arg-type]  # a union is not a `type`
_answers_decoder = make_decoder(tuple[tuple[int, ...], ...])


# --------------------------------------------------------------------------------------------------- JSON
def to_json(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Convert a value to compact JSON text with sorted keys; numbers must be finite."""
    return _encoder.encode(value).decode()


def to_json_lines(values: Iterable[Any]) -> list[str]:
    """Convert each value to the JSON text of :func:`to_json`, in a fraction of the time."""
    return _encoder.encode_lines(values).decode().split("\n")[:-1]


def from_json(text: str) -> Any:  # noqa: ANN401  # any JSON value
    """Convert JSON text to plain values."""
    return _decoder.decode(text)


def to_plain(value: Any) -> Any:  # noqa: ANN401  # a field of any type, and its JSON
    """Convert the value of a question's field to plain JSON: text, lists and boxes."""
    if isinstance(value, str):
        return str(value)  # a choice is converted to its id
    if isinstance(value, tuple):
        return [to_plain(element) for element in value]
    if isinstance(value, LabelledBox):
        plain = {"radiograph": value.radiograph, "label": value.label, "box": list(value.box.as_tuple())}
        return plain if value.grid is None else {**plain, "grid": grid_to_plain(value.grid)}
    return value


# ------------------------------------------------------------------------------------------------- answers
def answer_from_json(text: str) -> Answer:
    """Convert the JSON of a column to an answer."""
    return _answer_decoder.decode(text)


def answers_from_json(text: str) -> tuple[tuple[int, ...], ...]:
    """Convert the JSON of a column to several answers of option indices."""
    return _answers_decoder.decode(text)


# --------------------------------------------------------------------------------------------------- boxes
def grid_to_plain(grid: BoxGrid) -> dict[str, Any]:
    """Convert a grid to plain JSON."""
    return {"width": grid.width, "height": grid.height, "fit": grid.fit.value}


def box_to_record(labelled: LabelledBox) -> BoxRecord:
    """Convert a box to a record of a file, without its grid: in a file, this is a field of the question."""
    return BoxRecord(labelled.radiograph, labelled.label, labelled.box.as_tuple())


def box_from_record(record: BoxRecord) -> LabelledBox:
    """Convert a record to a box; the inverse of :func:`box_to_record`.

    Raises:
        InvalidValue: the box has no area or reversed corners, or has no radiograph.
    """
    x_min, y_min, x_max, y_max = record.box
    box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    stored_grid = record.grid if isinstance(record, StoredBox) else None
    grid = BoxGrid(**msgspec.structs.asdict(stored_grid)) if stored_grid else None
    return LabelledBox(radiograph=record.radiograph, label=record.label, box=box, grid=grid)


def boxes_to_plain(boxes: Iterable[LabelledBox]) -> list[dict[str, Any]]:
    """Convert each box to ``{radiograph, label, box: [x_min, y_min, x_max, y_max]}``."""
    return [to_plain(box) for box in boxes]


def boxes_from_plain(plain: Iterable[Any]) -> tuple[LabelledBox, ...]:
    """Convert plain values to boxes; the inverse of :func:`boxes_to_plain`."""
    return tuple([box_from_record(record) for record in _to_stored_boxes(plain)])


def boxes_from_json(text: str) -> tuple[LabelledBox, ...]:
    """Convert the JSON of a column to boxes."""
    return tuple([box_from_record(record) for record in _boxes_decoder.decode(text)])
