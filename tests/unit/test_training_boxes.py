"""Boxes in the formats of model families: they stay within one pixel of the image that the model sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boxes import Box, box_to_grid
from domain.errors import InvalidValue
from release.formats.gemex import GRID
from release.training.box_formats import (
    MAX_PIXELS,
    MIN_PIXELS,
    BoxFormat,
    ImageSize,
    convert_box,
    format_boxes,
    resize_for,
)

SIDES = st.integers(30, 4000)


@st.composite
def boxes_on_images(draw: st.DrawFn) -> tuple[Box, ImageSize]:
    """A box with an area of at least 2 x 2 pixels, wholly on its image."""
    size = ImageSize(rows=draw(SIDES), columns=draw(SIDES))
    x_min, y_min = (draw(st.floats(0, side - 2)) for side in (size.columns, size.rows))
    x_max = draw(st.floats(x_min + 2, size.columns))
    y_max = draw(st.floats(y_min + 2, size.rows))
    return Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max), size


@given(boxes_on_images())
def test_boxes_in_pixels_of_the_written_image_are_within_one_pixel(case):
    box, size = case
    written = resize_for(BoxFormat.QWEN25_VL, size)
    exact = [
        box.x_min * written.columns / size.columns,
        box.y_min * written.rows / size.rows,
        box.x_max * written.columns / size.columns,
        box.y_max * written.rows / size.rows,
    ]
    corners = convert_box(box, BoxFormat.QWEN25_VL, size)
    assert corners == pytest.approx(exact, abs=1)
    assert 0 <= corners[0] < corners[2] <= written.columns
    assert 0 <= corners[1] < corners[3] <= written.rows
    assert convert_box(box, BoxFormat.PIXELS, size) == pytest.approx(list(box.as_tuple()), abs=1)


@given(boxes_on_images())
def test_boxes_in_thousandths_are_close_to_the_exact_position(case):
    box, size = case
    exact = [
        box.x_min * 1000 / size.columns,
        box.y_min * 1000 / size.rows,
        box.x_max * 1000 / size.columns,
        box.y_max * 1000 / size.rows,
    ]
    assert convert_box(box, BoxFormat.QWEN3_VL, size) == pytest.approx(exact, abs=1)
    tokens = convert_box(box, BoxFormat.QWEN2_VL, size)
    assert tokens == pytest.approx(exact, abs=2)
    assert max(tokens) <= 999
    assert tokens[0] < tokens[2]
    assert tokens[1] < tokens[3]


@given(boxes_on_images())
def test_boxes_on_the_grid_of_gemex_are_within_one_pixel(case):
    box, size = case
    exact = box_to_grid(box, grid=GRID, rows=size.rows, columns=size.columns)
    assert convert_box(box, BoxFormat.GEMEX, size) == pytest.approx(list(exact.as_tuple()), abs=1)


@given(SIDES, SIDES)
def test_an_image_for_qwen25_is_not_resized_by_the_model(rows, columns):
    size = ImageSize(rows=rows, columns=columns)
    written = resize_for(BoxFormat.QWEN25_VL, size)
    assert written.rows % 28 == written.columns % 28 == 0
    assert MIN_PIXELS <= written.rows * written.columns <= MAX_PIXELS
    assert resize_for(BoxFormat.QWEN25_VL, written) == written


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    # Computed by smart_resize of transformers (image_processing_qwen2_vl), with factor=28,
    # min_pixels=4 * 28 * 28 and max_pixels=1280 * 28 * 28.
    [(2544, 3056, (896, 1092)), (300, 250, (308, 252)), (30, 4000, (28, 4004)), (40, 40, (56, 56))],
)
def test_sizes_equal_those_of_the_model(rows, columns, expected):
    written = resize_for(BoxFormat.QWEN25_VL, ImageSize(rows=rows, columns=columns))
    assert (written.rows, written.columns) == expected


def test_a_box_outside_the_image_is_refused():
    with pytest.raises(InvalidValue):
        convert_box(
            Box(x_min=500, y_min=10, x_max=600, y_max=20), BoxFormat.PIXELS, ImageSize(rows=300, columns=250)
        )


def test_an_image_that_the_model_refuses_is_refused():
    with pytest.raises(InvalidValue, match="too narrow"):
        resize_for(BoxFormat.QWEN25_VL, ImageSize(rows=10, columns=2010))


def test_each_box_of_several_images_names_its_image():
    boxes = [("left lung", [1, 2, 3, 4], 0), ("heart", [5, 6, 7, 8], 1)]
    assert format_boxes(boxes, BoxFormat.GEMEX, images=2) == "Image 1: [[1, 2, 3, 4]] Image 2: [[5, 6, 7, 8]]"
    assert '"image":2' in format_boxes(boxes, BoxFormat.PIXELS, images=2)
    assert format_boxes(boxes, BoxFormat.QWEN2_VL, images=2).count("Image ") == 2
