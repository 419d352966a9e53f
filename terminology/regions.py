"""The names of GEMeX's regions: 30 made from the 29 of Chest ImaGenome (GEMeX, Table 8).

12 regions are kept, 6 are merged from 13, 4 are dropped, 12 are composed of others.
"""

from __future__ import annotations

from domain.errors import InvalidValue

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
