"""Boxes from COCO and Label Studio as records: one record per image and label, with all boxes of that label.

A record has ``image``, ``label``, ``boxes`` ([x, y, width, height] each), ``labels`` (the label once per box)
and ``source``, the image's entry (COCO) or the task's data (Label Studio). COCO boxes are in pixels. Those of
Label Studio are in percent of width and height.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from domain.errors import InvalidValue

Record = dict[str, Any]
_File = TypeVar("_File")
_Id = int | str | None
_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".dcm", ".dicom")


class _CocoEntry(msgspec.Struct, gc=False):
    """An image or a category."""

    id: int | str
    file_name: str = ""
    name: str = ""


class _CocoAnnotation(msgspec.Struct, gc=False):
    id: _Id = None
    image_id: _Id = None
    category_id: _Id = None
    bbox: Any = None


class _CocoFile(msgspec.Struct, gc=False):
    images: list[_CocoEntry]
    annotations: list[_CocoAnnotation]
    categories: list[_CocoEntry]


class _Result(msgspec.Struct, gc=False):
    value: dict[str, Any] = {}
    to_name: str = ""


class _Annotation(msgspec.Struct, gc=False):
    result: list[_Result] = []
    was_cancelled: bool = False
    ground_truth: bool = False


class _Task(msgspec.Struct, gc=False):
    data: dict[str, Any]
    id: _Id = None
    annotations: list[_Annotation] = []


def read_coco(content: Any) -> Iterator[Record | InvalidValue]:  # noqa: ANN401  # any JSON value
    """Yield the records of a COCO file with object annotations.

    Raises:
        InvalidValue: the file is not a COCO file.
    """
    file = _convert(content, _CocoFile, "a COCO file")
    labels = {category.id: category.name for category in file.categories}
    boxes_by_image: dict[_Id, dict[str, list[Any]]] = {image.id: {} for image in file.images}
    for annotation in file.annotations:
        name = f"annotation {annotation.id}"
        if annotation.image_id not in boxes_by_image:
            yield InvalidValue("image_id", f"{name}: no image has the id {annotation.image_id}")
        elif annotation.category_id not in labels:
            yield InvalidValue("category_id", f"{name}: no category has the id {annotation.category_id}")
        elif not _is_box(annotation.bbox):
            yield InvalidValue("bbox", f"{name}: {annotation.bbox} is not x, y, width, height")
        else:
            label = labels[annotation.category_id]
            boxes_by_image[annotation.image_id].setdefault(label, []).append(annotation.bbox)
    for image, source in zip(file.images, content["images"], strict=True):
        yield from _build_records(image.file_name, boxes_by_image[image.id], source)


def read_label_studio(content: Any) -> Iterator[Record | InvalidValue]:  # noqa: ANN401  # any JSON value
    """Yield the records of a JSON export of Label Studio: the rectangles of each task.

    If a task has several annotations, the one marked as ground truth counts, otherwise the last one that was
    not skipped.

    Raises:
        InvalidValue: the file is not a JSON export of Label Studio.
    """
    for task in _convert(content, list[_Task], "Label Studio's JSON export"):
        name = f"task {task.id}"
        annotations = [annotation for annotation in task.annotations if not annotation.was_cancelled]
        truths = [annotation for annotation in annotations if annotation.ground_truth]
        boxes: dict[str, list[Any]] = {}
        images = set()
        for result in (truths or annotations)[-1].result if annotations else []:
            labels = result.value.get("rectanglelabels")
            if not isinstance(labels, list) or not labels:
                continue  # choices, texts, polygons
            images.add(result.to_name)
            box = [result.value.get(key) for key in ("x", "y", "width", "height")]
            if result.value.get("rotation"):
                yield InvalidValue("rotation", f"{name}: the box {labels[0]!r} is rotated")
            elif not _is_box(box):
                yield InvalidValue("value", f"{name}: {box} is not x, y, width, height")
            else:
                for label in labels:
                    boxes.setdefault(str(label), []).append(box)
        if len(images) > 1:
            yield InvalidValue("to_name", f"{name}: has boxes on several images: {', '.join(sorted(images))}")
            continue
        image = next((value for value in task.data.values() if _is_image_name(value)), "")
        yield from _build_records(image, boxes, task.data)


def _convert(content: Any, kind: type[_File], name: str) -> _File:  # noqa: ANN401  # any JSON value
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise InvalidValue("file", f"is not {name}: {error}") from None


def _build_records(image: str, boxes: Mapping[str, list[Any]], source: Record) -> Iterator[Record]:
    for label, label_boxes in boxes.items():
        yield {
            "image": image,
            "label": label,
            "boxes": label_boxes,
            "labels": [label] * len(label_boxes),
            "source": source,
        }


def _is_box(box: Any) -> bool:  # noqa: ANN401  # any JSON value
    return (
        isinstance(box, list)
        and len(box) == 4
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in box)
    )


def _is_image_name(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    return isinstance(value, str) and value.lower().partition("?")[0].endswith(_IMAGE_SUFFIXES)
