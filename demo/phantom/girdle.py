"""Clavicles, scapulae and the upper ends of the arms."""

import numpy as np

from demo.phantom.frame import Points
from demo.phantom.habitus import Habitus, part_rng
from demo.phantom.tubes import Tubes, join_curves, sample_curve

GIRDLE_CLASSES = (1.6, 3.0, 5.0, 7.0, 10.5, 23.0)


def draw_clavicles(habitus: Habitus) -> Tubes:
    """Both clavicles: S-shaped, thick at the sternal end, level or rising towards the shoulder."""
    random = part_rng(habitus.seed, 4)
    parts = []
    level = habitus.apex + 0.155 * habitus.lung
    width_scale = habitus.half_width / 135
    for side in (-1.0, 1.0):
        lift = float(random.normal(24, 6))
        knots = np.array(
            [
                [15 * width_scale, level + 6, 44],
                [36 * width_scale, level - 0.12 * lift, 50],
                [72 * width_scale, level - 0.58 * lift, 42],
                [108 * width_scale, level - 0.98 * lift, 15],
                [136 * width_scale, level - 1.05 * lift, -8],
                [156 * width_scale, level - 0.95 * lift, -16],
            ]
        )
        knots[:, 0] *= side
        radius = np.array([8.2, 6.6, 5.6, 5.6, 6.2, 6.2])
        parts.append(sample_curve(knots, radius, step=0.5, weight=1.3))
    return join_curves(parts, cortex=1.4, core=0.42)


def draw_scapulae(habitus: Habitus) -> tuple[Tubes, Tubes]:
    """Thin edges (borders and spine) and thick bone (coracoid, glenoid, acromion, humerus)."""
    random = part_rng(habitus.seed, 5)
    thin, thick = [], []
    width_scale = habitus.half_width / 135
    for side in (-1.0, 1.0):
        offset = float(random.normal(0, 3))
        top = habitus.apex + 0.12 * habitus.lung + float(random.normal(0, 4))
        low = top + 0.47 * habitus.lung
        joint = np.array([150 * width_scale + offset, top + 22, -15.0])
        tip = np.array([132 * width_scale + offset, low, -72.0])
        inner = np.array([112 * width_scale + offset, top + 22, -68.0])
        shoulder = np.array([180 * width_scale, top - 3, -8])
        mirror = np.array([side, 1.0, 1.0])

        lateral = np.array([joint + _offset(-3, 8, -4), (joint + tip) / 2 + _offset(-5, 4, -4), tip])
        medial = np.array([tip, (tip + inner) / 2 + _offset(-7, 8, 0), inner, inner + _offset(10, -14, 12)])
        spine = np.array(
            [inner + _offset(3, 6, -4), inner + _offset(22, -6, -10), joint + _offset(0, -30, -15)]
        )
        thin.append(sample_curve(lateral * mirror, np.array([3.4, 3.0, 2.4]), step=0.5, weight=1.5))
        thin.append(sample_curve(medial * mirror, 1.7, step=0.5, weight=1.1))
        thin.append(sample_curve(spine * mirror, 2.6, step=0.5, weight=0.9))

        coracoid = np.array(
            [joint + _offset(-20, -14, 10), joint + _offset(-14, -17, 22), joint + _offset(-7, -9, 30)]
        )
        rim = np.array([joint + _offset(-1, -14, 0), joint + _offset(2, 0, 0), joint + _offset(-3, 15, 0)])
        acromion = np.array([joint + _offset(-10, -32, -15), joint + _offset(14, -31, -5), shoulder])
        # a short, thick tube for the head of the humerus, which projects as a ball
        head = np.array([joint + _offset(25, -3, 2), joint + _offset(27, 2, 2)])
        shaft = np.array(
            [joint + _offset(34, 12, 2), joint + _offset(42, 70, 2), joint + _offset(50, 330, 6)]
        )
        thick.append(sample_curve(coracoid * mirror, 5.0, step=0.5, weight=0.9))
        thick.append(sample_curve(rim * mirror, 5.0, step=0.5, weight=0.95))
        thick.append(sample_curve(acromion * mirror, 6.0, step=0.5, weight=0.95))
        thick.append(sample_curve(head * mirror, 23.0, step=0.5, weight=4.2))
        thick.append(sample_curve(shaft * mirror, 10.5, step=0.5, weight=0.8))
    return join_curves(thin), join_curves(thick, cortex=1.3, core=0.26)


def _offset(x: float, y: float, z: float) -> Points:
    """A step in patient mm, for a left-sided bone."""
    return np.array([x, y, z], dtype=float)


def draw_raised_arms(habitus: Habitus) -> Tubes:
    """The parts of the girdle in the lateral view with the arms raised: humeri and edges of the scapulae."""
    random = part_rng(habitus.seed, 9)
    top, depth_scale = habitus.apex, habitus.depth
    parts = []
    for side in (-1.0, 1.0):
        z, lean = float(random.normal(-4, 7)), float(random.normal(0.42, 0.10))
        head = np.array([side * 150, top + 14, z])
        shaft = np.array(
            [head, [side * 145, top - 30, z + 40 * lean + 4], [side * 140, -40, z + lean * (top + 60)]]
        )
        parts.append(sample_curve(shaft, np.array([10.5, 9.0, 8.5]), step=0.6, weight=0.38))
        low = top + 0.52 * habitus.lung + float(random.normal(0, 5))
        blade = np.array(
            [
                [side * 120, top + 26, z - 20],
                [side * 110, (top + low) / 2, -62 * depth_scale],
                [side * 108, low, -80 * depth_scale],
            ]
        )
        parts.append(
            sample_curve(blade + np.array([0, 0, 5 * side]), np.array([4.0, 3.0, 2.4]), step=0.6, weight=0.5)
        )
    return join_curves(parts, cortex=1.5, core=0.35)
