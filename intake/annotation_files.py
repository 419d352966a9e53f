"""Reads boxes from COCO and Label Studio files, as one record per image and label, or as single boxes.

A record has all boxes of one image and label, for a mapping that makes questions of them: ``image``,
``label``, ``boxes`` ([x, y, width, height] each), ``labels`` (the label once per box) and ``source``, the
image's entry (COCO) or the task's data (Label Studio). COCO boxes are in pixels. Label Studio boxes are in
percent of width and height.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from domain.boxes import Box, BoxFit, BoxGrid
from domain.errors import InvalidValue
from intake.strict_json import explain_error
from records.decoding import convert_plain

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
    question_id: _Id = None


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
    boxes_by_image: dict[_Id, dict[str, list[Any]]] = {image.id: {} for image in file.images}
    for result in _iterate_annotations(file):
        if isinstance(result, InvalidValue):
            yield result
        else:
            annotation, label = result
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
        boxes: dict[str, list[Any]] = {}
        problems, rectangles = _read_task(task)
        yield from problems
        for label, box in rectangles:
            boxes.setdefault(label, []).append(box)
        yield from _build_records(_find_image_name(task), boxes, task.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedBox:
    """One box of an annotation file.

    ``name`` names the annotation in messages. ``image`` is the name of its image in the file, ``question_id``
    the question id that the annotation, its image or its task states. ``box`` is in pixels of ``grid``, or of
    the image if the file does not state the image's size.
    """

    name: str
    image: str
    question_id: str | None
    label: str
    box: Box
    grid: BoxGrid | None


def read_annotated_boxes(content: Any) -> Iterator[AnnotatedBox | InvalidValue]:  # noqa: ANN401  # any JSON value
    """Yield the boxes of a COCO file or of Label Studio's export; see :func:`read_label_studio`.

    Raises:
        InvalidValue: the file is neither.
    """
    if isinstance(content, list):
        yield from _read_label_studio_boxes(content)
    elif isinstance(content, dict):
        yield from _read_coco_boxes(content)
    else:
        raise InvalidValue("file", "is neither a COCO file nor Label Studio's JSON export")


def _read_coco_boxes(content: Record) -> Iterator[AnnotatedBox | InvalidValue]:
    file = _convert(content, _CocoFile, "a COCO file")
    images: dict[_Id, tuple[_CocoEntry, Record]] = {
        image.id: (image, source) for image, source in zip(file.images, content["images"], strict=True)
    }
    for result in _iterate_annotations(file):
        if isinstance(result, InvalidValue):
            yield result
            continue
        annotation, label = result
        image, source = images[annotation.image_id]
        name = f"annotation {annotation.id}"
        question_id = source.get("question_id") if annotation.question_id is None else annotation.question_id
        try:
            yield AnnotatedBox(
                name=name,
                image=image.file_name,
                question_id=None if question_id is None else str(question_id),
                label=label,
                box=_to_box(annotation.bbox),
                grid=_read_grid(source),
            )
        except InvalidValue as error:
            yield InvalidValue("bbox", f"{name}: {error.reason}")


def _read_grid(image: Record) -> BoxGrid | None:
    """Return the size of an image of a COCO file; None if the file does not state it."""
    width, height = image.get("width"), image.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return BoxGrid(width=width, height=height, fit=BoxFit.STRETCH)
    return None


def _read_label_studio_boxes(content: list[Any]) -> Iterator[AnnotatedBox | InvalidValue]:
    percent = BoxGrid(width=100, height=100, fit=BoxFit.STRETCH)
    for task in _convert(content, list[_Task], "Label Studio's JSON export"):
        name, question_id = f"task {task.id}", task.data.get("question_id")
        problems, rectangles = _read_task(task)
        yield from problems
        for label, box in rectangles:
            try:
                yield AnnotatedBox(
                    name=name,
                    image=_find_image_name(task),
                    question_id=None if question_id is None else str(question_id),
                    label=label,
                    box=_to_box(box),
                    grid=percent,
                )
            except InvalidValue as error:
                yield InvalidValue("value", f"{name}: {error.reason}")


def _iterate_annotations(file: _CocoFile) -> Iterator[tuple[_CocoAnnotation, str] | InvalidValue]:
    """Yield each valid annotation of a COCO file with its label, and the reason for each invalid one."""
    labels_by_category = {category.id: category.name for category in file.categories}
    image_ids = {image.id for image in file.images}
    for annotation in file.annotations:
        name = f"annotation {annotation.id}"
        if annotation.image_id not in image_ids:
            yield InvalidValue("image_id", f"{name}: no image has the id {annotation.image_id}")
        elif annotation.category_id not in labels_by_category:
            yield InvalidValue("category_id", f"{name}: no category has the id {annotation.category_id}")
        elif not _is_box(annotation.bbox):
            yield InvalidValue("bbox", f"{name}: {annotation.bbox} is not x, y, width, height")
        else:
            yield annotation, labels_by_category[annotation.category_id]


def _read_task(task: _Task) -> tuple[list[InvalidValue], list[tuple[str, list[Any]]]]:
    """Return the problems of a task of Label Studio, and the label and rectangle of each valid result."""
    name = f"task {task.id}"
    annotations = [annotation for annotation in task.annotations if not annotation.was_cancelled]
    ground_truths = [annotation for annotation in annotations if annotation.ground_truth]
    problems: list[InvalidValue] = []
    rectangles: list[tuple[str, list[Any]]] = []
    image_names = set()
    for result in (ground_truths or annotations)[-1].result if annotations else []:
        labels = result.value.get("rectanglelabels")
        if not isinstance(labels, list) or not labels:
            continue  # choices, texts, polygons
        image_names.add(result.to_name)
        box = [result.value.get(key) for key in ("x", "y", "width", "height")]
        if result.value.get("rotation"):
            problems.append(InvalidValue("rotation", f"{name}: the box {labels[0]!r} is rotated"))
        elif not _is_box(box):
            problems.append(InvalidValue("value", f"{name}: {box} is not x, y, width, height"))
        else:
            rectangles += [(str(label), box) for label in labels]
    if len(image_names) > 1:
        listed = ", ".join(sorted(image_names))
        return [*problems, InvalidValue("to_name", f"{name}: has boxes on several images: {listed}")], []
    return problems, rectangles


def _find_image_name(task: _Task) -> str:
    return next((value for value in task.data.values() if _is_image_name(value)), "")


def _to_box(values: list[Any]) -> Box:
    x, y, width, height = values
    return Box(x_min=x, y_min=y, x_max=x + width, y_max=y + height)


def _convert(content: Any, kind: type[_File], description: str) -> _File:  # noqa: ANN401  # any JSON value
    try:
        return convert_plain(content, kind)
    except msgspec.ValidationError as error:
        problem = explain_error(error)
        raise InvalidValue("file", f"is not {description}: {problem.field} {problem.reason}") from None


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
