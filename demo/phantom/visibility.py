"""Boxes of findings without a sharp outline: where the picture differs from the same one without them."""

from collections.abc import Callable

import numpy as np

from demo.phantom.catalogue import Side
from demo.phantom.chords import rounded
from demo.phantom.frame import Field, Frame, View
from demo.phantom.lungs import between_lungs, side_air
from demo.phantom.scene import Extent, Scene
from demo.phantom.thorax import NO_SHELL

_GRID_MM = 1.4


def changed_extent(side: Side, what: str, index: int = 0) -> Callable[[Scene, Frame], Extent | None]:
    """How to find the edges of one side's fluid, air or consolidation in a view."""

    def extent(scene: Scene, frame: Frame) -> Extent | None:
        step = frame.step(_GRID_MM)
        u, v = frame.axes(step)
        middle = between_lungs(scene, frame, step)
        if frame.view is View.LATERAL:
            middle = middle / 2
        healthy = rounded(side_air(scene, frame, u, v, scene.domes[side], NO_SHELL) - middle, 3.0)
        if what == "fluid":
            filled = healthy - rounded(
                side_air(scene, frame, u, v, scene.bases[side], scene.fluid[side]) - middle, 3.0
            )
            return _edges(frame, u, v, filled, least=26.0)
        if what == "air":
            filled = healthy - rounded(
                side_air(scene, frame, u, v, scene.domes[side], scene.air[side]) - middle, 3.0
            )
            return _edges(frame, u, v, filled, least=22.0 if frame.view is View.PA else 40.0)
        return _opacity(scene, frame, u, v, healthy, index)

    return extent


def _opacity(scene: Scene, frame: Frame, u: Field, v: Field, healthy: Field, index: int) -> Extent | None:
    lesion = scene.consolidations[index]
    half = np.abs(frame.across) @ lesion.semi
    reach = np.hypot((u - lesion.centre @ frame.across) / half, (v - lesion.centre[1]) / lesion.semi[1])
    return _edges(frame, u, v, np.where(reach < 0.97, healthy, 0), least=12.0)


def _edges(frame: Frame, u: Field, v: Field, field: Field, *, least: float) -> Extent | None:
    """Outermost rows and columns of which at least 4 pixels exceed ``least`` mm; None if there are too few."""
    seen = field > least
    columns, rows = np.flatnonzero(seen.sum(axis=0) >= 4), np.flatnonzero(seen.sum(axis=1) >= 4)
    if len(columns) < 3 or len(rows) < 3:
        return None
    half_u, half_v = float(u[0, 1] - u[0, 0]) / 2, float(v[1, 0] - v[0, 0]) / 2
    return (
        float(u[0, columns[0]]) - half_u,
        float(v[rows[0], 0]) - half_v,
        float(u[0, columns[-1]]) + half_u,
        float(v[rows[-1], 0]) + half_v,
    )
