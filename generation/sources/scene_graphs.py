"""Reads scene graphs of Chest ImaGenome: regions with boxes on a 224 x 224 grid, attributes by sentence.

Each ``*_SceneGraph.json`` is one frontal image. An attribute is ``category|yes or no|name``, such as
``anatomicalfinding|no|pneumothorax``. See Wu JT et al., arXiv:2108.00316.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View
from generation.regions import GRID, RegionSettings, map_region_boxes
from generation.source_exams import CodedFinding, CodeSystem, ReportSections, SourceExam, SourceImage
from intake.strict_json import decode_strictly
from terminology.regions import DROPPED, SOURCE_REGIONS, find_regions_of

#: Categories of attributes that name something visible. Others describe it, such as its severity.
_FINDING_CATEGORIES = ("anatomicalfinding", "disease", "tubesandlines", "device")
_VIEWS = {"PA": View.PA, "AP": View.AP}


def read_scene_graphs(
    folder: Path, *, settings: RegionSettings | None = None
) -> Iterator[SourceExam | Refusal]:
    """Yield one exam per scene graph, ordered by file name.

    Attributes of unknown and of dropped regions are left out; `count_ignored_regions` counts them.

    Args:
        folder: the folder of the ``*_SceneGraph.json`` files.
        settings: how boxes of merged and composed regions are made; None for the defaults.

    Raises:
        InvalidValue: there is no scene graph.
    """
    paths = sorted(folder.glob("*_SceneGraph.json"))
    if not paths:
        raise InvalidValue("source", f"{folder} contains no *_SceneGraph.json")
    for path in paths:
        try:
            yield _parse_scene_graph(path, settings)
        except InvalidValue as error:
            yield Refusal(file=path.name, record="", field=error.field, reason=error.reason)


def count_ignored_regions(folder: Path) -> dict[str, int]:
    """Count, by reason, the entries that are ignored: unknown regions, and regions that GEMeX drops."""
    counts: dict[str, int] = {}
    for path in sorted(folder.glob("*_SceneGraph.json")):
        try:
            graph = decode_strictly(path.read_bytes())
            region_entries = _get_list(graph, "attributes")
        except InvalidValue:
            continue  # reported when the graph is read
        for region_entry in region_entries:
            name = str(region_entry.get("name", "")) if isinstance(region_entry, dict) else ""
            if name in DROPPED:
                reason = f"regions that GEMeX drops ({name})"
            elif name not in SOURCE_REGIONS:
                reason = f"regions that are not among the 29 of Chest ImaGenome ({name or 'no name'})"
            else:
                continue
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def add_region_boxes(
    exams: Sequence[SourceExam], folder: Path, *, settings: RegionSettings | None = None
) -> tuple[SourceExam, ...]:
    """Return the exams of another source with region boxes added from scene graphs.

    Args:
        exams: the exams.
        folder: the folder of the ``*_SceneGraph.json`` files; each describes the image whose id it contains.
        settings: how boxes of merged and composed regions are made; None for the defaults.

    Raises:
        InvalidValue: there is no scene graph, or one of them is not valid.
    """
    boxes = {}
    for exam in read_scene_graphs(folder, settings=settings):
        if isinstance(exam, Refusal):
            raise InvalidValue(f"{exam.file}: {exam.field}", exam.reason)
        boxes[exam.images[0].id] = exam.region_boxes
    return tuple(
        replace(
            exam,
            region_boxes=next((boxes[image.id] for image in exam.images if image.id in boxes), {}),
        )
        for exam in exams
    )


def _parse_scene_graph(path: Path, settings: RegionSettings | None) -> SourceExam:
    graph = decode_strictly(path.read_bytes())
    image_id = graph.get("image_id") if isinstance(graph, dict) else None
    if not isinstance(image_id, str) or not image_id:
        raise InvalidValue("image_id", "is missing")
    source_boxes: dict[str, Box] = {}
    for entry in _get_list(graph, "objects"):
        name = entry.get("bbox_name") if isinstance(entry, dict) else None
        if name not in SOURCE_REGIONS:
            continue
        if name in source_boxes:
            raise InvalidValue("objects", f"{name!r} occurs twice")
        source_boxes[name] = _parse_box(name, entry)
    boxes = {
        region: tuple(LabelledBox(radiograph=image_id, label=region, box=box, grid=GRID) for box in parts)
        for region, parts in map_region_boxes(source_boxes, settings=settings).items()
    }
    codes = [
        code
        for region_entry in _get_list(graph, "attributes")
        if isinstance(region_entry, dict)
        for code in _parse_region_entry(region_entry, boxes)
    ]
    study = graph.get("study_id")
    patient = graph.get("patient_id")
    return SourceExam(
        id=f"s{study}" if study else image_id,
        patient=f"p{patient}" if patient else None,
        file=path.name,
        record=image_id,
        images=(
            SourceImage(
                id=image_id, file=f"{image_id}.jpg", view=_VIEWS.get(graph.get("viewpoint"), View.UNKNOWN)
            ),
        ),
        report=ReportSections(indication=str(graph.get("reason_for_exam") or "")),
        codes=tuple(dict.fromkeys(codes)),
        region_boxes=boxes,
    )


def _parse_region_entry(
    region_entry: dict[str, Any], boxes: dict[str, tuple[LabelledBox, ...]]
) -> Iterator[CodedFinding]:
    """Yield the findings of one region. A sentence that compares with a prior exam is left out."""
    regions = find_regions_of(str(region_entry.get("name", "")))
    sentences = _get_list(region_entry, "phrases")
    temporal = _get_list(region_entry, "temporal_cues")
    for index, attributes in enumerate(_get_list(region_entry, "attributes")):
        if index < len(temporal) and temporal[index]:
            continue
        for text in attributes if isinstance(attributes, list) else []:
            parts = str(text).split("|")
            if len(parts) != 3 or parts[1] not in {"yes", "no"}:
                raise InvalidValue("attributes", f"{text!r} is not category|yes or no|name")
            if parts[0] not in _FINDING_CATEGORIES:
                continue
            for region in regions:
                yield CodedFinding(
                    system=CodeSystem.SCENE_GRAPH,
                    code=parts[2],
                    present=parts[1] == "yes",
                    region=region,
                    sentence=str(sentences[index]) if index < len(sentences) else "",
                    boxes=boxes.get(region, ()),
                )


def _get_list(value: object, name: str) -> list[Any]:
    entries = value.get(name, []) if isinstance(value, dict) else []
    if not isinstance(entries, list):
        raise InvalidValue(name, "must be a list")
    return entries


def _parse_box(name: str, entry: dict[str, Any]) -> Box:
    values = [entry.get(key) for key in ("x1", "y1", "x2", "y2")]
    corners = [value for value in values if isinstance(value, int | float)]
    if len(corners) != 4:
        raise InvalidValue("objects", f"{name}: x1, y1, x2, y2 must be numbers, not {values}")
    try:
        box = Box(x_min=corners[0], y_min=corners[1], x_max=corners[2], y_max=corners[3])
    except InvalidValue as error:
        raise InvalidValue("objects", f"{name}: {error.reason}") from error
    if not box.lies_within(rows=GRID.height, columns=GRID.width):
        raise InvalidValue(
            "objects",
            f"{name}: {list(box.as_tuple())} is not on the {GRID.width} x {GRID.height} grid",
        )
    return box
