"""``boxes.coco.json``: the boxes of the released questions as COCO object annotations.

A COCO box is [x, y, width, height] in pixels. Its origin is the outer corner of the top-left pixel, as in
:class:`domain.boxes.Box`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from domain.exams import Radiograph
from domain.gold import GoldItem
from release.formats.format_writer import FormatLimitation, FormatWriter


class CocoWriter(FormatWriter):
    """Writes the images with their sizes, one category per label and one annotation per box.

    Ids start at 1.
    """

    name = "coco"

    def __init__(self, folder: Path, *, paths_by_sha256: Mapping[str, str]) -> None:
        """``paths_by_sha256`` has the paths of copied images.

        Other images keep the path given in the question file.
        """
        super().__init__(folder, "boxes.coco.json")
        self._paths = paths_by_sha256
        self._images: dict[tuple[str, str], dict[str, Any]] = {}
        self._categories: dict[str, int] = {}
        self._annotations: list[dict[str, Any]] = []

    def add(self, gold: GoldItem) -> None:
        exam = gold.judged.exam
        if any(
            exam.find_radiograph(labelled_box.radiograph).rows is None for labelled_box in gold.question.boxes
        ):
            self.limitations[FormatLimitation.NO_SIZE] += 1
            return
        for radiograph in exam.radiographs:
            if radiograph.rows is not None:
                self._add_image(exam.id, radiograph)
        for labelled_box in gold.question.boxes:
            box = labelled_box.box
            self._annotations.append(
                {
                    "id": len(self._annotations) + 1,
                    "image_id": self._images[exam.id, labelled_box.radiograph]["id"],
                    "category_id": self._categories.setdefault(labelled_box.label, len(self._categories) + 1),
                    "bbox": [box.x_min, box.y_min, box.width, box.height],
                    "area": box.width * box.height,
                    "iscrowd": 0,
                    "question_id": gold.question.id,
                }
            )

    def finish(self) -> None:
        document = {
            "images": list(self._images.values()),
            "categories": [
                {"id": category_id, "name": label} for label, category_id in self._categories.items()
            ],
            "annotations": self._annotations,
        }
        self._files["boxes.coco.json"].write(msgspec.json.encode(document) + b"\n")

    def _add_image(self, exam_id: str, radiograph: Radiograph) -> None:
        key = (exam_id, radiograph.id)
        if key not in self._images:
            self._images[key] = {
                "id": len(self._images) + 1,
                "file_name": self._paths.get(radiograph.sha256 or "", radiograph.file),
                "width": radiograph.columns,
                "height": radiograph.rows,
                "exam_id": exam_id,
                "radiograph": radiograph.id,
            }
