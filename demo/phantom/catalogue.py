"""The findings that a phantom can show, and the terms for their locations.

Region names are those of the GEMeX visual regions (right lower lung zone, cardiac silhouette, ...), so that
questions about a phantom use the same terms as the published question sets.
"""

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """The kinds of findings that a phantom can contain."""

    NODULE = "nodule"
    EFFUSION = "pleural effusion"
    CARDIOMEGALY = "cardiomegaly"
    PNEUMOTHORAX = "pneumothorax"
    CONSOLIDATION = "consolidation"
    ENDOTRACHEAL_TUBE = "endotracheal tube"
    CENTRAL_VENOUS_CATHETER = "central venous catheter"
    NASOGASTRIC_TUBE = "nasogastric tube"
    PACEMAKER = "pacemaker"


class Side(StrEnum):
    """The patient's side; a patient's right is the left half of a frontal image."""

    RIGHT = "right"
    LEFT = "left"
    MIDLINE = "midline"

    @property
    def sign(self) -> float:
        """-1 for right, +1 for left, 0 for midline: the direction along the patient's X axis."""
        return {Side.RIGHT: -1.0, Side.LEFT: 1.0, Side.MIDLINE: 0.0}[self]


class Zone(StrEnum):
    """Third of the lung by height, or the structure to which a finding belongs."""

    UPPER = "upper lung zone"
    MID = "mid lung zone"
    LOWER = "lower lung zone"
    HEMIDIAPHRAGM = "hemidiaphragm"
    HEART = "cardiac silhouette"
    TRACHEA = "trachea"
    MEDIASTINUM = "mediastinum"
    SVC = "svc"


LUNG_ZONES = (Zone.UPPER, Zone.MID, Zone.LOWER)
DEVICES = frozenset(
    {
        FindingKind.ENDOTRACHEAL_TUBE,
        FindingKind.CENTRAL_VENOUS_CATHETER,
        FindingKind.NASOGASTRIC_TUBE,
        FindingKind.PACEMAKER,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPlacement:
    """The sides and zones that a kind of finding allows; the first of each is the default."""

    sides: tuple[Side, ...]
    zones: tuple[Zone, ...]


_BOTH = (Side.RIGHT, Side.LEFT)

CATALOGUE: dict[FindingKind, AllowedPlacement] = {
    FindingKind.NODULE: AllowedPlacement(sides=_BOTH, zones=LUNG_ZONES),
    FindingKind.EFFUSION: AllowedPlacement(sides=_BOTH, zones=(Zone.LOWER,)),
    FindingKind.CARDIOMEGALY: AllowedPlacement(sides=(Side.MIDLINE,), zones=(Zone.HEART,)),
    FindingKind.PNEUMOTHORAX: AllowedPlacement(sides=_BOTH, zones=(Zone.UPPER,)),
    FindingKind.CONSOLIDATION: AllowedPlacement(sides=_BOTH, zones=(Zone.LOWER, Zone.MID, Zone.UPPER)),
    FindingKind.ENDOTRACHEAL_TUBE: AllowedPlacement(sides=(Side.MIDLINE,), zones=(Zone.TRACHEA,)),
    FindingKind.CENTRAL_VENOUS_CATHETER: AllowedPlacement(sides=(Side.RIGHT,), zones=(Zone.SVC,)),
    FindingKind.NASOGASTRIC_TUBE: AllowedPlacement(sides=(Side.MIDLINE,), zones=(Zone.MEDIASTINUM,)),
    FindingKind.PACEMAKER: AllowedPlacement(sides=(Side.LEFT,), zones=(Zone.UPPER,)),
}


def region_name(side: Side, zone: Zone) -> str:
    """The GEMeX name of the region: ``right lower lung zone``, ``cardiac silhouette``."""
    if zone in LUNG_ZONES or zone is Zone.HEMIDIAPHRAGM:
        return f"{side} {zone}"
    return str(zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSpec:
    """A request for one finding in a phantom.

    Attributes:
        kind: the kind of finding.
        side: the patient's side; None uses the catalogue's default.
        zone: lung zone or structure; None uses the catalogue's default.
        size_mm: nodule diameter; effusion height above the costophrenic angle; pneumothorax gap at the apex;
            consolidation diameter. None derives the size from the seed. Devices and cardiomegaly ignore it.
        conspicuity: 0 (barely visible at the default window) to 1 (obvious).
    """

    kind: FindingKind
    side: Side | None = None
    zone: Zone | None = None
    size_mm: float | None = None
    conspicuity: float = 0.7

    def __post_init__(self) -> None:
        placement = CATALOGUE[self.kind]
        if self.side is not None and self.side not in placement.sides:
            raise ValueError(
                f"{self.kind} cannot be on side {self.side}; allowed: {', '.join(placement.sides)}"
            )
        if self.zone is not None and self.zone not in placement.zones:
            raise ValueError(f"{self.kind} cannot be in {self.zone}; allowed: {', '.join(placement.zones)}")
        if not 0.0 <= self.conspicuity <= 1.0:
            raise ValueError(f"conspicuity must lie in 0..1, not {self.conspicuity}")
        if self.size_mm is not None and not self.size_mm > 0:
            raise ValueError(f"size_mm must be positive, not {self.size_mm}")

    @property
    def resolved_side(self) -> Side:
        """The requested side, or the catalogue's default."""
        return self.side if self.side is not None else CATALOGUE[self.kind].sides[0]

    @property
    def resolved_zone(self) -> Zone:
        """The requested zone, or the catalogue's default."""
        return self.zone if self.zone is not None else CATALOGUE[self.kind].zones[0]
