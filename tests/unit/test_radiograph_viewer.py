"""The viewer's Python side: conversion of boxes in both directions, and addresses."""

import json

import pytest

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue
from web.drawing.radiograph_viewer import (
    boxes_to_json,
    is_from_viewer,
    metadata_url,
    objects_to_boxes,
    pixels_url,
)


def make_labelled_box(*corners):
    x_min, y_min, x_max, y_max = corners
    box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    return LabelledBox(radiograph="pa", label="nodule", box=box)


def test_boxes_are_unchanged_by_a_round_trip_through_json():
    boxes = (make_labelled_box(0.1, 1 / 3, 2500, 3000), make_labelled_box(12, 13, 14.005, 15))
    decoded = json.loads(json.dumps(boxes_to_json(boxes)))
    assert objects_to_boxes(decoded, radiograph="pa", rows=3000, columns=2500) == boxes


def test_boxes_are_clipped_to_the_matrix():
    [box] = objects_to_boxes(
        boxes_to_json([make_labelled_box(-5, 10, 20, 3300)]), radiograph="pa", rows=3000, columns=2500
    )
    assert box.box.as_tuple() == (0, 10, 20, 3000)


@pytest.mark.parametrize(
    "corners", [None, [1, 2, 3], [1, 2, "3", 4], [1, 2, True, 4], [5, 2, 3, 4], [1, 2, float("nan"), 4]]
)
def test_an_invalid_box_is_refused(corners):
    with pytest.raises(InvalidValue, match="box"):
        objects_to_boxes([{"type": "Box", "label": "", "box": corners}], radiograph="pa", rows=9, columns=9)


def test_objects_of_viewer_and_plain_editor_are_distinguished():
    assert is_from_viewer(boxes_to_json([make_labelled_box(1, 2, 3, 4)]))
    assert not is_from_viewer([{"type": "LabeledRect", "left": 1}])
    assert not is_from_viewer([])


def test_a_radiograph_id_is_one_segment_of_its_url():
    assert pixels_url(7, "a/b c") == "/pixels/7/a%2Fb%20c"
    assert metadata_url(7, "a/metadata") == "/pixels/7/a%2Fmetadata/metadata"
