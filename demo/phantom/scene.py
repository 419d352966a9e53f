"""Everything in three dimensions that the two projections of an exam share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from demo.phantom.catalogue import DEVICES, FindingKind, FindingSpec, Side, region_name
from demo.phantom.devices import Device, draw_device
from demo.phantom.frame import Frame, View
from demo.phantom.habitus import Habitus, draw_habitus, stream
from demo.phantom.heart import Heart, draw_heart
from demo.phantom.lesions import Consolidation, Nodule, draw_consolidation, draw_nodule
from demo.phantom.pleura import (
    effusion_dome,
    effusion_height,
    effusion_shell,
    pneumothorax_gap,
    pneumothorax_shell,
)
from demo.phantom.thorax import NO_SHELL, Cage, Dome, Shell, draw_dome
from domain.boxes import Box

Extent = tuple[float, float, float, float]
SIDES = (Side.RIGHT, Side.LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A finding with its place in the scene; ``extent`` gives its projected edges in mm, or None where unseen."""

    spec: FindingSpec
    size_mm: float
    extent: Callable[["Scene", Frame], Extent | None]

    @property
    def region(self) -> str:
        """GEMeX name of the region."""
        return region_name(self.spec.placed_side, self.spec.placed_zone)

    def boxes(self, scene: "Scene", frames: Mapping[View, Frame]) -> dict[View, Box]:
        """Its box in each view that shows it, in pixels, clipped to the image."""
        found = {}
        for view, frame in frames.items():
            extent = self.extent(scene, frame)
            if extent is not None:
                found[view] = to_box(frame, extent)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Patient and findings; shells and bases hold what fluid and air do to the lung of a side."""

    habitus: Habitus
    cage: Cage
    domes: dict[Side, Dome]
    heart: Heart
    fluid: dict[Side, Shell]
    bases: dict[Side, Dome]
    air: dict[Side, Shell]
    nodules: tuple[Nodule, ...]
    consolidations: tuple[Consolidation, ...]
    devices: tuple[Device, ...]
    pleural_line: float
    findings: tuple[Placed, ...]


def to_box(frame: Frame, extent: Extent) -> Box:
    """Projected mm -> box in pixels, clipped to the matrix."""
    x0, y0 = frame.to_pixels(extent[0], extent[1])
    x1, y1 = frame.to_pixels(extent[2], extent[3])
    return Box(
        x_min=round(float(x0), 1),
        y_min=round(float(y0), 1),
        x_max=round(float(x1), 1),
        y_max=round(float(y1), 1),
    ).clipped(rows=frame.rows, columns=frame.columns)


def build_scene(seed: int, *, findings: Sequence[FindingSpec], sex: str, age: int) -> Scene:
    """Draw the patient, then each finding from a random source of its own."""
    from demo.phantom.visibility import changed_extent

    big = next((spec for spec in findings if spec.kind is FindingKind.CARDIOMEGALY), None)
    habitus = draw_habitus(seed, sex=sex, age=age)
    if big is not None:
        ratio = 0.53 + 0.10 * big.conspicuity + float(stream(seed, 40).uniform(-0.008, 0.008))
        habitus = draw_habitus(seed, sex=sex, age=age, ctr=ratio)
    cage = Cage(habitus=habitus)
    domes = {side: draw_dome(habitus, side) for side in SIDES}
    heart = draw_heart(habitus)
    fluid, air, bases = dict.fromkeys(SIDES, NO_SHELL), dict.fromkeys(SIDES, NO_SHELL), dict(domes)
    nodules: list[Nodule] = []
    consolidations: list[Consolidation] = []
    devices: list[Device] = []
    placed: list[Placed] = []
    line = 0.0
    for number, spec in enumerate(findings):
        random = stream(seed, 50 + number)
        side = spec.placed_side
        if spec.kind is FindingKind.CARDIOMEGALY:
            size, extent = 2 * habitus.half_width * habitus.ctr, _of_heart
        elif spec.kind is FindingKind.EFFUSION:
            size = effusion_height(spec, random)
            fluid[side], bases[side] = (
                effusion_shell(habitus, domes[side], size),
                effusion_dome(domes[side], size),
            )
            extent = changed_extent(side, "fluid")
        elif spec.kind is FindingKind.PNEUMOTHORAX:
            size = pneumothorax_gap(spec, random)
            air[side], line = pneumothorax_shell(habitus, size), 0.45 + 0.55 * spec.conspicuity
            extent = changed_extent(side, "air")
        elif spec.kind is FindingKind.NODULE:
            nodule, size = draw_nodule(spec, cage, domes[side], heart, random)
            nodules.append(nodule)
            extent = _of_nodule(nodule)
        elif spec.kind is FindingKind.CONSOLIDATION:
            opacity, size = draw_consolidation(spec, cage, domes[side], heart, random)
            consolidations.append(opacity)
            extent = changed_extent(side, "consolidation", index=len(consolidations) - 1)
        else:
            assert spec.kind in DEVICES
            device = draw_device(spec, habitus, cage, heart, random)
            size = device.length()
            devices.append(device)
            extent = _of_device(device)
        placed.append(Placed(spec=spec, size_mm=float(size), extent=extent))
    return Scene(
        habitus=habitus, cage=cage, domes=domes, heart=heart, fluid=fluid, bases=bases, air=air,
        nodules=tuple(nodules), consolidations=tuple(consolidations), devices=tuple(devices), pleural_line=line,
        findings=tuple(placed),
    )  # fmt: skip


def _of_heart(scene: Scene, frame: Frame) -> Extent:
    return heart_extent(scene, frame)


def heart_extent(scene: Scene, frame: Frame) -> Extent:
    """Edges of the visible silhouette: the lower part lies in the abdomen's shadow and is left out."""
    u0, v0, u1, v1 = scene.heart.extent(frame)
    floor = scene.habitus.left_dome_y + 14
    return u0, v0, u1, min(v1, floor)


def _of_nodule(nodule: Nodule) -> Callable[[Scene, Frame], Extent]:
    return lambda _scene, frame: nodule.extent(frame)


def _of_device(device: Device) -> Callable[[Scene, Frame], Extent]:
    return lambda _scene, frame: device.extent(frame)
