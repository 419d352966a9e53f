"""``gold.parquet``: one row per question, with its images, in the layout of the ``datasets`` library.

The metadata of the schema declare the features
(https://huggingface.co/docs/datasets/main/en/about_dataset_features), so that ``load_dataset("parquet",
data_files="gold.parquet")`` returns decoded images if the file has images.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from domain.boxes import unify_grids
from domain.exams import Radiograph
from domain.file_errors import add_filename_to_errors
from domain.gold import GoldItem
from domain.questions import format_answer
from records.questions import QUESTION_FIELDS
from records.values import boxes_to_plain
from release.folder import hash_file
from release.formats.format_writer import FormatWriter
from release.manifest import Entry

#: A function that returns a radiograph as PNG or JPEG, or None if the workspace does not have it.
DisplayImageLoader = Callable[[Radiograph], bytes | None]

_NAME = "gold.parquet"
_TEXT, _NUMBER = pa.string(), pa.int32()
_BOX = pa.struct([("radiograph", _TEXT), ("label", _TEXT), ("box", pa.list_(pa.float64()))])
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", _TEXT)])
#: The column types of those fields of a question that are not text.
_FIELD_TYPES: dict[str, pa.DataType] = {
    "options": pa.list_(_TEXT),
    "answer": pa.list_(_NUMBER),
    "also_right": pa.list_(pa.list_(_NUMBER)),
    "boxes": pa.list_(_BOX),
}
_COLUMNS: dict[str, pa.DataType] = {
    "id": _TEXT,
    "exam_id": _TEXT,
    "patient": _TEXT,
    "indication": _TEXT,
    "age": _TEXT,
    "sex": _TEXT,
    **{
        column: _FIELD_TYPES.get(column, _TEXT)
        for name in QUESTION_FIELDS
        for column in ((name, "answer_text") if name == "answer" else (name,))
    },
    "box_grid": pa.list_(_NUMBER),
    "box_fit": _TEXT,
    "decision": _TEXT,
    "corrected": pa.list_(_TEXT),
    "stratum": _TEXT,
    "inclusion_probability": pa.float64(),
    "views": pa.list_(_TEXT),
    "images": pa.list_(_IMAGE),
}
_VALUE_TYPES = {_TEXT: "string", _NUMBER: "int32", pa.float64(): "float64"}
_BATCH_ROWS = 2_000  # rows that are held in memory before they are written
_BATCH_ROWS_WITH_IMAGES = 32


class ParquetWriter(FormatWriter):
    """Writes the questions of all answer formats with all their fields."""

    name = "parquet"

    def __init__(
        self, folder: Path, *, files: Mapping[str, str], load_display_image: DisplayImageLoader | None
    ) -> None:
        """``load_display_image`` loads the images for the column ``images``; None to include paths only."""
        super().__init__(folder)
        self._path, self._paths, self._load_display_image = folder / _NAME, files, load_display_image
        schema = pa.schema(
            list(_COLUMNS.items()), metadata={"huggingface": msgspec.json.encode(_build_feature_metadata())}
        )
        with add_filename_to_errors(self._path):
            self._writer = pq.ParquetWriter(self._path, schema, compression="zstd")
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self._batch_rows = _BATCH_ROWS_WITH_IMAGES if load_display_image else _BATCH_ROWS
        self._display_images: dict[str, bytes | None] = {}

    def add(self, gold: GoldItem) -> None:
        self._rows.append(self._build_row(gold))
        if len(self._rows) >= self._batch_rows:
            self._flush()

    def finish(self) -> None:
        self._flush()
        with add_filename_to_errors(self._path):
            self._writer.close()
            with self._path.open("rb") as file:
                os.fsync(file.fileno())

    def list_entries(self) -> list[Entry]:
        sha256, length = hash_file(self._path)
        return [Entry(path=_NAME, bytes=length, sha256=sha256)]

    def _flush(self) -> None:
        if self._rows:
            with add_filename_to_errors(self._path):
                self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []
        self._display_images = {}

    def _build_row(self, gold: GoldItem) -> dict[str, Any]:
        question, exam = gold.question, gold.judged.exam
        boxes = unify_grids(question.boxes)
        grid = boxes[0].grid if boxes else None
        return {
            "id": question.id,
            "exam_id": exam.id,
            "patient": exam.patient,
            "indication": exam.indication,
            "age": exam.age,
            "sex": exam.sex,
            **{name: getattr(question, name) for name in QUESTION_FIELDS},
            "answer": () if isinstance(question.answer, str) else question.answer,
            "answer_text": format_answer(question.answer, question.options),
            "boxes": boxes_to_plain(boxes),
            "box_grid": (grid.width, grid.height) if grid else None,
            "box_fit": grid.fit if grid else None,
            "decision": gold.decision,
            "corrected": [change.field for change in gold.changes],
            "stratum": gold.judged.stratum,
            "inclusion_probability": gold.judged.inclusion_probability,
            "views": [radiograph.view for radiograph in exam.radiographs],
            "images": [self._build_image_value(radiograph) for radiograph in exam.radiographs],
        }

    def _build_image_value(self, radiograph: Radiograph) -> dict[str, Any]:
        sha256 = radiograph.sha256 or ""
        path = self._paths.get(sha256, radiograph.file)
        if self._load_display_image is None or not sha256:
            return {"bytes": None, "path": path}
        # Cached, because the questions of an exam are consecutive.
        if sha256 not in self._display_images:
            self._display_images[sha256] = self._load_display_image(radiograph)
        return {"bytes": self._display_images[sha256], "path": path}


def _build_feature_metadata() -> dict[str, Any]:
    return {"info": {"features": {name: _build_feature(data_type) for name, data_type in _COLUMNS.items()}}}


def _build_feature(data_type: pa.DataType) -> Any:  # noqa: ANN401 - the library's own JSON
    """Return the feature of a column type.

    A list is ``[feature]``, which all versions of the library accept.
    """
    if data_type == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(data_type):
        return [_build_feature(data_type.value_type)]
    if pa.types.is_struct(data_type):
        return {field.name: _build_feature(field.type) for field in data_type}
    return {"dtype": _VALUE_TYPES[data_type], "_type": "Value"}
