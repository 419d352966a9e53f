"""The vertebral column in the frontal and the lateral view."""

import numpy as np

from demo.phantom.frame import Field, Frame, View
from demo.phantom.habitus import Habitus, part_rng
from demo.phantom.thorax import Cage

_FIRST, _LAST = -4, 19


def _edge(distance: Field, width: float = 0.8) -> Field:
    """1 inside (distance > 0), 0 outside, with a soft edge of about ``width`` mm."""
    edge: Field = 0.5 * (1 + np.tanh(distance / np.float32(width)))
    return edge.astype(np.float32)


def _bump(distance: Field, width: float) -> Field:
    bump: Field = np.exp(-((distance / np.float32(width)) ** 2))
    return bump.astype(np.float32)


def vertebral_path(habitus: Habitus, cage: Cage, frame: Frame, step: int) -> Field:
    """Path length through bone, as mm of cortical bone, on the working grid of ``step``."""
    u, v = frame.axes(step)
    field = np.zeros(frame.shape(step), np.float32)
    random = part_rng(habitus.seed, 6)
    for number in range(_FIRST, _LAST + 1):
        y = habitus.vertebra_y(number)
        pitch = habitus.vertebra_y(number + 0.5) - habitus.vertebra_y(number - 0.5)
        wobble, tilt = random.normal(0, 0.6, 2)
        r0, r1 = np.searchsorted(v[:, 0], [y - 1.2 * pitch, y + 1.7 * pitch])
        if r1 <= r0:
            continue
        z = float(cage.spine_z(y))
        if frame.view is View.PA:
            middle = z * frame.across[2] + wobble
            c0, c1 = np.searchsorted(u[0], [middle - 48, middle + 48])
            vertebra = _frontal_vertebra(
                u[:, c0:c1] - np.float32(middle), v[r0:r1] - np.float32(y), number, pitch, float(tilt)
            )
        else:
            slope = float(cage.spine_z(y + 10) - cage.spine_z(y - 10)) / 20
            c0, c1 = np.searchsorted(u[0], [-z - 40, -z + 85])
            dz, dy = -(u[:, c0:c1]) - np.float32(z), v[r0:r1] - np.float32(y)
            length = float(np.hypot(1, slope))
            vertebra = _lateral_vertebra(
                (dz - slope * dy) / length, (dy + slope * dz) / length, number, pitch * length
            )
        field[r0:r1, c0:c1] += vertebra
    return field * np.float32(habitus.dense_bone)


def _frontal_vertebra(x: Field, y: Field, number: int, pitch: float, tilt: float) -> Field:
    """One vertebra in the frontal view: body with endplates, pedicles, spinous and transverse processes."""
    half_width = 14.5 + 0.62 * max(number, 0)
    half_height = 0.41 * pitch
    down = y - np.float32(tilt * 0.02) * x
    waist = half_width * (0.92 + 0.08 * (np.clip(np.abs(down) / half_height, 0, 1.2)) ** 2)
    across, along = _edge(waist - np.abs(x)), _edge(half_height - np.abs(down), 0.9)
    path = 3.4 * across * along
    path += 3.0 * across * _bump(np.abs(down) - half_height + 0.4, 1.1)  # endplates
    path += 2.0 * along * _bump(np.abs(x) - waist + 0.7, 1.1)  # side walls
    for side in (-1, 1):
        ring = np.hypot((x - side * 0.60 * half_width) / 3.6, (down + 0.12 * pitch) / 5.2)
        path += 3.2 * _bump(ring - 1, 0.22) + 0.8 * _edge(1 - ring, 0.2)
        wing = np.clip((side * x - half_width) / 18, 0, 1)
        path += (
            1.1
            * _edge(side * x - half_width + 3)
            * _edge(18 + half_width - side * x, 1.5)
            * _bump(down + 0.18 * pitch + 4 * wing, 4.6)
        )
    drop = np.hypot(x / (2.6 + 0.05 * number), (down - 0.42 * pitch) / 6.0)
    path += 3.6 * _bump(drop - 0.85, 0.3) + 1.4 * _edge(1 - drop, 0.2)
    lamina = _bump(down - 0.14 * pitch - 0.35 * np.abs(x), 3.4) * _edge(0.62 * half_width - np.abs(x), 1.5)
    return (path + 0.8 * lamina).astype(np.float32)


def _lateral_vertebra(z: Field, y: Field, number: int, pitch: float) -> Field:
    """One vertebra from the side: body with endplates, pedicle, joints, spinous process to the back."""
    half_depth = 11.5 + 0.42 * max(number, 0)
    half_height = 0.385 * pitch
    waist = half_depth * (0.92 + 0.08 * np.clip(np.abs(y) / half_height, 0, 1.2) ** 2)
    across, along = _edge(waist - np.abs(z)), _edge(half_height - np.abs(y), 0.8)
    path = 8.0 * across * along
    path += 6.5 * across * _bump(np.abs(y) - half_height, 0.9)
    path += 3.0 * along * _bump(np.abs(z) - waist + 0.6, 0.9)
    back = -z - half_depth  # mm behind the body
    path += 2.0 * _edge(back + 2, 1.2) * _edge(13 - back, 2.0) * _bump(y + 0.16 * pitch, 4.4)  # pedicle
    path += 1.0 * _bump(np.hypot((back - 12) / 5.5, (y - 0.1 * pitch) / (0.42 * pitch)), 1.0)  # joints
    path += (
        1.2 * _edge(back - 12, 2) * _edge(38 - back, 3) * _bump(y - 0.25 * pitch - 0.55 * (back - 12), 3.6)
    )
    return path.astype(np.float32)
