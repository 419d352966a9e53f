"""Nodules and consolidations: denser tissue that replaces lung."""

from dataclasses import dataclass

import numpy as np

from demo.phantom.catalogue import FindingSpec, Side, Zone
from demo.phantom.chords import Ellipsoid, ellipsoid, fractal_noise
from demo.phantom.frame import Field, Frame, Points
from demo.phantom.habitus import Habitus
from demo.phantom.heart import Heart
from demo.phantom.thorax import Cage, Dome
from demo.phantom.tubes import Tubes
from demo.phantom.vessels import draw_branches, grow_tree, hilum_point, sample_lung_points


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodule:
    """A slightly lobulated sphere; ``strength`` is its density: 0 lung, 1 soft tissue, more with calcium."""

    body: tuple[Ellipsoid, ...]
    strength: float

    def extent(self, frame: Frame) -> tuple[float, float, float, float]:
        """u_min, v_min, u_max, v_max in mm."""
        across = [part.extent_along(frame.across) for part in self.body]
        down = [part.extent_along(np.array([0.0, 1.0, 0.0])) for part in self.body]
        return (
            min(a for a, _ in across),
            min(a for a, _ in down),
            max(b for _, b in across),
            max(b for _, b in down),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Airspace opacity with ill-defined edges. ``bronchi`` are the air-filled branches in it.

    ``semi_axes`` are its half lengths along x, y and z in mm.
    """

    centre: Points
    semi_axes: Points
    strength: float
    bronchi: Tubes

    def mask(self, frame: Frame, u: Field, v: Field, pitch: float, random: np.random.Generator) -> Field:
        """Share of the lesion's depth that is filled at each point, 0 to 1."""
        half = np.abs(frame.across) @ self.semi_axes
        du = (u - np.float32(self.centre @ frame.across)) / np.float32(half)
        dv = (v - np.float32(self.centre[1])) / np.float32(self.semi_axes[1])
        shape = np.broadcast_shapes(u.shape, v.shape)
        ragged = fractal_noise(random, shape, coarsest=max(4, int(26 / pitch)), octaves=4, persistence=0.62)
        distance = 1.0 - np.hypot(du, dv) + 0.17 * ragged
        patchy = fractal_noise(random, shape, coarsest=max(3, int(9 / pitch)), octaves=3, persistence=0.7)
        core = np.clip((distance + 0.12) / 0.62, 0, 1)
        core = core * core * (3 - 2 * core)
        density: Field = core * np.clip(0.86 + 0.16 * patchy, 0.3, 1.1)
        return density.astype(np.float32)

    def depth(self, frame: Frame) -> float:
        """Thickness along the beam, mm."""
        return float(2 * np.abs(frame.beam) @ self.semi_axes)


def zone_heights(habitus: Habitus, side: Side) -> dict[Zone, tuple[float, float]]:
    """Return the upper and lower edge of each lung zone as y in mm, which increases downwards.

    The zones are thirds of the height from the apex to just below the top of the dome.
    """
    bottom = (habitus.right_dome_y if side is Side.RIGHT else habitus.left_dome_y) + 6
    third = (bottom - habitus.apex) / 3
    edges = [habitus.apex + third * i for i in range(4)]
    return {zone: (edges[i], edges[i + 1]) for i, zone in enumerate((Zone.UPPER, Zone.MID, Zone.LOWER))}


def place_in_zone(
    cage: Cage, dome: Dome, heart: Heart, random: np.random.Generator, *, zone: Zone, margin: float
) -> Points:
    """A point (3,) in that zone of the lung, ``margin`` mm from its edges, clear of heart and hilum."""
    habitus = cage.habitus
    upper, lower = zone_heights(habitus, dome.side)[zone]
    edge = min(margin, (lower - upper) / 3)
    fallback = np.array([dome.side.sign * 0.6 * habitus.half_width, (upper + lower) / 2, -10.0])
    points = sample_lung_points(cage, dome, heart, random, 600, wall_limit=0.88)
    x, y = np.abs(points[:, 0]), points[:, 1]
    inner_limit = 30 + margin + np.where(y > habitus.carina + 40, 14 if dome.side is Side.RIGHT else 44, 0)
    outer_limit = cage.half_width(y) - margin - 7
    if zone is Zone.UPPER:
        upper += 14  # clavicle and first rib overlie the apex
    is_valid = (y > upper + edge) & (y < lower - edge) & (x > inner_limit) & (x < outer_limit)
    is_valid &= y < dome.top + dome.a * (points[:, 0] - dome.x0) ** 2 - margin
    valid_points = points[is_valid]
    return valid_points[0] if len(valid_points) else fallback


def draw_nodule(
    spec: FindingSpec, cage: Cage, dome: Dome, heart: Heart, *, random: np.random.Generator
) -> tuple[Nodule, float]:
    """A nodule in its zone, and its diameter in mm (11 at low conspicuity, 24 at high)."""
    size = (
        spec.size_mm
        if spec.size_mm is not None
        else (11 + 13 * spec.conspicuity) * float(random.uniform(0.9, 1.1))
    )
    centre = place_in_zone(cage, dome, heart, random, zone=spec.resolved_zone, margin=size / 2 + 3)
    radius = size / 2
    shapes = [ellipsoid(tuple(centre), (radius * 0.92, radius * 0.90, radius * 0.92))]
    for _ in range(3):
        direction = random.normal(size=3)
        direction *= 0.36 * radius / np.linalg.norm(direction)
        bump_radius = radius * 0.64
        shapes.append(ellipsoid(tuple(centre + direction), (bump_radius, bump_radius, bump_radius)))
    return Nodule(body=tuple(shapes), strength=1.1 + 0.8 * spec.conspicuity), size


def draw_consolidation(
    spec: FindingSpec, cage: Cage, dome: Dome, heart: Heart, *, random: np.random.Generator
) -> tuple[Consolidation, float]:
    """An opacity in its zone, and its diameter in mm."""
    size = (
        spec.size_mm
        if spec.size_mm is not None
        else (48 + 26 * spec.conspicuity) * float(random.uniform(0.9, 1.1))
    )
    centre = place_in_zone(cage, dome, heart, random, zone=spec.resolved_zone, margin=size / 3.2)
    semi_axes = np.array([0.54, 0.46, 0.50]) * size
    root = hilum_point(cage.habitus, dome.side)
    inner_points = centre + random.normal(0, 0.34, (26, 3)) * semi_axes
    tree = grow_tree(root, np.concatenate([np.linspace(root, centre, 5)[1:], inner_points]), path_weight=0.5)
    branches = draw_branches(tree)
    radii = np.clip(0.9 * branches.radii, 0.8, 1.7)
    bronchi = Tubes(points=branches.points, weights=branches.weights, radii=radii)
    return Consolidation(
        centre=centre, semi_axes=semi_axes, strength=0.52 + 0.48 * spec.conspicuity, bronchi=bronchi
    ), size
