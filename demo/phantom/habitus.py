"""The build of one patient, generated from the seed: the dimensions that all parts of the phantom use."""

from dataclasses import dataclass

import numpy as np

THORACIC_VERTEBRAE = 12


def part_rng(seed: int, part: int) -> np.random.Generator:
    """Return the random generator of one part of one phantom.

    Each part has its own generator, so that an added finding does not change the rest of the image.
    """
    return np.random.default_rng([seed, part])


@dataclass(frozen=True, slots=True, kw_only=True)
class Habitus:
    """Lengths in mm, heights as y from the upper edge of the image (see ``frame``), angles in radians.

    Attributes:
        apex: height of the lung apices.
        lung: from the apices to the top of the right hemidiaphragm.
        half_width: widest inner half width of the rib cage.
        depth: scale of the front-to-back dimension, 1 in an average adult.
        fat: soft tissue over the ribs at the side.
        left_dome: how much lower the left hemidiaphragm is than the right one.
        ctr: cardiothoracic ratio, heart width over widest inner thoracic width.
        turn: rotation about the long axis in the frontal view.
        breast: radius of the breast shadows, 0 for none.
        aorta: half width of the aortic arch.
        dense_bone: contrast of bone, about 1.08 at 40 years and lower in older people.
        exposure: factor of the dose; a low dose gives a noisy image.
        contrast: factor of the contrast, 1 on average.
        shift: horizontal offset of the patient on the detector.
    """

    seed: int
    sex: str
    age: int
    apex: float
    lung: float
    half_width: float
    depth: float
    fat: float
    left_dome: float
    ctr: float
    turn: float
    breast: float
    aorta: float
    dense_bone: float
    exposure: float
    contrast: float
    shift: float

    @property
    def right_dome_y(self) -> float:
        """Top of the right hemidiaphragm."""
        return self.apex + self.lung

    @property
    def left_dome_y(self) -> float:
        """Top of the left hemidiaphragm."""
        return self.right_dome_y + self.left_dome

    @property
    def carina(self) -> float:
        """Height of the carina."""
        return self.apex + 0.375 * self.lung

    def vertebra_y(self, number: float) -> float:
        """Height of the middle of vertebra ``number``: 1 to 12 thoracic, lower cervical, higher lumbar."""
        k = number - 1
        return self.apex - 4 + self.lung * (0.084 * k + 0.0019 * k * abs(k))


def draw_habitus(seed: int, *, sex: str, age: int, ctr: float | None = None) -> Habitus:
    """A plausible build for a sex ("M" or "F") and an age in years; ``ctr`` overrides the heart's width."""
    random = part_rng(seed, 1)
    is_male = sex == "M"
    stout = float(np.clip(random.normal(0, 1), -1.8, 1.9))
    tall = float(np.clip(random.normal(0, 1), -1.6, 1.6))
    drawn_ctr = float(np.clip(random.normal(0.435 + 0.0006 * (age - 50) + 0.008 * stout, 0.022), 0.37, 0.485))
    return Habitus(
        seed=seed,
        sex=sex,
        age=age,
        apex=float(random.uniform(38, 54)),
        lung=(228 if is_male else 208) + 10 * tall - 8 * max(stout, 0) - 0.10 * max(age - 60, 0),
        half_width=(139 if is_male else 127) + 4 * tall + 2.5 * stout,
        depth=float(np.clip(1 + 0.06 * stout + 0.02 * random.normal() + 0.002 * max(age - 60, 0), 0.85, 1.2)),
        fat=float(np.clip(21 + 9 * stout + (3 if is_male else 2), 9, 42)),
        left_dome=float(random.uniform(5, 15)),
        ctr=drawn_ctr if ctr is None else ctr,
        turn=float(np.deg2rad(np.clip(random.normal(0, 1.6), -4, 4))),
        breast=0.0 if is_male else float(np.clip(66 + 7 * stout + random.normal(0, 5), 52, 84)),
        aorta=float(11.5 + 0.045 * max(age - 30, 0)),
        dense_bone=float(np.clip(1.08 - 0.0045 * (age - 40), 0.78, 1.12)),
        exposure=float(random.uniform(0.55, 1.5)),
        contrast=float(random.uniform(0.88, 1.12)),
        shift=float(random.normal(0, 3)),
    )
