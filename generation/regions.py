"""The boxes of GEMeX's regions, made from those of Chest ImaGenome (GEMeX, Table 8).

The paper states only the names (`terminology/regions.py`). What it leaves open about the boxes is in
`RegionSettings`; docs/generation.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.boxes import Box, BoxFit, BoxGrid
from domain.errors import InvalidValue
from terminology.regions import COMPOSED, KEPT, MERGED, SOURCE_REGIONS

#: The grid of the boxes of Chest ImaGenome and GEMeX.
GRID = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)


class ComposedBox(StrEnum):
    """The box of a composed region: one box around its parts, or the boxes of its parts."""

    ENCLOSING = "enclosing"
    PARTS = "parts"


class MissingPart(StrEnum):
    """The boxes of a composed region if one of its parts has no box: none, or those of the other parts."""

    OMIT = "omit"
    USE_REST = "use-rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionSettings:
    """The choices that GEMeX leaves open.

    ``composed``: GEMeX releases one box for bilateral regions, so the default is the enclosing box.
    ``missing``: half of a bilateral region would be a wrong box, so the default is to omit the region.
    ``merged_grow``: whether a merged region encloses all its sources. It does by default: a sentence on a
    costophrenic angle is assigned to the lower lung zone, so the zone's box has to contain the angle.
    """

    composed: ComposedBox = ComposedBox.ENCLOSING
    missing: MissingPart = MissingPart.OMIT
    merged_grow: bool = True


def enclose_boxes(boxes: Iterable[Box]) -> Box:
    """Return the smallest box that contains all boxes.

    Args:
        boxes: one or more boxes on the same grid.

    >>> enclose_boxes([Box(x_min=0, y_min=2, x_max=3, y_max=4), Box(x_min=5, y_min=1, x_max=6, y_max=3)])
    Box(x_min=0, y_min=1, x_max=6, y_max=4)
    """
    parts = list(boxes)
    return Box(
        x_min=min(box.x_min for box in parts),
        y_min=min(box.y_min for box in parts),
        x_max=max(box.x_max for box in parts),
        y_max=max(box.y_max for box in parts),
    )


def map_region_boxes(
    source_boxes: Mapping[str, Box], *, settings: RegionSettings | None = None
) -> dict[str, tuple[Box, ...]]:
    """Map the boxes of Chest ImaGenome's regions to those of the 30 regions.

    Args:
        source_boxes: boxes by the names of Chest ImaGenome, on one grid. Regions may be missing.
        settings: the choices that the paper leaves open; None for the defaults.

    Returns:
        The boxes by region, on the same grid: one box, or several for a composed region with
        ``ComposedBox.PARTS``. Regions without a box are left out.

    Raises:
        InvalidValue: a name is not one of the 29.
    """
    settings = settings or RegionSettings()
    unknown_names = sorted(source_boxes.keys() - SOURCE_REGIONS)
    if unknown_names:
        raise InvalidValue("region", f"{unknown_names[0]!r} is not one of the 29 regions of Chest ImaGenome")
    boxes: dict[str, tuple[Box, ...]] = {name: (source_boxes[name],) for name in KEPT if name in source_boxes}
    for name, sources in MERGED.items():
        if name in source_boxes:  # a costophrenic angle alone is not a lower lung zone
            parts = [source_boxes[source] for source in sources if source in source_boxes]
            boxes[name] = (enclose_boxes(parts) if settings.merged_grow else source_boxes[name],)
    for name, part_names in COMPOSED.items():
        part_boxes = [boxes[part] for part in part_names if part in boxes]
        if not part_boxes or (settings.missing is MissingPart.OMIT and len(part_boxes) < len(part_names)):
            continue
        flat_boxes = tuple(box for part in part_boxes for box in part)
        boxes[name] = (
            (enclose_boxes(flat_boxes),) if settings.composed is ComposedBox.ENCLOSING else flat_boxes
        )
    return boxes
