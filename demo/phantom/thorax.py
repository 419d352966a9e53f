"""The rib cage, the hemidiaphragms and the air of the lungs between them.

The cage is a stack of superellipses, and each hemidiaphragm is a paraboloid. Sections of both along X and
along Z have a closed form, so one description gives the frontal and the lateral view.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from demo.phantom.catalogue import Side
from demo.phantom.chords import superellipse_chord
from demo.phantom.frame import Field, Points
from demo.phantom.habitus import Habitus

CAGE_POWER = 2.4
# Inner half width, back and front of the cage by share of the lung's height (0 apices, 1 right dome).
_LEVELS = np.array([-0.10, 0.0, 0.025, 0.06, 0.12, 0.25, 0.45, 0.70, 0.95, 1.15, 1.35, 1.8])
_WIDTHS = np.array([0.12, 0.27, 0.39, 0.51, 0.645, 0.80, 0.915, 0.98, 1.0, 0.99, 0.955, 0.87])
_BACKS = np.array([-44, -52, -56, -60, -66, -77, -88, -92, -86, -76, -66, -52.0])
_FRONTS = np.array([-16, -2, 8, 18, 30, 50, 68, 79, 84, 86, 84, 80.0])
_SPINE_LEVELS = np.array([-0.35, 0.0, 0.25, 0.5, 0.75, 1.0, 1.3, 1.8])
_SPINE = np.array([-22, -38, -57, -68, -68, -58, -42, -24.0])  # Z of the middle of the vertebral bodies
_WIDTH_CURVE, _BACK_CURVE, _FRONT_CURVE = (
    PchipInterpolator(_LEVELS, values) for values in (_WIDTHS, _BACKS, _FRONTS)
)
_SPINE_CURVE = PchipInterpolator(_SPINE_LEVELS, _SPINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cage:
    """The inner surface of the rib cage of one patient."""

    habitus: Habitus

    def level(self, y: Field | float) -> Field:
        """Height as a share of the lung, kept within the table."""
        return np.clip((y - self.habitus.apex) / self.habitus.lung, -0.10, 1.8)

    def half_width(self, y: Field | float) -> Field:
        """Inner half width at height y, mm."""
        return np.float32(self.habitus.half_width) * _WIDTH_CURVE(self.level(y)).astype(np.float32)

    def back_z(self, y: Field | float) -> Field:
        """Z of the inner back wall."""
        return np.float32(self.habitus.depth) * _BACK_CURVE(self.level(y)).astype(np.float32)

    def front_z(self, y: Field | float) -> Field:
        """Z of the inner front wall."""
        return np.float32(self.habitus.depth) * _FRONT_CURVE(self.level(y)).astype(np.float32)

    def spine_z(self, y: Field | float) -> Field:
        """Z of the middle of the vertebral bodies."""
        level = np.clip((y - self.habitus.apex) / self.habitus.lung, -0.35, 1.8)
        return np.float32(self.habitus.depth) * _SPINE_CURVE(level).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dome:
    """One hemidiaphragm: y = top + a (x - x0)^2 + c (z - z0)^2; below it is abdomen."""

    side: Side
    top: float
    x0: float
    z0: float
    a: float
    c: float

    def height(self, x: Field, z: Field) -> Field:
        """y of the dome over a point of the transverse plane."""
        height: Field = self.top + self.a * (x - self.x0) ** 2 + self.c * (z - self.z0) ** 2
        return height


def draw_dome(habitus: Habitus, side: Side) -> Dome:
    """One hemidiaphragm: the right is higher; both descend to the back, where the recess is deepest."""
    top = habitus.right_dome_y if side is Side.RIGHT else habitus.left_dome_y
    x0 = side.sign * 0.44 * habitus.half_width
    return Dome(
        side=side,
        top=top,
        x0=x0,
        z0=18 * habitus.depth,
        a=44 / (0.56 * habitus.half_width) ** 2,
        c=58 / (106 * habitus.depth) ** 2,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The distance of the lung from the lateral wall, in mm: ``gap(y)`` as a table, 0 for a healthy lung.

    The distance from the front and back walls is ``depth_share`` times this. Below ``floor`` (y in mm) there
    is no lung.
    """

    heights: Points
    gaps: Points
    depth_share: float = 1.0
    floor: float = 1e6

    def gap(self, y: Field) -> Field:
        """Distance between cage and lung at height y."""
        return np.interp(y, self.heights, self.gaps).astype(np.float32)

    def above_floor(self, y: Field) -> Field:
        """1 well above the floor, 0 well below, with a smooth transition over a centimetre."""
        share: Field = 1 / (1 + np.exp(np.clip((y - self.floor) / 4.5, -30, 30)))
        return share.astype(np.float32)


NO_SHELL = Shell(heights=np.array([0.0, 1.0]), gaps=np.array([0.0, 0.0]))


def _length_outside(low: Field, high: Field, middle: float, reach: Field) -> Field:
    """Length of [low, high] without [middle - reach, middle + reach]."""
    length = np.clip(high - low, 0, None)
    covered = np.clip(np.minimum(high, middle + reach) - np.maximum(low, middle - reach), 0, None)
    uncovered: Field = np.clip(length - covered, 0, None)
    return uncovered


def frontal_air_path(cage: Cage, dome: Dome, u: Field, v: Field, shell: Shell = NO_SHELL) -> Field:
    """Path length along Z through one side of the cage above its dome, heart and mediastinum included."""
    gap = shell.gap(v)
    half = np.clip(cage.half_width(v) - gap, 1, None)
    depth = np.clip((cage.front_z(v) - cage.back_z(v)) / 2 - gap * shell.depth_share, 0, None)
    middle = (cage.front_z(v) + cage.back_z(v)) / 2
    reach = superellipse_chord(u / half, depth, CAGE_POWER) / 2
    squared_reach = np.clip((v - dome.top - dome.a * (u - dome.x0) ** 2) / dome.c, 0, None)
    air = _length_outside(middle - reach, middle + reach, dome.z0, np.sqrt(squared_reach))
    is_own_side = u > 0 if dome.side is Side.LEFT else u < 0
    return np.where(is_own_side, air * shell.above_floor(v), 0).astype(np.float32)


def lateral_air_path(
    cage: Cage, dome: Dome, u: Field, v: Field, shell: Shell = NO_SHELL, *, inner: Field | float = 4.0
) -> Field:
    """Path length along X through one side of the cage above its dome, from ``inner`` mm off the midline."""
    z = -u
    gap = shell.gap(v)
    depth = np.clip((cage.front_z(v) - cage.back_z(v)) / 2 - gap * shell.depth_share, 1, None)
    middle = (cage.front_z(v) + cage.back_z(v)) / 2
    half = np.clip(cage.half_width(v) - gap, 0, None)
    outer = superellipse_chord((z - middle) / depth, half, CAGE_POWER) / 2
    squared_reach = np.clip((v - dome.top - dome.c * (z - dome.z0) ** 2) / dome.a, 0, None)
    start = np.broadcast_to(np.float32(inner), outer.shape)
    return _length_outside(start, outer, abs(dome.x0), np.sqrt(squared_reach)) * shell.above_floor(v)
