"""Boxes to the drawable canvas and back: the conversions, what counts as a change, and the package's API."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue
from web.drawing.canvas import canvas_to_json, find_browser_files
from web.drawing.plain_editor import (
    MAX_SIDE,
    STROKE,
    boxes_to_objects,
    clean_boxes,
    create_surface,
    objects_to_boxes,
)

sizes = st.integers(min_value=40, max_value=6000)


@st.composite
def boxes_on_a_matrix(draw):
    rows, columns = draw(sizes), draw(sizes)
    share = st.floats(min_value=0, max_value=1, allow_nan=False)
    x = sorted((draw(share) * columns, draw(share) * columns))
    y = sorted((draw(share) * rows, draw(share) * rows))
    box = Box(x_min=x[0], y_min=y[0], x_max=x[1] + 1e-3, y_max=y[1] + 1e-3)
    return rows, columns, LabelledBox(radiograph="pa", label=draw(st.text(max_size=20)), box=box)


@given(boxes_on_a_matrix())
def test_a_box_is_unchanged_by_a_round_trip_to_the_canvas(rows_columns_and_box):
    rows, columns, labelled = rows_columns_and_box
    surface = create_surface(rows=rows, columns=columns)
    [round_tripped] = objects_to_boxes(
        boxes_to_objects([labelled], surface=surface), radiograph="pa", surface=surface
    )
    assert round_tripped.label == labelled.label
    assert round_tripped.box.as_tuple() == pytest.approx(labelled.box.as_tuple(), abs=1e-6)


@given(sizes, sizes)
def test_a_surface_has_the_aspect_of_the_matrix(rows, columns):
    surface = create_surface(rows=rows, columns=columns)
    assert max(surface.width, surface.height) == MAX_SIDE
    assert abs(surface.width - columns * MAX_SIDE / max(rows, columns)) <= 1
    assert abs(surface.height - rows * MAX_SIDE / max(rows, columns)) <= 1


def test_a_resized_box_is_multiplied_by_its_scale():
    surface = create_surface(rows=3200, columns=3200)  # half a pixel of the canvas per pixel of the matrix
    resized = make_rect(left=100, top=50, width=200, height=100) | {"scaleX": 1.5, "scaleY": 0.5}
    [box] = objects_to_boxes([resized], radiograph="pa", surface=surface)
    assert box.box.as_tuple() == (200, 100, 800, 200)


def test_a_box_with_a_centred_origin_is_converted():
    surface = create_surface(rows=1600, columns=1600)
    centred = make_rect(left=100, top=100, width=40, height=20) | {"originX": "center", "originY": "center"}
    [box] = objects_to_boxes([centred], radiograph="pa", surface=surface)
    assert box.box.as_tuple() == (80, 90, 120, 110)


def test_other_drawings_are_ignored():
    surface = create_surface(rows=1600, columns=1600)
    assert objects_to_boxes([{"type": "Path"}], radiograph="pa", surface=surface) == ()


@pytest.mark.parametrize("field", ["left", "top", "width", "height"])
def test_a_box_without_position_or_size_is_refused(field):
    surface = create_surface(rows=1600, columns=1600)
    broken = {**make_rect(), field: None}
    with pytest.raises(InvalidValue, match="no valid position or size"):
        objects_to_boxes([broken], radiograph="pa", surface=surface)


def test_tiny_boxes_from_clicks_are_dropped():
    surface = create_surface(rows=3200, columns=2600)
    tiny_boxes = [make_rect(width=STROKE, height=STROKE), make_rect(width=2 * STROKE, height=2 * STROKE)]
    boxes = objects_to_boxes(
        [*tiny_boxes, make_rect(width=3 * STROKE, height=STROKE)], radiograph="pa", surface=surface
    )
    assert [round(box.box.width) for box in clean_boxes(boxes, surface=surface)] == [6 * STROKE]


def test_a_tiny_machine_box_is_kept_when_moved():
    surface = create_surface(rows=3200, columns=3200)
    machine_box = make_labelled_box(10, 10, 14, 14)
    moved_box = make_labelled_box(500, 500, 504, 504)
    assert clean_boxes([moved_box], surface=surface, machine=[machine_box]) == (moved_box,)


def test_an_untouched_machine_box_is_exactly_unchanged():
    surface = create_surface(rows=3056, columns=2544)
    machine_box = make_labelled_box(1465.357, 886.7857142857143, 2112.8571, 1213.9)
    rounded = [
        {
            **drawn_object,
            **{name: round(drawn_object[name], 4) for name in ("left", "top", "width", "height")},
        }
        for drawn_object in boxes_to_objects([machine_box], surface=surface, machine=[machine_box])
    ]
    boxes = objects_to_boxes(rounded, radiograph="pa", surface=surface)
    assert clean_boxes(boxes, surface=surface, machine=[machine_box]) == (machine_box,)


def test_boxes_are_clipped_to_the_image():
    surface = create_surface(rows=1000, columns=800)
    assert clean_boxes([make_labelled_box(-20, 900, 100, 1100)], surface=surface) == (
        make_labelled_box(0, 900, 100, 1000),
    )
    assert clean_boxes([make_labelled_box(-50, 900, -10, 950)], surface=surface) == ()


def test_machine_and_own_boxes_differ_in_line_style_and_colour():
    surface = create_surface(rows=1000, columns=800)
    machine, own_box = make_labelled_box(1, 1, 90, 90), make_labelled_box(100, 100, 200, 200)
    machine_object, own_object = boxes_to_objects([machine, own_box], surface=surface, machine=[machine])
    assert machine_object["stroke"] != own_object["stroke"]
    assert machine_object["strokeDashArray"]
    assert own_object["strokeDashArray"] is None


def test_the_installed_canvas_has_the_expected_interface():
    """The canvas's arguments are undocumented: a new version that renames one fails here first."""
    script, style = find_browser_files()
    text = script.read_text(encoding="utf-8")
    surface = create_surface(rows=1000, columns=800)
    data = canvas_to_json(surface=surface, url="/picture", boxes=(), machine=(), locked=False)
    for name in [*data, "setStateValue", "backgroundFit", "canvas-root", "LabeledRect"]:
        assert name in text, name
    for label in ("Update the app with this drawing", "Edit", "Delete selected"):
        assert f'"{label}"' in text, label
    assert ".dc-toolbar" in style.read_text(encoding="utf-8")


def make_rect(*, left=10, top=10, width=100, height=100):
    return {"type": "LabeledRect", "label": "", "left": left, "top": top, "width": width, "height": height}


def make_labelled_box(x_min, y_min, x_max, y_max):
    box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    return LabelledBox(radiograph="pa", label="nodule", box=box)
