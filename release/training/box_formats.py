"""The coordinates of boxes as families of models read and write them.

Sources: Qwen2-VL (arXiv:2409.12191): corners from 0 to 999 between special tokens. Qwen2.5-VL
(arXiv:2502.13923): corners in pixels of the resized image, as JSON with ``bbox_2d``. Qwen3-VL
(arXiv:2511.21631): JSON with corners from 0 to 1000. GEMeX: corners on a letterboxed grid of 224 x 224
pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from domain.boxes import Box, LabelledBox, box_from_grid, box_to_grid
from domain.errors import InvalidValue
from release.formats.gemex import GRID, round_location

#: Qwen2.5-VL divides an image into tokens of 28 x 28 pixels.
_TOKEN_SIDE = 28
#: The smallest and the largest image of Qwen2.5-VL in pixels: 4 and 1,280 tokens. The model reads up to
#: 16,384 tokens, but its documentation advises 256 to 1,280.
MIN_PIXELS, MAX_PIXELS = 4 * _TOKEN_SIDE**2, 1_280 * _TOKEN_SIDE**2
_MAX_ASPECT_RATIO = 200


class BoxFormat(StrEnum):
    """How boxes are written. ``PIXELS`` is JSON in pixels of the image file."""

    GEMEX = "gemex"
    PIXELS = "pixels"
    QWEN2_VL = "qwen2-vl"
    QWEN25_VL = "qwen2.5-vl"
    QWEN3_VL = "qwen3-vl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSize:
    """The size of an image in pixels."""

    rows: int
    columns: int


def resize_for(form: BoxFormat, size: ImageSize) -> ImageSize:
    """Return the size in which an image is written, so that the model does not resize it again.

    Only the pixels of Qwen2.5-VL depend on the size: both sides become multiples of 28, and the area is
    between :data:`MIN_PIXELS` and :data:`MAX_PIXELS`, with the aspect ratio kept as far as possible.

    Raises:
        InvalidValue: one side is more than 200 times the other, which the model refuses.

    >>> resize_for(BoxFormat.QWEN25_VL, ImageSize(rows=2544, columns=3056))
    ImageSize(rows=896, columns=1092)
    >>> resize_for(BoxFormat.QWEN3_VL, ImageSize(rows=2544, columns=3056))
    ImageSize(rows=2544, columns=3056)
    """
    if form is not BoxFormat.QWEN25_VL:
        return size
    if max(size.rows, size.columns) > _MAX_ASPECT_RATIO * min(size.rows, size.columns):
        raise InvalidValue(
            "image", f"of {size.rows} x {size.columns} pixels is too narrow: Qwen2.5-VL refuses over 200 : 1"
        )
    rows, columns = (
        max(_TOKEN_SIDE, round(side / _TOKEN_SIDE) * _TOKEN_SIDE) for side in (size.rows, size.columns)
    )
    area = size.rows * size.columns
    if rows * columns > MAX_PIXELS:
        scale = math.sqrt(MAX_PIXELS / area)
        rows, columns = (
            max(_TOKEN_SIDE, math.floor(side * scale / _TOKEN_SIDE) * _TOKEN_SIDE)
            for side in (size.rows, size.columns)
        )
    elif rows * columns < MIN_PIXELS:
        scale = math.sqrt(MIN_PIXELS / area)
        rows, columns = (
            math.ceil(side * scale / _TOKEN_SIDE) * _TOKEN_SIDE for side in (size.rows, size.columns)
        )
    return ImageSize(rows=rows, columns=columns)


def box_in_pixels(labelled: LabelledBox, size: ImageSize) -> Box:
    """Return a box in pixels of its image, even if the release has it on a grid."""
    if labelled.grid is None:
        return labelled.box
    return box_from_grid(labelled.box, grid=labelled.grid, rows=size.rows, columns=size.columns)


def convert_box(box: Box, form: BoxFormat, size: ImageSize) -> list[int]:
    """Convert a box to whole coordinates [x_min, y_min, x_max, y_max] of a form.

    Args:
        box: the box in pixels of the image; parts outside the image are cut off.
        form: the form to convert to.
        size: the size of the image in the release.

    Raises:
        InvalidValue: no part of the box is on the image.

    >>> box, size = Box(x_min=764, y_min=636, x_max=1528, y_max=1272), ImageSize(rows=2544, columns=3056)
    >>> convert_box(box, BoxFormat.QWEN3_VL, size)
    [250, 250, 500, 500]
    >>> convert_box(box, BoxFormat.QWEN25_VL, size)
    [273, 224, 546, 448]
    """
    box = box.clip_to_matrix(rows=size.rows, columns=size.columns)
    if form is BoxFormat.GEMEX:
        return round_location(
            list(box_to_grid(box, grid=GRID, rows=size.rows, columns=size.columns).as_tuple())
        )
    scaled_size = ImageSize(rows=1_000, columns=1_000)
    if form in (BoxFormat.PIXELS, BoxFormat.QWEN25_VL):
        scaled_size = resize_for(form, size)
    # Qwen2-VL has tokens for 0 to 999 only.
    max_value = 999 if form is BoxFormat.QWEN2_VL else None
    x_min, x_max = _round_side(box.x_min, box.x_max, size.columns, scaled_size.columns, max_value)
    y_min, y_max = _round_side(box.y_min, box.y_max, size.rows, scaled_size.rows, max_value)
    return [x_min, y_min, x_max, y_max]


def _round_side(
    low: float, high: float, side: int, scaled_side: int, max_value: int | None
) -> tuple[int, int]:
    """Scale and round the two ends of one side of a box. The side stays at least 1 long."""
    limit = scaled_side if max_value is None else max_value
    first, last = (min(round(value * scaled_side / side), limit) for value in (low, high))
    return (first, last) if first < last else (min(first, limit - 1), min(first, limit - 1) + 1)


def format_boxes(boxes: Sequence[tuple[str, list[int], int]], form: BoxFormat, *, images: int) -> str:
    """Write boxes as the text that a model of the family answers.

    Args:
        boxes: label, coordinates, and index of the image (from 0) of each box.
        form: the form of the coordinates.
        images: the number of images. With several, each box names its image, counted from 1.

    >>> format_boxes([("left lung", [250, 250, 500, 500], 0)], BoxFormat.QWEN3_VL, images=1)
    '[{"bbox_2d":[250,250,500,500],"label":"left lung"}]'
    >>> format_boxes([("left lung", [250, 250, 500, 500], 1)], BoxFormat.QWEN2_VL, images=2)
    'Image 2: <|object_ref_start|>left lung<|object_ref_end|><|box_start|>(250,250),(500,500)<|box_end|>'
    >>> format_boxes([("left lung", [43, 38, 117, 147], 0)], BoxFormat.GEMEX, images=1)
    '[[43, 38, 117, 147]]'
    """
    if form is BoxFormat.GEMEX:
        if images == 1:
            return str([corners for _, corners, _ in boxes])
        return " ".join(f"Image {image + 1}: {[corners]}" for _, corners, image in boxes)
    if form is BoxFormat.QWEN2_VL:
        return " ".join(
            f"{f'Image {image + 1}: ' if images > 1 else ''}<|object_ref_start|>{label}<|object_ref_end|>"
            f"<|box_start|>({corners[0]},{corners[1]}),({corners[2]},{corners[3]})<|box_end|>"
            for label, corners, image in boxes
        )
    return msgspec.json.encode(
        [
            {"bbox_2d": corners, "label": label, **({"image": image + 1} if images > 1 else {})}
            for label, corners, image in boxes
        ]
    ).decode()
