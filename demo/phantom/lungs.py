"""Lung, free air and fluid along the beam: the contents of the chest cavity at each point of the detector."""

from dataclasses import dataclass

import numpy as np

from demo.phantom.catalogue import Side
from demo.phantom.chords import soft_clip
from demo.phantom.frame import Field, Frame, View
from demo.phantom.heart import draw_aorta, mediastinum_chord
from demo.phantom.pleura import VISCERAL_PLEURA_MM
from demo.phantom.scene import SIDES, Scene
from demo.phantom.thorax import NO_SHELL, Dome, Shell, frontal_air_path, lateral_air_path
from demo.phantom.tubes import project_tubes


@dataclass(frozen=True, slots=True, kw_only=True)
class LungPaths:
    """Path lengths in mm on one working grid.

    Attributes:
        cavity: the part that is lung in a healthy patient.
        lung: aerated lung.
        free_air: air in the pleural space.
        pleura: visceral pleura that borders on free air.
    """

    cavity: Field
    lung: Field
    free_air: Field
    pleura: Field


def mediastinum_path(scene: Scene, frame: Frame, step: int) -> Field:
    """Path length through heart, great vessels and paraspinal tissue."""
    u, v = frame.axes(step)
    chord = mediastinum_chord(scene.habitus, scene.cage, frame, u, v)
    # the heart lies on the diaphragm, so the parts of the ellipsoids below it are removed
    fade = 1 / (1 + np.exp((v - np.float32(scene.habitus.left_dome_y + 5)) / 4))
    heart = scene.heart.chord(frame, u, v) * fade.astype(np.float32)
    chord = np.maximum(chord, heart) + 0.35 * np.minimum(chord, heart)
    return chord + project_tubes(
        [draw_aorta(scene.habitus, scene.cage)], frame, step, classes=(9.0, 12.0, 16.0)
    )


def compute_lung_paths(scene: Scene, frame: Frame, step: int, mediastinum: Field) -> LungPaths:
    """The contents of both sides of the cavity; ``mediastinum`` is ``mediastinum_path`` on the same grid."""

    def compute_both_sides(shells: dict[Side, Shell], extra_gap: float = 0.0) -> Field:
        total = np.zeros(frame.shape(step), np.float32)
        for side in SIDES:
            total += side_cavity_path(
                scene, frame, scene.domes[side], _widen_shell(shells[side], extra_gap), step=step
            )
        return soft_clip(total - mediastinum, 5.0)

    healthy = dict.fromkeys(SIDES, NO_SHELL)
    cavity = compute_both_sides(healthy)
    no_path = np.zeros_like(cavity)
    lung, free_path, pleura = cavity, no_path, no_path
    if any(shell is not NO_SHELL for shell in scene.fluid.values()):
        lung = np.minimum(compute_both_sides(scene.fluid), cavity)
    if any(shell is not NO_SHELL for shell in scene.air.values()):
        inner = compute_both_sides(scene.air)
        free_path = np.clip(cavity - inner, 0, None)
        pleura = np.clip(inner - compute_both_sides(scene.air, VISCERAL_PLEURA_MM), 0, None)
        lung = np.minimum(lung, inner)
    return LungPaths(cavity=cavity, lung=lung, free_air=free_path, pleura=pleura)


def side_cavity_path(scene: Scene, frame: Frame, dome: Dome, shell: Shell, *, step: int) -> Field:
    """Path length through one side's cavity in this view, before the mediastinum is subtracted."""
    u, v = frame.axes(step)
    air_path = frontal_air_path if frame.view is View.PA else lateral_air_path
    return air_path(scene.cage, dome, u, v, shell)


def _widen_shell(shell: Shell, extra_gap: float) -> Shell:
    if extra_gap == 0.0 or shell is NO_SHELL:
        return shell
    return Shell(
        heights=shell.heights,
        gaps=shell.gaps + extra_gap * (shell.gaps > 1.0),
        depth_share=shell.depth_share,
        floor=shell.floor,
    )
