"""Read the export formats of a release with the libraries that users of these formats have.

Each ``read_*`` function returns values by question, and ``expect_*`` returns the same values from the
released questions.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import highdicom
import numpy as np
import pyarrow.parquet as pq
from pydicom import dcmread

from domain.boxes import Box, LabelledBox
from domain.questions import Question, format_answer
from domain.vocabulary import AnswerFormat

GRID = 224
CROISSANT_TEXTS = (
    "format", "stem", "explanation", "task", "content_type", "category", "subcategory", "difficulty",
)  # fmt: skip


def describe_boxes(boxes: Iterable[LabelledBox]) -> list[tuple[str, str, tuple[float, ...]]]:
    """The boxes as (radiograph, label, corners)."""
    return [(box.radiograph, box.label, box.box.as_tuple()) for box in boxes]


def read_datasets(folder: Path, cache: Path) -> dict[str, dict[str, Any]]:
    """The rows of gold.parquet by the datasets library, without their images."""
    from datasets import load_dataset

    rows = load_dataset(
        "parquet", data_files=str(folder / "gold.parquet"), split="train", cache_dir=str(cache)
    )
    assert rows.features.to_dict() is not None
    return {row["id"]: row for row in rows.remove_columns("images")}


def expect_datasets(gold: dict[str, Question]) -> dict[str, dict[str, Any]]:
    """The values of the questions that the rows must have."""
    return {
        key: {
            "exam_id": question.exam_id,
            "stem": question.stem,
            "format": question.format.value,
            "options": list(question.options),
            "answer": [] if isinstance(question.answer, str) else list(question.answer),
            "answer_text": format_answer(question.answer, question.options),
            "also_right": [list(answer) for answer in question.also_right],
            "explanation": question.explanation,
            "task": question.task,
            "content_type": question.content_type,
            "category": question.category,
            "subcategory": question.subcategory,
            "difficulty": question.difficulty,
            "boxes": [
                {"radiograph": radiograph, "label": label, "box": list(corners)}
                for radiograph, label, corners in describe_boxes(question.boxes)
            ],
        }
        for key, question in gold.items()
    }


def read_coco(folder: Path) -> dict[str, list[tuple[str, str, tuple[float, ...]]]]:
    """The boxes of boxes.coco.json by pycocotools."""
    from pycocotools.coco import COCO

    coco = COCO(str(folder / "boxes.coco.json"))
    boxes: dict[str, Any] = {}
    for annotation in coco.loadAnns(coco.getAnnIds()):
        x, y, width, height = annotation["bbox"]
        image = coco.loadImgs(annotation["image_id"])[0]
        label = coco.loadCats(annotation["category_id"])[0]["name"]
        boxes.setdefault(annotation["question_id"], []).append(
            (image["radiograph"], label, (x, y, x + width, y + height))
        )
    return boxes


def read_croissant(folder: Path, record_set: str = "questions") -> dict[str, dict[str, Any]]:
    """The records of croissant.json by mlcroissant, as texts."""
    import mlcroissant

    logging.getLogger("absl").setLevel(logging.ERROR)
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    records: dict[str, dict[str, Any]] = {}
    for record in dataset.records(record_set):
        values = {key.removeprefix(f"{record_set}/"): _decode(value) for key, value in record.items()}
        records[values["id"]] = values
    return records


def _decode(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_decode(item) for item in value] if isinstance(value, list) else value


def expect_croissant(gold: dict[str, Question]) -> dict[str, dict[str, Any]]:
    """The fields of the questions that croissant.json describes."""
    return {
        key: {
            "id": key,
            "exam_id": question.exam_id,
            "options": list(question.options),
            "answer": [] if isinstance(question.answer, str) else list(question.answer),
            "answer_text": format_answer(question.answer, question.options),
            **{name: getattr(question, name) for name in CROISSANT_TEXTS},
        }
        for key, question in gold.items()
    }


def read_reports(folder: Path) -> dict[str, list[tuple[str, tuple[float, ...]]]]:
    """(Tracking identifier, corners) of the regions of all structured reports, by UID of the image."""
    regions: dict[str, Any] = {}
    for path in sorted((folder / "sr").glob("*.dcm")):
        content: Any = highdicom.sr.srread(path).content
        assert dcmread(path).SpecificCharacterSet == "ISO_IR 192"
        for group in content.get_planar_roi_measurement_groups():
            region = group.roi
            corners = np.asarray(region.value).reshape(-1, 2)
            source = region.ContentSequence[0].ReferencedSOPSequence[0].ReferencedSOPInstanceUID
            regions.setdefault(source, []).append(
                (group.tracking_identifier, (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()))
            )
    return regions


def round_to_grid(box: Box) -> Box:
    """The box of a conversation: whole pixels of the grid, at least one pixel wide and high."""

    def round_side(low: float, high: float) -> tuple[int, int]:
        if round(low) != round(high):
            return round(low), round(high)
        first = min(math.floor(low), GRID - 1)
        return first, first + 1

    (x_min, x_max), (y_min, y_max) = round_side(box.x_min, box.x_max), round_side(box.y_min, box.y_max)
    return Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)


def is_single(question: Question) -> bool:
    """Whether the ReXVQA export contains the question."""
    return question.format is AnswerFormat.SINGLE and not question.also_right


def read_parquet_images(folder: Path) -> list[dict[str, Any]]:
    """The images of all rows of gold.parquet."""
    rows = pq.read_table(folder / "gold.parquet").column("images").to_pylist()
    return [image for images in rows for image in images]
