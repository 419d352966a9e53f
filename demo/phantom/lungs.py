"""Lung, free air and fluid along the beam: the contents of the chest cavity at each point of the detector."""

from dataclasses import dataclass

import numpy as np

from demo.phantom.catalogue import Side
from demo.phantom.chords import rounded
from demo.phantom.frame import Field, Frame, View
from demo.phantom.heart import aorta, mediastinum_chord
from demo.phantom.pleura import VISCERAL_PLEURA_MM
from demo.phantom.scene import SIDES, Scene
from demo.phantom.thorax import NO_SHELL, Dome, Shell, frontal_air, lateral_air
from demo.phantom.tubes import project_tubes


@dataclass(frozen=True, slots=True, kw_only=True)
class LungPaths:
    """Path lengths in mm on one working grid.

    Attributes:
        cavity: the part that is lung in a healthy patient.
        lung: aerated lung.
        free: air in the pleural space.
        pleura: visceral pleura that borders on free air.
    """

    cavity: Field
    lung: Field
    free: Field
    pleura: Field


def between_lungs(scene: Scene, frame: Frame, step: int) -> Field:
    """Path length through heart, great vessels and paraspinal tissue."""
    u, v = frame.axes(step)
    chord = mediastinum_chord(scene.habitus, scene.cage, frame, u, v)
    # the heart lies on the diaphragm, so the parts of the ellipsoids below it are removed
    fade = 1 / (1 + np.exp((v - np.float32(scene.habitus.left_dome_y + 5)) / 4))
    heart = scene.heart.chord(frame, u, v) * fade.astype(np.float32)
    chord = np.maximum(chord, heart) + 0.35 * np.minimum(chord, heart)
    return chord + project_tubes([aorta(scene.habitus, scene.cage)], frame, step, classes=(9.0, 12.0, 16.0))


def lung_paths(scene: Scene, frame: Frame, step: int, middle: Field) -> LungPaths:
    """The contents of the cavity on both sides; ``middle`` is from ``between_lungs`` for the same grid."""

    def both(shells: dict[Side, Shell], more: float = 0.0) -> Field:
        total = np.zeros(frame.shape(step), np.float32)
        for side in SIDES:
            total += side_air(scene, frame, scene.domes[side], _wider(shells[side], more), step=step)
        return rounded(total - middle, 5.0)

    healthy = dict.fromkeys(SIDES, NO_SHELL)
    cavity = both(healthy)
    zero = np.zeros_like(cavity)
    lung, free, pleura = cavity, zero, zero
    if any(shell is not NO_SHELL for shell in scene.fluid.values()):
        lung = np.minimum(both(scene.fluid), cavity)
    if any(shell is not NO_SHELL for shell in scene.air.values()):
        inner = both(scene.air)
        free = np.clip(cavity - inner, 0, None)
        pleura = np.clip(inner - both(scene.air, VISCERAL_PLEURA_MM), 0, None)
        lung = np.minimum(lung, inner)
    return LungPaths(cavity=cavity, lung=lung, free=free, pleura=pleura)


def side_air(scene: Scene, frame: Frame, dome: Dome, shell: Shell, *, step: int) -> Field:
    """Path length through one side's cavity in this view, before the mediastinum is subtracted."""
    u, v = frame.axes(step)
    cut = frontal_air if frame.view is View.PA else lateral_air
    return cut(scene.cage, dome, u, v, shell)


def _wider(shell: Shell, more: float) -> Shell:
    if more == 0.0 or shell is NO_SHELL:
        return shell
    return Shell(
        heights=shell.heights,
        gaps=shell.gaps + more * (shell.gaps > 1.0),
        depth_share=shell.depth_share,
        floor=shell.floor,
    )
