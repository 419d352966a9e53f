"""Air outside the lungs: trachea and main bronchi, stomach and bowel."""

import numpy as np

from demo.phantom.chords import Ellipsoid, ellipsoid
from demo.phantom.frame import Points
from demo.phantom.habitus import Habitus, part_rng
from demo.phantom.tubes import Tubes, join_curves, sample_curve

AIRWAY_CLASSES = (3.0, 4.5, 6.5, 9.0)


def trachea_line(habitus: Habitus) -> Points:
    """Centre line of the trachea from neck to carina, (n, 3) mm, displaced to the right by the arch."""
    y = habitus.carina
    dx = -1.5 - 0.06 * max(habitus.age - 50, 0)
    return np.array(
        [[0, -25, 14], [0, 0.3 * y, 6], [0.4 * dx, 0.62 * y, -2], [dx, y - 18, -12], [0.3 * dx, y, -18]]
    )


def draw_airways(habitus: Habitus) -> Tubes:
    """Trachea and main bronchi; a weight scales the path length through air."""
    y = habitus.carina
    windpipe = trachea_line(habitus)
    fork = windpipe[-1]
    trachea_radius = 8.6 if habitus.sex == "M" else 7.4
    right = np.array([fork - [0, 6, 0], fork + np.array([-9, 9, -1]), [-24, y + 27, -18], [-33, y + 44, -20]])
    left = np.array([fork - [0, 6, 0], fork + np.array([10, 8, -1]), [27, y + 24, -20], [42, y + 36, -24]])
    return join_curves(
        [
            sample_curve(windpipe, trachea_radius, step=0.6),
            sample_curve(right, np.array([6.2, 6.2, 5.2, 3.6]), step=0.6, weight=0.85),
            sample_curve(left, np.array([5.8, 5.6, 4.8, 3.4]), step=0.6, weight=0.8),
        ]
    )


def draw_bubbles(habitus: Habitus) -> list[Ellipsoid]:
    """Gas in stomach and colon below the diaphragm."""
    random = part_rng(habitus.seed, 7)
    top = habitus.left_dome_y
    x = 0.42 * habitus.half_width
    scale = float(random.uniform(0.75, 1.25))
    bubbles = [
        ellipsoid(
            (x + random.normal(0, 6), top + 13 + 15 * scale, 5 + random.normal(0, 6)),
            (27 * scale, 13 * scale, 20 * scale),
            tilt=float(random.normal(0.1, 0.15)),
        )
    ]
    for _ in range(int(random.integers(1, 5))):
        size = float(random.uniform(7, 15))
        bubbles.append(
            ellipsoid(
                (
                    random.uniform(0.15, 0.8) * habitus.half_width,
                    top + random.uniform(70, 150),
                    random.uniform(0, 50),
                ),
                (size * 1.5, size * 0.9, size),
                tilt=float(random.uniform(-0.8, 0.8)),
            )
        )
    return bubbles
