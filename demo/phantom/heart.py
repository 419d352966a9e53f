"""Heart, aorta and the other soft tissue between the lungs."""

from dataclasses import dataclass

import numpy as np

from demo.phantom.chords import Ellipsoid, ellipsoid
from demo.phantom.frame import Field, Frame, View
from demo.phantom.habitus import Habitus
from demo.phantom.thorax import Cage
from demo.phantom.tubes import Tubes, join_curves, sample_curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Heart:
    """The cardiac silhouette as a union of ellipsoids."""

    parts: tuple[Ellipsoid, ...]

    def chord(self, frame: Frame, u: Field, v: Field) -> Field:
        """Path length through the heart, mm."""
        longest, *others = (part.chord(frame, u, v) for part in self.parts)
        for chord in others:
            np.maximum(longest, chord, out=longest)
        return longest

    def extent(self, frame: Frame) -> tuple[float, float, float, float]:
        """u_min, v_min, u_max, v_max of the projected silhouette, mm."""
        across = [part.extent_along(frame.across) for part in self.parts]
        down = [part.extent_along(np.array([0.0, 1.0, 0.0])) for part in self.parts]
        return (
            min(a for a, _ in across),
            min(a for a, _ in down),
            max(b for _, b in across),
            max(b for _, b in down),
        )


def draw_heart(habitus: Habitus) -> Heart:
    """A heart with the cardiothoracic ratio of the habitus."""
    base = habitus.left_dome_y - 46 * (habitus.ctr / 0.45) ** 0.5
    shapes = (
        ((30, 10, 8), (64, 38, 42), 0.74),  # left ventricle
        ((8, 20, 24), (50, 40, 36), 0.25),  # right ventricle, in front
        ((-14, 8, 4), (25, 44, 34), -0.08),  # right atrium
        ((12, -34, 6), (29, 44, 28), -0.42),  # outflow tract, left atrial appendage
        ((4, -12, -22), (34, 30, 24), 0.0),  # left atrium, behind
        ((-4, -48, 8), (27, 42, 24), 0.0),  # root of the great vessels
    )
    unscaled = [ellipsoid(centre, semi, tilt) for centre, semi, tilt in shapes]
    unscaled_width = max(p.extent_along(np.array([1.0, 0, 0]))[1] for p in unscaled) - min(
        p.extent_along(np.array([1.0, 0, 0]))[0] for p in unscaled
    )
    target_width = habitus.ctr * 2 * habitus.half_width
    stretch = target_width / unscaled_width
    vertical_stretch = (stretch * habitus.half_width / 135) ** 0.5 if habitus.ctr < 0.5 else stretch**0.6
    scale = np.diag([stretch, vertical_stretch, stretch**0.5])
    translation = np.array([0.0, base, 12.0 * habitus.depth])
    return Heart(
        parts=tuple(
            Ellipsoid(centre=scale @ part.centre + translation, axes=scale @ part.axes) for part in unscaled
        )
    )


def draw_aorta(habitus: Habitus, cage: Cage) -> Tubes:
    """Ascending aorta, arch (the aortic knob) and descending aorta, as a solid tube."""
    y = habitus.carina
    end_y = habitus.right_dome_y + 60
    age_shift = 0.12 * max(habitus.age - 55, 0)
    knots = np.array(
        [
            [-4, y + 45, 20],
            [-13 - age_shift, y + 14, 22],
            [-10, y - 12, 16],
            [4, y - 27, 10],
            [20 + age_shift, y - 19, -14],
            [25 + age_shift, y - 6, -36],
            [24 + age_shift, y + 30, float(cage.spine_z(y + 30)) + 20],
            [21 + 0.5 * age_shift, y + 90, float(cage.spine_z(y + 90)) + 24],
            [9, end_y, float(cage.spine_z(end_y)) + 26],
        ]
    )
    return join_curves([sample_curve(knots, habitus.aorta, step=0.8, weight=1.15)])


def mediastinum_chord(habitus: Habitus, cage: Cage, frame: Frame, u: Field, v: Field) -> Field:
    """Path length through the paraspinal tissue and the great vessels, as upright elliptical columns."""
    y = habitus.carina
    spine = cage.spine_z(v)
    # half widths: wide at the thoracic inlet, narrow at the carina, small behind the heart
    heights = np.array(
        [-60, habitus.apex - 20, habitus.apex + 8, habitus.apex + 32, y - 25, y + 15, y + 75, y + 110]
    )
    right = np.interp(v, heights, [70, 62, 40, 29, 27, 27, 24, 12]).astype(np.float32)
    left = np.interp(v, heights, [70, 62, 38, 30, 28, 26, 22, 10]).astype(np.float32)
    front = np.interp(v, heights, [30, 30, 28, 30, 34, 34, 22, 6]).astype(np.float32)
    if frame.view is View.PA:
        spinal = _column((u - spine * np.float32(np.sin(frame.turn))) / 29, 32, 1.5)
        side = np.where(u < 0, right, left)
        # below the heart there is no lung between liver, oesophagus and stomach
        below = 1 / (1 + np.exp(-(v - np.float32(habitus.left_dome_y - 2)) / 12))
        floor = (150 * below * np.exp(-((u / 44) ** 4))).astype(np.float32)
        return spinal + _column(u / side, front) + floor
    z = -u
    spinal = _column((z - spine) / 27, 20, 1.2)
    upper = _column((z + 2) / np.clip(front * 1.1, 4, None), (right + left) / 2)
    return spinal + upper


def _column(t: Field, half_length: Field | float, power: float = 0.7) -> Field:
    """Chord of an upright column: elliptical for ``power`` 1/2; higher powers give softer edges."""
    return (2 * half_length * np.clip(1 - t * t, 0, None) ** power).astype(np.float32)
