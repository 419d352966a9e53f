"""The three-dimensional objects that both projections of an exam share."""

from collections.abc import Sequence
from dataclasses import dataclass

from demo.phantom.catalogue import FindingKind, FindingSpec, Side, region_name
from demo.phantom.devices import Device, draw_device
from demo.phantom.frame import Frame
from demo.phantom.habitus import Habitus, draw_habitus, part_rng
from demo.phantom.heart import Heart, draw_heart
from demo.phantom.lesions import Consolidation, Nodule, draw_consolidation, draw_nodule
from demo.phantom.pleura import (
    effusion_height,
    effusion_shell,
    pneumothorax_gap,
    pneumothorax_shell,
)
from demo.phantom.ribs import draw_ribs
from demo.phantom.thorax import NO_SHELL, Cage, Dome, Shell, draw_dome
from demo.phantom.tubes import Tubes
from demo.phantom.vessels import draw_vessels
from domain.boxes import Box

Extent = tuple[float, float, float, float]
SIDES = (Side.RIGHT, Side.LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFinding:
    """A finding in the scene; ``scene_object`` is its object if it has one (nodule, opacity, device)."""

    spec: FindingSpec
    size_mm: float
    scene_object: Nodule | Consolidation | Device | None = None

    @property
    def region(self) -> str:
        """GEMeX name of the region."""
        return region_name(self.spec.resolved_side, self.spec.resolved_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Patient and findings. The shells describe how fluid and air displace the lung of each side.

    ``vessels`` are those of a healthy lung.
    """

    habitus: Habitus
    cage: Cage
    domes: dict[Side, Dome]
    heart: Heart
    ribs: Tubes
    vessels: dict[Side, Tubes]
    fluid: dict[Side, Shell]
    air: dict[Side, Shell]
    nodules: tuple[Nodule, ...]
    consolidations: tuple[Consolidation, ...]
    devices: tuple[Device, ...]
    pleural_line: float
    findings: tuple[PlacedFinding, ...]


def to_box(frame: Frame, extent: Extent) -> Box:
    """Convert projected mm to a box in pixels, clipped to the matrix."""
    x0, y0 = frame.to_pixels(extent[0], extent[1])
    x1, y1 = frame.to_pixels(extent[2], extent[3])
    return Box(
        x_min=round(float(x0), 1),
        y_min=round(float(y0), 1),
        x_max=round(float(x1), 1),
        y_max=round(float(y1), 1),
    ).clip_to_matrix(rows=frame.rows, columns=frame.columns)


def build_scene(seed: int, *, findings: Sequence[FindingSpec], sex: str, age: int) -> Scene:
    """Generate the patient, then each finding with its own random generator."""
    habitus = draw_habitus(seed, sex=sex, age=age, ctr=_cardiomegaly_ratio(seed, findings))
    cage, heart = Cage(habitus=habitus), draw_heart(habitus)
    domes = {side: draw_dome(habitus, side) for side in SIDES}
    fluid, air = dict.fromkeys(SIDES, NO_SHELL), dict.fromkeys(SIDES, NO_SHELL)
    placed: list[PlacedFinding] = []
    pleural_line = 0.0
    for number, spec in enumerate(findings):
        random = part_rng(seed, 50 + number)
        side = spec.resolved_side
        part: Nodule | Consolidation | Device | None = None
        if spec.kind is FindingKind.CARDIOMEGALY:
            size = 2 * habitus.half_width * habitus.ctr
        elif spec.kind is FindingKind.EFFUSION:
            size = effusion_height(spec, random)
            fluid[side] = effusion_shell(domes[side], size)
        elif spec.kind is FindingKind.PNEUMOTHORAX:
            size = pneumothorax_gap(spec, random)
            air[side], pleural_line = pneumothorax_shell(habitus, size), 0.6 + 0.4 * spec.conspicuity
        elif spec.kind is FindingKind.NODULE:
            part, size = draw_nodule(spec, cage, domes[side], heart, random=random)
        elif spec.kind is FindingKind.CONSOLIDATION:
            part, size = draw_consolidation(spec, cage, domes[side], heart, random=random)
        else:
            part = draw_device(spec, cage, heart, random)
            size = part.length()
        placed.append(PlacedFinding(spec=spec, size_mm=float(size), scene_object=part))
    parts = [finding.scene_object for finding in placed]
    return Scene(
        habitus=habitus,
        cage=cage,
        domes=domes,
        heart=heart,
        ribs=draw_ribs(habitus, cage),
        vessels={side: draw_vessels(habitus, cage, domes[side], heart) for side in SIDES},
        fluid=fluid,
        air=air,
        nodules=tuple(part for part in parts if isinstance(part, Nodule)),
        consolidations=tuple(part for part in parts if isinstance(part, Consolidation)),
        devices=tuple(part for part in parts if isinstance(part, Device)),
        pleural_line=pleural_line,
        findings=tuple(placed),
    )


def _cardiomegaly_ratio(seed: int, findings: Sequence[FindingSpec]) -> float | None:
    """The cardiothoracic ratio for a cardiomegaly among the findings; None if there is none."""
    for spec in findings:
        if spec.kind is FindingKind.CARDIOMEGALY:
            return 0.53 + 0.10 * spec.conspicuity + float(part_rng(seed, 40).uniform(-0.008, 0.008))
    return None


def heart_extent(scene: Scene, frame: Frame) -> Extent:
    """Edges of the visible silhouette, without the lower part, which is obscured by the abdomen."""
    u0, v0, u1, v1 = scene.heart.extent(frame)
    return u0, v0, u1, min(v1, scene.habitus.left_dome_y + 8)
