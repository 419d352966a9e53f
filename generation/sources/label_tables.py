"""Reads tables of labels and boxes: NIH ChestX-ray14, its adjudicated labels, ChestX-Det, CheXlocalize."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from domain.boxes import Box, BoxFit, BoxGrid, LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View
from generation.source_exams import CodedFinding, CodeSystem, SourceExam, SourceImage
from generation.sources.tables import read_csv
from intake.strict_json import decode_strictly

#: NIH's boxes are on images of 1024 x 1024 pixels, as are ChestX-Det's.
_NIH_GRID = BoxGrid(width=1024, height=1024, fit=BoxFit.STRETCH)
_NIH_BOXES, _NIH_LABELS = "BBox_List_2017.csv", "Data_Entry_2017_v2020.csv"
_ADJUDICATED = ("Fracture", "Pneumothorax", "Airspace opacity", "Nodule or mass")
#: The 13 categories of ChestX-Det, all of which three radiologists marked on each image
#: (Lian J et al., arXiv:2104.10326).
CHESTX_DET_LABELS = frozenset(
    [
        "Atelectasis", "Calcification", "Cardiomegaly", "Consolidation", "Diffuse Nodule", "Effusion",
        "Emphysema", "Fibrosis", "Fracture", "Mass", "Nodule", "Pleural Thickening", "Pneumothorax",
    ]
)  # fmt: skip


def read_nih(path: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of NIH's table of labels, or of its table with adjudicated labels.

    A program extracted the labels of ChestX-ray14 from the reports. A listed label states that the finding
    is present; a missing one states nothing. Adjudicated labels (Majkowska A et al., Radiology
    2020;294:421-431) are yes or no; if a row has them, only they are used. Boxes are read from
    ``BBox_List_2017.csv`` in the same folder, if it is there.

    Args:
        path: the table, or a folder with ``Data_Entry_2017_v2020.csv``.

    Raises:
        InvalidValue: the table or a column is missing.
    """
    table = path / _NIH_LABELS if path.is_dir() else path
    if not table.is_file():
        raise InvalidValue("source", f"{table} does not exist")
    boxes = _read_nih_boxes(table.with_name(_NIH_BOXES))
    for line, row in read_csv(table, required=("Image Index", "Finding Labels")):
        file = row["Image Index"].strip()
        record = f"line {line}, {file}"
        try:
            adjudicated = [
                CodedFinding(system=CodeSystem.LABEL, code=name, present=row[name].strip() == "YES")
                for name in _ADJUDICATED
                if row.get(name, "").strip() in {"YES", "NO"}
            ]
            extracted = [
                CodedFinding(system=CodeSystem.LABEL, code=name, boxes=tuple(boxes.get((file, name), ())))
                for name in (label.strip() for label in row["Finding Labels"].split("|"))
                if name not in {"", "No Finding"}
            ]
            view = row.get("View Position", "").strip()
            yield SourceExam(
                id=Path(file).stem,
                patient=f"nih-{row['Patient ID'].strip()}" if row.get("Patient ID") else None,
                age=row.get("Patient Age") or None,
                sex=row.get("Patient Gender") if row.get("Patient Gender") in {"F", "M"} else None,
                file=table.name,
                record=record,
                images=(
                    SourceImage(
                        id="frontal", file=file, view=View(view) if view in {"PA", "AP"} else View.UNKNOWN
                    ),
                ),
                codes=tuple(adjudicated or extracted),
            )
        except InvalidValue as error:
            yield Refusal(file=table.name, record=record, field=error.field, reason=error.reason)


def _read_nih_boxes(path: Path) -> dict[tuple[str, str], list[LabelledBox]]:
    """Read x, y, width and height. The header has them in one name with commas: ``Bbox [x,y,w,h]``."""
    boxes: dict[tuple[str, str], list[LabelledBox]] = defaultdict(list)
    if not path.is_file():
        return boxes
    columns = ("Image Index", "Finding Label", "Bbox [x", "y", "w", "h]")
    for line, row in read_csv(path, required=columns):
        try:
            x, y, width, height = (float(row[name]) for name in columns[2:])
            box = Box(x_min=x, y_min=y, x_max=x + width, y_max=y + height)
        except ValueError as error:
            raise InvalidValue("boxes", f"{path.name}, line {line}: {error}") from error
        # The table of boxes writes "Infiltrate" where the table of labels writes "Infiltration".
        label = {"Infiltrate": "Infiltration"}.get(row["Finding Label"], row["Finding Label"])
        boxes[row["Image Index"].strip(), label].append(
            LabelledBox(radiograph="frontal", label=label, box=box, grid=_NIH_GRID)
        )
    return boxes


def read_chestx_det(path: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of ChestX-Det's JSON. A category without a box is absent: all images were searched.

    Raises:
        InvalidValue: the file is not a list of records.
    """
    records = _read_json(path, list)
    for number, record in enumerate(records, start=1):
        name = f"record {number}"
        try:
            file, labels, corners = _get_chestx_det_fields(record)
            boxes_by_label = defaultdict(list)
            for label, label_corners in zip(labels, corners, strict=True):
                boxes_by_label[label].append(_make_box(label, label_corners, grid=_NIH_GRID))
            yield SourceExam(
                id=Path(file).stem,
                file=path.name,
                record=f"{name}, {file}",
                images=(SourceImage(id="frontal", file=file),),
                codes=tuple(
                    CodedFinding(system=CodeSystem.LABEL, code=label, boxes=tuple(boxes))
                    for label, boxes in boxes_by_label.items()
                ),
                labels_searched=CHESTX_DET_LABELS,
            )
        except InvalidValue as error:
            yield Refusal(file=path.name, record=name, field=error.field, reason=error.reason)


def _get_chestx_det_fields(record: object) -> tuple[str, list[str], list[list[float]]]:
    fields = [record.get(key) for key in ("file_name", "syms", "boxes")] if isinstance(record, dict) else []
    if len(fields) != 3 or not isinstance(fields[0], str) or not fields[0]:
        raise InvalidValue("file_name", "is missing")
    _, labels, corners = fields
    if not isinstance(labels, list) or not isinstance(corners, list) or len(labels) != len(corners):
        raise InvalidValue("boxes", "must be a list with one box per entry of syms")
    unknown_labels = [label for label in labels if label not in CHESTX_DET_LABELS]
    if unknown_labels:
        raise InvalidValue("syms", f"{unknown_labels[0]!r} is not one of the 13 categories")
    return fields[0], labels, corners


def read_chexlocalize(path: Path) -> Iterator[SourceExam | Refusal]:
    """Yield the exams of CheXlocalize's polygons. A finding without a polygon states nothing.

    The box of a polygon is the smallest that contains it, on the grid ``img_size`` [height, width].

    Raises:
        InvalidValue: the file is not an object of images.
    """
    images = _read_json(path, dict)
    for key, findings in images.items():
        try:
            if not isinstance(findings, dict) or "img_size" not in findings:
                raise InvalidValue("img_size", "is missing; give the file of polygons, not of RLE masks")
            height, width = findings["img_size"]
            grid = BoxGrid(width=width, height=height, fit=BoxFit.STRETCH)
            codes = tuple(
                CodedFinding(
                    system=CodeSystem.LABEL,
                    code=label,
                    boxes=tuple(_enclose_polygon(label, polygon, grid=grid) for polygon in polygons),
                )
                for label, polygons in findings.items()
                if label != "img_size" and polygons
            )
            patient, study, *view = key.split("_")
            yield SourceExam(
                id=key,
                patient=patient,
                file=path.name,
                record=key,
                images=(
                    SourceImage(
                        id="frontal",
                        file=f"{patient}/{study}/{'_'.join(view)}.jpg",
                        view=View.LATERAL if view and view[-1] == "lateral" else View.UNKNOWN,
                    ),
                ),
                codes=codes,
            )
        except (InvalidValue, TypeError, ValueError) as error:
            field = error.field if isinstance(error, InvalidValue) else "image"
            reason = error.reason if isinstance(error, InvalidValue) else f"is malformed: {error}"
            yield Refusal(file=path.name, record=key, field=field, reason=reason)


def _read_json(path: Path, kind: type) -> Any:  # noqa: ANN401  # a list or an object, as kind states
    if not path.is_file():
        raise InvalidValue("source", f"{path} is not a file")
    value = decode_strictly(path.read_bytes())
    if not isinstance(value, kind):
        raise InvalidValue("file", f"{path.name} is not {'a list' if kind is list else 'an object'}")
    return value


def _make_box(label: str, corners: Iterable[float], *, grid: BoxGrid) -> LabelledBox:
    try:
        x_min, y_min, x_max, y_max = map(float, corners)
        box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    except (TypeError, ValueError) as error:
        raise InvalidValue("boxes", f"{label}: {error}") from error
    return LabelledBox(radiograph="frontal", label=label, box=box, grid=grid)


def _enclose_polygon(label: str, polygon: list[list[float]], *, grid: BoxGrid) -> LabelledBox:
    xs, ys = zip(*polygon, strict=True)
    return _make_box(label, (min(xs), min(ys), max(xs), max(ys)), grid=grid)
