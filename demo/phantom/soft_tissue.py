"""The outline of the body: trunk, neck, shoulders, arms, breasts and muscle."""

import numpy as np

from demo.phantom.chords import ellipsoid, superellipse_chord
from demo.phantom.frame import Field, Frame, View
from demo.phantom.habitus import Habitus, part_rng
from demo.phantom.thorax import Cage


def body_chord(habitus: Habitus, cage: Cage, frame: Frame, u: Field, v: Field) -> Field:
    """Path length in mm through all parts of the body, as if it were solid."""
    if frame.view is View.PA:
        return _frontal_chord(habitus, cage, u, v) + _breast_chord(habitus, cage, frame, u, v)
    trunk, breasts = _lateral_chord(habitus, cage, u, v), _breast_chord(habitus, cage, frame, u, v)
    return _soft_max(trunk, breasts, 14) if habitus.breast > 0 else trunk


def _soft_max(a: Field, b: Field, mm: float) -> Field:
    """The larger of two chords, with a smooth transition over ``mm``."""
    return (0.5 * (a + b + np.sqrt((a - b) ** 2 + np.float32(mm * mm)))).astype(np.float32) - np.float32(
        mm / 2
    )


def _frontal_chord(habitus: Habitus, cage: Cage, u: Field, v: Field) -> Field:
    top, wide, fat = habitus.apex, habitus.half_width, habitus.fat
    neck = 52.0 + 0.35 * fat
    wall = cage.half_width(np.maximum(v, top + 0.3 * habitus.lung)) + fat
    depth = (cage.front_z(v) - cage.back_z(v)) / 2 + 22 + 0.45 * fat
    heights = np.array([-80, top - 52, top - 26, top - 6, top + 12, top + 34, top + 80, top + 120, top + 150])
    half_widths = np.array(
        [neck, neck + 2, neck + 22, 0.80 * wide, 1.10 * wide, 1.33 * wide, 1.36 * wide, 0, 0]
    )
    outline = np.interp(v, heights, np.where(half_widths > 0, half_widths, 1.0)).astype(np.float32)
    trunk_half = np.where(v > top + 60, wall, np.minimum(outline, wall)).astype(np.float32)
    trunk = superellipse_chord(u / trunk_half, depth, 3.1)
    girdle = superellipse_chord(u / np.maximum(outline, 8), 60 + 0.6 * fat, 3.2)
    girdle *= np.interp(v, [top + 50, top + 135], [1, 0]).astype(np.float32)
    chord = _soft_max(trunk, girdle, 10)
    # the arms hang at a small distance from the trunk
    for side in (-1, 1):
        shoulder, hand = 1.25 * wide + 0.5 * fat, 1.46 * wide + 0.9 * fat
        middle = side * (shoulder + (hand - shoulder) * (v - top - 20) / 380)
        radius = 44 + 0.3 * fat
        arm = 2 * np.sqrt(np.clip(radius**2 - (u - middle) ** 2, 0, None))
        arm *= np.clip((v - top - 5) / 60, 0, 1)
        chord = _soft_max(chord, arm.astype(np.float32), 8)
    return np.clip(chord + _muscle_chord(habitus, u, v), 0, None)


def _muscle_chord(habitus: Habitus, u: Field, v: Field) -> Field:
    """Pectoral muscles: their lower edge runs from the axilla down to the ribs."""
    thickness = 11.0 if habitus.sex == "M" else 5.0
    top = habitus.apex
    x = np.abs(u) / habitus.half_width
    lower = top + habitus.lung * (0.66 - 0.42 * np.clip(x - 0.25, 0, 2) ** 1.3)
    edge = 0.5 * (1 + np.tanh((lower - v) / 9))
    upper = np.clip((v - top + 4) / 60, 0, 1)
    inner = np.clip((x - 0.12) / 0.35, 0, 1)
    outside = np.clip((1.28 - x) / 0.2, 0, 1)
    return (thickness * edge * upper * inner * outside).astype(np.float32)


def _breast_chord(habitus: Habitus, cage: Cage, frame: Frame, u: Field, v: Field) -> Field:
    """Breast shadows: round below, gradually fainter towards the top; 0 in men."""
    total = np.zeros(np.broadcast_shapes(u.shape, v.shape), np.float32)
    if habitus.breast <= 0:
        return total
    random = part_rng(habitus.seed, 8)
    radius = habitus.breast
    for side in (-1, 1):
        y = habitus.apex + habitus.lung * 0.79 + random.normal(0, 4)
        x = side * (0.56 * habitus.half_width + random.normal(0, 3))
        z = float(cage.front_z(y)) + 8
        shape = ellipsoid((x, y, z), (radius, radius * 0.92, radius * 0.62))
        chord = shape.chord(frame, u, v)
        # the chest wall already covers the inner half; the gland is thinner towards the top
        chord *= 0.55 * np.clip((v - y + radius) / (1.3 * radius), 0, 1) ** 1.2
        total += chord.astype(np.float32)
    return total


def _lateral_chord(habitus: Habitus, cage: Cage, u: Field, v: Field) -> Field:
    z = -u
    fat, top = habitus.fat, habitus.apex
    # the neck leans forward from the shoulders; below the apices, the cage determines the outline
    cage_weight = np.clip((v - top + 10) / 34, 0, 1)
    cage_weight = cage_weight * cage_weight * (3 - 2 * cage_weight)
    neck_front = np.interp(v, [top - 70, top - 30, top - 6, top + 20], [66, 50, 42, 44])
    neck_back = np.interp(v, [top - 70, top - 30, top, top + 20], [-50, -66, -88, -98])
    front = neck_front * (1 - cage_weight) + (cage.front_z(v) + 13 + 0.4 * fat) * cage_weight
    back = neck_back * (1 - cage_weight) + (cage.back_z(v) - 17 - 0.45 * fat) * cage_weight
    half = (front - back) / 2
    middle = (front + back) / 2
    across = np.interp(v, [top - 60, top - 10, top + 35, top + 80], [52, 75, 150, 150])
    width = np.minimum(across, cage.half_width(np.maximum(v, top + 20)) + fat + 10)
    trunk = superellipse_chord((z - middle) / half, width, 2.5)
    # shoulders and raised arms overlie the apices
    along, perpendicular = (z + 6) * 0.92 + (v - top - 8) * 0.38, (v - top - 8) * 0.92 - (z + 6) * 0.38
    arm = np.sqrt(np.clip((50 + 0.4 * fat) ** 2 - along**2, 0, None))
    arms = 2.1 * arm / (1 + np.exp(np.clip((perpendicular - 26) / 13, -30, 30)))
    return _soft_max(trunk, (trunk * 0.7 + arms).astype(np.float32), 12)
