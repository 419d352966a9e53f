"""The parts of a rendered phantom exam."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.phantom.catalogue import FindingSpec
from demo.phantom.frame import View
from domain.boxes import Box


@dataclass(frozen=True, slots=True, kw_only=True)
class PhantomImage:
    """One radiograph of the exam.

    Attributes:
        pixels: presentation values, shape (rows, columns), uint16, 0..4095; high is bright (MONOCHROME2).
        spacing: mm between pixel centres at the detector, the same in both directions.
    """

    view: View
    pixels: NDArray[np.uint16]
    spacing: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PhantomFinding:
    """A finding of the phantom, and where it is visible.

    Attributes:
        spec: the request for the finding.
        region: GEMeX region name, such as "right lower lung zone".
        size_mm: the actual size; for cardiomegaly the heart's width, for devices their length.
        boxes: by view; a view that does not show the finding has none.
    """

    spec: FindingSpec
    region: str
    size_mm: float
    boxes: dict[View, Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhantomRegion:
    """An anatomical region by its GEMeX name, with its box in each view that shows it."""

    name: str
    boxes: dict[View, Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhantomExam:
    """One exam: a frontal and a lateral radiograph of a fictitious patient.

    Attributes:
        sex: "M" or "F".
        age: years.
        ctr: cardiothoracic ratio, greatest heart width over greatest inner thoracic width.
        thorax: lowest and highest x of the widest inner thoracic width in the frontal view, in pixels.
    """

    seed: int
    sex: str
    age: int
    images: tuple[PhantomImage, ...]
    findings: tuple[PhantomFinding, ...]
    regions: tuple[PhantomRegion, ...]
    ctr: float
    thorax: tuple[float, float]

    def find_image(self, view: View) -> PhantomImage:
        """Return the radiograph of a view."""
        return next(image for image in self.images if image.view is view)

    def find_region(self, name: str) -> PhantomRegion:
        """Return the region with a name.

        Raises:
            KeyError: the phantom has no region of that name.
        """
        for region in self.regions:
            if region.name == name:
                return region
        raise KeyError(name)
