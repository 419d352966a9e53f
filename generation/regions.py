"""The regions of GEMeX: 30 made from the 29 of Chest ImaGenome, and their boxes (GEMeX, Table 8).

12 regions are kept, 6 are merged from 13, 4 are dropped, 12 are composed of others. The paper states only the
names. What it leaves open about the boxes is in `RegionSettings`; docs/generation.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.boxes import Box, BoxFit, BoxGrid
from domain.errors import InvalidValue

#: The grid of the boxes of Chest ImaGenome and GEMeX.
GRID = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)

KEPT = (
    "right lung", "right mid lung zone", "right hilar structures", "right hemidiaphragm", "left lung",
    "left mid lung zone", "left hilar structures", "left hemidiaphragm", "trachea", "spine", "abdomen", "svc",
)  # fmt: skip
#: Merged region: its sources. The first source has the name of the region.
MERGED = {
    "left upper lung zone": ("left upper lung zone", "left apical zone"),
    "right upper lung zone": ("right upper lung zone", "right apical zone"),
    "mediastinum": ("mediastinum", "upper mediastinum"),
    "right lower lung zone": ("right lower lung zone", "right costophrenic angle"),
    "left lower lung zone": ("left lower lung zone", "left costophrenic angle"),
    "cardiac silhouette": ("cardiac silhouette", "cavoatrial junction", "right atrium"),
}
DROPPED = ("carina", "right clavicle", "left clavicle", "aortic arch")
#: Composed region: its parts, which are earlier regions. The last two are made of composed regions.
COMPOSED = {
    "bilateral lung": ("left lung", "right lung"),
    "bilateral upper lung zone": ("left upper lung zone", "right upper lung zone"),
    "bilateral mid lung zone": ("left mid lung zone", "right mid lung zone"),
    "bilateral lower lung zone": ("left lower lung zone", "right lower lung zone"),
    "bilateral hilar structures": ("left hilar structures", "right hilar structures"),
    "bilateral hemidiaphragm": ("left hemidiaphragm", "right hemidiaphragm"),
    "left mid-to-lower lung zone": ("left mid lung zone", "left lower lung zone"),
    "right mid-to-lower lung zone": ("right mid lung zone", "right lower lung zone"),
    "left mid-to-upper lung zone": ("left mid lung zone", "left upper lung zone"),
    "right mid-to-upper lung zone": ("right mid lung zone", "right upper lung zone"),
    "bilateral mid-to-lower lung zone": ("left mid-to-lower lung zone", "right mid-to-lower lung zone"),
    "bilateral mid-to-upper lung zone": ("left mid-to-upper lung zone", "right mid-to-upper lung zone"),
}
#: The released data and the prompts of GEMeX call the cardiac silhouette "cardiac region".
ALIASES = {"cardiac region": "cardiac silhouette"}

SOURCE_REGIONS = frozenset([*KEPT, *(name for names in MERGED.values() for name in names), *DROPPED])
REGIONS = (*KEPT, *MERGED, *COMPOSED)


class ComposedBox(StrEnum):
    """The box of a composed region: one box around its parts, or the boxes of its parts."""

    ENCLOSING = "enclosing"
    PARTS = "parts"


class MissingPart(StrEnum):
    """What happens to a composed region if a part has no box: it has none either, or those of the others."""

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


def resolve_region(name: str) -> str:
    """Return the name of one of the 30 regions.

    Args:
        name: the name or an alias; case and surrounding spaces are ignored.

    Raises:
        InvalidValue: there is no such region.

    >>> resolve_region("Cardiac region")
    'cardiac silhouette'
    """
    normalised = " ".join(name.casefold().split())
    normalised = ALIASES.get(normalised, normalised)
    if normalised not in REGIONS:
        raise InvalidValue("region", f"{name!r} is not one of the {len(REGIONS)} regions of GEMeX")
    return normalised


def find_regions_of(source: str) -> tuple[str, ...]:
    """Return the kept or merged regions that a region of Chest ImaGenome belongs to; none if it is dropped.

    >>> find_regions_of("left costophrenic angle")
    ('left lower lung zone',)
    """
    return (
        *(name for name in KEPT if name == source),
        *(name for name, sources in MERGED.items() if source in sources),
    )


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
    unknown = sorted(source_boxes.keys() - SOURCE_REGIONS)
    if unknown:
        raise InvalidValue("region", f"{unknown[0]!r} is not one of the 29 regions of Chest ImaGenome")
    boxes: dict[str, tuple[Box, ...]] = {name: (source_boxes[name],) for name in KEPT if name in source_boxes}
    for name, sources in MERGED.items():
        if name in source_boxes:  # a costophrenic angle alone is not a lower lung zone
            parts = [source_boxes[source] for source in sources if source in source_boxes]
            boxes[name] = (enclose_boxes(parts) if settings.merged_grow else source_boxes[name],)
    for name, part_names in COMPOSED.items():
        present = [boxes[part] for part in part_names if part in boxes]
        if not present or (settings.missing is MissingPart.OMIT and len(present) < len(part_names)):
            continue
        flat = tuple(box for part in present for box in part)
        boxes[name] = (enclose_boxes(flat),) if settings.composed is ComposedBox.ENCLOSING else flat
    return boxes
