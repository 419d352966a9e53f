"""Boxes of COCO and Label Studio become questions by the built-in mappings."""

import json

import pytest

from domain.errors import InvalidValue
from intake.mapping.declaration import load_builtin_mapping
from tests.unit.test_mapping_files import read_path

CATEGORIES = [{"id": 1, "name": "Nodule"}, {"id": 2, "name": "Effusion"}]
IMAGES = [
    {"id": 7, "file_name": "a.png", "width": 100, "height": 80},
    {"id": 8, "file_name": "b.png", "width": 100, "height": 80},
]


def read(tmp_path, content, mapping):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return read_path(path, load_builtin_mapping(mapping))


def annotate(number, image, category, box):
    return {"id": number, "image_id": image, "category_id": category, "bbox": box}


def make_task(results, **fields):
    return {
        "id": 1,
        "data": {"image": "/data/upload/2/a.png"},
        "annotations": [{"result": results}],
        **fields,
    }


def make_rectangle(label, x=10, **value):
    return {
        "type": "rectanglelabels", "to_name": "image", "original_width": 200, "original_height": 100,
        "value": {
            "x": x, "y": 20, "width": 30, "height": 40, "rotation": 0, "rectanglelabels": [label], **value,
        },
    }  # fmt: skip


def describe(question):
    return question.stem, question.answer, [(box.label, box.box.as_tuple()) for box in question.boxes]


def test_boxes_of_coco_become_one_question_per_image_and_category(tmp_path):
    annotations = [
        annotate(1, 7, 1, [10, 20, 5.5, 6]),
        annotate(2, 7, 2, [1, 2, 3, 4]),
        annotate(3, 7, 1, [30, 40, 5, 6]),
    ]
    result = read(tmp_path, {"images": IMAGES, "annotations": annotations, "categories": CATEGORIES}, "coco")
    assert result.refusals == []
    assert [(question.id, *describe(question)) for question, _ in result.examples] == [
        (
            "a.png: Nodule",
            "Is there Nodule on this radiograph?",
            "yes",
            [("Nodule", (10, 20, 15.5, 26)), ("Nodule", (30, 40, 35, 46))],
        ),
        ("a.png: Effusion", "Is there Effusion on this radiograph?", "yes", [("Effusion", (1, 2, 4, 6))]),
    ]


@pytest.mark.parametrize(
    ("annotation", "field", "reason"),
    [
        (annotate(5, 9, 1, [1, 2, 3, 4]), "image_id", "annotation 5: no image has the id 9"),
        (annotate(5, 7, 3, [1, 2, 3, 4]), "category_id", "annotation 5: no category has the id 3"),
        (annotate(5, 7, 1, [1, 2, 3]), "bbox", "annotation 5: [1, 2, 3] is not x, y, width, height"),
        (annotate(5, 7, 1, None), "bbox", "annotation 5: None is not x, y, width, height"),
    ],
)
def test_the_error_for_an_invalid_annotation_of_coco_names_its_id(tmp_path, annotation, field, reason):
    content = {"images": IMAGES, "categories": CATEGORIES, "annotations": [annotation]}
    assert read(tmp_path, content, "coco").refusals == [("record 1", field, reason)]


def test_rectangles_of_label_studio_are_in_percent(tmp_path):
    result = read(
        tmp_path, [make_task([make_rectangle("Nodule"), make_rectangle("Nodule", x=50)])], "label-studio"
    )
    ((question, exam),) = result.examples
    assert describe(question)[2] == [("Nodule", (10, 20, 40, 60)), ("Nodule", (50, 20, 80, 60))]
    assert [radiograph.file for radiograph in exam.radiographs] == ["a.png"]
    assert question.id == "/data/upload/2/a.png: Nodule"


def test_the_ground_truth_counts_or_without_it_the_last_annotation_not_skipped(tmp_path):
    def annotation(label, **fields):
        return {"result": [make_rectangle(label)], **fields}

    first = make_task([], annotations=[annotation("A", ground_truth=True), annotation("B")])
    second = make_task(
        [], data={"image": "b.png"},
        annotations=[annotation("C"), annotation("D"), annotation("E", was_cancelled=True)],
    )  # fmt: skip
    result = read(tmp_path, [first, second, make_task([], annotations=[])], "label-studio")
    assert [question.category for question, _ in result.examples] == ["A", "D"]


def test_rotated_rectangle_is_refused_and_other_results_are_ignored(tmp_path):
    choice = {"type": "choices", "to_name": "image", "value": {"choices": ["Normal"]}}
    result = read(tmp_path, [make_task([choice, make_rectangle("Nodule", rotation=12)])], "label-studio")
    assert result.refusals == [("record 1", "rotation", "task 1: the box 'Nodule' is rotated")]


@pytest.mark.parametrize(
    ("mapping", "content"),
    [
        ("coco", [1]),
        ("coco", {"images": []}),
        ("coco", {"images": [1], "annotations": [], "categories": []}),
        ("label-studio", {}),
        ("label-studio", [{"data": "a.png"}]),
    ],
)
def test_file_of_another_kind_is_refused(tmp_path, mapping, content):
    with pytest.raises(InvalidValue, match="is not"):
        read(tmp_path, content, mapping)
