"""Clavicles, scapulae and the upper ends of the arms."""

import numpy as np

from demo.phantom.frame import View
from demo.phantom.habitus import Habitus, stream
from demo.phantom.tubes import Tubes, join, sample_curve

GIRDLE_CLASSES = (1.6, 3.0, 5.0, 7.5, 23.0)


def draw_clavicles(habitus: Habitus) -> Tubes:
    """Both collar bones: an S, thick at the sternal end, rising or level towards the shoulder."""
    random = stream(habitus.seed, 4)
    parts = []
    level = habitus.apex + 0.155 * habitus.lung
    wide = habitus.half_width / 135
    for side in (-1.0, 1.0):
        lift = float(random.normal(24, 6))
        knots = np.array(
            [
                [15 * wide, level + 6, 44],
                [36 * wide, level - 0.12 * lift, 50],
                [72 * wide, level - 0.58 * lift, 42],
                [108 * wide, level - 0.98 * lift, 15],
                [136 * wide, level - 1.05 * lift, -8],
                [156 * wide, level - 0.95 * lift, -16],
            ]
        )
        knots[:, 0] *= side
        radius = np.array([8.2, 6.6, 5.6, 5.6, 6.2, 6.2])
        parts.append(sample_curve(knots, radius, step=0.5, weight=1.05))
    return join(parts, cortex=1.4, core=0.42)


def draw_scapulae(habitus: Habitus) -> tuple[Tubes, Tubes]:
    """Thin cortical edges (borders, spine, coracoid) and stout bone (glenoid, acromion, head of the humerus)."""
    random = stream(habitus.seed, 5)
    thin, stout = [], []
    wide = habitus.half_width / 135
    for side in (-1.0, 1.0):
        out = float(random.normal(0, 3))
        top = habitus.apex + 0.12 * habitus.lung + float(random.normal(0, 4))
        low = top + 0.47 * habitus.lung
        joint = np.array([150 * wide + out, top + 22, -15.0])
        tip = np.array([132 * wide + out, low, -72.0])
        inner = np.array([112 * wide + out, top + 22, -68.0])

        def bent(*points: tuple[float, float, float], side: float = side) -> np.ndarray:
            return np.array(points) * np.array([side, 1.0, 1.0])

        middle = (joint + tip) / 2 + np.array([-5.0, 4, -4])
        lateral = bent(tuple(joint + [-3, 8, -4]), tuple(middle), tuple(tip))
        thin.append(sample_curve(lateral, np.array([3.4, 3.0, 2.4]), step=0.5, weight=1.5))
        medial = bent(
            tuple(tip), tuple((tip + inner) / 2 + [-7, 8, 0]), tuple(inner), tuple(inner + [10, -14, 12])
        )
        thin.append(sample_curve(medial, 1.7, step=0.5, weight=1.1))
        spine = bent(
            tuple(inner + [3, 6, -4]), tuple(inner + [22, -6, -10]), (150 * wide + out, top - 8, -30)
        )
        thin.append(sample_curve(spine, 2.6, step=0.5, weight=0.9))
        coracoid = bent(
            tuple(joint + [-20, -14, 10]), tuple(joint + [-14, -17, 22]), tuple(joint + [-7, -9, 30])
        )
        stout.append(sample_curve(coracoid, 5.0, step=0.5, weight=0.9))
        rim = bent(tuple(joint + [-1, -14, 0]), tuple(joint + [2, 0, 0]), tuple(joint + [-3, 15, 0]))
        stout.append(sample_curve(rim, 5.0, step=0.5, weight=0.95))
        acromion = bent(
            (140 * wide + out, top - 10, -30), (164 * wide + out, top - 9, -20), (180 * wide, top - 3, -8)
        )
        stout.append(sample_curve(acromion, 6.0, step=0.5, weight=0.95))
        # the head of the humerus: short and thick, so that it projects as a ball
        head = bent(tuple(joint + [25, -3, 2]), tuple(joint + [27, 2, 2]))
        stout.append(sample_curve(head, 22.0, step=0.5, weight=4.2))
        shaft = bent(tuple(joint + [34, 12, 2]), tuple(joint + [42, 70, 2]), tuple(joint + [50, 330, 6]))
        stout.append(sample_curve(shaft, np.array([12.0, 10.0, 10.0]), step=0.5, weight=0.8))
    return join(thin), join(stout, cortex=1.3, core=0.26)


def in_view(view: View) -> bool:
    """Arms are raised in the lateral view, which takes most of the shoulder girdle off the picture."""
    return view is View.PA
