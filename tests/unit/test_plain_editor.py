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
def test_a_box_comes_back_from_the_canvas_as_it_went(there):
    rows, columns, labelled = there
    surface = create_surface(rows=rows, columns=columns)
    [back] = objects_to_boxes(boxes_to_objects([labelled], surface=surface), radiograph="pa", surface=surface)
    assert back.label == labelled.label
    assert back.box.as_tuple() == pytest.approx(labelled.box.as_tuple(), abs=1e-6)


@given(sizes, sizes)
def test_a_surface_has_the_matrix_aspect_to_within_a_pixel(rows, columns):
    surface = create_surface(rows=rows, columns=columns)
    assert max(surface.width, surface.height) == MAX_SIDE
    assert abs(surface.width - columns * MAX_SIDE / max(rows, columns)) <= 1
    assert abs(surface.height - rows * MAX_SIDE / max(rows, columns)) <= 1


def test_a_resized_box_is_its_size_times_its_scale():
    surface = create_surface(rows=3200, columns=3200)  # half a pixel of the canvas per pixel of the matrix
    resized = rect(left=100, top=50, width=200, height=100) | {"scaleX": 1.5, "scaleY": 0.5}
    [box] = objects_to_boxes([resized], radiograph="pa", surface=surface)
    assert box.box.as_tuple() == (200, 100, 800, 200)


def test_a_box_placed_by_its_middle_is_read_from_its_corner():
    surface = create_surface(rows=1600, columns=1600)
    centred = rect(left=100, top=100, width=40, height=20) | {"originX": "center", "originY": "center"}
    [box] = objects_to_boxes([centred], radiograph="pa", surface=surface)
    assert box.box.as_tuple() == (80, 90, 120, 110)


def test_other_drawings_are_no_boxes():
    surface = create_surface(rows=1600, columns=1600)
    assert objects_to_boxes([{"type": "Path"}], radiograph="pa", surface=surface) == ()


@pytest.mark.parametrize("field", ["left", "top", "width", "height"])
def test_a_box_without_a_place_is_refused(field):
    surface = create_surface(rows=1600, columns=1600)
    broken = {**rect(), field: None}
    with pytest.raises(InvalidValue, match="no valid position or size"):
        objects_to_boxes([broken], radiograph="pa", surface=surface)


def test_what_a_click_leaves_behind_is_dropped():
    surface = create_surface(rows=3200, columns=2600)
    specks = [rect(width=STROKE, height=STROKE), rect(width=2 * STROKE, height=2 * STROKE)]
    boxes = objects_to_boxes(
        [*specks, rect(width=3 * STROKE, height=STROKE)], radiograph="pa", surface=surface
    )
    assert [round(each.box.width) for each in clean_boxes(boxes, surface=surface)] == [6 * STROKE]


def test_a_machines_speck_stays_when_it_is_moved():
    surface = create_surface(rows=3200, columns=3200)
    machine = labelled(10, 10, 14, 14)
    moved = labelled(500, 500, 504, 504)
    assert clean_boxes([moved], surface=surface, machine=[machine]) == (moved,)


def test_an_untouched_machine_box_is_the_same_to_the_digit():
    surface = create_surface(rows=3056, columns=2544)
    machine = labelled(1465.357, 886.7857142857143, 2112.8571, 1213.9)
    rounded = [
        {**each, **{name: round(each[name], 4) for name in ("left", "top", "width", "height")}}
        for each in boxes_to_objects([machine], surface=surface, machine=[machine])
    ]
    boxes = objects_to_boxes(rounded, radiograph="pa", surface=surface)
    assert clean_boxes(boxes, surface=surface, machine=[machine]) == (machine,)


def test_what_hangs_over_the_edge_is_cut_there():
    surface = create_surface(rows=1000, columns=800)
    assert clean_boxes([labelled(-20, 900, 100, 1100)], surface=surface) == (labelled(0, 900, 100, 1000),)
    assert clean_boxes([labelled(-50, 900, -10, 950)], surface=surface) == ()


def test_machine_and_own_boxes_differ_in_line_and_colour():
    surface = create_surface(rows=1000, columns=800)
    machine, own = labelled(1, 1, 90, 90), labelled(100, 100, 200, 200)
    first, second = boxes_to_objects([machine, own], surface=surface, machine=[machine])
    assert first["stroke"] != second["stroke"]
    assert first["strokeDashArray"]
    assert second["strokeDashArray"] is None


def test_the_installed_canvas_takes_what_it_is_told():
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


def rect(*, left=10, top=10, width=100, height=100):
    return {"type": "LabeledRect", "label": "", "left": left, "top": top, "width": width, "height": height}


def labelled(x_min, y_min, x_max, y_max):
    box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    return LabelledBox(radiograph="pa", label="nodule", box=box)
