"""Projection of thin curved structures (ribs, vessels, catheters) as X-ray path lengths.

The projection of a tube is the sum of the points of its curve, each weighted with the arc length that it
represents, convolved with a disc. For a straight tube of radius R parallel to the detector this gives exactly
the chord 2 sqrt(R^2 - d^2). A tube along the beam correctly gets longer paths. The convolution is computed
once for all tubes of a radius, in Fourier space. The kernels are the same for every exam, so they are cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special
from scipy.interpolate import CubicSpline

from demo.phantom.frame import Field, Frame, Points

_TABLE = 16384
Grid = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tubes:
    """Sampled curves: points (n, 3), the arc length that each represents (n,), the radius (n,), all in mm.

    ``cortex`` is the thickness in mm of a dense rim around a weaker core, 0 for a solid tube; ``core`` is the
    core's weight relative to the rim.
    """

    points: Points
    weights: NDArray[np.float64]
    radii: NDArray[np.float64]
    cortex: float = 0.0
    core: float = 1.0


def sample_curve(
    knots: Points, radius: NDArray[np.float64] | float, *, step: float = 0.4, weight: float = 1.0
) -> tuple[Points, NDArray[np.float64], NDArray[np.float64]]:
    """A smooth curve through ``knots`` (n, 3), sampled every ``step`` mm: points, weights, radii."""
    knots = np.asarray(knots, dtype=float)
    chord = np.concatenate(
        [[0.0], np.cumsum(np.maximum(np.linalg.norm(np.diff(knots, axis=0), axis=1), 1e-6))]
    )
    count = max(8, int(chord[-1] * 1.05 / step))
    positions = np.linspace(0.0, chord[-1], count)
    points = (
        CubicSpline(chord, knots, axis=0, bc_type="natural")(positions)
        if len(knots) > 2
        else np.array([np.interp(positions, chord, knots[:, axis]) for axis in range(3)]).T
    )
    pieces = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[pieces[0] / 2], (pieces[1:] + pieces[:-1]) / 2, [pieces[-1] / 2]])
    radii = np.interp(positions, chord, np.broadcast_to(np.asarray(radius, dtype=float), (len(knots),)))
    return points, lengths * weight, radii


def join_curves(
    parts: Sequence[tuple[Points, NDArray[np.float64], NDArray[np.float64]]],
    *,
    cortex: float = 0.0,
    core: float = 1.0,
) -> Tubes:
    """Join several sampled curves into one set of tubes."""
    return Tubes(
        points=np.concatenate([p for p, _, _ in parts]),
        weights=np.concatenate([w for _, w, _ in parts]),
        radii=np.concatenate([r for _, _, r in parts]),
        cortex=cortex,
        core=core,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TubeLayer:
    """Tubes with common projection parameters.

    ``classes`` are radii in mm, increasing; each tube is split between the two neighbouring radii.
    ``blur`` is the standard deviation in mm of the unsharpness (focal spot and detector). All paths are
    multiplied by ``scale``.
    """

    tubes: Sequence[Tubes]
    classes: Sequence[float]
    blur: float = 0.25
    scale: float = 1.0


def project_tubes(
    tubes: Sequence[Tubes], frame: Frame, step: int, *, classes: Sequence[float], blur: float = 0.25
) -> Field:
    """Path length in mm (times the tubes' own weights) on the working grid of ``step``."""
    return project_layers([TubeLayer(tubes=tubes, classes=classes, blur=blur)], frame, step)


def project_layers(layers: Sequence[TubeLayer], frame: Frame, step: int) -> Field:
    """The sum of the layers' path lengths in mm on the working grid of ``step``, by one inverse transform."""
    shape = frame.shape(step)
    pitch = frame.spacing * step
    margin = int(np.ceil((max(max(layer.classes) for layer in layers) + 3) / pitch)) + 2
    padded = (fft.next_fast_len(shape[0] + 2 * margin), fft.next_fast_len(shape[1] + 2 * margin, real=True))
    spectrum = np.zeros((padded[0], padded[1] // 2 + 1), np.complex64)
    for layer in layers:
        for (cortex, core), tubes in _merge_by_rim(layer.tubes).items():
            u, v = frame.project(tubes.points)
            columns = (u - frame.origin + frame.width / 2) / pitch - 0.5 + margin
            rows = v / pitch - 0.5 + margin
            class_position = np.interp(tubes.radii, layer.classes, np.arange(len(layer.classes)))
            for index, radius in enumerate(layer.classes):
                share = np.clip(1 - np.abs(class_position - index), 0, None)
                mask = share > 0
                if not mask.any():
                    continue
                # a tube between two classes keeps its area, and therefore its mean path length
                weights = tubes.weights[mask] * share[mask] * (tubes.radii[mask] / radius) ** 2 * layer.scale
                density = fft.rfft2(_splat(rows[mask], columns[mask], weights, padded), workers=1)
                density *= _kernel(padded, pitch, radius=radius, blur=layer.blur, cortex=cortex, core=core)
                spectrum += density
    field = fft.irfft2(spectrum, s=padded, workers=1)
    return np.ascontiguousarray(
        field[margin : margin + shape[0], margin : margin + shape[1]], dtype=np.float32
    )


def _merge_by_rim(tube_sets: Sequence[Tubes]) -> dict[tuple[float, float], Tubes]:
    """Merge the tubes of the same cortex and core into one set."""
    by_rim: dict[tuple[float, float], list[Tubes]] = {}
    for tubes in tube_sets:
        by_rim.setdefault((tubes.cortex, tubes.core), []).append(tubes)
    return {
        (cortex, core): join_curves(
            [(tubes.points, tubes.weights, tubes.radii) for tubes in same_rim], cortex=cortex, core=core
        )
        for (cortex, core), same_rim in by_rim.items()
    }


@lru_cache(maxsize=64)
def _kernel(
    padded: Grid, pitch: float, *, radius: float, blur: float, cortex: float, core: float
) -> NDArray[np.float32]:
    """The spectrum of a tube's cross section, per pixel of the padded grid."""
    frequency, index_of = _frequencies(padded, pitch)
    kernel = _disc_spectrum(frequency, radius, blur)
    if cortex > 0 and radius > cortex:
        kernel -= (1 - core) * _disc_spectrum(frequency, radius - cortex, blur)
    return (kernel / (pitch * pitch)).astype(np.float32)[index_of]


@lru_cache(maxsize=4)
def _frequencies(padded: Grid, pitch: float) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A table of radial frequencies, and the index into it for each point of the spectrum."""
    fy, fx = fft.fftfreq(padded[0], pitch), fft.rfftfreq(padded[1], pitch)
    radial = np.hypot(fy[:, None], fx[None, :]).astype(np.float32)
    table = np.linspace(1e-6, float(radial.max()), _TABLE)
    return table, (radial * np.float32((_TABLE - 1) / table[-1])).astype(np.int32)


def _disc_spectrum(k: NDArray[np.float64], radius: float, blur: float) -> NDArray[np.float64]:
    """Fourier transform of a disc of ``radius`` mm blurred by a Gaussian, at the radial frequencies ``k``."""
    return radius * special.j1(2 * np.pi * radius * k) / k * np.exp(-2 * (np.pi * blur * k) ** 2)


def _splat(
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
) -> Field:
    """Distribute weighted points over their four neighbour pixels; points outside the grid are dropped."""
    r0, c0 = np.floor(rows).astype(np.int64), np.floor(columns).astype(np.int64)
    keep = (r0 >= 0) & (c0 >= 0) & (r0 < shape[0] - 1) & (c0 < shape[1] - 1)
    r0, c0, weights = r0[keep], c0[keep], weights[keep]
    fr, fc = rows[keep] - r0, columns[keep] - c0
    flat_index = r0 * shape[1] + c0
    index = np.concatenate([flat_index, flat_index + 1, flat_index + shape[1], flat_index + shape[1] + 1])
    value = np.concatenate([(1 - fr) * (1 - fc), (1 - fr) * fc, fr * (1 - fc), fr * fc]) * np.tile(weights, 4)
    return np.bincount(index, value, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
