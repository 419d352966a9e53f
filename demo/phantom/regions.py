"""Boxes of the anatomical regions, named after the GEMeX visual regions."""

from collections.abc import Mapping

import numpy as np

from demo.phantom.airways import trachea_line
from demo.phantom.catalogue import Side
from demo.phantom.exam import PhantomRegion
from demo.phantom.frame import Frame, View
from demo.phantom.habitus import Habitus
from demo.phantom.lesions import zone_heights
from demo.phantom.scene import SIDES, Extent, Scene, heart_extent, to_box
from demo.phantom.vessels import hilum_point


def thorax_edges(habitus: Habitus, frame: Frame) -> tuple[float, float]:
    """The inner edges of the rib cage at its widest point, as x in pixels."""
    half = habitus.half_width
    return frame.to_pixels(-half, 0)[0], frame.to_pixels(half, 0)[0]


def find_regions(scene: Scene, frames: Mapping[View, Frame]) -> tuple[PhantomRegion, ...]:
    """All regions, each with its box in the views that show it."""
    extents: dict[str, dict[View, Extent]] = {}
    for view, frame in frames.items():
        region_extents = _frontal_extents(scene, frame) if view is View.PA else _lateral_extents(scene, frame)
        for name, extent in region_extents.items():
            extents.setdefault(name, {})[view] = extent
    return tuple(
        PhantomRegion(name=name, boxes={view: to_box(frames[view], extent) for view, extent in views.items()})
        for name, views in extents.items()
    )


def _side_interval(side: Side, inner: float, outer: float) -> tuple[float, float]:
    return (inner, outer) if side is Side.LEFT else (-outer, -inner)


def _frontal_extents(scene: Scene, frame: Frame) -> dict[str, Extent]:
    habitus, cage = scene.habitus, scene.cage
    half = habitus.half_width
    extents: dict[str, Extent] = {}
    for side in SIDES:
        dome = scene.domes[side]
        angle = dome.top + 42
        u0, u1 = _side_interval(side, 16, half)
        extents[f"{side} lung"] = (u0, habitus.apex, u1, angle)
        for zone, (low, high) in zone_heights(habitus, side).items():
            outer = float(np.max(cage.half_width(np.linspace(low, high, 20))))
            z0, z1 = _side_interval(side, 16, outer)
            extents[f"{side} {zone}"] = (z0, low, z1, angle if zone.value.startswith("lower") else high)
        d0, d1 = _side_interval(side, 14, half - 2)
        extents[f"{side} hemidiaphragm"] = (d0, dome.top - 4, d1, angle)
        root = hilum_point(habitus, side)
        h0, h1 = _side_interval(side, 16, abs(float(root[0])) + 26)
        extents[f"{side} hilar structures"] = (h0, float(root[1]) - 22, h1, float(root[1]) + 34)
    extents["cardiac silhouette"] = heart_extent(scene, frame)
    extents["mediastinum"] = (-34, habitus.apex, 38, scene.heart.extent(frame)[1] + 8)
    extents["svc"] = (-32, habitus.carina - 46, -12, habitus.carina + 24)
    extents["spine"] = (-26, 0, 26, frame.rows * frame.spacing)
    extents["abdomen"] = (-half - 8, habitus.right_dome_y, half + 8, frame.rows * frame.spacing)
    line = trachea_line(habitus)
    extents["trachea"] = (float(line[:, 0].min()) - 10, 0, float(line[:, 0].max()) + 10, habitus.carina + 4)
    return extents


def _lateral_extents(scene: Scene, frame: Frame) -> dict[str, Extent]:
    habitus, cage = scene.habitus, scene.cage
    heights = np.linspace(habitus.apex, habitus.right_dome_y + 30, 60)
    front, back = -float(cage.front_z(heights).max()), -float(cage.back_z(heights).min())
    extents: dict[str, Extent] = {"bilateral lung": (front, habitus.apex, back, habitus.right_dome_y + 50)}
    for side in SIDES:
        dome = scene.domes[side]
        extents[f"{side} hemidiaphragm"] = (front, dome.top - 4, back, dome.top + 54)
    extents["cardiac silhouette"] = heart_extent(scene, frame)
    bottom = frame.rows * frame.spacing
    middle = cage.spine_z(np.linspace(0, bottom, 60))
    extents["spine"] = (-float(middle.max()) - 20, 0, -float(middle.min()) + 44, bottom)
    line = trachea_line(habitus)
    extents["trachea"] = (-float(line[:, 2].max()) - 10, 0, -float(line[:, 2].min()) + 10, habitus.carina + 6)
    extents["abdomen"] = (front, habitus.right_dome_y + 4, back, bottom)
    return extents
