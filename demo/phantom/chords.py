"""Path lengths of the beam through simple solids."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from demo.phantom.frame import Field, Frame, Points


def superellipse_chord(t: Field, half_length: Field | float, power: float = 2.4) -> Field:
    """Chord of |a|^n + |b|^n <= 1 along b at a = ``t``, b scaled to ``half_length``; 0 outside."""
    inside = np.clip(1 - np.abs(t) ** power, 0, None)
    return (2 * half_length * inside ** (1 / power)).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ellipsoid:
    """A solid ellipsoid in patient mm: ``centre`` (3,); ``axes`` (3, 3), whose columns are the semi-axes."""

    centre: Points
    axes: Points

    def chord(self, frame: Frame, u: Field, v: Field) -> Field:
        """Path length at the projected points (u, v)."""
        inverse = np.linalg.inv(self.axes)
        start = inverse @ self.centre
        across, down, along = (
            inverse @ frame.across,
            inverse @ np.array([0.0, 1.0, 0.0]),
            inverse @ frame.beam,
        )
        a = float(along @ along)
        b: Field = np.zeros(np.broadcast_shapes(u.shape, v.shape), np.float32)
        c: Field = np.full_like(b, -1)
        for axis in range(3):
            w = (u * np.float32(across[axis]) - np.float32(start[axis])) + v * np.float32(down[axis])
            b += w * np.float32(along[axis])
            c += w * w
        length: Field = 2 / a * np.sqrt(np.clip(b * b - np.float32(a) * c, 0, None))
        return length.astype(np.float32)

    def extent_along(self, direction: Points) -> tuple[float, float]:
        """Lowest and highest coordinate of the ellipsoid along a unit vector."""
        middle = float(self.centre @ direction)
        reach = float(np.linalg.norm(self.axes.T @ direction))
        return middle - reach, middle + reach

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Which of the points (n, 3) lie inside."""
        inside: NDArray[np.bool_] = (
            np.linalg.norm((points - self.centre) @ np.linalg.inv(self.axes).T, axis=-1) < 1
        )
        return inside


def ellipsoid(
    centre: tuple[float, float, float], semi: tuple[float, float, float], tilt: float = 0.0
) -> Ellipsoid:
    """An ellipsoid with semi-axes along X, Y, Z, rotated by ``tilt`` radians from X towards Y."""
    rotation = np.array([[np.cos(tilt), -np.sin(tilt), 0], [np.sin(tilt), np.cos(tilt), 0], [0, 0, 1]])
    return Ellipsoid(centre=np.array(centre, dtype=float), axes=rotation @ np.diag(semi))


def soft_clip(values: Field, softness: float) -> Field:
    """A smooth positive part: 0 for negative values, rounded within ``softness`` of 0."""
    return (
        (0.5 * (values + np.sqrt(values * values + softness * softness)) - softness / 2)
        .clip(0)
        .astype(np.float32)
    )


def fractal_noise(
    random: np.random.Generator, shape: tuple[int, int], *, coarsest: int, octaves: int, persistence: float
) -> Field:
    """Smooth noise of mean 0 and standard deviation 1; ``coarsest`` is the largest grain in pixels.

    Each octave has grains of half the size and ``persistence`` times the strength of the one before.
    """
    total: Field = np.zeros(shape, np.float32)
    grain, strength = float(coarsest), 1.0
    for _ in range(octaves):
        small = random.standard_normal((int(shape[0] / grain) + 4, int(shape[1] / grain) + 4))
        rows, columns = (
            _cubic_splines(length, count, grain) for length, count in zip(shape, small.shape, strict=True)
        )
        total += (np.float32(strength) * rows) @ (small.astype(np.float32) @ columns.T)
        grain, strength = max(grain / 2, 1.0), strength * persistence
    deviation = float(total.std())
    standard: Field = (total - total.mean()) / max(deviation, 1e-6)
    return standard.astype(np.float32)


@lru_cache(maxsize=32)
def _cubic_splines(length: int, count: int, grain: float) -> Field:
    """Values of uniform cubic B-splines, ``grain`` pixels apart, at each pixel; shape (length, count)."""
    position = np.arange(length) / grain + 1
    low = np.floor(position).astype(np.int64)
    t = position - low
    weights = (
        (1 - t) ** 3 / 6,
        (3 * t**3 - 6 * t**2 + 4) / 6,
        (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6,
        t**3 / 6,
    )
    splines: Field = np.zeros((length, count), np.float32)
    for offset, weight in enumerate(weights):
        splines[np.arange(length), low + offset - 1] = weight
    return splines


def gaussian_blur(field: Field, sigma: float) -> Field:
    """Gaussian blur, ``sigma`` in pixels of the field; wide blurs are computed on a smaller copy."""
    factor = max(1, int(sigma / 4))
    if factor == 1:
        return ndimage.gaussian_filter(field, sigma, mode="nearest", truncate=3)
    rows, columns = field.shape
    small = Image.fromarray(np.ascontiguousarray(field, dtype=np.float32)).reduce(factor)
    blurred = ndimage.gaussian_filter(np.asarray(small), sigma / factor, mode="nearest", truncate=3)
    large = Image.fromarray(blurred).resize(
        (blurred.shape[1] * factor, blurred.shape[0] * factor), Image.Resampling.BILINEAR
    )
    return np.asarray(large, dtype=np.float32)[:rows, :columns]
