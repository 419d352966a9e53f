"""The boxes of the findings, in each view that shows them.

The box of a finding without a sharp outline encloses the difference between the chest cavity with and without
the finding.
"""

from collections.abc import Mapping

import numpy as np

from demo.phantom.catalogue import FindingKind
from demo.phantom.chords import soft_clip
from demo.phantom.frame import Field, Frame, View
from demo.phantom.lesions import Consolidation
from demo.phantom.lungs import mediastinum_path, side_cavity_path
from demo.phantom.scene import Extent, PlacedFinding, Scene, heart_extent, to_box
from demo.phantom.thorax import NO_SHELL, Shell
from domain.boxes import Box

_GRID_MM = 1.4


def find_finding_boxes(scene: Scene, finding: PlacedFinding, frames: Mapping[View, Frame]) -> dict[View, Box]:
    """The finding's box in each view that shows it, in pixels, clipped to the image."""
    boxes = {}
    for view, frame in frames.items():
        extent = _finding_extent(scene, finding, frame)
        if extent is not None:
            boxes[view] = to_box(frame, extent)
    return boxes


def _finding_extent(scene: Scene, finding: PlacedFinding, frame: Frame) -> Extent | None:
    """Projected edges in mm; None if the finding cannot be distinguished from overlying structures."""
    if finding.spec.kind is FindingKind.CARDIOMEGALY:
        return heart_extent(scene, frame)
    if finding.spec.kind is FindingKind.PNEUMOTHORAX and frame.view is View.LATERAL:
        return None  # the other lung overlies it
    if finding.scene_object is None or isinstance(finding.scene_object, Consolidation):
        return _extent_of_change(scene, finding, frame)
    return finding.scene_object.extent(frame)


def _extent_of_change(scene: Scene, finding: PlacedFinding, frame: Frame) -> Extent | None:
    """Edges of one side's fluid, free air or consolidation."""
    side, step = finding.spec.resolved_side, frame.grid_step(_GRID_MM)
    u, v = frame.axes(step)
    mediastinum = mediastinum_path(scene, frame, step)
    if frame.view is View.LATERAL:
        mediastinum = mediastinum / 2

    def air_path(shell: Shell) -> Field:
        return soft_clip(
            side_cavity_path(scene, frame, scene.domes[side], shell, step=step) - mediastinum, 3.0
        )

    healthy = air_path(NO_SHELL)
    if finding.spec.kind is FindingKind.EFFUSION:
        return _edges(u, v, healthy - air_path(scene.fluid[side]), minimum=26.0)
    if finding.spec.kind is FindingKind.PNEUMOTHORAX:
        return _edges(u, v, np.where(air_path(scene.air[side]) < 6, healthy, 0), minimum=12.0)
    lesion = finding.scene_object
    if not isinstance(lesion, Consolidation):
        raise TypeError(f"no outline is known for {finding.spec.kind}")
    half = np.abs(frame.across) @ lesion.semi_axes
    distance = np.hypot(
        (u - lesion.centre @ frame.across) / half, (v - lesion.centre[1]) / lesion.semi_axes[1]
    )
    return _edges(u, v, np.where(distance < 0.97, healthy, 0), minimum=12.0)


def _edges(u: Field, v: Field, field: Field, *, minimum: float) -> Extent | None:
    """Outermost rows and columns with at least 4 pixels above ``minimum`` mm; None if there are too few."""
    is_above = field > minimum
    columns, rows = np.flatnonzero(is_above.sum(axis=0) >= 4), np.flatnonzero(is_above.sum(axis=1) >= 4)
    if len(columns) < 3 or len(rows) < 3:
        return None
    half_u, half_v = float(u[0, 1] - u[0, 0]) / 2, float(v[1, 0] - v[0, 0]) / 2
    return (
        float(u[0, columns[0]]) - half_u,
        float(v[rows[0], 0]) - half_v,
        float(u[0, columns[-1]]) + half_u,
        float(v[rows[-1], 0]) + half_v,
    )
