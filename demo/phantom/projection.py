"""The projection of a scene: the attenuation of all its parts, exposed and converted to 12 bits."""

import numpy as np
from numpy.typing import NDArray

from demo.phantom.airways import AIRWAY_CLASSES, draw_airways, draw_bubbles
from demo.phantom.catalogue import Side
from demo.phantom.chords import fractal_noise, soft_clip
from demo.phantom.devices import DEVICE_CLASSES
from demo.phantom.exposure import BONE_EXCESS, LUNG, MAX_VALUE, SOFT, Technique, apply_presentation, expose
from demo.phantom.frame import Field, Frame, View
from demo.phantom.girdle import GIRDLE_CLASSES, draw_clavicles, draw_raised_arms, draw_scapulae
from demo.phantom.habitus import part_rng
from demo.phantom.lungs import LungPaths, compute_lung_paths, mediastinum_path
from demo.phantom.marker import render_marker
from demo.phantom.ribs import RIB_CLASSES, draw_costal_cartilage, draw_sternum
from demo.phantom.scene import SIDES, Scene
from demo.phantom.soft_tissue import body_chord
from demo.phantom.spine import vertebral_path
from demo.phantom.tubes import TubeLayer, Tubes, project_layers, project_tubes
from demo.phantom.vessels import TRUNK_CLASSES, VESSEL_CLASSES, split_by_radius

COARSE_MM, FINE_MM = 0.68, 0.30  # pitch of the working grids: anatomy; lines and tubes


def project_scene(scene: Scene, frame: Frame) -> NDArray[np.uint16]:
    """Presentation values of one radiograph, shape (rows, columns), 0..4095, high is bright."""
    random = part_rng(scene.habitus.seed, 20 if frame.view is View.PA else 21)
    coarse, fine = frame.grid_step(COARSE_MM), frame.grid_step(FINE_MM)
    mediastinum = mediastinum_path(scene, frame, coarse)
    paths = compute_lung_paths(scene, frame, coarse, mediastinum)
    anatomy, aerated = _soft_tissue_attenuation(scene, frame, coarse, paths, random)
    anatomy += _bone_attenuation(scene, frame, coarse)
    anatomy += _vessel_attenuation(scene, frame, coarse) * aerated
    line_integral = frame.upsample(anatomy, coarse) + _device_attenuation(scene, frame, fine)
    technique = _choose_technique(scene, frame)
    detected = expose(line_integral, frame.spacing, technique, random)
    # added after the scatter, because the lead letter lies on the detector
    detected = np.maximum(detected, render_marker(frame, part_rng(scene.habitus.seed, 22)))
    values = apply_presentation(detected, frame.spacing, technique)
    return np.clip(np.rint(values), 0, MAX_VALUE).astype(np.uint16)


def _choose_technique(scene: Scene, frame: Frame) -> Technique:
    """The technique of a view: more dose and a wider range of densities for the lateral view."""
    habitus = scene.habitus
    if frame.view is View.PA:
        return Technique(dose=habitus.exposure, contrast=habitus.contrast)
    return Technique(dose=2 * habitus.exposure, contrast=habitus.contrast, middle=3.2, span=1.45)


def _soft_tissue_attenuation(
    scene: Scene, frame: Frame, step: int, paths: LungPaths, random: np.random.Generator
) -> tuple[Field, Field]:
    """Attenuation of soft tissue, lung and air on the coarse grid, and the aerated share of the cavity."""
    u, v = frame.axes(step)
    pitch = frame.spacing * step
    habitus = scene.habitus
    body = body_chord(habitus, scene.cage, frame, u, v)
    body = np.maximum(body, np.where(paths.cavity > 1, paths.cavity + 44, 0))
    lung = paths.lung
    aerated = lung / np.maximum(paths.cavity, 1.0)
    bronchi = np.zeros_like(lung)
    for number, lesion in enumerate(scene.consolidations):
        mask = lesion.mask(frame, u, v, pitch, part_rng(habitus.seed, 80 + number))
        filled = np.minimum(lesion.strength * mask * lesion.depth(frame), 0.93 * lung)
        lung = lung - filled
        aerated = aerated * (1 - mask * min(lesion.strength * 1.2, 1.0))
        air = project_tubes([lesion.bronchi], frame, step, classes=(0.8, 1.7))
        bronchi += 0.9 * np.minimum(air, 4.0) * np.clip(mask * 1.4 - 0.3, 0, 1) * lesion.strength
    gas = project_tubes([draw_airways(habitus)], frame, step, classes=AIRWAY_CLASSES)
    for bubble in draw_bubbles(habitus):
        gas += soft_clip(bubble.chord(frame, u, v) * 0.8 - 2, 3)
    soft = np.clip(body - lung - paths.free_air - np.clip(gas + bronchi, 0, body), 0, None)
    for nodule in scene.nodules:
        chord = nodule.body[0].chord(frame, u, v)
        for part in nodule.body[1:]:
            chord = np.maximum(chord, part.chord(frame, u, v))
        soft = soft + nodule.strength * chord * (1 - LUNG / SOFT)
    grain = fractal_noise(random, lung.shape, coarsest=int(50 / pitch), octaves=5, persistence=0.72)
    mottle = fractal_noise(random, lung.shape, coarsest=max(2, int(9 / pitch)), octaves=4, persistence=0.85)
    total = SOFT * soft * (1 + 0.012 * grain)
    total += LUNG * lung * (1 + 0.05 * grain + 0.055 * mottle)
    total += (SOFT - LUNG) * scene.pleural_line * np.minimum(paths.pleura, 26)
    return total.astype(np.float32), aerated.astype(np.float32)


def _bone_attenuation(scene: Scene, frame: Frame, step: int) -> Field:
    """Attenuation of the skeleton in excess of soft tissue."""
    habitus, cage = scene.habitus, scene.cage
    frontal = frame.view is View.PA
    # in the lateral view the ribs' flat faces are perpendicular to the beam
    scale = habitus.dense_bone * (1.0 if frontal else 0.62)
    layers = [
        TubeLayer(tubes=[scene.ribs], classes=RIB_CLASSES, blur=0.2, scale=scale),
        TubeLayer(tubes=[draw_sternum(cage)], classes=(4.2,), blur=0.5, scale=0.07 if frontal else 0.8),
    ]
    if frontal:
        girdle = [draw_clavicles(habitus), *draw_scapulae(habitus)]
        layers.append(TubeLayer(tubes=girdle, classes=GIRDLE_CLASSES, blur=0.4, scale=scale))
    else:
        layers.append(TubeLayer(tubes=[draw_raised_arms(habitus)], classes=GIRDLE_CLASSES, blur=0.6))
    cartilage = draw_costal_cartilage(habitus, cage)
    if cartilage is not None:
        layers.append(TubeLayer(tubes=[cartilage], classes=(0.9,), blur=0.7))
    path = project_layers(layers, frame, step)
    path += vertebral_path(habitus, cage, frame, step)
    return (BONE_EXCESS * path).astype(np.float32)


def _vessel_attenuation(scene: Scene, frame: Frame, step: int) -> Field:
    """Attenuation of the vessels on the working grid, as if the whole cavity were aerated."""
    thin, thick = [], []
    for side in SIDES:
        small, large = split_by_radius(_retract_vessels(scene, scene.vessels[side], side), VESSEL_CLASSES[-1])
        thin.append(small)
        thick.append(large)
    contrast = 1.65 * (SOFT - LUNG)
    layers = [
        TubeLayer(tubes=thin, classes=VESSEL_CLASSES, blur=0.3, scale=contrast),
        TubeLayer(tubes=thick, classes=TRUNK_CLASSES, blur=0.4, scale=contrast),
    ]
    return project_layers(layers, frame, step)


def _retract_vessels(scene: Scene, tubes: Tubes, side: Side) -> Tubes:
    """The vessels, moved together with a lung that is separated from the chest wall."""
    shell = scene.air[side]
    gap = np.interp(tubes.points[:, 1], shell.heights, shell.gaps)
    if not gap.any():
        return tubes
    habitus = scene.habitus
    half = np.maximum(scene.cage.half_width(tubes.points[:, 1]), 20)
    points = tubes.points.copy()
    points[:, 0] *= np.clip((half - gap - 2) / half, 0.2, 1)
    share = np.clip((habitus.carina + 20 - points[:, 1]) / (habitus.carina + 20 - habitus.apex), 0, 1)
    points[:, 1] += share * shell.gaps.max() * 1.1
    return Tubes(points=points, weights=tubes.weights, radii=tubes.radii)


def _device_attenuation(scene: Scene, frame: Frame, fine: int) -> Field:
    """Attenuation of lines, tubes and cases on the stored matrix."""
    total = np.zeros((frame.rows, frame.columns), np.float32)
    tubes = [part for device in scene.devices for part in device.tubes]
    if tubes:
        total += frame.upsample(project_tubes(tubes, frame, fine, classes=DEVICE_CLASSES, blur=0.25), fine)
    for device in scene.devices:
        if device.case is not None:
            u, v = frame.axes(1)
            total += device.case.attenuation(frame, u, v)
    return total
