"""Lines and tubes, as curves whose weights are attenuation per mm."""

from dataclasses import dataclass

import numpy as np

from demo.phantom.airways import trachea_line
from demo.phantom.catalogue import FindingKind, FindingSpec
from demo.phantom.frame import Field, Frame, Points
from demo.phantom.habitus import Habitus
from demo.phantom.heart import Heart
from demo.phantom.thorax import Cage
from demo.phantom.tubes import Tubes, join_curves, sample_curve

DEVICE_CLASSES = (0.7, 1.2, 2.2, 4.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class PulseGenerator:
    """The case of a pacemaker: a flat rounded box, centre (3,) and half sizes (3,) in mm."""

    centre: Points
    half: Points

    def attenuation(self, frame: Frame, u: Field, v: Field) -> Field:
        """Line integral through the case and its denser battery, unitless."""
        half_width = float(np.abs(frame.across) @ self.half)
        half_depth = float(np.abs(frame.beam) @ self.half)
        t = np.abs((u - np.float32(self.centre @ frame.across)) / np.float32(half_width)) ** 4
        s = np.abs((v - np.float32(self.centre[1])) / np.float32(self.half[1])) ** 4
        edge = np.clip((1 - t - s) * 7, 0, 1)
        battery = np.clip(
            (1 - t * 3 - np.abs((v - np.float32(self.centre[1] + 0.35 * self.half[1])) / 12) ** 4) * 6, 0, 1
        )
        thickness: Field = edge * (1.0 + 0.14 * half_depth) + 0.5 * battery
        return thickness.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The tubes of one device, its case if any, and its course: the points (n, 3) that the box encloses."""

    tubes: tuple[Tubes, ...]
    course: Points
    case: PulseGenerator | None = None
    margin: float = 2.0

    def extent(self, frame: Frame) -> tuple[float, float, float, float]:
        """u_min, v_min, u_max, v_max in mm, with the margin around the course."""
        u, v = frame.project(self.course)
        return (
            float(u.min()) - self.margin,
            float(v.min()) - 2,
            float(u.max()) + self.margin,
            float(v.max()) + 2,
        )

    def length(self) -> float:
        """Length of the course, mm."""
        return float(np.linalg.norm(np.diff(self.course, axis=0), axis=1).sum())


def draw_device(spec: FindingSpec, cage: Cage, heart: Heart, random: np.random.Generator) -> Device:
    """The device that ``spec`` requests, in correct position.

    Raises:
        ValueError: the finding is not a device.
    """
    strength = 0.45 + 0.75 * spec.conspicuity
    if spec.kind is FindingKind.PACEMAKER:
        return _draw_pacemaker(cage, heart, random, strength)
    draw_functions = {
        FindingKind.ENDOTRACHEAL_TUBE: _draw_endotracheal_tube,
        FindingKind.CENTRAL_VENOUS_CATHETER: _draw_catheter,
        FindingKind.NASOGASTRIC_TUBE: _draw_nasogastric_tube,
    }
    if spec.kind not in draw_functions:
        raise ValueError(f"{spec.kind} is not a device")
    return draw_functions[spec.kind](cage.habitus, random, strength)


def _draw_line(
    knots: Points, radius: float, per_mm: float, *, cortex: float = 0.0, core: float = 1.0
) -> Tubes:
    return join_curves([sample_curve(knots, radius, step=0.3, weight=per_mm)], cortex=cortex, core=core)


def _draw_endotracheal_tube(habitus: Habitus, random: np.random.Generator, strength: float) -> Device:
    """Through the trachea to about 45 mm above the carina."""
    tip = habitus.carina - float(random.uniform(36, 55))
    line, _, _ = sample_curve(trachea_line(habitus), 1.0, step=1.0)
    course = line[line[:, 1] < tip]
    knots = course[:: max(1, len(course) // 8)]
    knots = np.concatenate([knots[:-1], course[-1:]])
    stripe = knots + np.array([2.8, 0, 0])
    return Device(
        tubes=(
            _draw_line(knots, 4.6, 0.020 * strength, cortex=1.2, core=0.05),
            _draw_line(stripe, 0.8, 0.30 * strength),
        ),
        course=course,
        margin=6.5,
    )


def _draw_catheter(habitus: Habitus, random: np.random.Generator, strength: float) -> Device:
    """From the right internal jugular vein to the junction of superior vena cava and right atrium."""
    y = habitus.carina
    drift = float(random.normal(0, 2))
    knots = np.array(
        [
            [-36 + drift, -6, 6], [-34 + drift, 0.45 * habitus.apex, 8], [-27, habitus.apex + 12, 14],
            [-20, habitus.apex + 42, 18], [-22, y - 12, 16], [-25, y + 22, 14],
            [-24, y + float(random.uniform(38, 52)), 12],
        ]
    )  # fmt: skip
    points, _, _ = sample_curve(knots, 1.2, step=1.0)
    return Device(tubes=(_draw_line(knots, 1.25, 0.18 * strength),), course=points)


def _draw_nasogastric_tube(habitus: Habitus, random: np.random.Generator, strength: float) -> Device:
    """Behind the trachea, through the oesophagus and the hiatus into the stomach."""
    top = habitus.left_dome_y
    y = habitus.carina
    knots = np.array(
        [
            [3, -6, -6], [5, 0.8 * habitus.apex, -14], [1, y - 20, -30], [3, y + 40, -36], [6, top - 30, -32],
            [15, top + 8, -22], [30, top + 30, -6], [46 + float(random.normal(0, 4)), top + 48, 12],
            [44, top + 66 + float(random.normal(0, 5)), 26],
        ]
    )  # fmt: skip
    points, _, _ = sample_curve(knots, 2.2, step=1.0)
    return Device(
        tubes=(
            _draw_line(knots, 2.2, 0.045 * strength, cortex=0.7, core=0.15),
            _draw_line(knots + np.array([0.8, 0, 0]), 0.7, 0.30 * strength),
        ),
        course=points,
    )


def _draw_pacemaker(cage: Cage, heart: Heart, random: np.random.Generator, strength: float) -> Device:
    """A case below the left clavicle; leads through the subclavian vein to right atrium and ventricle."""
    habitus = cage.habitus
    y, level = habitus.carina, habitus.apex + 0.30 * habitus.lung
    front = float(cage.front_z(level)) + 22
    case = PulseGenerator(
        centre=np.array([0.71 * habitus.half_width + float(random.normal(0, 3)), level, front - 8]),
        half=np.array([24.0, 21.0, 4.0]),
    )
    base = max(part.extent_along(np.array([0.0, 1.0, 0.0]))[1] for part in heart.parts)
    exit_point = case.centre + np.array([-14.0, -19.0, 0.0])
    vein = np.array(
        [[52, level - 34, 28], [26, level - 30, 22], [2, habitus.apex + 52, 20], [-20, y - 14, 18]]
    )
    coil = case.centre + np.array([[-14.0, -19, 0], [6, -29, 0], [24, -22, -2], [4, -33, -6]])
    ventricle = np.concatenate(
        [coil, vein, [[-25, y + 30, 18], [-20, base - 52, 22], [10, base - 26, 34], [40, base - 22, 44]]]
    )
    atrium = np.concatenate(
        [
            exit_point[None] + np.array([3, -2, 0]),
            vein + np.array([1.5, 3, 2]),
            [[-24, y + 36, 18], [-22, y + 60, 30], [-12, y + 52, 40]],
        ]
    )
    parts = [_draw_line(ventricle, 1.0, 0.30 * strength), _draw_line(atrium, 1.0, 0.28 * strength)]
    for lead in (ventricle, atrium):
        tip = lead[-1]
        parts.append(_draw_line(np.array([tip - (tip - lead[-2]) * 0.12, tip]), 1.4, 0.9 * strength))
    course = np.concatenate([sample_curve(k, 1.0, step=1.0)[0] for k in (ventricle, atrium)])
    corners = case.centre + case.half * np.array(
        [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    )
    return Device(tubes=tuple(parts), course=np.concatenate([course, corners]), case=case)
