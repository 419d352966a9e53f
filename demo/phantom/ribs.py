"""The twelve pairs of ribs and the sternum, as curves on the rib cage."""

import numpy as np

from demo.phantom.frame import Points
from demo.phantom.habitus import THORACIC_VERTEBRAE, Habitus, part_rng
from demo.phantom.thorax import CAGE_POWER, Cage
from demo.phantom.tubes import Tubes, join_curves, sample_curve

# Angle that each rib spans (degrees from the back), and its descent (share of the lung's height).
_SPAN_DEGREES = (150, 150, 147, 145, 143, 141, 138, 132, 123, 110, 84, 58)
_DESCENT = (0.17, 0.25, 0.315, 0.365, 0.405, 0.435, 0.45, 0.44, 0.41, 0.36, 0.27, 0.18)
_RADIUS = (6.0, 5.6, 5.4, 5.5, 5.6, 5.7, 5.8, 5.8, 5.6, 5.2, 4.5, 3.8)

RIB_CLASSES = (3.8, 4.8, 5.6, 6.5)


def rib_curve(cage: Cage, number: int, side: float, bend: float = 0.0) -> tuple[Points, Points]:
    """Centre line of one rib from vertebra to front end, (n, 3) mm, and position along it, 0 to 1, (n,)."""
    habitus = cage.habitus
    share = np.linspace(0.0, 1.0, 40)
    angle = np.deg2rad(8 + (_SPAN_DEGREES[number - 1] - 8) * share)
    start = habitus.vertebra_y(number) - 0.015 * habitus.lung
    fall = _DESCENT[number - 1] * habitus.lung * (share**1.55 + bend * np.sin(np.pi * share))
    rise = 0.030 * habitus.lung * np.sin(np.pi * np.clip(share * 2.6, 0, 1))
    y = start + fall - rise
    half, back, front = cage.half_width(y) + 3.0, cage.back_z(y) - 3.0, cage.front_z(y) + 3.0
    power = 2 / CAGE_POWER
    x = side * half * np.sin(angle) ** power
    z = (front + back) / 2 - (front - back) / 2 * np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** power
    # the neck of the rib runs forward to the vertebral body
    neck_weight = np.exp(-((share / 0.09) ** 2))
    z = z * (1 - neck_weight) + neck_weight * (cage.spine_z(y) - 8)
    x = x * (1 - neck_weight) + neck_weight * side * np.maximum(np.abs(x), 15)
    return np.stack([x, y, z], axis=1), share


def draw_ribs(habitus: Habitus, cage: Cage) -> Tubes:
    """All ribs as tubes with a dense cortex; the weights account for the rib's flatness along the beam."""
    random = part_rng(habitus.seed, 2)
    parts = []
    for number in range(1, THORACIC_VERTEBRAE + 1):
        for side in (-1.0, 1.0):
            knots, share = rib_curve(cage, number, side, bend=float(random.normal(0, 0.012)))
            knots = knots + np.array([0, random.normal(0, 1.0), 0])
            # posterior third thick and round, front end flat and wide, then cartilage, which is not visible
            radius = _RADIUS[number - 1] * (0.94 + 0.16 * share**2) * float(random.uniform(0.95, 1.05))
            points, weights, radii = sample_curve(knots, radius, step=0.5)
            along = np.linspace(0, 1, len(weights))
            flatness = 1.25 - 0.68 * along**1.1
            end_fade = np.clip((1 - along) / 0.025, 0, 1)
            parts.append((points, weights * flatness * end_fade, radii))
    return join_curves(parts, cortex=0.9, core=0.17)


def draw_sternum(cage: Cage) -> Tubes:
    """Manubrium and body of the sternum as a flat bone: a few parallel tubes along the front of the cage."""
    habitus = cage.habitus
    top, bottom = habitus.apex + 0.20 * habitus.lung, habitus.apex + 0.80 * habitus.lung
    parts = []
    for x in (-12.0, -4.0, 4.0, 12.0):
        y = np.linspace(top, bottom, 9)
        width_factors = np.array([1.5, 1.2, 0.7, 0.75, 0.9, 1.0, 1.0, 0.9, 0.5])
        z = cage.front_z(y) + 7 + np.array([1.5, 1.0, -0.5, 0, 0, 0, 0, 0, 0])
        parts.append(sample_curve(np.stack([x * width_factors, y, z], axis=1), 4.2, step=0.5, weight=0.9))
    return join_curves(parts, cortex=1.0, core=0.35)


def draw_costal_cartilage(habitus: Habitus, cage: Cage) -> Tubes | None:
    """Calcified cartilage at the ends of the ribs; None in patients younger than 45 years."""
    if habitus.age < 45:
        return None
    random = part_rng(habitus.seed, 3)
    amount = min((habitus.age - 45) / 40, 1.0)
    points, weights = [], []
    for number in range(1, 9):
        for side in (-1.0, 1.0):
            knots, _ = rib_curve(cage, number, side)
            end = knots[-1]
            count = int((40 if number > 1 else 70) * amount)
            offsets = np.abs(random.normal(0, 1, count))[:, None] * np.array([[-side * 9.0, -2.0, 2.0]])
            points.append(end + offsets + random.normal(0, 2.6, (count, 3)))
            weights.append(random.uniform(0.5, 3.0, count))
    all_points = np.concatenate(points)
    if not len(all_points):
        return None
    return Tubes(
        points=all_points, weights=np.concatenate(weights) * 0.6, radii=np.full(len(all_points), 0.9)
    )
