"""From path lengths to the values of a presentation image: Beer-Lambert, scatter, noise, processing.

The coefficients are those of water, lung, metal, and cortical bone minus soft tissue, per mm near 65 keV, the
mean energy of an exposure at 120 kV.
"""

from dataclasses import dataclass

import numpy as np

from demo.phantom.chords import gaussian_blur
from demo.phantom.frame import Field

SOFT = 0.0195  # per mm
LUNG = 0.0050
BONE_EXCESS = 0.0330  # cortical bone in excess of the soft tissue that it displaces
METAL = 0.45
BITS = 12
MAX_VALUE = (1 << BITS) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """Parameters of exposure and presentation.

    Attributes:
        dose: relative number of quanta; noise is proportional to its inverse square root.
        contrast: contrast of the presentation, 1 on average.
        middle: line integral that is shown as mid-grey.
        span: range of line integrals on either side of ``middle`` that retains contrast.
        scatter: scattered quanta relative to the mean of the primary image nearby.
        detail: gain of structures smaller than about 2 cm in the processing.
    """

    dose: float
    contrast: float
    middle: float = 2.6
    span: float = 1.15
    scatter: float = 0.30
    detail: float = 1.15


def expose(attenuation: Field, spacing: float, technique: Technique, random: np.random.Generator) -> Field:
    """Return the noisy line integrals behind the object: 0 for air, about 3.5 for the abdomen."""
    primary = np.exp(-np.clip(attenuation, 0, 9))
    # air outside the body would dominate the scatter; a real detector has collimation and a grid
    scattered = technique.scatter * gaussian_blur(np.minimum(primary, 0.22), 28 / spacing) + np.float32(
        0.0022
    )
    signal = primary + scattered
    quanta = np.float32(9000 * technique.dose * (spacing / 0.34) ** 2)  # for a signal of 1; Poisson noise
    noise = random.standard_normal(signal.shape, dtype=np.float32)
    noise *= np.sqrt(signal / quanta)
    # the scintillator spreads light over about a pixel
    detected = gaussian_blur(signal + noise, 0.17 / spacing)
    return -np.log(np.clip(detected, 1e-4, None)).astype(np.float32)


def apply_presentation(line_integral: Field, spacing: float, technique: Technique) -> Field:
    """Return values 0 to 4095 (float): compress large-scale contrast, keep detail, apply a sigmoid."""
    broad = gaussian_blur(
        np.clip(line_integral, technique.middle - 1.7, technique.middle + 1.9), 14 / spacing
    )
    value = (
        0.8 * (broad - technique.middle) + technique.detail * (line_integral - broad)
    ) * technique.contrast
    curve = 1 / (1 + np.exp(-2.0 * value / technique.span))
    return (curve * MAX_VALUE).astype(np.float32)
