"""Fluid and air around the lung: the distance of the lung from the chest wall at each height."""

import numpy as np

from demo.phantom.catalogue import FindingSpec
from demo.phantom.habitus import Habitus
from demo.phantom.thorax import Dome, Shell

VISCERAL_PLEURA_MM = 0.9


def effusion_height(spec: FindingSpec, random: np.random.Generator) -> float:
    """Height of the fluid above the costophrenic angle, mm: 30 blunts the angle, 100 is moderate."""
    variation = float(random.uniform(0.9, 1.1))
    return spec.size_mm if spec.size_mm is not None else (34 + 62 * spec.conspicuity) * variation


def effusion_shell(dome: Dome, height: float) -> Shell:
    """Fluid that stands higher at the wall; the meniscus is the lung's surface seen tangentially."""
    angle = dome.top + 44  # the costophrenic angle
    heights = np.linspace(angle - height - 14, angle + 60, 60)
    depth = np.clip((heights - heights[0]) / (height + 14), 0, None)
    gaps = np.minimum(150.0, (0.75 * height + 8) * depth**1.7 + 4 * (1 - np.exp(-7 * depth)))
    return Shell(heights=heights, gaps=gaps, floor=angle - 0.58 * height)


def pneumothorax_gap(spec: FindingSpec, random: np.random.Generator) -> float:
    """Width of the air at the apex, mm."""
    variation = float(random.uniform(0.9, 1.1))
    return spec.size_mm if spec.size_mm is not None else (16 + 18 * spec.conspicuity) * variation


def pneumothorax_shell(habitus: Habitus, gap: float) -> Shell:
    """Air that is widest at the apex and tapers along the lateral wall."""
    heights = np.linspace(habitus.apex - 40, habitus.apex + 0.85 * habitus.lung, 60)
    share = np.clip((heights - habitus.apex) / (0.85 * habitus.lung), 0, 1)
    return Shell(heights=heights, gaps=gap * (1 - share) ** 0.9, depth_share=0.3)
